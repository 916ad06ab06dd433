#include "barrio/mesh/sides.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/adjacency.hpp"
#include "barrio/mesh/remote_ids.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "integers.hpp"

namespace barrio::python {
namespace {

/// Python's Sides: all faces or edges of a mesh, which they keep alive.
struct SharedSides {
  MeshPointer owner;
  mesh::Sides sides;

  SharedSides(MeshPointer mesh, Dim dim) : owner(std::move(mesh)), sides(make(*owner, dim)) {}

 private:
  static mesh::Sides make(SharedMesh& mesh, Dim dim) {
    const nb::gil_scoped_release unlocked;
    return {mesh.mesh(), dim};
  }
};

/// Convert ids of cells. Collective: all ranks refuse a wrong id on one rank.
mesh::Range range_of(const Integers<std::int32_t>& ids, mesh::Mesh& mesh) {
  const auto all = taken<std::int32_t>(mesh.context(), ids, "cells");
  const std::size_t n_local = mesh.cells().size();
  const nb::gil_scoped_release unlocked;
  std::vector<LocalId> list;
  agree_after(mesh.context(), [&] {
    for (const std::int32_t id : all) {
      if (id < 0 || static_cast<std::size_t>(id) >= n_local)
        throw Error(ErrorCode::usage, {.subject = fmt::format("cell {}", id),
                                       .cause = fmt::format("is not one of the {} local cells", n_local),
                                       .remedy = "name cells by local id"});
      list.push_back(LocalId{id});
    }
  });
  return mesh::Range::of(list);
}

/// Return the lists of n entities in compressed form: offsets and concatenated items.
template <class T, class Of>
nb::tuple compressed(std::size_t n, Of&& of) {
  std::vector<std::int64_t> offsets{0};
  std::vector<T> items;
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const T> some = of(i);
    items.insert(items.end(), some.begin(), some.end());
    offsets.push_back(items.size());
  }
  return nb::make_tuple(copied(std::move(offsets)), copied(std::move(items)));
}

void check_dim(Dim dim) {
  if (dim < Dim::vertex || dim > Dim::volume) throw_usage(fmt::format("dimension {}", value(dim)), "is not in 0 .. 3");
}

const mesh::Sharing& sharing_of(SharedMesh& self, Dim dim) {
  check_dim(dim);
  return self.mesh().sharing(dim);
}

}  // namespace

void bind_sides(nb::module_& module, nb::class_<SharedMesh>& shared) {
  using Self = nb::handle_t<SharedSides>;
  const auto sides_of = [](Self self) -> const mesh::Sides& { return nb::cast<const SharedSides&>(self).sides; };
  nb::class_<SharedSides>(module, "Sides",
                          R"(All faces, or all edges, of a mesh's cells, ghosts included, with global ids and owners.

The constructor is collective. Global ids do not depend on the rank count.)")
      .def(nb::init<MeshPointer, Dim>(), nb::arg("mesh"), nb::arg("dim"))
      .def_prop_ro(
          "dim", [](const SharedSides& self) { return self.sides.dim(); }, "Dimension of the sides: edge or face.")
      .def_prop_ro(
          "n_local", [](const SharedSides& self) { return self.sides.table().size(); },
          "Number of sides of this rank's cells, ghosts included.")
      .def_prop_ro(
          "n_owned", [](const SharedSides& self) { return self.sides.table().n_owned; },
          "Number that this rank owns; they come first.")
      .def_prop_ro(
          "n_global", [](const SharedSides& self) { return self.sides.table().n_global; },
          "Number of sides of the whole mesh.")
      .def_prop_ro(
          "global_ids", [sides_of](Self self) { return view(self, sides_of(self).table().global_ids); },
          "Number of each side that is the same on all ranks.")
      .def_prop_ro(
          "owners", [sides_of](Self self) { return copied(sides_of(self).table().owners.to_vector()); },
          nb::rv_policy::automatic, "The rank that owns each local side.")
      .def_prop_ro(
          "corners",
          [sides_of](Self self) {
            return compressed<LocalId>(sides_of(self).table().size(),
                                       [&](std::size_t i) { return sides_of(self).table().nodes_of(i); });
          },
          "Corners of the local sides, by local id, in the same order on all ranks: (offsets, vertices).")
      .def_prop_ro(
          "of_cells",
          [sides_of](Self self) {
            const std::size_t n_cells = nb::cast<const SharedSides&>(self).owner->mesh().cells().size();
            return compressed<LocalId>(n_cells, [&](std::size_t i) { return sides_of(self).of_cell(i); });
          },
          "Sides of the local cells, in the order of their topology: (offsets, sides).")
      .def(
          "skin",
          [](const SharedSides& self, const Integers<std::int32_t>& cells) {
            mesh::Mesh& mesh = self.owner->mesh();
            const mesh::Range some = range_of(cells, mesh);
            std::vector<LocalId> found;
            {
              const nb::gil_scoped_release unlocked;
              found = mesh::skin(mesh, self.sides, some).ids();
            }
            return copied(std::move(found));
          },
          nb::arg("cells"),
          nb::sig("def skin(self, cells: numpy.typing.NDArray[numpy.int32]) -> numpy.typing.NDArray[numpy.int32]"),
          "Return the boundary of a set of cells: the sides that exactly one of them has, over all ranks. Collective. "
          "`cells` are this rank's members, by local id.")
      .def("__repr__", [](const SharedSides& self) {
        return fmt::format("<barrio.Sides of dimension {}: {} in all, {} here>", value(self.sides.dim()),
                           self.sides.table().n_global, self.sides.table().size());
      });
  shared
      .def(
          "shared",
          [](nb::handle_t<SharedMesh> self, Dim dim) {
            return view(self, sharing_of(nb::cast<SharedMesh&>(self), dim).shared);
          },
          nb::arg("dim"), "Return the local ids of entities that other ranks' cells use too, ascending.")
      .def(
          "sharers",
          [](SharedMesh& self, Dim dim) {
            const mesh::Sharing& sharing = sharing_of(self, dim);
            return compressed<Rank>(sharing.shared.size(), [&](std::size_t i) { return sharing.sharers_of(i); });
          },
          nb::arg("dim"), "Return the ranks that share each of `shared(dim)`, this rank included: (offsets, ranks).")
      .def(
          "remote_ids",
          [](SharedMesh& self, Dim dim) {
            check_dim(dim);
            std::optional<mesh::RemoteIds> remote;
            {
              const nb::gil_scoped_release unlocked;
              remote.emplace(self.mesh(), dim);
            }
            const std::size_t n = remote->entities().size();
            const nb::tuple ranks = compressed<Rank>(n, [&](std::size_t i) { return remote->ranks_of(i); });
            const nb::tuple ids = compressed<LocalId>(n, [&](std::size_t i) { return remote->ids_of(i); });
            return nb::make_tuple(copied(std::vector<LocalId>(remote->entities().begin(), remote->entities().end())),
                                  ranks[0], ranks[1], ids[1]);
          },
          nb::arg("dim"),
          "Return all ranks that hold each entity, owned, on the interface or as a ghost: (entities, offsets, ranks, "
          "ids). `entities` are the local ids of entities that other ranks hold too. Entity i is `ids[k]` on "
          "`ranks[k]` for k from `offsets[i]` to `offsets[i + 1]`, this rank included. Every holder knows all others. "
          "Collective.");
}

}  // namespace barrio::python
