#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/detail/message.hpp"
#include "barrio/mesh/detail/set_runs.hpp"

namespace barrio::mesh::detail {

/// Listed entities on their way to a rank, as columns.
struct SideColumns {
  std::vector<GlobalId> ids;
  std::vector<CellType> types;
  std::vector<std::int32_t> sizes;
  std::vector<Rank> owners;  ///< or what else is to be said of each
  std::vector<GlobalId> nodes;
  std::vector<SetRun> sets;  ///< of entities by place

  /// Begin one; its nodes are put behind those of the others. @param n  their number
  void add(GlobalId id, CellType type, Rank owner, std::size_t n) {
    ids.push_back(id);
    types.push_back(type);
    sizes.push_back(static_cast<std::int32_t>(n));
    owners.push_back(owner);
  }
  void put_into(MessageWriter& out) const {
    out.put(ids);
    out.put(types);
    out.put(sizes);
    out.put(owners);
    out.put(nodes);
    out.put(sets);
  }
};

/// The same as it is read from a message.
struct SideColumnsView {
  std::span<const GlobalId> ids;
  std::span<const CellType> types;
  std::span<const std::int32_t> sizes;
  std::span<const Rank> owners;
  std::span<const GlobalId> nodes;
  std::span<const SetRun> sets;

  explicit SideColumnsView(MessageReader& in)  // moves on behind them
      : ids(in.get<GlobalId>()),
        types(in.get<CellType>()),
        sizes(in.get<std::int32_t>()),
        owners(in.get<Rank>()),
        nodes(in.get<GlobalId>()),
        sets(in.get<SetRun>()) {}

  /// Call `visit(place, nodes, sets)` for each entity.
  template <class Visit>
  void for_each(Visit&& visit) const {
    // Runs of one set ascend, runs of different ones interleave.
    std::vector<SetRun> sorted(sets.begin(), sets.end());
    std::ranges::sort(sorted, {}, [](const SetRun& run) { return std::tuple(run.first, run.set); });
    std::vector<SetRun> open;  // that cover the place
    std::vector<std::int32_t> of_place;
    std::size_t next = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto place = static_cast<std::int32_t>(i);
      std::erase_if(open, [&](const SetRun& run) { return run.first + run.count <= place; });
      for (; next < sorted.size() && sorted[next].first <= place; ++next) open.push_back(sorted[next]);
      of_place.clear();
      for (const SetRun& run : open) of_place.push_back(run.set);
      const auto n = static_cast<std::size_t>(sizes[i]);
      visit(i, nodes.subspan(first, n), std::span<const std::int32_t>(of_place));
      first += n;
    }
  }
};

}  // namespace barrio::mesh::detail
