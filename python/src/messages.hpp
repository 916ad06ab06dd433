#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/gather_scatter.hpp"
#include "bindings.hpp"

namespace barrio::python {

/// Return the value that a name stands for. @param what  the argument's name. @throws Error{usage}
template <class Value, std::size_t n>
Value find_value(const std::array<std::pair<const char*, Value>, n>& values, const char* what,
                 const std::string& name) {
  std::vector<std::string> known;
  std::string list;
  for (const auto& [word, value] : values) {
    if (word == name) return value;
    known.emplace_back(word);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  throw_usage(fmt::format("{} '{}'", what, name), "is not known." + did_you_mean(name, known), "use one of " + list);
}

/// The bytes of an object with Python's buffer protocol.
class Bytes {
 public:
  Bytes(nb::handle of, int flags) {
    if (PyObject_GetBuffer(of.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }
  [[nodiscard]] void* data() const noexcept { return view_.buf; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept {
    return {static_cast<const std::byte*>(view_.buf), size()};
  }

 private:
  Py_buffer view_{};
};

/// Return the module numpy.
nb::object numpy();
/// Return `str(object)`.
std::string text(nb::handle object);
/// Return a dtype, if its elements can be sent. @throws Error{usage}
nb::object checked_dtype(nb::handle wanted);
/// Tell whether values of a dtype may not fit in another: of another kind, or longer strings.
bool would_lose(nb::handle dtype, nb::handle into);
/// Return an object with elements of a dtype as contiguous bytes: the data itself if possible, else a copy.
/// @throws Error{usage} if that would lose data
nb::object packed(nb::handle data, nb::handle dtype);
/// Give numpy an array of a dtype that owns a copy of these bytes, flat.
nb::object array_of(nb::handle dtype, std::span<const std::byte> bytes);
/// Convert integers of numpy to global ids. @throws Error{usage}
std::vector<GlobalId> ids_of(nb::handle ids);
/// Convert a Python exception to an error that ranks can agree on. @param what  the subject, if it is not barrio's
/// @pre Python's lock is held
Error error_of(const nb::python_error& trouble, const std::string& what);

/// Call `visit(std::span<T>)` with the values of a writable, contiguous array of float64, float32, int64 or int32.
/// @param what  the argument's name. @throws Error{usage}
template <class Visit>
void with_values(nb::handle array, const char* what, Visit&& visit) {
  const auto taken = [&]<class T>(std::type_identity<T>) {
    nb::ndarray<T, nb::c_contig, nb::device::cpu> values;
    if (!nb::try_cast(array, values, false)) return false;
    visit(std::span<T>(values.data(), values.size()));
    return true;
  };
  if (taken(std::type_identity<double>()) || taken(std::type_identity<float>()) ||
      taken(std::type_identity<std::int64_t>()) || taken(std::type_identity<std::int32_t>()))
    return;
  throw_usage(what, "must be a contiguous, writable array of float64, float32, int64 or int32",
              "np.ascontiguousarray(values) makes one");
}

/// Call `visit(combine)` with the named operation. @throws Error{usage}
template <class Visit>
void with_operation(const std::string& name, Visit&& visit) {
  enum class Operation { sum, product, min, max };
  constexpr std::array<std::pair<const char*, Operation>, 4> operations{
      {{"sum", Operation::sum}, {"product", Operation::product}, {"min", Operation::min}, {"max", Operation::max}}};
  switch (find_value(operations, "op", name)) {
    case Operation::sum: return visit(exchange::Sum{});
    case Operation::product: return visit(exchange::Product{});
    case Operation::min: return visit(exchange::Min{});
    case Operation::max: return visit(exchange::Max{});
  }
}

}  // namespace barrio::python
