#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <variant>

#include "barrio/base/error.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace nb = nanobind;

namespace barrio::python {

/// An `mpi4py.MPI.Comm` that came as an argument.
struct CommArgument {
  nb::object comm;
};

/// Make a context from a communicator of mpi4py. Collective. The communicator stays the caller's.
/// @throws Error{usage} if MPI is not running or the communicator cannot be used; Python's ImportError if mpi4py loaded
/// another MPI
std::unique_ptr<mpi::Context> make_context(const CommArgument& comm);

/// Make something in a context of its own, with Python's lock released. Collective.
/// @param make  `make(std::unique_ptr<mpi::Context>&)`, which takes the context unless it fails
template <class Make>
auto in_own_context(const CommArgument& comm, Make&& make) {
  std::unique_ptr<mpi::Context> context = make_context(comm);
  const nb::gil_scoped_release unlocked;
  try {
    return make(context);
  } catch (const AgreedError&) {
    context.reset();  // every rank is here, and none is unwinding any more: the communicator can be freed
    throw;
  }
}

/// Stop the search for names Python knows: the error is raised for the caller alone.
[[noreturn]] void throw_usage(std::string subject, std::string cause, std::string remedy = {});

/// What `__exit__` does: close what the block has left, or give it up if the block has raised.
template <class T>
void leave(T& self, nb::handle type, nb::handle /*value*/, nb::handle /*traceback*/) {
  if (type.is_none()) {
    self.close();
  } else {
    self.discard();
  }
}
inline constexpr const char* leave_signature =
    "def __exit__(self, type: type[BaseException] | None, value: BaseException | None, "
    "traceback: types.TracebackType | None) -> None";

/// The ghost exchange of one field, and whether it is between begin and end.
struct Exchange {
  std::variant<exchange::HaloExchange<double>, exchange::HaloExchange<float>, exchange::HaloExchange<std::int32_t>,
               exchange::HaloExchange<std::int64_t>>
      halo;
  bool is_travelling = false;
};

/// A mesh with the context it was made in and the exchanges of its fields. What Python calls a Mesh.
class SharedMesh {
 public:
  /// Collective: all ranks agree on the shape that connectivity has in Python.
  /// @param context  may serve several meshes; freed with the last of them
  SharedMesh(std::shared_ptr<mpi::Context> context, mesh::Mesh mesh);
  SharedMesh(const SharedMesh&) = delete;
  SharedMesh& operator=(const SharedMesh&) = delete;
  /// Gives up the memory instead of waiting if a ghost exchange is on its way: Python may drop a mesh at any time.
  ~SharedMesh();

  mesh::Mesh& mesh() noexcept { return state_->mesh; }
  [[nodiscard]] const std::shared_ptr<mpi::Context>& context() const noexcept { return state_->context; }
  Exchange& exchange(mesh::FieldData& field);
  /// The name of a field between begin and end, or nothing.
  [[nodiscard]] std::optional<std::string> travelling_field() const;
  /// Vertices of every entity of a dimension, on any rank; 0 if their number varies. @pre dim >= 1
  [[nodiscard]] int width(Dim dim) const noexcept { return state_->widths[static_cast<std::size_t>(mesh::value(dim))]; }
  /// Where the vertices of each entity begin, one longer than their number. @pre width(dim) == 0
  [[nodiscard]] const std::vector<std::int32_t>& offsets(Dim dim) const noexcept;

 private:
  struct State {
    std::shared_ptr<mpi::Context> context;
    mesh::Mesh mesh;
    std::map<const mesh::FieldData*, Exchange> exchanges = {};
    std::array<int, 4> widths = {};
    std::array<std::vector<std::int32_t>, 4> offsets = {};  // where this rank's table has none, but others have
  };
  void agree_on_widths();
  std::unique_ptr<State> state_;
};

using MeshPointer = std::shared_ptr<SharedMesh>;

/// The plain numbers behind strong ids and enumerations, as numpy knows them.
template <class T>
struct Plain {
  using type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct Plain<T> {
  using type = std::underlying_type_t<T>;
};
template <class T>
using plain = typename Plain<T>::type;

template <class T, class... Shape>
using ReadOnly = nb::ndarray<nb::numpy, const plain<T>, Shape...>;

/// numpy asks for an address even if there is nothing to read.
template <class T>
const void* address(const T* data) noexcept {
  alignas(16) static const char nothing[16] = {};
  return data != nullptr ? static_cast<const void*>(data) : nothing;
}

/// Show values to numpy without a copy. @param owner  the Python object that keeps them alive
template <class T>
ReadOnly<T, nb::ndim<1>> view(nb::handle owner, std::span<const T> values) {
  return ReadOnly<T, nb::ndim<1>>(address(values.data()), {values.size()}, owner);
}
template <class T>
ReadOnly<T, nb::ndim<1>> view(nb::handle owner, const std::vector<T>& values) {
  return view(owner, std::span<const T>(values));
}

/// Give numpy an array of its own.
template <class T>
ReadOnly<T, nb::ndim<1>> copied(std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const std::span<const T> all = *kept;
  const nb::capsule owner(kept.get(), [](void* all_of_it) noexcept { delete static_cast<std::vector<T>*>(all_of_it); });
  kept.release();
  return view(owner, all);
}

/// A MeshTag of Python with values of its own.
nb::object tag_copy(const mesh::MeshTag& tag);

void bind_errors(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_arrays(nb::class_<SharedMesh>& mesh);
void bind_field(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_tags(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_sides(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_local(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_io(nb::module_& module);
void bind_structured(nb::module_& module);
void bind_exchange(nb::module_& module);
void bind_transfer(nb::module_& module);
void bind_gather(nb::module_& module);
void bind_probe(nb::module_& module);
void bind_rankmap(nb::module_& module);
void bind_delaunay(nb::module_& module);

}  // namespace barrio::python

namespace nanobind::detail {

template <>
struct type_caster<barrio::python::CommArgument> {
  NB_TYPE_CASTER(barrio::python::CommArgument, const_name("mpi4py.MPI.Comm"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    // Whoever has a communicator has imported mpi4py; nobody else needs it.
    PyObject* const modules = PyImport_GetModuleDict();
    PyObject* const mpi = PyDict_GetItemString(modules, "mpi4py.MPI");
    if (mpi == nullptr) return false;
    PyObject* const type = PyObject_GetAttrString(mpi, "Comm");
    const int is_comm = type != nullptr ? PyObject_IsInstance(source.ptr(), type) : -1;
    Py_XDECREF(type);
    if (is_comm < 0) PyErr_Clear();
    if (is_comm == 1) value.comm = borrow(source);
    return is_comm == 1;
  }
};

}  // namespace nanobind::detail
