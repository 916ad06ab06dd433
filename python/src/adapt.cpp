#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "barrio/adapt/size_fields.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

using Points = nb::ndarray<nb::numpy, const double, nb::shape<-1, 3>, nb::c_contig>;

[[noreturn]] void refuse_size(const nb::python_error& error) {
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  throw_usage("size", fmt::format("raised {}: {}", nb::cast<std::string>(error.type().attr("__name__")), text));
}

/// A Python function of points, and what makes its result a number.
struct SizeCall {
  nb::object function;
  nb::object asarray;

  double operator()(const std::array<double, 3>& x) const {
    try {
      const nb::object sizes = function(Points(x.data(), {1, 3}).cast(nb::rv_policy::copy));
      return nb::cast<double>(asarray(sizes, "float64").attr("item")());
    } catch (const nb::python_error& error) {
      refuse_size(error);
    }
  }
};

adapt::SizeFunction sizes_by(const nb::object& callable) {
  const std::shared_ptr<SizeCall> kept(new SizeCall{callable, nb::module_::import_("numpy").attr("asarray")},
                                       [](SizeCall* last) {
                                         const nb::gil_scoped_acquire locked;
                                         delete last;
                                       });
  return [kept](const std::array<double, 3>& x) {
    const nb::gil_scoped_acquire locked;
    return (*kept)(x);
  };
}

nb::dict counts_of(const adapt::ChangeCounts& counts) {
  nb::dict made;
  made["made"] = counts.n_made;
  made["tried"] = counts.n_tried;
  made["rounds"] = counts.n_rounds;
  made["passes"] = counts.n_passes;
  return made;
}

/// Return the report, with the keys of the result document of the command where it has them.
nb::dict report_dict(const adapt::AdaptReport& report) {
  nb::dict made;
  made["cells_before"] = report.n_cells_before;
  made["cells"] = report.n_cells;
  made["unchanged_cells"] = report.n_unchanged;
  made["min_quality"] = report.min_quality;
  made["mean_quality"] = report.mean_quality;
  made["in_range"] = report.in_range;
  made["tolerance"] = report.tolerance;
  made["is_complete"] = report.is_complete;
  made["splits"] = counts_of(report.splits);
  made["collapses"] = counts_of(report.collapses);
  made["swaps"] = counts_of(report.swaps);
  made["moves"] = counts_of(report.moves);
  nb::list measures;
  for (const adapt::SetMeasure& one : report.measures) {
    nb::dict measure;
    measure["name"] = one.name;
    measure["dimension"] = mesh::value(one.dim);
    measure["before"] = one.before;
    measure["after"] = one.after;
    measures.append(measure);
  }
  made["measures"] = measures;
  made["left_out"] = report.left_out;
  made["seconds"] = report.seconds;
  return made;
}

/// Tell whether a mesh has a field on vertices or a tag of this name.
bool has_sizes(const mesh::Mesh& mesh, const std::string& name) {
  return std::ranges::any_of(mesh.fields(),
                             [&](const auto& field) { return field->name == name && field->dim == Dim::vertex; }) ||
         std::ranges::any_of(mesh.tags(), [&](const mesh::MeshTag& tag) { return tag.info.name == name; });
}

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool is_array(const nb::object& some) {
  return nb::hasattr(some, "shape") && nb::len(nb::object(some.attr("shape"))) > 0;
}

/// Return the numbers of an array, which all are a copy of. They may be those of local entities or of owned ones alone.
std::vector<double> numbers_of(const nb::object& array) {
  const auto numbers =
      nb::cast<Numbers>(nb::module_::import_("numpy").attr("ascontiguousarray")(array, "float64").attr("ravel")());
  return {numbers.data(), numbers.data() + numbers.size()};
}

/// Keep the numbers of owned entities, and refuse another number of them on all ranks. Collective.
void keep_owned(const mesh::Mesh& mesh, Dim dim, const std::string& what, std::vector<double>& numbers) {
  agree_after(mesh.context(), [&] {
    const std::size_t n_owned = mesh.n_owned(dim);
    if (numbers.size() != n_owned && numbers.size() != mesh.n_local(dim))
      throw_usage(what,
                  fmt::format("has {} numbers for {} owned of {} local {}", numbers.size(), n_owned, mesh.n_local(dim),
                              dim == Dim::vertex ? "vertices" : "cells"),
                  "give one for each owned one, or for each local one");
    numbers.resize(n_owned);
  });
}

/// Find each owned entity of one mesh among those of another one that this rank owns the same entities of.
std::vector<std::size_t> places_in(const mesh::Mesh& other, const mesh::Mesh& mesh, Dim dim) {
  const auto there = other.global_ids(dim).first(other.n_owned(dim));
  const auto here = mesh.global_ids(dim).first(mesh.n_owned(dim));
  std::vector<std::size_t> places(here.size());
  std::iota(places.begin(), places.end(), 0);
  if (std::ranges::equal(here, there)) return places;
  std::vector<std::size_t> order = places;
  std::ranges::sort(order, {}, [&](std::size_t i) { return there[i]; });
  for (std::size_t i = 0; i < here.size(); ++i)
    places[i] = *std::ranges::lower_bound(order, here[i], {}, [&](std::size_t k) { return there[k]; });
  return places;
}

/// KeptBytes that a program keeps for each owned entity of a dimension, and those that the new mesh inherits.
struct KeptBytes {
  Dim dim;
  std::vector<std::string> before;
  std::vector<std::string> after = {};
};

std::vector<KeptBytes> bytes_of(const nb::object& payloads) {
  std::vector<KeptBytes> all;
  if (payloads.is_none()) return all;
  for (const nb::handle one : payloads) {
    const auto [dim, items] = nb::cast<std::tuple<Dim, nb::object>>(one);
    KeptBytes& made = all.emplace_back(KeptBytes{.dim = dim, .before = {}});
    for (const nb::handle item : items) {
      const nb::bytes bytes(item);
      made.before.emplace_back(bytes.c_str(), bytes.size());
    }
  }
  return all;
}

/// Make the payloads of a copy of a mesh from what Python keeps for the mesh. Collective.
std::vector<mesh::Payload> payloads_of(const mesh::Mesh& mesh, const mesh::Mesh& copy, std::vector<KeptBytes>& all) {
  agree_after(mesh.context(), [&] {
    for (const KeptBytes& bytes : all) {
      if (bytes.dim != Dim::vertex && bytes.dim != mesh.cell_dim())
        throw_usage("payloads", fmt::format("are on dimension {}", mesh::value(bytes.dim)),
                    "give them for vertices or cells");
      if (bytes.before.size() != mesh.n_owned(bytes.dim))
        throw_usage("payloads",
                    fmt::format("are {}, but this rank owns {} entities", bytes.before.size(), mesh.n_owned(bytes.dim)),
                    "give bytes for each owned one, b'' for nothing");
    }
  });
  std::vector<mesh::Payload> payloads;
  for (KeptBytes& bytes : all) {
    const auto places = std::make_shared<const std::vector<std::size_t>>(places_in(mesh, copy, bytes.dim));
    payloads.push_back({.dim = bytes.dim,
                        .pack =
                            [&bytes, places](LocalId id, std::vector<std::byte>& out) {
                              const std::string& text = bytes.before[(*places)[index(id)]];
                              const auto* const first = reinterpret_cast<const std::byte*>(text.data());
                              out.insert(out.end(), first, first + text.size());
                            },
                        .unpack =
                            [&bytes](LocalId id, std::span<const std::byte> given) {
                              bytes.after.resize(std::max(bytes.after.size(), index(id) + 1));
                              bytes.after[index(id)].assign(reinterpret_cast<const char*>(given.data()), given.size());
                            }});
  }
  return payloads;
}

nb::list to_python(const std::vector<KeptBytes>& all) {
  nb::list lists;
  for (const KeptBytes& bytes : all) {
    nb::list items;
    for (const std::string& text : bytes.after) items.append(nb::bytes(text.data(), text.size()));
    lists.append(items);
  }
  return lists;
}

/// Demand on the new mesh: sizes of one kind, or errors.
struct Wanted {
  std::string field = {};                         ///< of sizes
  adapt::SizeFunction function = {};              ///< of sizes
  std::optional<std::vector<double>> sizes = {};  ///< of vertices
  bool has_errors = false;
  std::string error_field = {};  ///< empty: `errors` has them
  std::vector<double> errors = {};
  adapt::ErrorTarget target = {};
};

Wanted wanted_of(const mesh::Mesh& mesh, const nb::object& size) {
  double number = 0.0;
  if (nb::isinstance<nb::str>(size)) {
    const auto text = nb::cast<std::string>(size);
    // a name of a field, else a size in words as for the command
    if (has_sizes(mesh, text)) return {.field = text};
    try {
      return {.function = adapt::parse_size(text)};
    } catch (const Error& error) {
      throw_usage(error.subject(), fmt::format("names no field or tag on vertices, and as text {}", error.cause()),
                  error.remedy());
    }
  }
  if (is_array(size)) return {.sizes = numbers_of(size)};
  if (nb::try_cast(size, number)) return {.function = adapt::uniform_size(number)};
  if (PyCallable_Check(size.ptr()) != 0) return {.function = sizes_by(size)};
  throw nb::type_error("size is neither a number, nor a text, nor an array, nor a function of points");
}

Wanted wanted_by(const nb::object& error, const adapt::ErrorTarget& target) {
  Wanted wanted{.has_errors = true, .target = target};
  if (nb::isinstance<nb::str>(error)) {
    wanted.error_field = nb::cast<std::string>(error);
  } else if (is_array(error)) {
    wanted.errors = numbers_of(error);
  } else {
    throw nb::type_error("error is neither the name of a field nor an array");
  }
  return wanted;
}

/// Give the copy of a mesh a field of sizes, which a field of an earlier call of this name is used for. Collective.
void set_sizes(const mesh::Mesh& mesh, mesh::Mesh& copy, const std::string& name, const std::vector<double>& sizes) {
  const bool has_field = std::ranges::any_of(
      copy.fields(), [&](const auto& field) { return field->name == name && field->dim == Dim::vertex; });
  auto field = has_field ? copy.field<double>(name, Dim::vertex) : copy.add_field<double>(name, Dim::vertex);
  const std::vector<std::size_t> places = places_in(mesh, copy, Dim::vertex);
  for (std::size_t v = 0; v < places.size(); ++v) field.values()[v] = sizes[places[v]];
}

/// Find the field of sizes that the copy is adapted to; it is made here from arrays and errors. Collective.
std::string field_of(const mesh::Mesh& mesh, mesh::Mesh& copy, Wanted& wanted) {
  if (wanted.has_errors) {
    const bool is_named = !wanted.error_field.empty();
    const std::string name = (is_named ? wanted.error_field : "error") + " size";
    if (is_named) {
      wanted.errors = adapt::real_values(mesh, wanted.error_field, mesh.cell_dim());
    } else {
      keep_owned(mesh, mesh.cell_dim(), "error", wanted.errors);
    }
    set_sizes(mesh, copy, name, adapt::sizes_from_errors(mesh, wanted.errors, wanted.target));
    return name;
  }
  if (wanted.sizes) {
    keep_owned(mesh, Dim::vertex, "size", *wanted.sizes);
    set_sizes(mesh, copy, "wanted size", *wanted.sizes);
    return "wanted size";
  }
  return wanted.field;
}

nb::tuple adapted(SharedMesh& self, Wanted wanted, std::vector<KeptBytes> payloads, adapt::AdaptOptions options) {
  if (const auto field = self.travelling_field())
    throw_usage(fmt::format("field '{}'", *field), "is being exchanged", "call end_exchange() first");
  adapt::AdaptReport report;
  MeshPointer made;
  {
    const nb::gil_scoped_release unlocked;
    // arrays of Python may refer to this mesh, so a copy is adapted
    const std::vector<Rank> stay(self.mesh().n_owned(self.mesh().cell_dim()), self.context()->rank());
    mesh::Mesh copy = self.mesh().moved(stay);
    const std::string field = field_of(self.mesh(), copy, wanted);
    options.payloads = payloads_of(self.mesh(), copy, payloads);
    report = field.empty() ? adapt::adapt(copy, wanted.function, options) : adapt::adapt(copy, field, options);
    made = std::make_shared<SharedMesh>(self.context(), std::move(copy));
  }
  nb::dict document = report_dict(report);
  if (!payloads.empty()) document["payloads"] = to_python(payloads);
  return nb::make_tuple(made, document);
}

}  // namespace

void bind_adapt(nb::module_& module) {
  using namespace nb::literals;
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  module.def(
      "adapt",
      [](SharedMesh& mesh, const nb::object& size, const nb::object& error, double target_error, double error_order,
         double max_change, const nb::object& payloads, double min_size, double max_size, double growth,
         double feature_angle, double min_quality, const std::vector<std::string>& frozen_sets, bool leave_out,
         const std::string& parent_field, const std::string& held_field, double max_seconds) {
        if (size.is_none() == error.is_none()) throw nb::type_error("adapt needs either a size or an error");
        Wanted wanted = error.is_none()
                            ? wanted_of(mesh.mesh(), size)
                            : wanted_by(error, {.error = target_error, .order = error_order, .max_change = max_change});
        return adapted(mesh, std::move(wanted), bytes_of(payloads),
                       {.feature_angle = feature_angle,
                        .min_quality = min_quality,
                        .leaves_out = leave_out,
                        .frozen_sets = frozen_sets,
                        .limits = {.min_size = min_size, .max_size = max_size, .growth = growth},
                        .parent_field = parent_field,
                        .held_field = held_field,
                        .max_seconds = max_seconds});
      },
      "mesh"_a, "size"_a = nb::none(), nb::kw_only(), "error"_a = nb::none(), "target_error"_a = 0.0,
      "error_order"_a = 1.0, "max_change"_a = 4.0, "payloads"_a = nb::none(), "min_size"_a = 0.0,
      "max_size"_a = unbounded, "growth"_a = unbounded, "feature_angle"_a = 40.0, "min_quality"_a = 0.3,
      "frozen_sets"_a = std::vector<std::string>(), "leave_out"_a = false, "parent_field"_a = "", "held_field"_a = "",
      "max_seconds"_a = 1e9,
      nb::sig(
          "def adapt(mesh: Mesh, size: float | str | numpy.typing.NDArray[typing.Any] | "
          "collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], numpy.typing.ArrayLike] | None = None, *, "
          "error: str | numpy.typing.NDArray[typing.Any] | None = None, target_error: float = 0.0, error_order: float "
          "= 1.0, max_change: float = 4.0, payloads: collections.abc.Sequence[tuple[Dim, "
          "collections.abc.Sequence[bytes]]] | None = None, min_size: float = 0.0, max_size: float = float('inf'), "
          "growth: float = "
          "float('inf'), feature_angle: float = 40.0, min_quality: float = 0.3, frozen_sets: "
          "collections.abc.Sequence[str] = (), leave_out: bool = False, parent_field: str = '', held_field: str = "
          "'', max_seconds: float = 1e9) -> tuple[Mesh, dict[str, typing.Any]]"),
      R"(Make a mesh whose edges have the wanted lengths, and a report. Collective.

`size` is a length; an array of lengths, one for each owned vertex or each local one; the name of a field of one number on
vertices; a size as the command takes it, as in 'plane,x=0.5,min_size=0.02,max_size=0.2'; or a function: it gets points,
shape (n, 3), and returns n lengths, the same on every rank. It is called about as often as there are cells in the end,
each time for one point, which takes some microseconds; sizes at vertices are faster. `growth` limits sizes at vertices:
the largest increase over the length of an edge. The new mesh has an array of sizes as the field "wanted size".

Instead of a size, `error` is an array with an error of each owned cell or each local one, or the name of a field on cells:
sizes are chosen so that all cells would have `target_error`, if halving the size of a cell leaves 2^-`error_order` of its
error; one call changes sizes by a factor of `max_change` at most. The new mesh has them as the field "error size".

`payloads` are data of your own: pairs of a dimension, that of vertices or cells, and bytes for each owned entity. The
report has `payloads`: for each, the bytes that each local entity of the new mesh inherits from its parent.

Tetrahedra are split, collapsed, swapped and moved; other cells, boundaries, sets, fields and tags are kept. The new mesh
is the same on any number of ranks. This mesh remains, since arrays may refer to it; drop it to free its memory. What
cannot be kept is refused, or left out with `leave_out`. `parent_field` and `held_field` name fields to add: parent and
whether it changed, for each cell; what keeps edges too short, for each vertex.

The report has `cells_before`, `cells`, `min_quality`, `mean_quality` (mean ratio), `in_range` (share of the edges between
1/sqrt(2) and sqrt(2) of the wanted length), `splits`, `collapses`, `swaps` and `moves` (each `made`, `tried`, `rounds`,
`passes`), `measures` (volumes, areas and lengths of sets, `before` and `after`), `left_out`, `seconds`.
Raises UsageError and BadInputError on all ranks, as for inverted cells, or sizes that need more cells than fit.)");
}

}  // namespace barrio::python
