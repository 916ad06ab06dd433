#include "messages.hpp"

#include <cstring>

namespace barrio::python {

nb::object numpy() { return nb::module_::import_("numpy"); }

std::string text(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

nb::object checked_dtype(nb::handle wanted) {
  nb::object dtype = numpy().attr("dtype")(wanted);
  const std::string name = fmt::format("dtype {}", text(dtype));
  if (nb::cast<bool>(dtype.attr("hasobject")))
    throw_usage(name, "holds Python objects, which cannot travel", "pickle them and send the bytes, with dtype uint8");
  if (nb::cast<std::size_t>(dtype.attr("itemsize")) == 0) throw_usage(name, "has no size", "give one, such as S8");
  if (!dtype.attr("subdtype").is_none()) throw_usage(name, "has a shape", "give the dtype of one element");
  return dtype;
}

bool would_lose(nb::handle dtype, nb::handle into) {
  if (!nb::cast<bool>(numpy().attr("can_cast")(dtype, into, "same_kind"))) return true;
  const bool is_text = nb::cast<bool>(nb::str("SU").attr("__contains__")(dtype.attr("kind")));
  return is_text && nb::cast<std::size_t>(dtype.attr("itemsize")) > nb::cast<std::size_t>(into.attr("itemsize"));
}

nb::object packed(nb::handle data, nb::handle dtype) {
  if (PyBytes_Check(data.ptr()) || PyByteArray_Check(data.ptr()) || PyMemoryView_Check(data.ptr())) {
    const std::size_t n_bytes = Bytes(data, PyBUF_SIMPLE).size();
    if (n_bytes % nb::cast<std::size_t>(dtype.attr("itemsize")) != 0)
      throw_usage("message", fmt::format("has {} bytes, which is not a multiple of {}", n_bytes, text(dtype)));
    return nb::borrow(data);
  }
  const nb::object np = numpy();
  const bool is_array = PyObject_IsInstance(data.ptr(), np.attr("ndarray").ptr()) == 1;
  nb::object array;
  if (is_array || dtype.attr("names").is_none()) array = np.attr("asarray")(data);
  const auto is_integer = [](nb::handle type) {
    return nb::cast<bool>(nb::str("iu").attr("__contains__")(type.attr("kind")));
  };
  // With the dtype: tuples become records, empty lists get a type, and numpy refuses Python integers that do not fit.
  if (!is_array && (!array.is_valid() || nb::cast<std::size_t>(array.attr("size")) == 0 ||
                    (is_integer(array.attr("dtype")) && is_integer(dtype))))
    array = np.attr("asarray")(data, dtype);
  if (would_lose(array.attr("dtype"), dtype))
    throw_usage("message", fmt::format("of {} does not fit in {}", text(array.attr("dtype")), text(dtype)),
                "convert it with astype(), or begin the round with its dtype");
  return np.attr("ascontiguousarray")(array, dtype).attr("reshape")(-1).attr("view")(np.attr("uint8"));
}

nb::object array_of(nb::handle dtype, std::span<const std::byte> bytes) {
  const nb::object np = numpy();
  const nb::object words = np.attr("empty")(bytes.size(), np.attr("uint8"));
  const Bytes place(words, PyBUF_WRITABLE);
  if (!bytes.empty()) std::memcpy(place.data(), bytes.data(), bytes.size());
  return words.attr("view")(dtype);
}

// Integers of numpy as global ids.
std::vector<GlobalId> ids_of(nb::handle ids) {
  const nb::object array = numpy().attr("ascontiguousarray")(ids).attr("reshape")(-1);
  if (nb::cast<std::size_t>(array.attr("size")) > 0 &&
      nb::cast<std::string>(array.attr("dtype").attr("kind")).find_first_of("iu") == std::string::npos)
    throw_usage("ids", fmt::format("must be integers, not {}", text(array.attr("dtype"))), "give integers");
  const auto wide = nb::cast<nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>>(
      array.attr("astype")(numpy().attr("int64")));
  std::vector<GlobalId> all(wide.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = GlobalId{wide.data()[i]};
  return all;
}

Error error_of(const nb::python_error& trouble, const std::string& what) {
  const nb::object exception = nb::borrow(trouble.value());
  const auto word = [&](const char* name) { return text(exception.attr(name)); };
  if (nb::isinstance(exception, nb::module_::import_("barrio.errors").attr("Error")))
    return {static_cast<ErrorCode>(nb::cast<int>(exception.attr("code").attr("value"))),
            {.subject = word("subject"), .cause = word("cause"), .remedy = word("remedy")}};
  return {ErrorCode::usage,
          {.subject = what,
           .cause = fmt::format("cannot be taken: {}: {}", nb::cast<std::string>(trouble.type().attr("__name__")),
                                text(exception))}};
}

}  // namespace barrio::python
