#pragma once

/// @file Data that a program keeps for entities of a mesh, and that moves with them.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh {

/// Data that a program keeps outside the mesh for entities of one dimension, and that must go where they go: particles
/// of cells, histories of vertices, objects. See `Mesh::migrate`.
struct Payload {
  Dim dim = Dim::volume;  ///< of the entities that have data
  /// Append the data of an owned entity, any number of bytes. Called once for each, before anything moves.
  std::function<void(LocalId, std::vector<std::byte>&)> pack;
  /// Take the data that the owner packed. Called once for each local entity of the changed mesh, owned or copy, by
  /// ascending local id. The bytes are borrowed, and aligned as bytes only.
  std::function<void(LocalId, std::span<const std::byte>)> unpack;
};

}  // namespace barrio::mesh
