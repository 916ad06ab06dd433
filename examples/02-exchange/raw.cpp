// Particles that move between neighbouring ranks, written by hand: first counts, then particles.
//
//   mpiexec -n 4 particles_raw
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <utility>
#include <vector>

#include "particles.hpp"

namespace {

using particles::Particle;

constexpr int count_tag = 1;
constexpr int particle_tag = 2;

/// Give each particle to the rank that owns its site.
void deliver(std::vector<Particle>& mine, const std::vector<int>& neighbours, int rank, int n_ranks) {
  const std::size_t n = neighbours.size();
  std::vector<std::vector<Particle>> leaving(n);
  std::vector<Particle> staying;
  for (const Particle& particle : mine) {
    const int to = particles::owner(particle.site, n_ranks);
    std::size_t i = 0;
    while (i < n && neighbours[i] != to) ++i;
    if (to != rank && i == n) {
      std::fprintf(stderr, "rank %d: a particle moves to rank %d, which is not a neighbour\n", rank, to);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    (to == rank ? staying : leaving[i]).push_back(particle);
  }

  // Receivers do not know the number of particles, so counts go first.
  std::vector<MPI_Request> requests(2 * n);
  std::vector<int> n_leaving(n);
  std::vector<int> n_coming(n);
  for (std::size_t i = 0; i < n; ++i)
    MPI_Irecv(&n_coming[i], 1, MPI_INT, neighbours[i], count_tag, MPI_COMM_WORLD, &requests[i]);
  for (std::size_t i = 0; i < n; ++i) {
    n_leaving[i] = static_cast<int>(leaving[i].size());
    MPI_Isend(&n_leaving[i], 1, MPI_INT, neighbours[i], count_tag, MPI_COMM_WORLD, &requests[n + i]);
  }
  MPI_Waitall(static_cast<int>(2 * n), requests.data(), MPI_STATUSES_IGNORE);

  // Then the particles. MPI reads the send buffers until the wait at the end.
  std::vector<std::vector<Particle>> coming(n);
  for (std::size_t i = 0; i < n; ++i) {
    coming[i].resize(n_coming[i]);
    MPI_Irecv(coming[i].data(), n_coming[i] * static_cast<int>(sizeof(Particle)), MPI_BYTE, neighbours[i], particle_tag,
              MPI_COMM_WORLD, &requests[i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    MPI_Isend(leaving[i].data(), n_leaving[i] * static_cast<int>(sizeof(Particle)), MPI_BYTE, neighbours[i],
              particle_tag, MPI_COMM_WORLD, &requests[n + i]);
  mine = std::move(staying);
  for (std::size_t k = 0; k < n; ++k) {  // in order of arrival
    int i = 0;
    MPI_Waitany(static_cast<int>(n), requests.data(), &i, MPI_STATUS_IGNORE);
    const auto& arrived = coming[static_cast<std::size_t>(i)];
    mine.insert(mine.end(), arrived.begin(), arrived.end());
  }
  MPI_Waitall(static_cast<int>(n), requests.data() + n, MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int n_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);

  std::vector<Particle> mine = particles::at_start(rank, n_ranks);
  const std::vector<int> neighbours = particles::beside(rank, n_ranks);
  for (int step = 0; step < particles::n_steps; ++step) {
    for (Particle& particle : mine) particles::move(particle, step);
    deliver(mine, neighbours, rank, n_ranks);
  }

  const std::uint64_t own[2] = {mine.size(), particles::checksum(mine)};
  std::uint64_t all[2] = {};
  MPI_Reduce(own, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("raw            %" PRIu64 " particles, checksum %016" PRIx64 "\n", all[0], all[1]);
  MPI_Finalize();
}
