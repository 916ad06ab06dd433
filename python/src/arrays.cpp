#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "messages.hpp"

namespace barrio::python {

/// An argument of any type, with the type that stubs show for it.
template <class Hint>
struct Annotated {
  nb::object value;
};

struct ArrayHint {
  static constexpr auto name = nb::detail::const_name("numpy.typing.ArrayLike");
};
struct CellsHint {
  static constexpr auto name = nb::detail::const_name("collections.abc.Mapping[str | CellType, typing.Any]");
};
struct PartsHint {
  static constexpr auto name = nb::detail::const_name(
      "numpy.typing.ArrayLike | collections.abc.Mapping[str | CellType, numpy.typing.ArrayLike]");
};
struct SetsHint {
  static constexpr auto name = nb::detail::const_name(
      "collections.abc.Iterable[tuple[SetKind, int, str, collections.abc.Mapping[str | CellType, "
      "numpy.typing.ArrayLike]]]");
};
struct TagsHint {
  static constexpr auto name = nb::detail::const_name(
      "collections.abc.Mapping[str, collections.abc.Mapping[str | CellType, numpy.typing.ArrayLike]]");
};

}  // namespace barrio::python

namespace nanobind::detail {

template <class Hint>
struct type_caster<barrio::python::Annotated<Hint>> {
  NB_TYPE_CASTER(barrio::python::Annotated<Hint>, Hint::name)
  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    value.value = borrow(source);
    return true;
  }
};

}  // namespace nanobind::detail

namespace barrio::python {
namespace {

using mesh::CellType;
using mesh::MeshArrays;

template <class T>
std::span<const T> numbers(nb::handle array) {
  const auto all = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(array);
  return {all.data(), all.size()};  // the caller keeps numpy's array alive
}

CellType type_of(nb::handle name) {
  const auto wanted = nb::cast<std::string>(name);
  for (int t = 0; t < mesh::n_cell_types; ++t)
    if (mesh::topology(static_cast<CellType>(t)).name == wanted) return static_cast<CellType>(t);
  throw_usage(fmt::format("type '{}'", wanted), "is not known");
}

/// Convert the result of barrio._arrays to the core's form. Borrows the arrays.
MeshArrays arrays_of(nb::handle all, int n_parts) {
  MeshArrays arrays;
  arrays.n_parts = n_parts;
  arrays.coordinates = numbers<double>(all[0]);
  arrays.vertex_ids = numbers<std::int64_t>(all[1]);
  for (const nb::handle block : all[2])
    arrays.cells.push_back(
        {.type = type_of(block[0]),
         .nodes_per_cell = nb::cast<int>(block[1]),
         .offsets = block[2].is_none() ? std::span<const std::int64_t>{} : numbers<std::int64_t>(block[2]),
         .nodes = numbers<std::int64_t>(block[3]),
         .parts = numbers<std::int32_t>(block[4])});
  for (const nb::handle one : all[3]) {
    MeshArrays::Set& set = arrays.sets.emplace_back();
    set.info.kind = static_cast<mesh::SetKind>(nb::cast<int>(one[0]));
    set.info.id = nb::cast<std::int32_t>(one[1]);
    set.info.name = nb::cast<std::string>(one[2]);
    for (const nb::handle some : one[3]) set.members.push_back({type_of(some[0]), numbers<std::int64_t>(some[1])});
  }
  for (const nb::handle one : all[4]) {
    MeshArrays::Tag& tag = arrays.tags.emplace_back();
    tag.info.name = nb::cast<std::string>(one[0]);
    tag.info.type = nb::cast<bool>(one[1]) ? mesh::TagType::float64 : mesh::TagType::int32;
    tag.info.n_components = nb::cast<int>(one[2]);
    for (const nb::handle some : one[3])
      tag.values.push_back({type_of(some[0]), std::as_bytes(numbers<std::uint8_t>(some[1]))});
  }
  return arrays;
}

MeshPointer make(const CommArgument& comm, const Annotated<ArrayHint>& coordinates, const Annotated<CellsHint>& cells,
                 const Annotated<ArrayHint>& vertex_ids, const Annotated<PartsHint>& parts, std::optional<int> n_parts,
                 const Annotated<SetsHint>& sets, const Annotated<TagsHint>& tags, int ghost_layers, Dim bridge,
                 bool ghost_sides, const std::string& partitioner) {
  nb::object all;  // outlives the part of the call without the GIL
  MeshArrays arrays;
  return in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    agree_after(*context, [&] {
      const nb::gil_scoped_acquire locked;
      if (n_parts && *n_parts < 1) throw_usage(fmt::format("{} parts", *n_parts), "must be at least 1");
      try {
        all = nb::module_::import_("barrio._arrays")
                  .attr("normalised")(coordinates.value, cells.value, vertex_ids.value, parts.value, sets.value,
                                      tags.value);
        arrays = arrays_of(all, n_parts.value_or(0));
      } catch (const nb::python_error& trouble) {
        throw error_of(trouble, "mesh arrays");
      } catch (const nb::cast_error&) {
        throw_usage("mesh arrays", "have a number that is too large for its type");
      }
    });
    mesh::Mesh made =
        mesh::mesh_from_arrays(*context, arrays,
                               {.partitioner = partitioner,
                                .build = {.ghost_layers = ghost_layers, .bridge = bridge, .ghost_sides = ghost_sides}});
    return std::make_shared<SharedMesh>(std::move(context), std::move(made));
  });
}

}  // namespace

void bind_arrays(nb::class_<SharedMesh>& shared) {
  using namespace nb::literals;
  shared.def(
      nb::new_(&make), "comm"_a, "coordinates"_a, "cells"_a, nb::kw_only(), "vertex_ids"_a = nb::none(),
      "parts"_a = nb::none(), "n_parts"_a = nb::none(), "sets"_a = nb::tuple(), "tags"_a = nb::none(),
      "ghost_layers"_a = 0, "bridge"_a = Dim::vertex, "ghost_sides"_a = false, "partitioner"_a = "rcb",
      R"(Make a mesh from the arrays of all ranks. Collective over comm. Each rank gives any share, or empty arrays.

`coordinates`: (n, 3), or (n, 2) in a plane. `cells`: by type, {"tet": (n, 4), "quad": (n, 4)}; polygons and polyhedra
as (offsets, nodes), a polyhedron as closed loops of its faces. Nodes are `vertex_ids`; several ranks may give the
same id. Without `vertex_ids`, vertices are numbered 0, 1, 2, ... rank by rank. Cells below the highest dimension are
listed sides.

`parts` has a part for each cell of the highest dimension, by type, or as one array if there is one type. If each rank
gives its own rank as the part, and n_parts=comm.size, cells stay on their ranks. Without `parts`, `partitioner` cuts
the mesh into n_parts parts, or one for each rank. `sets` are (SetKind, id, name, {type: positions}); positions count
in this rank's arrays, or are masks; "vertex" is a type here. `tags` are {name: {type: values}}, int32 or float64,
(n,) or (n, n_components). Every rank lists the same sets and tags. Raises the same UsageError or BadInputError on all
ranks.)");
}

}  // namespace barrio::python
