#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "integers.hpp"

namespace barrio::python {
namespace {

using mesh::CellType;
using mesh::LocalEntities;
using mesh::LocalMesh;

using GivenPoints = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

/// Python's LocalMesh: the entities that one rank owns. Arrays are copied in and out, so none refers to freed memory.
struct OwnedMesh {
  std::shared_ptr<mpi::Context> context;
  LocalMesh local;

  [[nodiscard]] LocalEntities& entities(Dim dim) {
    if (dim < Dim::edge || dim > local.cell_dim)
      throw_usage(fmt::format("entities of dimension {}", value(dim)),
                  fmt::format("do not exist in this mesh: its cells have dimension {}", value(local.cell_dim)));
    return local.entities[index(dim)];
  }
  void check(Dim dim) const {
    if (dim < Dim::vertex || dim > local.cell_dim)
      throw_usage(fmt::format("dimension {}", value(dim)), fmt::format("is not in 0 .. {}", value(local.cell_dim)));
  }
  [[nodiscard]] mesh::MeshSet& set(mesh::SetKind kind, const std::string& name) {
    std::vector<std::string> known;
    std::vector<mesh::MeshSet*> found;
    for (mesh::MeshSet& one : local.sets) {
      if (one.info.id_as(kind) && one.info.name == name) found.push_back(&one);
      known.push_back(one.info.name);
    }
    if (found.empty()) throw_usage(fmt::format("set '{}'", name), "does not exist." + did_you_mean(name, known));
    if (found.size() > 1)
      throw_usage(fmt::format("set '{}'", name), fmt::format("is one of {} of this kind and name", found.size()),
                  "give sets of one kind different names in the file");
    return *found.front();
  }
  [[nodiscard]] mesh::FieldData& field(const std::string& name, Dim dim) {
    std::vector<std::string> known;
    for (mesh::FieldData& one : local.fields) {
      if (one.name == name && one.dim == dim) return one;
      known.push_back(one.name);
    }
    throw_usage(fmt::format("field '{}'", name),
                fmt::format("does not exist on dimension {}.{}", value(dim), did_you_mean(name, known)));
  }
};

[[nodiscard]] mesh::MeshTag& tag_of(LocalMesh& local, const std::string& name) {
  std::vector<std::string> known;
  for (mesh::MeshTag& one : local.tags) {
    if (one.info.name == name) return one;
    known.push_back(one.info.name);
  }
  throw_usage(fmt::format("tag '{}'", name), "does not exist." + did_you_mean(name, known));
}

mesh::Range places(const Integers<std::int32_t>& given) {
  const std::vector<LocalId> ids = taken<LocalId>(given, "places");
  return mesh::Range::of(ids);
}

/// Return the values of an argument in a type of numpy. @throws Error{usage} if they are of another kind
nb::object in_type(nb::handle given, const char* type, const std::string& subject) {
  const nb::object array = numpy().attr("asarray")(given);
  const nb::object dtype = array.attr("dtype");
  if (nb::cast<std::size_t>(array.attr("size")) > 0 &&
      !nb::cast<bool>(numpy().attr("can_cast")(dtype, type, "same_kind")))
    throw_usage(subject, fmt::format("has values of type {}, not {}", text(dtype), text(nb::str(type))),
                fmt::format("give values of type {}", text(nb::str(type))));
  return numpy().attr("ascontiguousarray")(array, type);
}

nb::object rows(const std::vector<double>& values, std::size_t width) {
  auto kept = std::make_unique<std::vector<double>>(values);
  const std::size_t n = kept->size() / width;
  const void* const first = address(kept->data());
  const nb::capsule owner(kept.release(), [](void* all) noexcept { delete static_cast<std::vector<double>*>(all); });
  const std::array<std::size_t, 2> shape{n, width};
  return nb::cast(nb::ndarray<nb::numpy, const double>(first, 2, shape.data(), owner));
}

nb::object nodes_of(OwnedMesh& self, Dim dim) {
  const LocalEntities& all = self.entities(dim);
  if (!all.offsets.empty()) return nb::make_tuple(copied(all.offsets), copied(all.nodes));
  const std::size_t width = std::max(all.nodes_per_entity, 1);
  auto kept = std::make_unique<std::vector<LocalId>>(all.nodes);
  const std::size_t n = kept->size() / width;
  const void* const first = address(kept->data());
  const nb::capsule owner(kept.release(), [](void* it) noexcept { delete static_cast<std::vector<LocalId>*>(it); });
  return nb::cast(ReadOnly<LocalId, nb::ndim<2>>(first, {n, width}, owner));
}

void replace_nodes(LocalEntities& all, nb::handle nodes) {
  if (nb::isinstance<nb::tuple>(nodes) && nb::len(nodes) == 2) {
    all.offsets = taken<std::int32_t>(Integers<std::int32_t>{nb::borrow(nodes[0])}, "nodes");
    all.nodes = taken<LocalId>(Integers<std::int32_t>{nb::borrow(nodes[1])}, "nodes");
    all.nodes_per_entity = 0;
    return;
  }
  const nb::object wanted = numpy().attr("int32");
  const nb::object array = nb::module_::import_("barrio._arrays").attr("integers")(nodes, "nodes", wanted);
  const auto rows = nb::cast<nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(array);
  all.offsets.clear();
  all.nodes_per_entity = static_cast<int>(rows.shape(1));
  all.nodes.resize(rows.size());
  if (rows.size() > 0) std::memcpy(all.nodes.data(), rows.data(), rows.size() * sizeof(LocalId));
}

void replace_entities(OwnedMesh& self, Dim dim, const Integers<std::int64_t>& ids, nb::handle nodes,
                      const std::optional<Integers<std::uint8_t>>& types,
                      const std::optional<Integers<std::int32_t>>& sharers,
                      const std::optional<Integers<std::int32_t>>& parts) {
  LocalEntities all;
  const LocalEntities& former = self.entities(dim);
  all.ids = taken<GlobalId>(ids, "ids");
  try {
    replace_nodes(all, nodes);
  } catch (const nb::cast_error&) {
    throw_usage("nodes", "must be int32 of shape (n, k), or (offsets, nodes)");
  }
  if (types) {
    all.types = taken<CellType>(*types, "types");
  } else if (former.types.size() == 1) {
    all.types = former.types;
  } else {
    throw_usage("types", "are missing", "give a type for each entity: this dimension has several types");
  }
  if (sharers) all.sharers = taken<std::int32_t>(*sharers, "sharers");
  std::vector<std::int32_t> of_cells;
  if (parts) of_cells = taken<std::int32_t>(*parts, "parts");
  self.local.entities[index(dim)] = std::move(all);
  if (dim == self.local.cell_dim) self.local.cell_parts = std::move(of_cells);
}

void replace_vertices(OwnedMesh& self, const Integers<std::int64_t>& ids, const GivenPoints& coordinates,
                      const std::optional<Integers<std::int32_t>>& sharers) {
  std::vector<GlobalId> of_vertices = taken<GlobalId>(ids, "ids");
  std::vector<std::int32_t> shared_by;
  if (sharers) shared_by = taken<std::int32_t>(*sharers, "sharers");
  self.local.vertex_ids = std::move(of_vertices);
  self.local.coordinates.assign(coordinates.data(), coordinates.data() + coordinates.size());
  self.local.vertex_sharers = std::move(shared_by);
}

nb::object field_values(OwnedMesh& self, const std::string& name, Dim dim) {
  const mesh::FieldData& field = self.field(name, dim);
  const std::size_t width = field.n_components;
  return std::visit(
      [&]<class T>(const std::vector<T>& values) {
        auto kept = std::make_unique<std::vector<T>>(values);
        const std::array<std::size_t, 2> shape{kept->size() / width, width};
        const void* const first = address(kept->data());
        const nb::capsule owner(kept.release(), [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
        return nb::cast(nb::ndarray<nb::numpy, const T>(first, width == 1 ? 1 : 2, shape.data(), owner));
      },
      field.values);
}

void replace_field(OwnedMesh& self, const std::string& name, Dim dim, nb::handle given) {
  mesh::FieldData& field = self.field(name, dim);
  const std::size_t width = field.n_components;
  std::visit(
      [&]<class T>(std::vector<T>& values) {
        const char* const type = std::is_same_v<T, double>  ? "float64"
                                 : std::is_same_v<T, float> ? "float32"
                                 : sizeof(T) == 8           ? "int64"
                                                            : "int32";
        const nb::object all = in_type(given, type, fmt::format("field '{}'", name));
        const auto array = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(all);
        if (array.size() % width != 0)
          throw_usage(fmt::format("field '{}'", name),
                      fmt::format("has {} components; {} values do not fill rows", width, array.size()));
        values.assign(array.data(), array.data() + array.size());
      },
      field.values);
}

void replace_tag(OwnedMesh& self, const std::string& name, Dim dim, const Integers<std::int32_t>& at,
                 nb::handle given) {
  self.check(dim);
  mesh::MeshTag& tag = tag_of(self.local, name);
  mesh::MeshTag::Values values;
  const std::vector<LocalId> ids = taken<LocalId>(at, "places");
  if (std::ranges::adjacent_find(ids, std::ranges::greater_equal()) != ids.end())
    throw_usage(fmt::format("tag '{}'", name), "is given for positions that do not ascend");
  values.entities = mesh::Range::of(ids);
  if (tag.info.length_varies && !ids.empty())
    throw_usage(fmt::format("tag '{}'", name), "has values of different lengths, which cannot be given here",
                "give no positions to drop them");
  const char* const type = tag.info.type == mesh::TagType::float64  ? "float64"
                           : tag.info.type == mesh::TagType::int32  ? "int32"
                           : tag.info.type == mesh::TagType::entity ? "int64"
                                                                    : "uint8";
  const nb::object bytes =
      in_type(given, type, fmt::format("tag '{}'", name)).attr("reshape")(-1).attr("view")("uint8");
  const auto all = nb::cast<nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(bytes);
  if (all.size() != ids.size() * tag.info.value_bytes())
    throw_usage(fmt::format("tag '{}'", name),
                fmt::format("has {} bytes for {} values of {}", all.size(), ids.size(), tag.info.value_bytes()));
  values.items.bytes.resize(all.size());
  if (all.size() > 0) std::memcpy(values.items.bytes.data(), all.data(), all.size());
  tag.on[index(dim)] = std::move(values);
}

MeshPointer adopt(OwnedMesh& self) {
  const std::shared_ptr<mpi::Context> context = self.context;
  const nb::gil_scoped_release unlocked;
  return std::make_shared<SharedMesh>(context, mesh::adopt(*context, std::move(self.local)));
}

}  // namespace

void bind_local(nb::module_& module, nb::class_<SharedMesh>& shared) {
  using namespace nb::literals;
  nb::class_<OwnedMesh>(
      module, "LocalMesh",
      R"(The share of a mesh that one rank owns: cells, their vertices and listed sides, and the sharers of these.

Made by `Mesh.release`; `adopt` makes a mesh of it again. Entities are identified by place: their position in the
arrays, in any order. Returned arrays are read-only copies; `replace_...` replaces them. Vertices and sides that no
cell uses are left out of the mesh.)")
      .def_prop_ro(
          "cell_dim", [](const OwnedMesh& self) { return self.local.cell_dim; },
          "Dimension of the cells: face or volume.")
      .def_prop_ro(
          "vertex_ids", [](const OwnedMesh& self) { return copied(self.local.vertex_ids); }, nb::rv_policy::automatic,
          "Global ids of vertices, (n,) int64.")
      .def_prop_ro(
          "coordinates", [](const OwnedMesh& self) { return rows(self.local.coordinates, 3); },
          nb::sig("def coordinates(self) -> numpy.typing.NDArray[numpy.float64]"), "Coordinates of vertices, (n, 3).")
      .def_prop_ro(
          "rank_sets",
          [](const OwnedMesh& self) {
            std::vector<std::vector<Rank>> all;
            for (std::size_t s = 0; s < self.local.rank_sets.size(); ++s) {
              const auto ranks = self.local.rank_sets[static_cast<std::int32_t>(s)];
              all.emplace_back(ranks.begin(), ranks.end());
            }
            return all;
          },
          "Sets of at least two ranks, this rank included; `sharers` refers to them by number.")
      .def(
          "add_rank_set",
          [](OwnedMesh& self, std::vector<Rank> ranks) {
            std::ranges::sort(ranks);
            return self.local.rank_sets.add(ranks);
          },
          "ranks"_a, "Return the number of a set of ranks; add the set if it is new.")
      .def(
          "n",
          [](const OwnedMesh& self, Dim dim) {
            self.check(dim);
            return self.local.size(dim);
          },
          "dim"_a, "Count the entities of a dimension.")
      .def(
          "ids", [](OwnedMesh& self, Dim dim) { return copied(self.entities(dim).ids); }, "dim"_a,
          "Return the global ids of entities of a dimension, at least 1.")
      .def(
          "types",
          [](OwnedMesh& self, Dim dim) {
            const LocalEntities& all = self.entities(dim);
            std::vector<CellType> types;
            for (std::size_t i = 0; i < all.size(); ++i) types.push_back(all.type(i));
            return copied(std::move(types));
          },
          "dim"_a, "Return the `CellType` of each entity, (n,) uint8.")
      .def("nodes", &nodes_of, "dim"_a,
           nb::sig("def nodes(self, dim: Dim) -> numpy.typing.NDArray[numpy.int32] | "
                   "tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]"),
           "Return the places of the entities' vertices: (n, k), or (offsets, nodes) if their number varies.")
      .def(
          "sharers",
          [](OwnedMesh& self, Dim dim) {
            if (dim == Dim::vertex) return copied(self.local.vertex_sharers);
            return copied(self.entities(dim).sharers);
          },
          "dim"_a,
          "Return for each entity below the cells' dimension its number in `rank_sets`, -1 if no other rank uses it; "
          "empty if nothing is shared.")
      .def("replace_vertices", &replace_vertices, "ids"_a, "coordinates"_a, "sharers"_a = nb::none(),
           "Replace the vertices: int64, float64 of shape (n, 3), int32. Cells, fields and tags must fit them.")
      .def("replace_entities", &replace_entities, "dim"_a, "ids"_a, "nodes"_a, "types"_a = nb::none(),
           "sharers"_a = nb::none(), "parts"_a = nb::none(),
           nb::sig("def replace_entities(self, dim: Dim, ids: numpy.typing.NDArray[numpy.int64], nodes: typing.Any, "
                   "types: numpy.typing.NDArray[numpy.uint8] | None = None, sharers: "
                   "numpy.typing.NDArray[numpy.int32] | None = None, parts: numpy.typing.NDArray[numpy.int32] | None = "
                   "None) -> None"),
           "Replace the cells, or listed sides, in the form that `ids`, `nodes`, `types`, `sharers` return. New ids "
           "must be distinct on all ranks. Without types, all keep the single type that there was. Without parts, on "
           "all ranks, each rank is the part of its cells.")
      .def(
          "keep_cells",
          [](OwnedMesh& self, nb::handle kept) {
            nb::object array = numpy().attr("asarray")(kept);
            const bool is_mask = nb::cast<std::string>(array.attr("dtype").attr("kind")) == "b";
            if (is_mask && nb::cast<std::size_t>(array.attr("size")) != self.local.size(self.local.cell_dim))
              throw_usage("cells to keep",
                          fmt::format("are a mask of {} for {} cells", nb::cast<std::size_t>(array.attr("size")),
                                      self.local.size(self.local.cell_dim)));
            if (is_mask) array = numpy().attr("flatnonzero")(array);
            mesh::keep_cells(self.local, places({array}));
          },
          "kept"_a, nb::sig("def keep_cells(self, kept: numpy.typing.ArrayLike) -> None"),
          "Drop all other cells, with their membership in sets and their values of tags and fields. `kept`: places, "
          "or a mask.")
      .def(
          "members",
          [](OwnedMesh& self, mesh::SetKind kind, const std::string& name, Dim dim) {
            self.check(dim);
            const mesh::MeshSet& set = self.set(kind, name);
            return copied((dim == Dim::vertex ? set.vertices : set.entities[index(dim)]).ids());
          },
          "kind"_a, "name"_a, "dim"_a, "Return the places of a set's members.")
      .def(
          "replace_members",
          [](OwnedMesh& self, mesh::SetKind kind, const std::string& name, Dim dim,
             const Integers<std::int32_t>& given) {
            self.check(dim);
            mesh::MeshSet& set = self.set(kind, name);
            (dim == Dim::vertex ? set.vertices : set.entities[index(dim)]) = places(given);
          },
          "kind"_a, "name"_a, "dim"_a, "places"_a, "Replace a set's members: int32.")
      .def("field", &field_values, "name"_a, "dim"_a,
           nb::sig("def field(self, name: str, dim: Dim) -> numpy.typing.NDArray[typing.Any]"),
           "Return the values of a field: one, or a row, for each entity of its dimension.")
      .def("replace_field", &replace_field, "name"_a, "dim"_a, "values"_a,
           nb::sig("def replace_field(self, name: str, dim: Dim, values: numpy.typing.ArrayLike) -> None"),
           "Replace a field's values: as many rows as the dimension has entities now.")
      .def(
          "tag", [](OwnedMesh& self, const std::string& name) { return tag_copy(tag_of(self.local, name)); }, "name"_a,
          nb::sig("def tag(self, name: str) -> MeshTag"), "Return a tag; its `values(dim)` refer to places.")
      .def("replace_tag", &replace_tag, "name"_a, "dim"_a, "places"_a, "values"_a,
           nb::sig("def replace_tag(self, name: str, dim: Dim, places: numpy.typing.NDArray[numpy.int32], values: "
                   "numpy.typing.ArrayLike) -> None"),
           "Replace a tag's values on entities of a dimension, at ascending places; give no places to drop them.")
      .def_prop_ro(
          "revision", [](const OwnedMesh& self) { return self.local.revision; },
          "Revision of the mesh that was released.")
      .def("__repr__", [](const OwnedMesh& self) {
        return fmt::format("<barrio.LocalMesh: {} vertices, {} cells of this rank>", self.local.n_vertices(),
                           self.local.size(self.local.cell_dim));
      });
  shared
      .def(
          "release",
          [](SharedMesh& self) {
            if (const auto field = self.travelling_field())
              throw_usage(fmt::format("field '{}'", *field), "is being exchanged", "call end_exchange() first");
            const nb::gil_scoped_release unlocked;
            return std::make_unique<OwnedMesh>(OwnedMesh{self.context(), self.mesh().released()});
          },
          "Return this rank's owned entities, without ghosts, as a LocalMesh to change. Collective. This mesh "
          "remains, since arrays may refer to it, with the copies of its fields updated; drop it to free its memory.")
      .def_prop_ro(
          "revision", [](SharedMesh& self) { return self.mesh().revision(); },
          "Number of times that cells were moved or changed since the mesh was built.");
  module.def("adopt", &adopt, "local"_a,
             R"(Make a mesh from the local meshes of all ranks. Collective.

Vertices and sides get an owner among their sharers; ghosts are built as in the released mesh. The local mesh is empty
afterwards. Raises UsageError on all ranks, with the entity, if arrays do not fit each other, an id occurs twice, or
ranks disagree on the sharers of an entity; then the local mesh is unchanged.)");
}

}  // namespace barrio::python
