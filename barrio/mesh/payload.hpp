#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh {

/// What a program keeps outside the mesh for entities of one dimension, and what shall go where they go: particles of
/// cells, histories of vertices, objects. See `Mesh::migrate`.
struct Payload {
  Dim dim = Dim::volume;
  /// Append what belongs to an owned entity, any number of bytes. Called once for each, before anything moves.
  std::function<void(LocalId, std::vector<std::byte>&)> pack;
  /// Take what the owner packed. Called once for each local entity of the mesh that has changed, by ascending local id:
  /// for owned ones and for copies. The bytes are borrowed, and aligned for bytes alone.
  std::function<void(LocalId, std::span<const std::byte>)> unpack;
};

}  // namespace barrio::mesh
