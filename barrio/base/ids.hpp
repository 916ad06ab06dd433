#pragma once

/// @file Strong types for ranks, local ids and global ids.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace barrio {

/// Process number in a communicator, 0-based, as in MPI.
using Rank = int;

/// Index of an entity in the arrays of one rank, 0-based. It never leaves that rank.
enum class LocalId : std::int32_t {};

/// Number of an entity in the whole distributed object, 0-based. The same on every rank.
enum class GlobalId : std::int64_t {};

inline constexpr LocalId no_local_id{-1};    ///< no entity on this rank
inline constexpr GlobalId no_global_id{-1};  ///< no entity

/// Convert an id to a subscript. @pre the id is not negative
constexpr std::size_t index(LocalId id) noexcept { return static_cast<std::size_t>(id); }
/// Convert a global id to a subscript, of an array that all ids index. @pre the id is not negative
constexpr std::size_t index(GlobalId id) noexcept { return static_cast<std::size_t>(id); }

/// Convert a subscript to an id.
constexpr LocalId local_id(std::size_t i) noexcept { return LocalId{static_cast<std::int32_t>(i)}; }
/// Convert a subscript, of an array that all ids index, to a global id.
constexpr GlobalId global_id(std::size_t i) noexcept { return GlobalId{static_cast<std::int64_t>(i)}; }

/// Return the id as a number; -1 of `no_local_id`.
constexpr std::int32_t value(LocalId id) noexcept { return static_cast<std::int32_t>(id); }
/// Return the id as a number; -1 of `no_global_id`.
constexpr std::int64_t value(GlobalId id) noexcept { return static_cast<std::int64_t>(id); }

constexpr GlobalId operator+(GlobalId id, std::int64_t n) noexcept { return GlobalId{value(id) + n}; }
constexpr LocalId operator+(LocalId id, std::int32_t n) noexcept { return LocalId{value(id) + n}; }

}  // namespace barrio
