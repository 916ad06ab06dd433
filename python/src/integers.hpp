#pragma once

#include <algorithm>
#include <vector>

#include "barrio/mpi/agree.hpp"
#include "messages.hpp"

namespace barrio::python {

/// An argument with integers in any form that numpy takes. Numbers of another kind, and those too large for T, are
/// refused when they are taken: numpy would cut them off without a word.
template <class T>
struct Integers {
  nb::object given;
};

/// Return the integers of an argument, in one dimension. Local. @pre the GIL is held
/// @throws Error{usage}, {bad_input}
template <class To, class T>
std::vector<To> taken(const Integers<T>& argument, const char* subject) {
  static_assert(sizeof(To) == sizeof(T));
  const nb::object dtype = numpy().attr(sizeof(T) == 8 ? "int64" : sizeof(T) == 4 ? "int32" : "uint8");
  try {
    const nb::object array = nb::module_::import_("barrio._arrays").attr("integers")(argument.given, subject, dtype);
    const auto all = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(array);
    if (all.ndim() != 1)
      throw_usage(subject, fmt::format("have {} dimensions", all.ndim()), "give an array of one dimension");
    std::vector<To> values(all.size());
    std::transform(all.data(), all.data() + all.size(), values.begin(), [](T value) { return static_cast<To>(value); });
    return values;
  } catch (const nb::python_error& trouble) {
    throw error_of(trouble, subject);
  }
}

/// Return the integers of an argument. Collective: all ranks refuse what one refuses. @pre the GIL is held
template <class To, class T>
std::vector<To> taken(mpi::Context& context, const Integers<T>& argument, const char* subject) {
  std::vector<To> values;
  const nb::gil_scoped_release unlocked;
  agree_after(context, [&] {
    const nb::gil_scoped_acquire locked;
    values = taken<To>(argument, subject);
  });
  return values;
}

}  // namespace barrio::python

namespace nanobind::detail {

template <class T>
struct type_caster<barrio::python::Integers<T>> {
  static constexpr auto numbers = [] {
    if constexpr (sizeof(T) == 8)
      return const_name("numpy.typing.NDArray[numpy.int64]");
    else if constexpr (sizeof(T) == 4)
      return const_name("numpy.typing.NDArray[numpy.int32]");
    else
      return const_name("numpy.typing.NDArray[numpy.uint8]");
  }();
  NB_TYPE_CASTER(barrio::python::Integers<T>, numbers)
  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    value.given = borrow(source);
    return true;
  }
};

}  // namespace nanobind::detail
