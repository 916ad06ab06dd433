#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/ragged.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh::detail {

/// Listed entities to send to a rank, as columns.
struct SideColumns {
  std::vector<GlobalId> ids;
  std::vector<CellType> types;
  std::vector<std::int32_t> sizes;
  std::vector<Rank> owners;  ///< or another number per entity
  std::vector<GlobalId> nodes;
  std::vector<SetRun> sets;  ///< of entities by place

  /// Return the place of the entity that is added next.
  [[nodiscard]] std::int32_t next_place() const { return static_cast<std::int32_t>(ids.size()); }
  /// Begin an entity; the caller then appends its nodes.
  /// @param n  their number
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

/// Listed entities as read from a message.
struct SideColumnsView {
  std::span<const GlobalId> ids;
  std::span<const CellType> types;
  std::span<const std::int32_t> sizes;
  std::span<const Rank> owners;
  std::span<const GlobalId> nodes;
  std::span<const SetRun> sets;

  explicit SideColumnsView(MessageReader& in)  // advances the reader
      : ids(in.get<GlobalId>()),
        types(in.get<CellType>()),
        sizes(in.get<std::int32_t>()),
        owners(in.get<Rank>()),
        nodes(in.get<GlobalId>()),
        sets(in.get<SetRun>()) {}

  /// Call `visit(place, nodes, sets)` for each entity. Cost: O(entities + memberships)
  template <class Visit>
  void for_each(Visit&& visit) const {
    const auto sets_of = Ragged<std::int32_t>::grouped(ids.size(), [&](auto&& put) {
      for (const SetRun& run : sets)
        for (std::int32_t i = run.first; i < run.first + run.count; ++i) put(i, run.set);
    });
    std::size_t first = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t n = sizes[i];
      visit(i, nodes.subspan(first, n), sets_of[i]);
      first += n;
    }
  }
};

}  // namespace barrio::mesh::detail
