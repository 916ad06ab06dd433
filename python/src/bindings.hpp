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

/// An argument of the type `mpi4py.MPI.Comm`.
struct CommArgument {
  nb::object comm;
};

/// Make a context from a communicator of mpi4py. Collective. The caller keeps the communicator.
/// @throws Error{usage} if MPI is not running or the communicator cannot be used; Python's ImportError if mpi4py loaded
/// a different MPI
std::unique_ptr<mpi::Context> make_context(const CommArgument& comm);

/// Make an object in a context of its own, without the GIL. Collective.
/// @param make  `make(std::unique_ptr<mpi::Context>&)`, which takes the context unless it fails
template <class Make>
auto in_own_context(const CommArgument& comm, Make&& make) {
  std::unique_ptr<mpi::Context> context = make_context(comm);
  const nb::gil_scoped_release unlocked;
  try {
    return make(context);
  } catch (const AgreedError&) {
    context.reset();  // all ranks are here and no longer unwinding: the communicator can be freed
    throw;
  }
}

/// Throw Error{usage} on this rank alone.
[[noreturn]] void throw_usage(std::string subject, std::string cause, std::string remedy = {});

/// Implement `__exit__`: close the object, or discard it if the block raised.
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

/// The ghost exchange of one field.
struct Exchange {
  std::variant<exchange::HaloExchange<double>, exchange::HaloExchange<float>, exchange::HaloExchange<std::int32_t>,
               exchange::HaloExchange<std::int64_t>>
      halo;
  bool is_travelling = false;  // between begin and end
};

/// Python's Mesh: a mesh with its context and the exchanges of its fields.
class SharedMesh {
 public:
  /// Take a mesh. Collective: all ranks agree on the shape of connectivity in Python.
  /// @param context  may be shared by several meshes; freed with the last of them
  SharedMesh(std::shared_ptr<mpi::Context> context, mesh::Mesh mesh);
  SharedMesh(const SharedMesh&) = delete;
  SharedMesh& operator=(const SharedMesh&) = delete;
  /// Leak the memory instead of waiting if a ghost exchange is pending: Python may drop a mesh at any time.
  ~SharedMesh();

  mesh::Mesh& mesh() noexcept { return state_->mesh; }
  [[nodiscard]] const std::shared_ptr<mpi::Context>& context() const noexcept { return state_->context; }
  Exchange& exchange(mesh::FieldData& field);
  /// Return the name of a field between begin and end, or nothing.
  [[nodiscard]] std::optional<std::string> travelling_field() const;
  /// Return the vertex count of every entity of a dimension, the same on all ranks; 0 if it varies. @pre dim >= 1
  [[nodiscard]] int width(Dim dim) const noexcept { return state_->widths[static_cast<std::size_t>(mesh::value(dim))]; }
  /// Return the offset of each entity's vertices, and the end. @pre width(dim) == 0
  [[nodiscard]] const std::vector<std::int32_t>& offsets(Dim dim) const noexcept;

 private:
  struct State {
    std::shared_ptr<mpi::Context> context;
    mesh::Mesh mesh;
    std::map<const mesh::FieldData*, Exchange> exchanges = {};
    std::array<int, 4> widths = {};
    std::array<std::vector<std::int32_t>, 4> offsets = {};  // made if this rank's table has none, but others have
  };
  void agree_on_widths();
  std::unique_ptr<State> state_;
};

using MeshPointer = std::shared_ptr<SharedMesh>;

/// The number type of a strong id or enumeration in numpy.
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

/// Return an address that is never null: numpy wants one for empty arrays too.
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

/// Make a Python MeshTag with its own copy of the values.
nb::object tag_copy(const mesh::MeshTag& tag);

void bind_errors(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_arrays(nb::class_<SharedMesh>& mesh);
void bind_field(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_tags(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_sides(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_local(nb::module_& module, nb::class_<SharedMesh>& mesh);
void bind_io(nb::module_& module);
void bind_files(nb::module_& module);
void bind_structured(nb::module_& module);
void bind_exchange(nb::module_& module);
void bind_transfer(nb::module_& module);
void bind_gather(nb::module_& module);
void bind_probe(nb::module_& module);
void bind_rankmap(nb::module_& module);
void bind_delaunay(nb::module_& module);
void bind_adapt(nb::module_& module);
void bind_amr(nb::module_& module);

}  // namespace barrio::python

namespace nanobind::detail {

template <>
struct type_caster<barrio::python::CommArgument> {
  NB_TYPE_CASTER(barrio::python::CommArgument, const_name("mpi4py.MPI.Comm"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    // A caller with a communicator has imported mpi4py, so it is never imported here.
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
