#include "benchmarks/adapt/migrating.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/balance.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/adapt/part.hpp"

namespace barrio::bench {
namespace {

using adapt::detail::collapses;
using adapt::detail::Operator;
using adapt::detail::OperatorCounts;
using adapt::detail::Slot;
using adapt::detail::splits;
using adapt::detail::Tet;
using adapt::detail::Vertex;
using mesh::Dim;

constexpr RegionName whole_region{"adapt.by_migration"};
constexpr RegionName balance_region{"adapt.balance"};
constexpr RegionName view_region{"adapt.view"};
constexpr RegionName modify_region{"adapt.modify"};
constexpr RegionName wait_region{"adapt.wait"};
constexpr RegionName migrate_region{"adapt.migrate"};

/// Rounds on the cells of one rank, in the order of `adapt::adapt`.
class LocalSchedule {
 public:
  LocalSchedule(mpi::Context& alone, adapt::detail::Tets& tets, const adapt::detail::Sizes& sizes,
                const adapt::detail::Limits& limits)
      : tets_(tets),
        rounds_(alone, tets, sizes, limits, std::chrono::steady_clock::time_point::max()),
        split_(tets, sizes, limits, splits),
        collapse_(tets, sizes, limits, collapses),
        swap_(tets, sizes, limits, adapt::detail::swaps),
        smooth_(tets, sizes, limits, adapt::detail::smooths) {}

  void run(std::array<OperatorCounts, 4>& counts) {
    constexpr int max_sweeps = 4;
    constexpr double little = 0.004;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
      const std::int64_t n = repeat(split_, counts[0], 0.0) + repeat(collapse_, counts[1], 0.0);
      repeat(swap_, counts[2], 0.03);
      repeat(smooth_, counts[3], 0.0, 6);
      if (static_cast<double>(n) < little * static_cast<double>(tets_.n_tets())) break;
    }
  }

 private:
  std::int64_t repeat(Operator& op, OperatorCounts& counts, double part, int max_rounds = 100) {
    std::int64_t n_first = -1;
    std::int64_t n_all = 0;
    for (int round = 0; round < max_rounds; ++round) {
      const std::int64_t n = rounds_.run(op, counts);
      if (n_first < 0) n_first = n;
      n_all += n;
      if (static_cast<double>(n) <= part * static_cast<double>(n_first)) break;
    }
    return n_all;
  }

  const adapt::detail::Tets& tets_;
  adapt::detail::Rounds rounds_;
  adapt::detail::Split split_;
  adapt::detail::Collapse collapse_;
  adapt::detail::Swap swap_;
  adapt::detail::Smooth smooth_;
};

/// Stars that must be on one rank, and the target ranks of this rank's cells for that.
class Pulls {
 public:
  Pulls(mpi::Context& context, Part& part) : context_(context), part_(part), tets_(part.tets()) {}

  /// Combine the wishes of all ranks that share a vertex. Collective.
  void agree() {
    part_.note_shared();
    std::vector<Rank> neighbours;
    for (const Slot v : part_.shared()) {
      const std::span<const Rank> sharers = part_.sharers_of(v);
      neighbours.insert(neighbours.end(), sharers.begin(), sharers.end());
      by_id_.emplace_back(part_.id_of(v), v);
    }
    sort_unique(neighbours);
    std::erase(neighbours, context_.rank());
    std::ranges::sort(by_id_);
    exchange::Neighborhood hood(context_, neighbours);
    exchange::Round<Wish> round = hood.begin_round<Wish>();
    for (const auto& [id, v] : by_id_)
      for (const Rank sharer : part_.sharers_of(v))
        if (sharer != context_.rank()) round.send(sharer, {id, tets_.vertices[v].active});
    round.close();
    for (const auto& [from, wish] : round.received()) {
      const auto known = std::ranges::lower_bound(by_id_, std::pair{wish.vertex, Slot{0}});
      tets_.vertices[known->second].active |= static_cast<std::uint8_t>(wish.active);
    }
  }

  /// Return the target rank of each tetrahedron, by slot. A star goes to the lowest of its ranks. A cell of several
  /// stars goes to the lowest rank, so that all stars on that rank become complete.
  [[nodiscard]] std::vector<Rank> targets() const {
    std::vector<Rank> of_star(tets_.vertices.size(), std::numeric_limits<Rank>::max());
    for (const Slot v : part_.shared())
      if (is_wanted(v)) of_star[v] = part_.sharers_of(v)[0];
    std::vector<Rank> to(tets_.tets.size(), context_.rank());
    for (std::size_t t = 0; t < to.size(); ++t) {
      if (tets_.tets[t].is_free()) continue;
      Rank lowest = std::numeric_limits<Rank>::max();
      for (const Slot v : tets_.tets[t].v) lowest = std::min(lowest, of_star[v]);
      if (lowest != std::numeric_limits<Rank>::max()) to[t] = lowest;
    }
    return to;
  }

  /// Count the wanted stars, each on its lowest rank. Local.
  [[nodiscard]] std::int64_t n_wanted() const {
    return std::ranges::count_if(part_.shared(),
                                 [&](Slot v) { return is_wanted(v) && part_.sharers_of(v)[0] == context_.rank(); });
  }

 private:
  struct Wish {  // the message
    GlobalId vertex;
    std::uint64_t active;
  };
  /// Tell whether an operator that has not visited a vertex yet may find work.
  [[nodiscard]] bool is_wanted(Slot v) const {
    const unsigned active = tets_.vertices[v].active;
    return (active & (active >> 4U) & 15U) != 0;
  }

  mpi::Context& context_;
  Part& part_;
  adapt::detail::Tets& tets_;
  std::vector<std::pair<GlobalId, Slot>> by_id_;  // shared vertices
};

class Migrating {
 public:
  Migrating(mesh::Mesh& mesh, const adapt::SizeFunction& size)
      : mesh_(mesh), context_(mesh.context()), size_(size), sizes_(&size), alone_(MPI_COMM_SELF) {}

  MigrationReport run() {
    const Region region(context_.trace(), whole_region);
    const double start = Trace::steady_seconds();
    begin();
    balance(predicted_work());
    constexpr int max_sweeps = 200;
    report_.is_complete = false;
    while (!report_.is_complete && report_.n_sweeps < max_sweeps) report_.is_complete = !sweep();
    drop_fields();
    balance({});
    report_.seconds = Trace::steady_seconds() - start;
    return report_;
  }

 private:
  void begin() {
    std::ranges::fill(mesh_.add_field<std::int32_t>(open_field, Dim::vertex).values(),
                      collapses | splits | adapt::detail::swaps);
    std::array<std::int64_t, 2> next{0, 0};
    for (const GlobalId id : mesh_.global_ids(Dim::vertex)) next[0] = std::max(next[0], value(id) + 1);
    for (const GlobalId id : mesh_.global_ids(Dim::volume)) next[1] = std::max(next[1], value(id) + 1);
    mpi::all_reduce(context_, std::span<std::int64_t>(next), MPI_MAX);
    next_ = {next[0], next[1]};
  }

  void drop_fields() {
    timed(view_region, [&] {
      mesh::LocalMesh local = std::move(mesh_).release();
      local.fields.clear();
      mesh_ = mesh::adopt(context_, std::move(local));
    });
  }

  /// Return a weight for each owned cell: itself, and the cells predicted from it.
  [[nodiscard]] std::vector<std::int64_t> predicted_work() const {
    constexpr double cells_of_unit = 12;
    constexpr double steps = 64;
    const std::vector<double>& x = mesh_.vertices().coordinates;
    std::vector<std::int64_t> work;
    for (std::size_t c = 0; c < mesh_.n_owned(Dim::volume); ++c) {
      std::array<adapt::detail::Point, 4> p{};
      adapt::detail::Point centre{};
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) p[i][k] = x[3 * index(mesh_.cells().nodes_of(c)[i]) + k];
        for (std::size_t k = 0; k < 3; ++k) centre[k] += p[i][k] / 4;
      }
      const double volume = adapt::detail::volume6(p[0], p[1], p[2], p[3]) / 6;
      work.push_back(static_cast<std::int64_t>(steps * (1 + volume * cells_of_unit / std::pow(size_(centre), 3))));
    }
    return work;
  }

  void balance(const std::vector<std::int64_t>& work) {
    if (context_.size() == 1) return;
    timed(balance_region, [&] { mesh_.migrate(mesh::balanced_ranks(mesh_, {.weights = work})); });
  }

  /// Run one sweep. @return whether cells migrated to complete stars
  bool sweep() {
    report_.n_sweeps += 1;
    std::optional<Part> part;
    timed(view_region, [&] {
      part.emplace(std::move(mesh_).release(), sizes_, limits_);
      if (report_.n_sweeps == 1) part->open_bad();
    });
    timed(modify_region, [&] { LocalSchedule(alone_, part->tets(), sizes_, limits_).run(report_.counts); });
    timed(wait_region, [&] { mpi::barrier(context_); });
    Pulls pulls(context_, *part);
    std::int64_t n_wanted = 0;
    timed(migrate_region, [&] {
      pulls.agree();
      n_wanted = mpi::sum(context_, pulls.n_wanted());
    });
    timed(view_region, [&] {
      const std::vector<Rank> targets = pulls.targets();
      mesh_ = mesh::adopt(context_, std::move(*part).give(context_, targets, next_));
    });
    report_.n_pulled += n_wanted;
    if (n_wanted > 0) timed(migrate_region, [&] { migrate(); });
    return n_wanted > 0;
  }

  template <class Work>
  void timed(RegionName name, Work&& work) {
    const Region region(context_.trace(), name);
    work();
  }

  void migrate() {
    const auto targets = mesh_.field<std::int32_t>(target_field, Dim::volume).values();
    const std::vector<Rank> to(targets.begin(),
                               targets.begin() + static_cast<std::ptrdiff_t>(mesh_.n_owned(Dim::volume)));
    report_.n_migrated += mesh_.migrate(to);
  }

  mesh::Mesh& mesh_;
  mpi::Context& context_;
  const adapt::SizeFunction& size_;
  adapt::detail::Sizes sizes_;
  adapt::detail::Limits limits_;
  mpi::Context alone_;
  NextIds next_;
  MigrationReport report_;
};

}  // namespace

MigrationReport adapt_by_migration(mesh::Mesh& mesh, const adapt::SizeFunction& size) {
  return Migrating(mesh, size).run();
}

}  // namespace barrio::bench
