#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/files/hdf5/hdf5.hpp"
#include "barrio/files/hdf5/native.hpp"
#include "barrio/files/hdf5/quiet.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Reading rows, numbers, texts and attributes.

namespace barrio::files {

using detail::has_link;
using detail::Quiet;

std::vector<Run> detail::checked_runs(Rows rows, std::span<const std::int64_t> shape, const std::string& path) {
  constexpr std::array<std::int64_t, 1> single{1};
  if (shape.empty()) shape = single;
  const std::size_t outer = rows.within.size();
  bool fits = outer + rows.of_each.size() < shape.size();
  for (std::size_t d = 0; fits && d < outer; ++d) fits = rows.within[d] >= 0 && rows.within[d] < shape[d];
  if (!fits)
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("has the shape [{}], but place [{}] was requested",
                                                            fmt::join(shape, ", "), fmt::join(rows.within, ", "))});
  std::vector<Run> runs;
  for (const std::int64_t place : rows.within) runs.push_back({place, 1});
  runs.push_back(rows.count < 0 ? Run{0, shape[outer]} : Run{rows.first, rows.count});
  runs.insert(runs.end(), rows.of_each.begin(), rows.of_each.end());
  while (runs.size() < shape.size()) runs.push_back({0, shape[runs.size()]});
  for (std::size_t d = outer; d < runs.size(); ++d) {
    const Run run = runs[d];
    if (run.first >= 0 && run.count >= 0 && run.count <= shape[d] - run.first) continue;
    throw Error(
        ErrorCode::bad_input,
        {.subject = path,
         .cause = fmt::format("has {} {} {} to {} were requested", shape[d],
                              d == outer ? "rows, but rows" : fmt::format("places along dimension {}, but places", d),
                              run.first, run.first + run.count)});
  }
  return runs;
}

namespace {

/// Rows as stored, in memory of the requested type: if they are stored as `Word`, no copy is needed.
template <class Word>
struct RawValues {
  static_assert(sizeof(Word) == 8);
  std::vector<Word> words;
  std::size_t n_bytes = 0;
  std::size_t value_bytes = 0;  // size of one stored element
  std::size_t n_per_value = 1;  // numbers in one element: several for array types
  H5T_class_t kind = H5T_NO_CLASS;
  bool is_signed = true;
  bool swaps = false;

  [[nodiscard]] const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(words.data()); }
};

/// The number type of a type: that of an array's elements, or the base of an enumeration.
struct NumberType {
  H5T_class_t kind;
  std::size_t bytes;
  bool is_signed;
  bool swaps;
};

NumberType number_type(hid_t type) {
  Handle number(H5Tcopy(type), &H5Tclose);
  while (H5Tget_class(number.get()) == H5T_ARRAY || H5Tget_class(number.get()) == H5T_ENUM)
    number = Handle(H5Tget_super(number.get()), &H5Tclose);
  NumberType found{H5Tget_class(number.get()), H5Tget_size(number.get()), true, false};
  if (found.kind != H5T_INTEGER && found.kind != H5T_FLOAT) return found;
  found.is_signed = found.kind == H5T_FLOAT || H5Tget_sign(number.get()) == H5T_SGN_2;
  found.swaps = (H5Tget_order(number.get()) == H5T_ORDER_BE) != (std::endian::native == std::endian::big);
  return found;
}

/// Explain why HDF5 did not read collectively, in plain words for the most common reasons.
std::string why_alone(hid_t transfer) {
  std::uint32_t here = 0;
  std::uint32_t anywhere = 0;
  H5Pget_mpio_no_collective_cause(transfer, &here, &anywhere);
  if ((anywhere & H5D_MPIO_DATATYPE_CONVERSION) != 0) return "its type is converted";
  if ((anywhere & H5D_MPIO_NOT_CONTIGUOUS_OR_CHUNKED_DATASET) != 0) return "it is neither contiguous nor chunked";
  return fmt::format("cause {:#x} of H5D_mpio_no_collective_cause_t", anywhere);
}

/// Count a read that should be collective, by the mode that HDF5 reports.
void count_read(mpi::Context& context, hid_t transfer, const std::string& path, std::size_t n_bytes) {
  auto mode = H5D_MPIO_NO_COLLECTIVE;
  H5Pget_mpio_actual_io_mode(transfer, &mode);
  mpi::Counters& counters = context.counters();
  if (mode == H5D_MPIO_CONTIGUOUS_COLLECTIVE || mode == H5D_MPIO_CHUNK_COLLECTIVE) {
    counters.collective_reads += 1;
    counters.collective_bytes_read += n_bytes;
    return;
  }
  counters.independent_reads += 1;
  counters.independent_bytes_read += n_bytes;
  context.log().info(fmt::format("{} is read by each rank alone: {}", path, why_alone(transfer)));
}

/// The HDF5 objects of one read.
struct Request {
  Handle dataset;
  Handle space;  // with the rows selected
  Handle type;
  Handle memory;
  Handle transfer;
  bool has_rows = true;
  bool has_storage = true;  ///< false: never written, all values are the fill value
};

/// Tell whether values of a dataset are in the file. HDF5 fails to fill a one-dimensional memory for a dataset of more
/// dimensions that has none.
bool has_storage(hid_t dataset) {
  auto status = H5D_SPACE_STATUS_ALLOCATED;
  if (H5Dget_space_status(dataset, &status) < 0 || status != H5D_SPACE_STATUS_NOT_ALLOCATED) return true;
  const Handle created(H5Dget_create_plist(dataset), &H5Pclose);
  return H5Pget_layout(created.get()) == H5D_VIRTUAL || H5Pget_external_count(created.get()) > 0;
}

/// Fill values with the fill value of a dataset; with 0 if it has none.
void fill_values(hid_t dataset, hid_t type, std::span<std::byte> values) {
  const Handle created(H5Dget_create_plist(dataset), &H5Pclose);
  auto defined = H5D_FILL_VALUE_UNDEFINED;
  std::vector<std::byte> one(H5Tget_size(type));
  if (H5Pfill_value_defined(created.get(), &defined) < 0 || defined == H5D_FILL_VALUE_UNDEFINED ||
      H5Pget_fill_value(created.get(), type, one.data()) < 0)
    return;
  for (; values.size() >= one.size() && !one.empty(); values = values.subspan(one.size()))
    std::ranges::copy(one, values.begin());
}

/// Do the local part of a read. @param accept  throws if the values are not of the requested kind
template <class Word, class Accept>
Request prepare(Place where, const std::string& path, Rows rows, const Accept& accept, RawValues<Word>& raw) {
  if (!has_link(where.id, path)) {
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = "is missing in the file"});
  }
  Request request;
  request.dataset = checked(H5Dopen2(where.id, path.c_str(), H5P_DEFAULT), &H5Dclose, path, "opening");
  const hid_t dataset = request.dataset.get();
  request.type = checked(H5Dget_type(dataset), &H5Tclose, path, "asking for the type");
  request.space = checked(H5Dget_space(dataset), &H5Sclose, path, "asking for the extents");
  const hid_t space = request.space.get();
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  check(rank, path, "asking for the extents");
  detail::check_size_of(dataset, request.type.get(), space, path);
  if (H5Tdetect_class(request.type.get(), H5T_VLEN) > 0 || H5Tis_variable_str(request.type.get()) > 0)
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = "has values of varying length, which are not expected here"});
  const std::vector<std::int64_t> shape(sizes.begin(), sizes.begin() + rank);
  const std::vector<Run> runs = detail::checked_runs(rows, shape, path);
  request.has_rows = shape.empty() || shape[rows.within.size()] > 0;
  raw.value_bytes = H5Tget_size(request.type.get());
  hsize_t n_values = 1;
  for (const Run& run : runs) n_values *= run.count;
  if (rank > 0 && n_values == 0) check(H5Sselect_none(space), path, "selecting rows");
  if (rank > 0 && n_values > 0) {
    std::array<hsize_t, H5S_MAX_RANK> first{};
    std::array<hsize_t, H5S_MAX_RANK> count{};
    std::ranges::transform(runs, first.begin(), [](const Run& run) { return run.first; });
    std::ranges::transform(runs, count.begin(), [](const Run& run) { return run.count; });
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr), path,
          "selecting rows");
  }
  request.memory = checked(H5Screate_simple(1, &n_values, nullptr), &H5Sclose, path, "reading");
  request.transfer = checked(H5Pcreate(H5P_DATASET_XFER), &H5Pclose, path, "reading");
  if (where.context != nullptr) H5Pset_dxpl_mpio(request.transfer.get(), H5FD_MPIO_COLLECTIVE);
  raw.n_bytes = n_values * raw.value_bytes;
  const NumberType number = number_type(request.type.get());
  raw.kind = number.kind;
  if (raw.kind == H5T_INTEGER || raw.kind == H5T_FLOAT) {
    raw.n_per_value = raw.value_bytes / number.bytes;
    raw.value_bytes = number.bytes;
    raw.is_signed = number.is_signed;
    raw.swaps = number.swaps;
  }
  accept(raw, request.type.get());
  raw.words.resize((raw.n_bytes + 7) / 8);
  request.has_storage = has_storage(dataset);
  if (!request.has_storage)
    fill_values(dataset, request.type.get(), std::as_writable_bytes(std::span(raw.words)).first(raw.n_bytes));
  return request;
}

constexpr auto accept_all = [](const auto&, hid_t) {};

template <class Word, class Accept>
RawValues<Word> read_raw(Place where, const std::string& path, Rows rows, const Accept& accept) {
  const Quiet quiet;
  RawValues<Word> raw;
  Request request;
  std::byte nothing{};  // HDF5 needs a valid address even without rows
  const auto read = [&] {
    check(H5Dread(request.dataset.get(), request.type.get(), request.memory.get(), request.space.get(),
                  request.transfer.get(), raw.words.empty() ? static_cast<void*>(&nothing) : raw.words.data()),
          path, "reading");
  };
  if (where.context == nullptr) {
    request = prepare(where, path, rows, accept, raw);
    if (request.has_storage) read();
    return raw;
  }
  // The other ranks would wait forever for a rank that skips H5Dread or throws after it. So all continue, or none.
  agree_after(*where.context, [&] { request = prepare(where, path, rows, accept, raw); });
  if (!request.has_storage) return raw;
  agree_after(*where.context, read);
  if (request.has_rows) count_read(*where.context, request.transfer.get(), path, raw.n_bytes);
  return raw;
}

[[noreturn]] void wrong_kind(const std::string& path, const char* wanted) {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = fmt::format("does not hold {}", wanted)});
}

/// Refuse array types: a caller that reads numbers expects as many of them as the extents say.
template <class Word>
void refuse_arrays(const RawValues<Word>& raw, const std::string& path) {
  if (raw.n_per_value != 1)
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has arrays of {} numbers where single numbers were expected", raw.n_per_value)});
}

/// Read integers of any width and byte order. @tparam Word  std::int64_t, or an enumeration of that size
template <class Word>
std::vector<Word> read_words(Place where, const std::string& path, Rows rows) {
  RawValues<Word> raw = read_raw<Word>(where, path, rows, [&](const RawValues<Word>& found, hid_t) {
    if (found.kind != H5T_INTEGER) wrong_kind(path, "integers");
    if (!std::has_single_bit(found.value_bytes) || found.value_bytes > 8)
      wrong_kind(path, "integers of 1, 2, 4 or 8 bytes");
    refuse_arrays(found, path);
  });
  if (raw.value_bytes == 8 && !raw.swaps) return std::move(raw.words);
  const std::byte* at = raw.bytes();
  std::vector<Word> numbers(raw.n_bytes / raw.value_bytes);
  // Widen each type separately: a conditional expression would convert both arms to a common unsigned type first.
  const auto widen_all = [&]<class Number>(Number) {
    for (Word& number : numbers) {
      number = static_cast<Word>(detail::native<Number>(at, raw.swaps));
      at += sizeof(Number);
    }
  };
  switch (raw.value_bytes) {
    case 1: raw.is_signed ? widen_all(std::int8_t{}) : widen_all(std::uint8_t{}); break;
    case 2: raw.is_signed ? widen_all(std::int16_t{}) : widen_all(std::uint16_t{}); break;
    case 4: raw.is_signed ? widen_all(std::int32_t{}) : widen_all(std::uint32_t{}); break;
    default: widen_all(std::int64_t{});
  }
  return numbers;
}

}  // namespace

std::vector<std::int64_t> read_integers(Place where, const std::string& path, Rows rows) {
  return read_words<std::int64_t>(where, path, rows);
}

std::vector<GlobalId> read_ids(Place where, const std::string& path, std::int64_t first, Rows rows) {
  std::vector<GlobalId> ids = read_words<GlobalId>(where, path, rows);
  // Unsigned arithmetic, because a damaged id may be any number: one that is too low wraps around to one too high.
  for (GlobalId& id : ids)
    id = GlobalId{static_cast<std::int64_t>(static_cast<std::uint64_t>(value(id)) - static_cast<std::uint64_t>(first))};
  return ids;
}

std::vector<double> read_reals(Place where, const std::string& path, Rows rows) {
  RawValues<double> raw = read_raw<double>(where, path, rows, [&](const RawValues<double>& found, hid_t) {
    if (found.kind != H5T_FLOAT) wrong_kind(path, "floating-point numbers");
    if (found.value_bytes != 8 && found.value_bytes != 4) wrong_kind(path, "numbers of 4 or 8 bytes");
    refuse_arrays(found, path);
  });
  if (raw.value_bytes == 8 && !raw.swaps) return std::move(raw.words);
  std::vector<double> numbers(raw.n_bytes / raw.value_bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::byte* at = raw.bytes() + i * raw.value_bytes;
    numbers[i] = raw.value_bytes == 8 ? detail::native<double>(at, raw.swaps)
                                      : static_cast<double>(detail::native<float>(at, raw.swaps));
  }
  return numbers;
}

namespace {

NativeValues native_values(hid_t type) {
  const NumberType number = number_type(type);
  NativeValues values;
  values.kind = number.kind == H5T_INTEGER
                    ? NativeValues::Kind::integer
                    : (number.kind == H5T_FLOAT ? NativeValues::Kind::real : NativeValues::Kind::other);
  values.is_signed = number.is_signed;
  values.number_bytes = values.kind == NativeValues::Kind::other ? H5Tget_size(type) : number.bytes;
  values.n_numbers = H5Tget_size(type) / std::max<std::size_t>(values.number_bytes, 1);
  return values;
}

void swap_numbers(std::span<std::byte> bytes, std::size_t number_bytes) {
  for (std::size_t at = 0; at + number_bytes <= bytes.size(); at += number_bytes)
    std::ranges::reverse(bytes.subspan(at, number_bytes));
}

}  // namespace

NativeValues read_native(Place where, const std::string& path, Rows rows) {
  NativeValues values;
  const RawValues raw =
      read_raw<std::int64_t>(where, path, rows, [&](const auto&, hid_t type) { values = native_values(type); });
  values.bytes.assign(raw.bytes(), raw.bytes() + raw.n_bytes);
  if (raw.swaps) swap_numbers(values.bytes, values.number_bytes);
  return values;
}

namespace {

/// An attribute with its type and extents; the handles are empty if there is none.
struct Attribute {
  Attribute(hid_t where, const std::string& path, const std::string& name) {
    if (!has_link(where, path) || H5Aexists_by_name(where, path.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return;
    handle = Handle(H5Aopen_by_name(where, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
    if (!handle) return;
    type = Handle(H5Aget_type(handle.get()), &H5Tclose);
    space = Handle(H5Aget_space(handle.get()), &H5Sclose);
  }
  Handle handle;
  Handle type;
  Handle space;
};

}  // namespace

NativeValues read_native_attribute(Place where, const std::string& path, const std::string& name) {
  const Quiet quiet;
  const Attribute attribute(where.id, path, name);
  if (!attribute.handle) return {};
  const hid_t type = attribute.type.get();
  const hssize_t n = H5Sget_simple_extent_npoints(attribute.space.get());
  constexpr std::size_t max_bytes = 1U << 16U;
  const std::size_t n_bytes = n < 1 ? 0 : static_cast<std::size_t>(n) * H5Tget_size(type);
  if (n_bytes == 0 || n_bytes > max_bytes || H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0)
    return {};
  NativeValues values = native_values(type);
  values.bytes.resize(n_bytes);
  if (H5Aread(attribute.handle.get(), type, values.bytes.data()) < 0) return {};
  if (number_type(type).swaps) swap_numbers(values.bytes, values.number_bytes);
  return values;
}

NativeValues shape_of_type(Place where, const std::string& path) {
  const Quiet quiet;
  Handle type(H5Topen2(where.id, path.c_str(), H5P_DEFAULT), &H5Tclose);
  if (!type) {
    const Handle dataset(H5Dopen2(where.id, path.c_str(), H5P_DEFAULT), &H5Dclose);
    if (dataset) type = Handle(H5Dget_type(dataset.get()), &H5Tclose);
  }
  if (!type) throw Error(ErrorCode::bad_input, {.subject = path, .cause = "is missing in the file or is not a type"});
  NativeValues values = native_values(type.get());
  if (H5Tget_class(type.get()) == H5T_BITFIELD) values.n_numbers = H5Tget_precision(type.get());
  return values;
}

std::vector<std::string> read_texts(Place where, const std::string& path, Rows rows) {
  const RawValues raw = read_raw<std::int64_t>(where, path, rows, accept_all);
  std::vector<std::string> texts;
  const std::size_t length = raw.value_bytes * raw.n_per_value;
  for (std::size_t at = 0; at < raw.n_bytes; at += length) {
    const auto* first = reinterpret_cast<const char*>(raw.bytes() + at);
    texts.emplace_back(first, ::strnlen(first, length));
  }
  return texts;
}

std::vector<std::int64_t> read_attribute(Place where, const std::string& path, const std::string& name) {
  const Quiet quiet;
  const Attribute attribute(where.id, path, name);
  if (!attribute.handle) return {};
  const hid_t type = attribute.type.get();
  if (H5Tget_class(type) != H5T_INTEGER && H5Tget_class(type) != H5T_ENUM) return {};
  const hssize_t n = H5Sget_simple_extent_npoints(attribute.space.get());
  if (n < 1 || n > 1024) return {};
  if (H5Tget_class(type) == H5T_ENUM) {
    std::vector<std::uint8_t> raw(H5Tget_size(type) * n);
    if (H5Aread(attribute.handle.get(), type, raw.data()) < 0) return {};
    return {raw.begin(), raw.end()};
  }
  std::vector<std::int64_t> values(n);
  if (H5Aread(attribute.handle.get(), H5T_NATIVE_INT64, values.data()) < 0) return {};
  return values;
}

}  // namespace barrio::files
