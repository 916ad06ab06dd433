#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/reduce_field.hpp"
#include "barrio/mesh/tag_field.hpp"
#include "bindings.hpp"

namespace barrio::python {

using mesh::FieldData;

namespace {

/// Python's Field: keeps its mesh alive.
struct SharedField {
  MeshPointer owner;
  FieldData* data;

  void begin() {
    Exchange& exchange = owner->exchange(*data);
    if (exchange.is_travelling)
      throw_usage(fmt::format("field '{}'", data->name), "is being exchanged already", "call end_exchange() first");
    const nb::gil_scoped_release unlocked;
    std::visit([](auto& halo) { halo.begin(); }, exchange.halo);
    exchange.is_travelling = true;
  }
  bool progress() {
    Exchange& exchange = owner->exchange(*data);
    return !exchange.is_travelling || std::visit([](auto& halo) { return halo.progress(); }, exchange.halo);
  }
  void reduce(exchange::Reduction reduction) {
    Exchange& exchange = owner->exchange(*data);
    if (exchange.is_travelling)
      throw_usage(fmt::format("field '{}'", data->name), "is being exchanged", "call end_exchange() first");
    const nb::gil_scoped_release unlocked;
    std::visit(
        [&]<class T>(exchange::HaloExchange<T>& halo) {
          mesh::reduce_over_sharers(owner->mesh(), mesh::Field<T>(*data), halo, reduction);
        },
        exchange.halo);
  }
  void end() {
    Exchange& exchange = owner->exchange(*data);
    if (!exchange.is_travelling)
      throw_usage(fmt::format("field '{}'", data->name), "is not being exchanged", "call begin_exchange() first");
    const nb::gil_scoped_release unlocked;
    std::visit([](auto& halo) { halo.end(); }, exchange.halo);
    exchange.is_travelling = false;
  }
};

template <class T>
nb::dlpack::dtype type_of(const std::vector<T>&) {
  return nb::dtype<T>();
}

/// Show all values: shape (n,) for one component, (n, components) for more.
nb::ndarray<nb::numpy> values(nb::handle self) {
  FieldData& data = *nb::cast<SharedField&>(self).data;
  return std::visit(
      [&](auto& all) {
        const auto width = static_cast<std::size_t>(data.n_components);
        const std::array<std::size_t, 2> shape{all.size() / width, width};
        // The vector never grows, and the mesh that holds it lives as long as `self`.
        return nb::ndarray<nb::numpy>(const_cast<void*>(address(all.data())), width == 1 ? 1 : 2, shape.data(), self,
                                      nullptr, type_of(all));
      },
      data.values);
}

nb::object numpy_type(const FieldData& data) {
  const char* const name = std::visit(
      []<class T>(const std::vector<T>&) {
        if constexpr (std::is_same_v<T, double>) return "float64";
        if constexpr (std::is_same_v<T, float>) return "float32";
        if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
        return "int64";
      },
      data.values);
  return nb::module_::import_("numpy").attr("dtype")(name);
}

SharedField find_field(const MeshPointer& self, std::string_view name, Dim dim) {
  for (const auto& field : self->mesh().fields())
    if (field->name == name && field->dim == dim) return {self, field.get()};
  static_cast<void>(self->mesh().field<double>(name, dim));  // throws, with "did you mean"
  throw_usage(fmt::format("field '{}'", name), "does not exist");
}

SharedField add_field(const MeshPointer& self, const std::string& name, Dim dim, int n_components, nb::handle dtype) {
  const auto wanted = nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(dtype).attr("name"));
  if (n_components < 1)
    throw_usage(fmt::format("field '{}'", name), fmt::format("has {} components", n_components), "give at least 1");
  if (value(dim) < value(Dim::vertex) || value(dim) > value(Dim::volume))
    throw_usage(fmt::format("field '{}'", name), fmt::format("is on dimension {}", value(dim)),
                "dimensions are 0 .. 3");
  mesh::Mesh& mesh = self->mesh();
  if (wanted == "float64") {
    mesh.add_field<double>(name, dim, n_components);
  } else if (wanted == "float32") {
    mesh.add_field<float>(name, dim, n_components);
  } else if (wanted == "int32") {
    mesh.add_field<std::int32_t>(name, dim, n_components);
  } else if (wanted == "int64") {
    mesh.add_field<std::int64_t>(name, dim, n_components);
  } else {
    throw_usage(fmt::format("field '{}'", name), fmt::format("cannot have values of type {}", wanted),
                "types are float64, float32, int32 and int64");
  }
  return find_field(self, name, dim);
}

SharedField tag_as_field(const MeshPointer& self, const std::string& name, Dim dim, int n_components, nb::handle dtype,
                         std::optional<double> fill) {
  const auto wanted = nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(dtype).attr("name"));
  const mesh::TagFieldOptions options{.n_components = n_components, .fill = fill};
  {
    const nb::gil_scoped_release unlocked;
    if (wanted == "float64") {
      mesh::tag_as_field<double>(self->mesh(), name, dim, options);
    } else if (wanted == "float32") {
      mesh::tag_as_field<float>(self->mesh(), name, dim, options);
    } else if (wanted == "int32") {
      mesh::tag_as_field<std::int32_t>(self->mesh(), name, dim, options);
    } else if (wanted == "int64") {
      mesh::tag_as_field<std::int64_t>(self->mesh(), name, dim, options);
    } else {
      throw_usage(fmt::format("field '{}'", name), fmt::format("cannot have values of type {}", wanted),
                  "types are float64, float32, int32 and int64");
    }
  }
  return find_field(self, name, dim);
}

exchange::Reduction reduction_of(const std::string& name) {
  static const std::vector<std::string> names{"sum", "min", "max", "any"};  // in the order of the enumeration
  const auto at = std::ranges::find(names, name);
  if (at == names.end())
    throw_usage(fmt::format("reduction '{}'", name), "is not known." + did_you_mean(name, names),
                fmt::format("use one of {}", fmt::join(names, ", ")));
  return static_cast<exchange::Reduction>(at - names.begin());
}

}  // namespace

void bind_field(nb::module_& module, nb::class_<SharedMesh>& shared) {
  nb::class_<SharedField>(module, "Field",
                          "Values on the entities of one dimension of a mesh, which the field keeps alive.")
      .def_prop_ro(
          "name", [](const SharedField& self) { return self.data->name; }, "Name, for `Mesh.field`.")
      .def_prop_ro(
          "dim", [](const SharedField& self) { return self.data->dim; }, "Dimension of the entities that have values.")
      .def_prop_ro(
          "n_components", [](const SharedField& self) { return self.data->n_components; }, "Numbers of each entity.")
      .def_prop_ro(
          "dtype", [](const SharedField& self) { return numpy_type(*self.data); },
          nb::sig("def dtype(self) -> numpy.dtype"), "Type of the numbers: float64, float32, int64 or int32.")
      .def_prop_ro(
          "values", [](nb::handle_t<SharedField> self) { return values(self); },
          nb::sig("def values(self) -> numpy.typing.NDArray[typing.Any]"),
          "The field's own memory, writable: shape (n_local(dim),) for one component, else (n_local(dim), "
          "n_components).")
      .def(
          "exchange",
          [](SharedField& self) {
            self.begin();
            self.end();
          },
          "Update the copies from their owners. All ranks take part; messages go to neighbours only.")
      .def("begin_exchange", &SharedField::begin,
           "Send owned values and start to receive copies. Until `end_exchange()` you may read and write owned "
           "values, but not copies.")
      .def("progress", &SharedField::progress,
           "Let messages arrive between `begin_exchange()` and `end_exchange()`; call it between pieces of work. "
           "Local. Returns True once the exchange is complete.")
      .def("end_exchange", &SharedField::end, "Wait until the copies have arrived.")
      .def(
          "reduce", [](SharedField& self, const std::string& reduction) { self.reduce(reduction_of(reduction)); },
          nb::arg("reduction") = "sum",
          R"(Combine the sharers' values of each entity by "sum", "min", "max" or "any", and give the result to all copies.

A finite element code combines the contributions of each rank's own cells to vertices in this way. Ghosts contribute
nothing, but get the result. All ranks take part; messages go to neighbours only. A sum starts with the owner's value
and adds the others by rank.)")
      .def("__repr__", [](const SharedField& self) {
        return fmt::format("<barrio.Field '{}' on dimension {}, {} x {}>", self.data->name, value(self.data->dim),
                           self.data->n_components, nb::cast<std::string>(nb::str(numpy_type(*self.data))));
      });

  shared
      .def("add_field", &add_field, nb::arg("name"), nb::arg("dim"), nb::arg("n_components") = 1,
           nb::arg("dtype") = nb::str("float64"),
           nb::sig("def add_field(self, name: str, dim: Dim, n_components: int = 1, dtype: numpy.typing.DTypeLike = "
                   "'float64') -> Field"),
           "Add a field of zeros. Local. Types: float64, float32, int32, int64. Raises UsageError if the name is "
           "taken.")
      .def("tag_as_field", &tag_as_field, nb::arg("name"), nb::arg("dim"), nb::arg("n_components") = 1,
           nb::arg("dtype") = nb::str("float64"), nb::kw_only(), nb::arg("fill") = nb::none(),
           nb::sig("def tag_as_field(self, name: str, dim: Dim, n_components: int = 1, dtype: numpy.typing.DTypeLike = "
                   "'float64', *, fill: float | None = None) -> Field"),
           R"(Add a field with the name and the values of a tag, such as a field read from a checkpoint. Collective.

Entities without a value get the tag's default, else `fill`. Raises UsageError on all ranks, with the tag's
properties, if the tag has another number of components, is not numeric, has no values on this dimension, has gaps and
no fill, or has values that do not fit the type.)")
      .def("field", &find_field, nb::arg("name"), nb::arg("dim"),
           "Return the field of this name. Raises UsageError with \"did you mean\" if it does not exist.")
      .def_prop_ro(
          "fields",
          [](const MeshPointer& self) {
            std::vector<SharedField> fields;
            for (const auto& field : self->mesh().fields()) fields.push_back({self, field.get()});
            return fields;
          },
          "All fields: the same list on every rank.")
      .def(
          "checksum",
          [](SharedMesh& self, const SharedField& field) {
            if (&field.owner->mesh() != &self.mesh())
              throw_usage(fmt::format("field '{}'", field.data->name), "belongs to another mesh");
            const nb::gil_scoped_release unlocked;
            return self.mesh().checksum(*field.data);
          },
          nb::arg("field"), "Return a hash of a field's owned values. Collective. Does not depend on the rank count.");
}

}  // namespace barrio::python
