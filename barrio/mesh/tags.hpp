#pragma once

/// @file Tags: named values on entities and sets, in tables and in a distributed mesh.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/range.hpp"

namespace barrio::mesh {

/// Type of the values of a tag.
enum class TagType : std::uint8_t {
  int32,    ///< signed
  float64,  ///< IEEE double
  entity,   ///< an EntityCode
  bytes,    ///< opaque to all but the program that made them
  bits,     ///< up to eight, in one byte
};
/// Return the name of a type, that of its enumerator, as in messages: "float64".
std::string_view name(TagType type) noexcept;

/// Storage that programs prefer for a tag: a hint that files keep.
enum class TagStorage : std::uint8_t {
  bit,     ///< a few bits for each entity
  sparse,  ///< values on few entities
  dense,   ///< values on nearly all entities of a dimension
  mesh,    ///< one value for the whole mesh
};

/// An entity or a set of the whole mesh as one number, a value of a tag: `code_of(dim, row)`, `code_of_set(set)`.
enum class EntityCode : std::int64_t {
  none = -1,  ///< no entity
};
/// Return the code of an entity, from its row in its dimension.
/// @pre 0 <= row < 2^60
constexpr EntityCode code_of(Dim dim, GlobalId row) noexcept {
  return EntityCode{std::int64_t{value(dim)} << 60 | value(row)};
}
/// Return the code of a set, from its place in MeshTables::sets.
constexpr EntityCode code_of_set(std::int32_t set) noexcept { return EntityCode{std::int64_t{4} << 60 | set}; }
/// Return a code as the number that a tag stores; -1: none.
constexpr std::int64_t value(EntityCode code) noexcept { return static_cast<std::int64_t>(code); }
/// Tell whether a code is that of a set.
constexpr bool is_set(EntityCode code) noexcept { return value(code) >> 60 == 4; }
/// Return the dimension of an entity.
/// @pre the code is neither a set nor none
constexpr Dim dim_of(EntityCode code) noexcept { return Dim{static_cast<int>(value(code) >> 60)}; }
/// Return the row of an entity in its dimension, or the place of a set.
constexpr std::int64_t row_of(EntityCode code) noexcept { return value(code) & ((std::int64_t{1} << 60) - 1); }

/// Definition of a tag; the same on every rank.
struct TagInfo {
  std::string name;                           ///< unique among the tags of a mesh
  TagType type = TagType::int32;              ///< of each component
  int n_components = 1;                       ///< number of numbers, bytes or bits in a value; 1 if lengths vary
  bool length_varies = false;                 ///< each value has its own number of components, also none
  TagStorage storage = TagStorage::dense;     ///< a hint only: see TagColumn::is_dense
  std::vector<std::byte> default_value = {};  ///< for entities without a value of their own; may be empty
  std::vector<std::byte> mesh_value = {};     ///< the value on the mesh as a whole; may be empty

  /// Return the bytes of a value, or of one component if lengths vary.
  [[nodiscard]] std::size_t value_bytes() const noexcept;
};

/// Values of a tag on some items of a list, one after the other.
struct TagItems {
  std::vector<std::int64_t> offsets = {};  ///< of the values, in bytes; empty if all have the same length
  std::vector<std::byte> bytes = {};       ///< of all values, one after the other

  /// Return the value of the i-th item that has one.
  /// @param value_bytes  of the tag
  [[nodiscard]] std::span<const std::byte> value(std::size_t i, std::size_t value_bytes) const& noexcept {
    const std::span<const std::byte> all(bytes);
    if (offsets.empty()) return all.subspan(i * value_bytes, value_bytes);
    const std::size_t first = offsets[i];
    return all.subspan(first, offsets[i + 1] - first);
  }
  /// Append the value of the next item that has one.
  /// @param length_varies  of the tag; the same in all calls
  void add(std::span<const std::byte> value, bool length_varies);
};

/// Values on rows of one table, in this rank's slab.
struct TagColumn {
  std::int32_t block = -1;              ///< place in MeshTables::blocks; -1: vertices
  bool is_dense = true;                 ///< every row has a value
  std::vector<std::int32_t> rows = {};  ///< places in the slab of rows with a value, ascending; empty if dense
  TagItems items = {};                  ///< one for each row with a value
};

/// Values on sets; the same on every rank.
struct TagOnSets {
  std::vector<std::int32_t> sets = {};  ///< ascending
  TagItems items = {};                  ///< one for each of `sets`
};

/// A tag in tables.
struct TagTable {
  TagInfo info;                         ///< the same on every rank
  std::vector<TagColumn> columns = {};  ///< of the same tables, and dense for the same ones, on every rank
  TagOnSets on_sets = {};               ///< the same on every rank
};

/// A tag in a distributed mesh.
struct MeshTag {
  /// Values on a range of local entities of one dimension, by ascending local id; copies included.
  struct Values {
    Range entities;  ///< that have a value of their own
    TagItems items;  ///< one for each of `entities`
  };
  TagInfo info;              ///< the same on every rank
  std::array<Values, 4> on;  ///< by dimension
  TagOnSets on_sets;         ///< the same on every rank

  /// Return the value of an entity: its own, else the tag's default, else nothing. Cost: O(runs of the range).
  [[nodiscard]] std::span<const std::byte> value(Dim dim, LocalId id) const& noexcept;
  /// Return the bytes of the values on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

}  // namespace barrio::mesh
