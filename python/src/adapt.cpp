#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "barrio/adapt/size_fields.hpp"
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

nb::tuple adapted(SharedMesh& self, const nb::object& size, const adapt::AdaptOptions& options) {
  if (const auto field = self.travelling_field())
    throw_usage(fmt::format("field '{}'", *field), "is being exchanged", "call end_exchange() first");
  std::string field;
  adapt::SizeFunction function;
  double number = 0.0;
  if (nb::isinstance<nb::str>(size)) {
    const auto text = nb::cast<std::string>(size);
    // a name of a field, else a size in words as for the command
    if (has_sizes(self.mesh(), text)) {
      field = text;
    } else {
      try {
        function = adapt::parse_size(text);
      } catch (const Error& error) {
        throw_usage(error.subject(), fmt::format("names no field or tag on vertices, and as text {}", error.cause()),
                    error.remedy());
      }
    }
  } else if (nb::try_cast(size, number)) {
    function = adapt::uniform_size(number);
  } else if (PyCallable_Check(size.ptr()) != 0) {
    function = sizes_by(size);
  } else {
    throw nb::type_error("size is neither a number, nor a text, nor a function of points");
  }
  adapt::AdaptReport report;
  MeshPointer made;
  {
    const nb::gil_scoped_release unlocked;
    // arrays of Python may refer to this mesh, so a copy is adapted
    const std::vector<Rank> stay(self.mesh().n_owned(self.mesh().cell_dim()), self.context()->rank());
    mesh::Mesh copy = self.mesh().moved(stay);
    report = field.empty() ? adapt::adapt(copy, function, options) : adapt::adapt(copy, field, options);
    made = std::make_shared<SharedMesh>(self.context(), std::move(copy));
  }
  return nb::make_tuple(made, report_dict(report));
}

}  // namespace

void bind_adapt(nb::module_& module) {
  using namespace nb::literals;
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  module.def(
      "adapt",
      [](SharedMesh& mesh, const nb::object& size, double min_size, double max_size, double growth,
         double feature_angle, double min_quality, const std::vector<std::string>& frozen_sets, bool leave_out,
         const std::string& parent_field, const std::string& held_field, double max_seconds) {
        return adapted(mesh, size,
                       {.feature_angle = feature_angle,
                        .min_quality = min_quality,
                        .leaves_out = leave_out,
                        .frozen_sets = frozen_sets,
                        .limits = {.min_size = min_size, .max_size = max_size, .growth = growth},
                        .parent_field = parent_field,
                        .held_field = held_field,
                        .max_seconds = max_seconds});
      },
      "mesh"_a, "size"_a, nb::kw_only(), "min_size"_a = 0.0, "max_size"_a = unbounded, "growth"_a = unbounded,
      "feature_angle"_a = 40.0, "min_quality"_a = 0.3, "frozen_sets"_a = std::vector<std::string>(),
      "leave_out"_a = false, "parent_field"_a = "", "held_field"_a = "", "max_seconds"_a = 1e9,
      nb::sig(
          "def adapt(mesh: Mesh, size: float | str | collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], "
          "numpy.typing.ArrayLike], *, min_size: float = 0.0, max_size: float = float('inf'), growth: float = "
          "float('inf'), feature_angle: float = 40.0, min_quality: float = 0.3, frozen_sets: "
          "collections.abc.Sequence[str] = (), leave_out: bool = False, parent_field: str = '', held_field: str = "
          "'', max_seconds: float = 1e9) -> tuple[Mesh, dict[str, typing.Any]]"),
      R"(Make a mesh whose edges have the wanted lengths, and a report. Collective.

`size` is a length; the name of a field of one number on vertices; a size as the command takes it, as in
'plane,x=0.5,min_size=0.02,max_size=0.2'; or a function: it gets points, shape (n, 3), and returns n lengths, the same on
every rank. It is called about as often as there are cells in the end, each time for one point, which takes some
microseconds; sizes in a field are faster. `growth` limits sizes in a field: the largest increase over the length of an
edge.

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
