#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Local ids that shared entities of one dimension have on the ranks that share them: made when asked for, gone when
/// destroyed. For programs that write into each other's arrays, or number unknowns by (rank, local id).
class RemoteIds {
 public:
  /// Collective. The mesh is used during the call only.
  /// Cost: one neighbourhood round, 4 bytes for each shared entity and sharer; no global id travels, since both sides
  /// know what they share
  RemoteIds(const Mesh& mesh, Dim dim);

  /// Local ids on the sharers, one for each in `sharers_of(i)`, this rank included. @param i  place in `shared`
  [[nodiscard]] std::span<const LocalId> of(std::size_t i) const& noexcept {
    return std::span<const LocalId>(ids_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  std::span<const LocalId> of(std::size_t i) const&& = delete;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  std::vector<std::size_t> offsets_{0};
  std::vector<LocalId> ids_;
};

}  // namespace barrio::mesh
