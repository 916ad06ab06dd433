#include "barrio/mesh/structured.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/io/read_structured.hpp"
#include "bindings.hpp"

namespace barrio::python {

namespace {

using mesh::IndexBox;
using mesh::StructuredMesh;
using Place = std::array<std::int64_t, 3>;

/// Python's StructuredMesh: a structured mesh with its context.
struct SharedStructured {
  std::shared_ptr<mpi::Context> context;
  StructuredMesh mesh;
};
using StructuredPointer = std::shared_ptr<SharedStructured>;

/// Return the shape of an array on a box: k, j, i, as in memory.
std::array<std::size_t, 3> shape_of(const IndexBox& box) {
  std::array<std::size_t, 3> shape{};
  for (std::size_t k = 0; k < 3; ++k) shape[k] = std::max<std::int64_t>(box.extent(2 - k), 0);
  return shape;
}

nb::tuple tuple_of(const std::array<std::size_t, 3>& shape) { return nb::make_tuple(shape[0], shape[1], shape[2]); }

/// Return range(low, high) along i, j, k.
nb::tuple ranges_of(const IndexBox& box) {
  const nb::object range = nb::module_::import_("builtins").attr("range");
  return nb::make_tuple(range(box.low[0], box.high[0]), range(box.low[1], box.high[1]), range(box.low[2], box.high[2]));
}

/// Give numpy an array of its own, shape (k, j, i) or (k, j, i, width).
template <class T>
nb::ndarray<nb::numpy, T> shaped(std::vector<T> values, const IndexBox& box, std::size_t width = 1) {
  const auto [k, j, i] = shape_of(box);
  const std::array<std::size_t, 4> shape{k, j, i, width};
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  void* const first = const_cast<void*>(address(kept->data()));
  const nb::capsule owner(kept.get(), [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
  kept.release();
  return nb::ndarray<nb::numpy, T>(first, width == 1 ? 3 : 4, shape.data(), owner);
}

template <class T, class ValueAt>
nb::ndarray<nb::numpy, T> tabulated(const IndexBox& box, const ValueAt& value_at) {
  std::vector<T> values(box.size());
  for (std::size_t p = 0; p < values.size(); ++p) values[p] = static_cast<T>(value_at(box.at(p)));
  return shaped(std::move(values), box);
}

using Along = std::array<std::vector<double>, 3>;

StructuredPointer make_structured(const CommArgument& comm, const Place& n, const std::array<double, 3>& low,
                                  const std::array<double, 3>& high, const std::optional<Along>& along,
                                  const std::array<bool, 3>& periodic, const std::string& decomposition,
                                  int ghost_layers) {
  const mesh::Decomposition cut = mesh::decomposition_of(decomposition);
  return in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    StructuredMesh mesh(*context, {.n = n,
                                   .low = low,
                                   .high = high,
                                   .along = along.value_or(Along{}),
                                   .is_periodic = periodic,
                                   .decomposition = cut,
                                   .ghost_layers = ghost_layers});
    return std::make_shared<SharedStructured>(std::move(context), std::move(mesh));
  });
}

nb::tuple read_structured(const CommArgument& comm, const std::filesystem::path& path,
                          const std::vector<std::string>& fields, const std::string& decomposition, int ghost_layers,
                          int step) {
  const mesh::Decomposition cut = mesh::decomposition_of(decomposition);
  std::vector<io::StructuredField> found;
  const StructuredPointer shared = in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    io::StructuredGrid grid = io::read_structured(
        *context, path.string(), {.decomposition = cut, .ghost_layers = ghost_layers, .fields = fields, .step = step});
    found = std::move(grid.fields);
    return std::make_shared<SharedStructured>(std::move(context), std::move(grid.mesh));
  });
  nb::dict values;
  for (io::StructuredField& field : found)
    values[field.name.c_str()] = shaped(std::move(field.values), shared->mesh.own_vertices());
  return nb::make_tuple(shared, values);
}

template <class T>
using Values = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

/// Return the components of an array. @throws Error{usage} unless it has the shape of the cells, with at most one more
/// axis
int components_of(const IndexBox& box, const nb::ndarray<>& values) {
  const std::array<std::size_t, 3> wanted = shape_of(box);
  std::vector<std::size_t> found;
  for (std::size_t d = 0; d < values.ndim(); ++d) found.push_back(values.shape(d));
  const bool fits = (found.size() == 3 || found.size() == 4) && std::equal(wanted.begin(), wanted.end(), found.begin());
  if (!fits)
    throw_usage(
        "values", fmt::format("have the shape ({})", fmt::join(found, ", ")),
        fmt::format("cells have the shape ({}), with an optional last axis for components", fmt::join(wanted, ", ")));
  return found.size() == 4 ? static_cast<int>(found[3]) : 1;
}

template <class T>
void exchange(SharedStructured& self, const Values<T>& values) {
  const int n_components = components_of(self.mesh.local_cells(), nb::ndarray<>(values));
  const nb::gil_scoped_release unlocked;
  self.mesh.exchange(std::span<T>(values.data(), values.size()), n_components);
}

MeshPointer to_mesh(SharedStructured& self, int ghost_layers) {
  const nb::gil_scoped_release unlocked;
  return std::make_shared<SharedMesh>(self.context,
                                      mesh::Mesh(*self.context, self.mesh.to_tables(), {.ghost_layers = ghost_layers}));
}

}  // namespace

void bind_structured(nb::module_& module) {
  using namespace nb::literals;
  const std::array<bool, 3> open{false, false, false};
  const std::array<double, 3> zero{0.0, 0.0, 0.0};
  const std::array<double, 3> one{1.0, 1.0, 1.0};
  nb::class_<SharedStructured> shared(
      module, "StructuredMesh",
      R"(Hexes in a regular index space, one box per rank. Connectivity, sharing and ghosts are computed, not stored.

Indices count along i, j, k; arrays have the axes k, j, i. The global id of a vertex or cell is its position in the
whole grid. Along a periodic axis the last vertex is the first one.)");
  shared
      .def(nb::new_(&make_structured), "comm"_a, "n"_a = Place{8, 8, 8}, nb::kw_only(), "low"_a = zero, "high"_a = one,
           "along"_a = nb::none(), "periodic"_a = open, "decomposition"_a = "sqijk", "ghost_layers"_a = 0,
           R"(Cut n[0] x n[1] x n[2] cells into one box per rank. Collective over comm.

`along` has the coordinates of the n + 1 vertices along each axis, or an empty list for even spacing.
Decompositions: alljorkori, alljkbal, sqij, sqjk, sqijk.)")
      .def_prop_ro(
          "n", [](const SharedStructured& self) { return self.mesh.options().n; }, "Number of cells along i, j, k.")
      .def_prop_ro(
          "periodic", [](const SharedStructured& self) { return self.mesh.options().is_periodic; },
          "Along i, j, k: the last vertex is the first one.")
      .def_prop_ro(
          "ghost_layers", [](const SharedStructured& self) { return self.mesh.options().ghost_layers; },
          "Layers of ghost cells around the own cells.")
      .def_prop_ro(
          "decomposition",
          [](const SharedStructured& self) { return std::string(mesh::name(self.mesh.options().decomposition)); },
          "How the grid was cut into boxes.")
      .def_prop_ro(
          "grid", [](const SharedStructured& self) { return self.mesh.grid(); },
          "Number of boxes along i, j, k, one for each rank. Ranks beyond their product have no cells.")
      .def_prop_ro(
          "own_cells", [](const SharedStructured& self) { return ranges_of(self.mesh.own_cells()); },
          nb::sig("def own_cells(self) -> tuple[range, range, range]"), "Own cells, as indices along i, j, k.")
      .def_prop_ro(
          "local_cells", [](const SharedStructured& self) { return ranges_of(self.mesh.local_cells()); },
          nb::sig("def local_cells(self) -> tuple[range, range, range]"),
          "Own cells and ghosts. Beyond the ends of a periodic axis, indices continue.")
      .def_prop_ro(
          "own_vertices", [](const SharedStructured& self) { return ranges_of(self.mesh.own_vertices()); },
          nb::sig("def own_vertices(self) -> tuple[range, range, range]"), "Vertices of the own cells.")
      .def_prop_ro(
          "cell_shape", [](const SharedStructured& self) { return tuple_of(shape_of(self.mesh.local_cells())); },
          nb::sig("def cell_shape(self) -> tuple[int, int, int]"),
          "Shape (k, j, i) of an array on the local cells, as `exchange` expects.")
      .def_prop_ro(
          "vertex_shape", [](const SharedStructured& self) { return tuple_of(shape_of(self.mesh.own_vertices())); },
          nb::sig("def vertex_shape(self) -> tuple[int, int, int]"), "Shape (k, j, i) of an array on the own vertices.")
      .def_prop_ro(
          "inside",
          [](const SharedStructured& self) {
            const IndexBox own = self.mesh.own_cells().empty() ? IndexBox{} : self.mesh.own_cells();
            const IndexBox local = self.mesh.local_cells();
            const nb::object slice = nb::module_::import_("builtins").attr("slice");
            const auto along = [&](std::size_t k) {
              return slice(own.low[k] - local.low[k], own.high[k] - local.low[k]);
            };
            return nb::make_tuple(along(2), along(1), along(0));
          },
          nb::sig("def inside(self) -> tuple[slice, slice, slice]"),
          "Slices of the own cells in an array on the local cells: `values[mesh.inside]`.")
      .def_prop_ro(
          "neighbours",
          [](const SharedStructured& self) {
            std::vector<Rank> ranks;
            for (const StructuredMesh::Neighbour& neighbour : self.mesh.neighbours())
              if (neighbour.rank != self.context->rank() && (ranks.empty() || ranks.back() != neighbour.rank))
                ranks.push_back(neighbour.rank);
            return copied(std::move(ranks));
          },
          nb::rv_policy::automatic, "Ranks that share a vertex with this one, ascending.")
      .def(
          "cell_ids",
          [](const SharedStructured& self) {
            return tabulated<std::int64_t>(self.mesh.local_cells(),
                                           [&](const Place& at) { return value(self.mesh.cell_id(at)); });
          },
          "Return the global ids of the local cells, shape cell_shape.")
      .def(
          "vertex_ids",
          [](const SharedStructured& self) {
            return tabulated<std::int64_t>(self.mesh.own_vertices(),
                                           [&](const Place& at) { return value(self.mesh.vertex_id(at)); });
          },
          "Return the global ids of the own vertices, shape vertex_shape.")
      .def(
          "vertex_owners",
          [](const SharedStructured& self) {
            return tabulated<std::int32_t>(self.mesh.own_vertices(),
                                           [&](const Place& at) { return self.mesh.owner(at); });
          },
          "Return the rank that owns each of the own vertices, shape vertex_shape.")
      .def(
          "coordinates",
          [](const SharedStructured& self) {
            return shaped(self.mesh.make_coordinates(), self.mesh.own_vertices(), 3);
          },
          "Return the coordinates of the own vertices, shape (*vertex_shape, 3).")
      .def(
          "n_shared_vertices", [](const SharedStructured& self) { return self.mesh.n_shared_vertices(); },
          "Count the own vertices that other ranks have too.")
      .def("exchange", &exchange<double>, "values"_a.noconvert(),
           "Update the ghosts of cell values, in place. Shape cell_shape, with an optional last axis for components. "
           "All ranks take part; messages go to neighbours only.")
      .def("exchange", &exchange<float>, "values"_a.noconvert(), "Update ghosts of float32 numbers.")
      .def("exchange", &exchange<std::int32_t>, "values"_a.noconvert(), "Update ghosts of int32 numbers.")
      .def("exchange", &exchange<std::int64_t>, "values"_a.noconvert(), "Update ghosts of int64 numbers.")
      .def("to_mesh", &to_mesh, nb::kw_only(), "ghost_layers"_a = 0,
           "Return the same cells as an unstructured `Mesh`, with the ranks' boxes as parts. Collective. Raises "
           "UsageError if an axis is periodic.")
      .def(
          "validate",
          [](SharedStructured& self) {
            const nb::gil_scoped_release unlocked;
            self.mesh.validate();
          },
          "Check that both sides of each pair of neighbours see the same shared vertices and ghosts. Collective.")
      .def_prop_ro(
          "memory_bytes", [](const SharedStructured& self) { return self.mesh.memory_bytes(); },
          "Bytes that the mesh holds on this rank, without the buffers of `exchange`.")
      .def("__repr__", [](const SharedStructured& self) {
        const mesh::StructuredOptions& options = self.mesh.options();
        return fmt::format("<barrio.StructuredMesh: {} cells in {} boxes; rank {} of {} owns {}>",
                           fmt::join(options.n, " x "), fmt::join(self.mesh.grid(), " x "), self.context->rank(),
                           self.context->size(), self.mesh.own_cells().size());
      });
  module.def(
      "read_structured", &read_structured, "comm"_a, "path"_a, nb::kw_only(),
      "fields"_a = std::vector<std::string>{"*"}, "decomposition"_a = "sqijk", "ghost_layers"_a = 0, "step"_a = 0,
      nb::sig("def read_structured(comm: mpi4py.MPI.Comm, path: str | os.PathLike, *, fields: "
              "collections.abc.Sequence[str] = ['*'], decomposition: str = 'sqijk', ghost_layers: int = 0, step: int = "
              "0) -> "
              "tuple[StructuredMesh, dict[str, numpy.typing.NDArray[numpy.float64]]]"),
      R"(Read a netCDF grid of longitudes, latitudes and levels (CF conventions) as a structured mesh. Collective over comm.

Returns the mesh and the fields by name, each of shape vertex_shape; NaN where the file has no value. Longitudes
around the whole globe make the mesh periodic along i. `step` is the time step to read, from 1; 0: the last. Raises the same BadInputError on all ranks; UsageError for an
unknown field.)");
}

}  // namespace barrio::python
