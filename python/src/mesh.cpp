#include "barrio/mesh/mesh.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/balance.hpp"
#include "bindings.hpp"
#include "integers.hpp"

namespace barrio::python {
namespace {

using mesh::CellType;
using mesh::EntityTable;
using mesh::SetKind;

/// Python's MeshSet: keeps its mesh alive.
struct SharedSet {
  MeshPointer owner;
  const mesh::MeshSet* set;
};

/// Check a dimension: an invalid number would read beyond a table.
Dim checked(Dim dim, Dim lowest = Dim::vertex) {
  if (value(dim) < value(lowest) || value(dim) > value(Dim::volume))
    throw_usage(fmt::format("dimension {}", value(dim)), fmt::format("is not in {} .. 3", value(lowest)));
  return dim;
}

mesh::Mesh& mesh_of(nb::handle self) { return nb::cast<SharedMesh&>(self).mesh(); }

/// Return the vertices of the entities: a row for each, or offsets and vertices if their number varies.
nb::object connectivity(nb::handle self, Dim dim) {
  auto& shared = nb::cast<SharedMesh&>(self);
  const EntityTable& table = shared.mesh().entities(dim);
  if (const int width = shared.width(dim); width > 0)
    return nb::cast(ReadOnly<LocalId, nb::ndim<2>>(address(table.nodes.data()),
                                                   {table.size(), static_cast<std::size_t>(width)}, self));
  return nb::make_tuple(view(self, shared.offsets(dim)), view(self, table.nodes));
}

/// Return the types of the entities. A single type is shown to numpy with stride 0.
ReadOnly<CellType, nb::ndim<1>> types(nb::handle self, const EntityTable& table) {
  const std::size_t size = table.size();
  return {address(table.types.data()), {size}, self, {table.has_one_type && size > 1 ? 0 : 1}};
}

nb::slice slice(mesh::LocalRange range) {
  return nb::slice(static_cast<Py_ssize_t>(index(range.first)), static_cast<Py_ssize_t>(index(range.last)));
}

MeshPointer migrated(SharedMesh& self, const Integers<std::int32_t>& to) {
  if (const auto field = self.travelling_field())
    throw_usage(fmt::format("field '{}'", *field), "is being exchanged", "call end_exchange() first");
  const std::vector<Rank> ranks = taken<Rank>(*self.context(), to, "to");
  const nb::gil_scoped_release unlocked;
  return std::make_shared<SharedMesh>(self.context(), self.mesh().moved(ranks));
}

void bind_enumerations(nb::module_& module) {
  nb::enum_<Dim>(module, "Dim", nb::is_arithmetic(), "Dimension of an entity.")
      .value("vertex", Dim::vertex)
      .value("edge", Dim::edge)
      .value("face", Dim::face)
      .value("volume", Dim::volume);
  nb::enum_<SetKind>(module, "SetKind", "Meaning of a set of entities.")
      .value("material", SetKind::material)
      .value("dirichlet", SetKind::dirichlet)
      .value("neumann", SetKind::neumann)
      .value("geometry", SetKind::geometry)
      .value("other", SetKind::other);
  nb::enum_<CellType> cell_type(module, "CellType", nb::is_arithmetic(),
                                "Topology of an entity; the numbers in `Mesh.cell_types`.");
  for (int i = 0; i < mesh::n_cell_types; ++i) {
    const auto type = static_cast<CellType>(i);
    cell_type.value(mesh::topology(type).name.data(), type);
  }
}

void bind_set(nb::module_& module) {
  nb::class_<SharedSet>(module, "MeshSet", "A named set of entities and its members on this rank.")
      .def_prop_ro(
          "kind", [](const SharedSet& self) { return self.set->info.kind; },
          "What the members are: material, boundary condition, geometry or other.")
      .def_prop_ro(
          "id", [](const SharedSet& self) { return self.set->info.id; }, "The number that users know the set by.")
      .def_prop_ro(
          "name", [](const SharedSet& self) { return self.set->info.name; }, "May be empty.")
      .def_prop_ro(
          "vertices",
          [](nb::handle_t<SharedSet> self) { return copied(nb::cast<const SharedSet&>(self).set->vertices.ids()); },
          nb::rv_policy::automatic, "Local ids of member vertices, copies included.")
      .def(
          "entities",
          [](nb::handle_t<SharedSet> self, Dim dim) {
            const mesh::MeshSet& set = *nb::cast<const SharedSet&>(self).set;
            return copied(set.entities[value(checked(dim, Dim::edge))].ids());
          },
          nb::arg("dim"), "Return the local ids of members of a dimension from 1 to 3; for cells, ghosts included.")
      .def("__repr__", [](const SharedSet& self) {
        return fmt::format("<barrio.MeshSet {} {} '{}'>", mesh::name(self.set->info.kind), self.set->info.id,
                           self.set->info.name);
      });
}

}  // namespace

void bind_mesh(nb::module_& module) {
  bind_enumerations(module);
  bind_set(module);
  nb::class_<SharedMesh> shared(
      module, "Mesh",
      R"(A mesh distributed over the ranks of a communicator. Made by `read`, by `box`, or from arrays.

Local order of entities: interior, fringe (needs ghosts), ghosts grouped by owner. Arrays are views of the mesh's own
memory and keep the mesh alive; they are read-only, except for the values of fields. Owners and members of sets are
copies, since the mesh stores them compressed.)");
  using Self = nb::handle_t<SharedMesh>;
  shared
      .def_prop_ro(
          "cell_dim", [](SharedMesh& self) { return self.mesh().cell_dim(); },
          "Dimension of the cells: face or volume.")
      .def_prop_ro(
          "ghost_layers", [](SharedMesh& self) { return self.mesh().ghost_layers(); },
          "Layers of ghost cells that were asked for.")
      .def(
          "n_local", [](SharedMesh& self, Dim dim) { return self.mesh().n_local(checked(dim)); }, nb::arg("dim"),
          "Count the entities this rank holds, ghosts included.")
      .def(
          "n_owned", [](SharedMesh& self, Dim dim) { return self.mesh().n_owned(checked(dim)); }, nb::arg("dim"),
          "Count the entities that this rank owns; they come first in all arrays.")
      .def(
          "n_ghost", [](SharedMesh& self, Dim dim) { return self.mesh().n_ghost(checked(dim)); }, nb::arg("dim"),
          "Count the copies of entities that other ranks own. For vertices: on the interface or beyond it.")
      .def(
          "n_global", [](SharedMesh& self, Dim dim) { return self.mesh().n_global(checked(dim)); }, nb::arg("dim"),
          "Return the number of entities of the whole mesh. Local.")
      .def_prop_ro(
          "n_parts", [](SharedMesh& self) { return self.mesh().n_parts(); }, "Number of parts of the whole mesh.")
      .def_prop_ro(
          "parts", [](SharedMesh& self) { return slice(self.mesh().parts()); },
          "Parts this rank holds, as a slice of 0 .. n_parts - 1.")
      .def_prop_ro(
          "coordinates",
          [](Self self) {
            const auto& x = mesh_of(self).vertices().coordinates;
            return nb::ndarray<nb::numpy, const double, nb::shape<-1, 3>>(address(x.data()), {x.size() / 3, 3}, self);
          },
          "Coordinates of all local vertices, shape (n_local(vertex), 3), in model units.")
      .def(
          "global_ids", [](Self self, Dim dim) { return view(self, mesh_of(self).global_ids(checked(dim))); },
          nb::arg("dim"), "Return the number of each local entity that is the same on all ranks.")
      .def(
          "owners",
          [](Self self, Dim dim) {
            const mesh::Mesh& mesh = mesh_of(self);
            return copied(
                (dim == Dim::vertex ? mesh.vertices().owners : mesh.entities(checked(dim)).owners).to_vector());
          },
          nb::arg("dim"), "Return the rank that owns each local entity.")
      .def_prop_ro(
          "cells", [](Self self) { return connectivity(self, mesh_of(self).cell_dim()); },
          nb::sig("def cells(self) -> numpy.typing.NDArray[numpy.int32] | tuple[numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.int32]]"),
          "Vertices of the cells, by local id: shape (n, k) if all cells on all ranks have k, else (offsets, "
          "vertices).")
      .def(
          "connectivity", [](Self self, Dim dim) { return connectivity(self, checked(dim, Dim::edge)); },
          nb::arg("dim"),
          nb::sig("def connectivity(self, dim: Dim) -> numpy.typing.NDArray[numpy.int32] | "
                  "tuple[numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.int32]]"),
          "Return the vertices of the entities of a dimension from 1 to 3, in the form of `cells`. Below the cells' "
          "dimension only those that the file lists.")
      .def_prop_ro(
          "cell_types", [](Self self) { return types(self, mesh_of(self).cells()); }, "`CellType` of each local cell.")
      .def_prop_ro(
          "cell_parts", [](Self self) { return view(self, mesh_of(self).cell_parts()); }, "Part of each local cell.")
      .def(
          "interior", [](SharedMesh& self, Dim dim) { return slice(self.mesh().interior(checked(dim))); },
          nb::arg("dim"), "Return the owned entities that can be computed before ghosts arrive.")
      .def(
          "fringe", [](SharedMesh& self, Dim dim) { return slice(self.mesh().fringe(checked(dim))); }, nb::arg("dim"),
          "Return the owned entities that need ghosts.")
      .def_prop_ro(
          "neighbours", [](Self self) { return view(self, mesh_of(self).neighbours()); },
          "Ranks that share a vertex with this one, ascending.")
      .def_prop_ro(
          "sets",
          [](const MeshPointer& self) {
            std::vector<SharedSet> sets;
            for (const mesh::MeshSet& set : self->mesh().sets()) sets.push_back({self, &set});
            return sets;
          },
          "All sets: the same list on every rank, with this rank's members.")
      .def(
          "set",
          [](const MeshPointer& self, SetKind kind, std::string_view name) {
            return SharedSet{self, &self->mesh().set(kind, name)};
          },
          nb::arg("kind"), nb::arg("name"),
          "Return the set of this kind and name. Raises UsageError with \"did you mean\" if it does not exist, and "
          "with "
          "their ids if there are several: `[s for s in mesh.sets if s.id == id]`.")
      .def("migrate", &migrated, nb::arg("to"),
           nb::sig("def migrate(self, to: numpy.typing.NDArray[numpy.int32]) -> Mesh"),
           R"(Make a mesh with the cells moved to other ranks, with their sets, tags and fields. Collective.

`to` has a rank for each owned cell. This mesh remains, since arrays may refer to it, with the copies of its fields
updated; drop it to free its memory.)")
      .def(
          "balanced_ranks",
          [](SharedMesh& self, const std::optional<Integers<std::int64_t>>& weights, const std::string& method,
             bool keep) {
            std::vector<Rank> ranks;
            std::vector<std::int64_t> all;
            if (weights) all = taken<std::int64_t>(*self.context(), *weights, "weights");
            {
              const nb::gil_scoped_release unlocked;
              ranks = mesh::balanced_ranks(self.mesh(), {.weights = all, .method = method, .keep = keep});
            }
            return copied(std::move(ranks));
          },
          nb::arg("weights") = nb::none(), nb::arg("method") = "rcb", nb::arg("keep") = true,
          nb::sig("def balanced_ranks(self, weights: numpy.typing.NDArray[numpy.int64] | None = None, "
                  "method: str = 'rcb', keep: bool = True) -> numpy.typing.NDArray[numpy.int32]"),
          R"(Return a rank for each owned cell, for `migrate`, so that all ranks get the same weight. Collective.

Without `weights` all cells have the same weight. `method` is `rcb` or `hilbert` (by centres), `metis` or `ptscotch`
(by cells with a common side: a smaller interface, for more time). Each rank keeps the part of which it has most
already, unless `keep` is false: then part p goes to rank p.)")
      .def(
          "checksum",
          [](SharedMesh& self) {
            const nb::gil_scoped_release unlocked;
            return self.mesh().checksum();
          },
          "Return a hash of the owned mesh. Collective. Does not depend on the rank count or on ghosts.")
      .def(
          "validate",
          [](SharedMesh& self) {
            const nb::gil_scoped_release unlocked;
            self.mesh().validate();
          },
          "Check all invariants of the mesh. Collective. Raises Error on all ranks with the first broken one.")
      .def(
          "to_pyvista",
          [](nb::handle_t<SharedMesh> self, bool ghosts) {
            return nb::module_::import_("barrio._pyvista").attr("to_pyvista")(self, ghosts);
          },
          nb::kw_only(), nb::arg("ghosts") = false,
          nb::sig("def to_pyvista(self, *, ghosts: bool = False) -> pyvista.UnstructuredGrid"),
          R"(Return this rank's own cells as a pyvista grid, with fields and tags as point and cell arrays. Local.

More arrays: `global_id`, `part`, `material`. With `ghosts` the grid has ghost cells too, marked in `vtkGhostType`,
and the array `owner`. Where a tag has no value, its default stands, or NaN. Second-order cells are shown by their
corners, with a warning. A rank without cells gets an empty grid.)")
      .def(
          "plot",
          [](nb::handle_t<SharedMesh> self, const std::optional<std::string>& field, const nb::object& path,
             bool ghosts) { nb::module_::import_("barrio._pyvista").attr("plot")(self, field, path, ghosts); },
          nb::arg("field") = nb::none(), nb::kw_only(), nb::arg("path") = nb::none(), nb::arg("ghosts") = false,
          nb::sig("def plot(self, field: str | None = None, *, path: str | os.PathLike | None = None, ghosts: bool = "
                  "False) -> None"),
          R"(Draw this rank's own cells with pyvista, coloured by a field or tag, in a window or notebook. Local.

With `path` a PNG file is written instead. For whole files of any size, `barrio show` makes a page.)")
      .def(
          "_repr_html_",
          [](nb::handle_t<SharedMesh> self) {
            return nb::cast<std::string>(nb::module_::import_("barrio._pyvista").attr("html")(self));
          },
          "Return a table of counts, sets and fields, for notebooks. Local.")
      .def_prop_ro(
          "memory_bytes", [](SharedMesh& self) { return self.mesh().memory_bytes(); },
          "Bytes of memory on this rank for the mesh and its fields.")
      .def("__repr__", [](SharedMesh& self) {
        const mesh::Mesh& mesh = self.mesh();
        return fmt::format("<barrio.Mesh: {} vertices, {} cells in {} parts; rank {} of {} owns {} and {}>",
                           mesh.n_global(Dim::vertex), mesh.n_global(mesh.cell_dim()), mesh.n_parts(),
                           mesh.context().rank(), mesh.context().size(), mesh.n_owned(Dim::vertex),
                           mesh.n_owned(mesh.cell_dim()));
      });
  bind_arrays(shared);
  bind_field(module, shared);
  bind_tags(module, shared);
  bind_sides(module, shared);
  bind_local(module, shared);
}

}  // namespace barrio::python
