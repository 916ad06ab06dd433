// Particles that move between neighbouring ranks, in rounds of a Neighborhood: four variants, one result.
//
//   mpiexec -n 4 particles_barrio
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"
#include "particles.hpp"

namespace {

using barrio::exchange::Neighborhood;
using particles::Particle;

/// Give each particle to the rank that owns its site.
void deliver(std::vector<Particle>& mine, Neighborhood& hood) {
  const int rank = hood.context().rank();
  const int n_ranks = hood.context().size();
  std::vector<Particle> staying;
  auto round = hood.begin_round<Particle>();
  for (const Particle& particle : mine) {
    const int to = particles::owner(particle.site, n_ranks);
    if (to == rank) {
      staying.push_back(particle);
    } else {
      round.allocate(to) = particle;  // directly into a send buffer
    }
  }
  round.close();  // this rank sends no more
  mine = std::move(staying);
  for (const auto& [from, particle] : round.received()) mine.push_back(particle);  // in order of arrival
}

void walk(std::vector<Particle>& mine, Neighborhood& hood) {
  for (int step = 0; step < particles::n_steps; ++step) {
    for (Particle& particle : mine) particles::move(particle, step);
    deliver(mine, hood);
  }
}

/// A particle and the ranks it has been on.
struct Traveller {
  Particle particle;
  std::vector<int> trail;
};

void deliver(std::vector<Traveller>& mine, Neighborhood& hood) {
  const int rank = hood.context().rank();
  const int n_ranks = hood.context().size();
  std::vector<Traveller> staying;
  auto round = hood.begin_byte_round();
  for (Traveller& traveller : mine) {
    const int to = particles::owner(traveller.particle.site, n_ranks);
    if (to == rank) {
      staying.push_back(std::move(traveller));
      continue;
    }
    const std::size_t trail_bytes = traveller.trail.size() * sizeof(int);
    const std::span<std::byte> place = round.allocate(to, sizeof(Particle) + trail_bytes);
    std::memcpy(place.data(), &traveller.particle, sizeof(Particle));
    std::memcpy(place.data() + sizeof(Particle), traveller.trail.data(), trail_bytes);
  }
  round.close();
  mine = std::move(staying);
  for (const auto& [from, bytes] : round.received()) {
    Traveller traveller{{}, std::vector<int>((bytes.size() - sizeof(Particle)) / sizeof(int))};
    std::memcpy(&traveller.particle, bytes.data(), sizeof(Particle));
    std::memcpy(traveller.trail.data(), bytes.data() + sizeof(Particle), bytes.size() - sizeof(Particle));
    traveller.trail.push_back(rank);
    mine.push_back(std::move(traveller));
  }
}

void walk_with_trails(std::vector<Particle>& mine, Neighborhood& hood) {
  std::vector<Traveller> travellers;
  for (const Particle& particle : mine) travellers.push_back({particle, {hood.context().rank()}});
  for (int step = 0; step < particles::n_steps; ++step) {
    for (Traveller& traveller : travellers) particles::move(traveller.particle, step);
    deliver(travellers, hood);
  }
  mine.clear();
  for (const Traveller& traveller : travellers) mine.push_back(traveller.particle);
}

/// Move two steps at a time, so that a particle may leap over a whole slab.
void leap(std::vector<Particle>& mine, Neighborhood& hood) {
  static_assert(particles::n_steps % 2 == 0);
  for (int step = 0; step < particles::n_steps; step += 2) {
    for (Particle& particle : mine) {
      particles::move(particle, step);
      particles::move(particle, step + 1);
    }
    deliver(mine, hood);
  }
}

void report(barrio::Context& context, const char* way, const std::vector<Particle>& mine) {
  std::array<std::uint64_t, 2> all{mine.size(), particles::checksum(mine)};
  barrio::mpi::all_reduce(context, std::span<std::uint64_t>(all), MPI_SUM);
  if (context.is_root()) std::printf("%-14s %" PRIu64 " particles, checksum %016" PRIx64 "\n", way, all[0], all[1]);
}

void compare(barrio::Context& context) {
  const std::vector<int> neighbours = particles::beside(context.rank(), context.size());
  {
    std::vector<Particle> mine = particles::at_start(context.rank(), context.size());
    Neighborhood hood(context, neighbours);
    walk(mine, hood);
    report(context, "rounds", mine);
  }
  {
    std::vector<Particle> mine = particles::at_start(context.rank(), context.size());
    Neighborhood hood(context, neighbours);
    walk_with_trails(mine, hood);
    report(context, "byte rounds", mine);
  }
  {
    std::vector<Particle> mine = particles::at_start(context.rank(), context.size());
    // One message per round between two nodes, for any number of ranks on them. Here pairs of ranks play nodes; without
    // `node`, ranks that share memory form a node.
    Neighborhood hood(context, neighbours, {.routing = barrio::exchange::Routing::by_node, .node = context.rank() / 2});
    walk(mine, hood);
    report(context, "by node", mine);
  }
  {
    std::vector<Particle> mine = particles::at_start(context.rank(), context.size());
    Neighborhood hood(context, neighbours, {.termination = barrio::exchange::Termination::introductions});
    leap(mine, hood);
    report(context, "introductions", mine);
    if (context.is_root())
      std::printf("rank 0 began with %zu neighbours and has %zu\n", neighbours.size(), hood.neighbours().size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [](barrio::Context& context) { compare(context); });
}
