#include "barrio/delaunay/parted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/exact_sum.hpp"

namespace barrio::delaunay {
namespace {

/// Hash of the vertices of an interface, as it travels to the other side.
struct ChainMessage {
  std::int32_t part = 0;
  std::int32_t interface = 0;
  std::uint64_t hash = 0;
};

std::uint64_t hash_of_chain(const Part& part, std::size_t interface) {
  Hash64 hash;
  const auto add = [&](std::int32_t v) { hash.add(part.mesh.point(v)[0]).add(part.mesh.point(v)[1]); };
  add(part.interfaces[interface].ends[0]);
  for (const std::int32_t v : detail::chain_of(part, interface)) add(v);
  add(part.interfaces[interface].ends[1]);
  return hash.value();
}

}  // namespace

PartedSize size_of(mpi::Context& context, const PartedTriangulation& parted) {
  std::array<std::int64_t, 2> sums{};
  for (const Part& part : parted.parts) {
    sums[0] += detail::n_owned_alone(part);
    sums[1] += part.mesh.n_triangles();
  }
  mpi::all_reduce(context, std::span<std::int64_t>(sums), MPI_SUM);
  return {sums[0] + parted.n_shared, sums[1]};
}

std::int64_t n_used_regions(mpi::Context& context, const PartedTriangulation& parted) {
  std::vector<std::int32_t> is_used(parted.regions.size(), 0);
  for (const Part& part : parted.parts)
    for (const Triangle& t : part.mesh.triangles.items()) is_used[part.regions[t.region()]] = 1;
  mpi::all_reduce(context, std::span<std::int32_t>(is_used), MPI_MAX);
  return is_used.empty() ? 0 : std::count(is_used.begin() + 1, is_used.end(), 1);
}

std::uint64_t memory_bytes(const PartedTriangulation& parted) noexcept {
  std::uint64_t n = 0;
  for (const Part& part : parted.parts)
    n += part.mesh.memory_bytes() + part.interfaces.capacity() * sizeof(Interface) +
         (part.chains.capacity() + part.chain_end.capacity()) * sizeof(std::int32_t) +
         part.shared.capacity() * sizeof(SharedVertex);
  return n;
}

ShapeStatistics shape_statistics(mpi::Context& context, const PartedTriangulation& parted) {
  ShapeStatistics all{.min_angle = 180.0, .min_area = std::numeric_limits<double>::infinity()};
  mpi::ExactSum area;
  for (const Part& part : parted.parts) {
    if (part.mesh.n_triangles() == 0) continue;
    const ShapeStatistics one = shape_statistics(part.mesh);
    for (std::size_t d = 0; d < one.n_of_degree.size(); ++d) all.n_of_degree[d] += one.n_of_degree[d];
    area.add(one.area);
    all.min_angle = std::min(all.min_angle, one.min_angle);
    all.min_area = std::min(all.min_area, one.min_area);
    all.max_area = std::max(all.max_area, one.max_area);
  }
  mpi::all_reduce(context, std::span<std::int64_t>(all.n_of_degree), MPI_SUM);
  all.area = mpi::ExactSum::over_all(context, std::span(&area, 1))[0];
  all.min_angle = mpi::min(context, all.min_angle);
  all.min_area = mpi::min(context, all.min_area);
  all.max_area = mpi::max(context, all.max_area);
  return all;
}

void validate(mpi::Context& context, const PartedTriangulation& parted) {
  std::vector<Rank> ranks;
  mpi::agree_after(context, [&] {
    for (const Part& part : parted.parts) {
      validate(part.mesh);
      for (const Interface& one : part.interfaces)
        if (one.rank != context.rank()) ranks.push_back(one.rank);
    }
  });
  sort_unique(ranks);
  exchange::Neighborhood hood(context, ranks);
  auto round = hood.begin_round<ChainMessage>();
  for (const Part& part : parted.parts)
    for (std::size_t i = 0; i < part.interfaces.size(); ++i)
      round.send(part.interfaces[i].rank,
                 {part.interfaces[i].neighbour, part.interfaces[i].place, hash_of_chain(part, i)});
  round.close();
  Status status;
  for (const auto& [from, message] : round.received()) {
    const Part& part = parted.parts.at(static_cast<std::size_t>(message.part - parted.parts[0].number));
    if (hash_of_chain(part, message.interface) == message.hash || status) continue;
    const Interface& one = part.interfaces[message.interface];
    status = capture([&] {
      refuse(ErrorCode::internal,
             fmt::format("interface {} between parts {} and {}", message.interface, part.number, one.neighbour),
             "has other vertices on the two sides");
    });
  }
  mpi::agree(context, status);
}

Json to_json(const PartReport& report) {
  return {{"n", report.n_parts},
          {"coarse_triangles", report.n_coarse_triangles},
          {"corridor_points", report.n_corridor_points},
          {"interfaces", report.n_interfaces},
          {"interface_points", report.n_interface_points},
          {"min_corner", report.min_corner},
          {"exchanges", report.n_exchanges},
          {"parts_told", report.n_parts_told},
          {"imbalance_of_parts", report.part_imbalance},
          {"imbalance_of_ranks", report.rank_imbalance},
          {"seconds",
           {{"decomposition", report.seconds_of_decomposition},
            {"first_step", report.seconds_of_first_step},
            {"other_steps", report.seconds_of_other_steps}}}};
}

}  // namespace barrio::delaunay
