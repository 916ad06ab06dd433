#include "barrio/delaunay/parted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/delaunay/parallel/part_objects.hpp"
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

/// Close up the rows of a part, and follow its interfaces.
void close_up(Part& part) {
  // `compact` keeps the order of the vertices that have triangles
  std::vector<std::int32_t> place(part.mesh.points.size(), 0);
  for (const Triangle& t : part.mesh.triangles.items())
    for (std::size_t k = 0; t.is_used() && k < 3; ++k) place[t.vertices[k]] = 1;
  std::int32_t n = 0;
  for (std::int32_t& one : place) one = one == 0 ? -1 : n++;
  compact(part.mesh);
  for (Interface& one : part.interfaces)
    for (std::int32_t& end : one.ends) end = place[end];
  for (std::int32_t& v : part.chains) v = place[v];
  for (SharedVertex& one : part.shared) one.vertex = place[one.vertex];
  part.angles = {};
  part.is_compact = true;
}

}  // namespace

std::uint64_t Part::memory_bytes() const noexcept {
  return mesh.memory_bytes() + barrio::memory_bytes(interfaces) + barrio::memory_bytes(angles) +
         barrio::memory_bytes(chains) + barrio::memory_bytes(chain_end) + barrio::memory_bytes(shared);
}

PartedTriangulation::PartedTriangulation() = default;
PartedTriangulation::~PartedTriangulation() = default;
PartedTriangulation::PartedTriangulation(PartedTriangulation&&) noexcept = default;
PartedTriangulation& PartedTriangulation::operator=(PartedTriangulation&&) noexcept = default;

std::size_t PartedTriangulation::n_local() const noexcept { return parts_ ? parts_->names.size() : 0; }

std::uint64_t PartedTriangulation::memory_bytes() const noexcept { return parts_ ? parts_->runtime.memory_bytes() : 0; }

void PartedTriangulation::visit(const std::function<void(std::size_t, const Part&)>& visit) const {
  const std::size_t n = n_local();
  if (n == 0) return;
  mobile::Runtime& runtime = parts_->runtime;
  const std::vector<mobile::MobilePtr<Part>>& names = parts_->names;
  // begin at the end that is in memory: the other end would push it out before it is visited
  const bool is_backward = runtime.is_in_memory(names.back()) && !runtime.is_in_memory(names.front());
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = is_backward ? n - 1 - k : k;
    if (k + 1 < n) runtime.prefetch(names[is_backward ? i - 1 : i + 1]);
    runtime.visit(names[i], [&](const Part& part) {
      // compact or not, it is the same part: a copy on the disk stays as good
      if (!part.is_compact) close_up(const_cast<Part&>(part));
      visit(i, part);
    });
  }
}

PartedSummary summarize(mpi::Context& context, const PartedTriangulation& parted) {
  PartedSummary all{.shape = {.min_angle = 180.0, .min_area = std::numeric_limits<double>::infinity()}};
  ShapeStatistics& shape = all.shape;
  mpi::ExactSum area;
  std::vector<std::int32_t> is_used(parted.regions.size(), 0);
  std::array<std::int64_t, 2> sums{};
  mpi::agree_after(context, [&] {
    parted.visit([&](std::size_t, const Part& part) {
      sums[0] += detail::n_owned_alone(part);
      sums[1] += part.mesh.n_triangles();
      all.checksum += detail::checksum(part);
      for (const Triangle& t : part.mesh.triangles.items()) is_used[part.regions[t.region()]] = 1;
      if (part.mesh.n_triangles() == 0) return;
      const ShapeStatistics one = shape_statistics(part.mesh);
      for (std::size_t d = 0; d < one.n_of_degree.size(); ++d) shape.n_of_degree[d] += one.n_of_degree[d];
      area.add(one.area);
      shape.min_angle = std::min(shape.min_angle, one.min_angle);
      shape.min_area = std::min(shape.min_area, one.min_area);
      shape.max_area = std::max(shape.max_area, one.max_area);
    });
  });
  mpi::all_reduce(context, std::span<std::int64_t>(sums), MPI_SUM);
  all.n_vertices = sums[0] + parted.n_shared;
  all.n_triangles = sums[1];
  mpi::all_reduce(context, std::span<std::int32_t>(is_used), MPI_MAX);
  all.n_regions = is_used.empty() ? 0 : std::count(is_used.begin() + 1, is_used.end(), 1);
  all.checksum = mpi::sum(context, all.checksum);
  mpi::all_reduce(context, std::span<std::int64_t>(shape.n_of_degree), MPI_SUM);
  shape.area = mpi::ExactSum::over_all(context, std::span(&area, 1))[0];
  shape.min_angle = mpi::min(context, shape.min_angle);
  shape.min_area = mpi::min(context, shape.min_area);
  shape.max_area = mpi::max(context, shape.max_area);
  return all;
}

void validate(mpi::Context& context, const PartedTriangulation& parted) {
  struct Sent {
    Rank to;
    ChainMessage message;
  };
  std::vector<Sent> sent;
  std::vector<std::vector<std::uint64_t>> hashes(parted.n_local());
  mpi::agree_after(context, [&] {
    parted.visit([&](std::size_t i, const Part& part) {
      validate(part.mesh);
      for (std::size_t f = 0; f < part.interfaces.size(); ++f) {
        const Interface& one = part.interfaces[f];
        hashes[i].push_back(hash_of_chain(part, f));
        sent.push_back({one.rank, {one.neighbour, one.place, hashes[i].back()}});
      }
    });
  });
  exchange::Neighborhood hood(context, parted.neighbours);
  auto round = hood.begin_round<ChainMessage>();
  for (const auto& [to, message] : sent) round.send(to, message);
  round.close();
  Status status;
  for (const auto& [from, message] : round.received()) {
    const auto i = static_cast<std::size_t>(message.part - parted.first_part);
    if (hashes.at(i).at(message.interface) == message.hash || status) continue;
    status = capture([&] {
      refuse(ErrorCode::internal, fmt::format("interface {} of part {}", message.interface, message.part),
             "has other vertices on the other side");
    });
  }
  mpi::agree(context, status);
}

Json to_json(const PartReport& report) {
  Json memory = Json::object();
  for (const auto& [owner, n_bytes] : report.max_memory) memory[owner] = n_bytes;
  return {{"n", report.n_parts},
          {"coarse_triangles", report.n_coarse_triangles},
          {"corridor_points", report.n_corridor_points},
          {"interfaces", report.n_interfaces},
          {"interface_points", report.n_interface_points},
          {"min_corner", report.min_corner},
          {"exchanges", report.n_exchanges},
          {"parts_told", report.n_parts_told},
          {"messages", report.n_messages},
          {"turns", report.n_turns},
          {"imbalance_of_parts", report.part_imbalance},
          {"imbalance_of_ranks", report.rank_imbalance},
          {"bytes_written", report.bytes_written},
          {"bytes_finished", report.bytes_finished},
          {"bytes_read", report.bytes_read},
          {"seconds",
           {{"decomposition", report.seconds_of_decomposition},
            {"first_step", report.seconds_of_first_step},
            {"other_steps", report.seconds_of_other_steps},
            {"run", report.seconds_of_run},
            {"computing", report.seconds_computing},
            {"disk", report.seconds_of_disk},
            {"waiting_for_disk", report.seconds_waiting_for_disk}}},
          {"max_memory_of_rank", std::move(memory)}};
}

}  // namespace barrio::delaunay
