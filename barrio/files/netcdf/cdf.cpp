#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "barrio/base/error.hpp"
#include "barrio/files/detail/cdf.hpp"
#include "barrio/files/hdf5/native.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::files::detail {

bool is_cdf(std::string_view head) noexcept {
  return head.size() >= 4 && head.starts_with("CDF") && (head[3] == 1 || head[3] == 2 || head[3] == 5);
}

std::size_t size_of(CdfFile::Type type) noexcept {
  using enum CdfFile::Type;
  switch (type) {
    case int16:
    case uint16: return 2;
    case int32:
    case uint32:
    case float32: return 4;
    case float64:
    case int64:
    case uint64: return 8;
    default: return 1;
  }
}

/// A reader of a header, word by word. The length of the header is not known beforehand, so more of the file is fetched
/// when needed.
class CdfHeader {
 public:
  /// @param more  appends further bytes of the file; returns false at its end
  CdfHeader(std::string path, std::string bytes, std::function<bool(std::string&)> more)
      : path_(std::move(path)), bytes_(std::move(bytes)), more_(std::move(more)) {
    if (!is_cdf(take(4))) refuse("is not a classic netCDF file");
    version_ = static_cast<unsigned char>(bytes_[3]);
  }
  [[nodiscard]] const std::string& bytes() const& noexcept { return bytes_; }
  /// Return the number of bytes read so far.
  [[nodiscard]] std::size_t size() const noexcept { return at_; }

  std::string_view take(std::uint64_t n) {
    if (n > longest_header - at_) refuse("announces a header that is too long");
    while (n > bytes_.size() - at_)
      if (!more_(bytes_)) refuse("ends within its header");
    at_ += n;
    return std::string_view(bytes_).substr(at_ - n, n);
  }
  /// Read text or numbers, padded to a multiple of four bytes.
  std::string padded(std::uint64_t n) {
    std::string text(take(n));
    take(-n % 4);
    return text;
  }
  std::uint64_t word32() { return word<std::uint32_t>(); }
  /// Read a count or a size: 64 bits wide in CDF-5.
  std::uint64_t count() {
    const std::uint64_t n = version_ == 5 ? word<std::uint64_t>() : word32();
    if (n >> 58U != 0) refuse(fmt::format("has a count of {} in its header", n));
    return n;
  }
  std::uint64_t offset() { return version_ == 1 ? word32() : word<std::uint64_t>(); }
  std::string name() {
    constexpr std::uint64_t longest_name = std::uint64_t{64} << 10U;
    const std::uint64_t n = count();
    if (n > longest_name) refuse(fmt::format("has a name of {} bytes in its header", n));
    return padded(n);
  }
  CdfFile::Type type() {
    const std::uint64_t code = word32();
    if (code < 1 || code > 11) refuse(fmt::format("has a type number {} in its header", code));
    return CdfFile::Type{static_cast<std::uint8_t>(code)};
  }
  /// Read the start of a list. @param tag  marks a non-empty list @return its length
  std::uint64_t list(std::uint64_t tag) {
    const std::uint64_t found = word32();
    const std::uint64_t n = count();
    if (found != tag && (found != 0 || n != 0)) refuse("has a header that is not a list of dimensions and variables");
    return n;
  }
  std::vector<CdfFile::Attribute> attributes() {
    std::vector<CdfFile::Attribute> all;
    for (std::uint64_t n = list(12); n > 0; --n) {
      CdfFile::Attribute attribute{name(), {type(), {}}};
      const std::uint64_t n_values = count();
      attribute.values.bytes = padded(n_values * size_of(attribute.values.type));
      all.push_back(std::move(attribute));
    }
    return all;
  }
  [[noreturn]] void refuse(const std::string& cause) const {
    throw Error(ErrorCode::bad_input, {.subject = path_,
                                       .cause = fmt::format("{}, near byte {}", cause, at_),
                                       .remedy = "check that the file is a complete netCDF file"});
  }

 private:
  static constexpr std::uint64_t longest_header = std::uint64_t{256} << 20U;
  template <class Word>
  std::uint64_t word() {
    return native<Word>(reinterpret_cast<const std::byte*>(take(sizeof(Word)).data()),
                        std::endian::native == std::endian::little);
  }
  std::string path_;
  std::string bytes_;
  std::function<bool(std::string&)> more_;
  std::size_t at_ = 0;
  int version_ = 1;
};

namespace {

std::unique_ptr<std::FILE, int (*)(std::FILE*)> open_file(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the name and its permissions"});
  return file;
}

/// Fetch the next bytes of a file, which doubles the buffer.
bool fetch(std::FILE* file, std::string& bytes) {
  constexpr std::size_t first_bytes = 8192;
  const std::size_t n_before = bytes.size();
  bytes.resize(std::max(first_bytes, 2 * n_before));
  bytes.resize(n_before + std::fread(bytes.data() + n_before, 1, bytes.size() - n_before, file));
  return bytes.size() > n_before;
}

}  // namespace

CdfFile::CdfFile(const std::string& path)
    : path_(path), file_(open_file(path)), file_bytes_(std::filesystem::file_size(path)) {
  CdfHeader header(path, {}, [this](std::string& bytes) { return fetch(file_.get(), bytes); });
  parse(header);
}

CdfFile::CdfFile(mpi::Context& context, const std::string& path) : path_(path), file_(nullptr, &std::fclose) {
  std::string text;
  agree_after(context, [&] {
    file_ = open_file(path);
    file_bytes_ = std::filesystem::file_size(path);
    if (!context.is_root()) return;
    CdfHeader header(path, {}, [this](std::string& bytes) { return fetch(file_.get(), bytes); });
    parse(header);
    text = header.bytes().substr(0, header.size());
  });
  mpi::broadcast(context, text);
  agree_after(context, [&] {
    if (context.is_root()) return;
    CdfHeader header(path, std::move(text), [](std::string&) { return false; });
    parse(header);
  });
}

void CdfFile::parse(CdfHeader& header) {
  version_ = static_cast<unsigned char>(header.bytes()[3]);
  std::uint64_t n_records = header.word32();
  if (version_ == 5) n_records = n_records << 32U | header.word32();
  constexpr std::uint64_t max_dimensions = 1024;  // per variable
  std::vector<std::int64_t> dimensions;           // 0: the record dimension
  for (std::uint64_t n = header.list(10); n > 0; --n) {
    dimensions_.push_back(header.name());
    dimensions.push_back(header.count());
  }
  attributes_ = header.attributes();
  std::uint64_t first_record = UINT64_MAX;
  std::size_t n_with_records = 0;
  std::uint64_t unpadded_bytes = 0;
  for (std::uint64_t n = header.list(11); n > 0; --n) {
    Variable variable{.name = header.name()};
    const std::uint64_t n_dimensions = header.count();
    if (n_dimensions > max_dimensions)
      header.refuse(fmt::format("has a variable '{}' with {} dimensions", variable.name, n_dimensions));
    for (std::uint64_t d = 0; d < n_dimensions; ++d) {
      const std::uint64_t id = header.count();
      if (id >= dimensions.size() || (dimensions[id] == 0 && !variable.shape.empty()))
        header.refuse(fmt::format("has a variable '{}' with an invalid dimension", variable.name));
      variable.has_records = variable.has_records || dimensions[id] == 0;
      variable.shape.push_back(dimensions[id]);
      variable.dimensions.push_back(static_cast<std::int32_t>(id));
    }
    variable.attributes = header.attributes();
    variable.type = header.type();
    static_cast<void>(header.count());  // the size follows from the shape; this one overflows for large arrays
    variable.begin = header.offset();
    std::uint64_t bytes = size_of(variable.type);
    for (std::size_t d = variable.has_records ? 1 : 0; d < variable.shape.size(); ++d)
      if (__builtin_mul_overflow(bytes, variable.shape[d], &bytes) || bytes >> 62U != 0)
        header.refuse(fmt::format("has a variable '{}' of more bytes than a file can have", variable.name));
    if (variable.has_records) {
      unpadded_bytes = bytes;
      if (__builtin_add_overflow(record_bytes_, (bytes + 3) / 4 * 4, &record_bytes_) || record_bytes_ >> 62U != 0)
        header.refuse("has records of more bytes than a file can have");
      first_record = std::min(first_record, variable.begin);
      n_with_records += 1;
    }
    variable.item_bytes = bytes;
    places_.try_emplace(variable.name, variables_.size());
    variables_.push_back(std::move(variable));
  }
  if (n_with_records == 1) record_bytes_ = unpadded_bytes;  // a lone variable's records are not padded
  // A streaming writer cannot record the number of its records.
  if (n_records == (version_ == 5 ? UINT64_MAX : UINT32_MAX))
    n_records = record_bytes_ > 0 && file_bytes_ > first_record ? (file_bytes_ - first_record) / record_bytes_ : 0;
  std::uint64_t bytes_of_records = 0;
  if (n_records > file_bytes_ || __builtin_mul_overflow(record_bytes_, n_records, &bytes_of_records) ||
      bytes_of_records >> 62U != 0)
    header.refuse(fmt::format("has a count of {} records", n_records));
  for (Variable& variable : variables_) {
    if (variable.has_records) variable.shape[0] = n_records;
    // Check only the first record: a writer may have been stopped within the last. Reading checks the others.
    if (!variable.has_records || n_records > 0) check_size(variable);
  }
}

void CdfFile::check_size(const Variable& variable) const {
  if (variable.item_bytes == 0 ||
      (variable.begin <= file_bytes_ && variable.item_bytes <= file_bytes_ - variable.begin))
    return;
  const std::uint64_t end = std::max(variable.begin, variable.begin + variable.item_bytes);  // the sum may wrap around
  refuse(variable.name, fmt::format("extends to byte {}, but the file has {} bytes", end, file_bytes_));
}

const CdfFile::Variable* CdfFile::find(std::string_view name) const noexcept {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &variables_[found->second];
}

void CdfFile::refuse(const std::string& variable, std::string cause) const {
  throw Error(ErrorCode::bad_input, {.subject = path_,
                                     .cause = fmt::format("variable '{}' {}", variable, std::move(cause)),
                                     .remedy = "the file is damaged or was not copied completely"});
}

CdfFile::Values CdfFile::read(const Variable& variable, Rows rows) const {
  const std::vector<Run> runs = checked_runs(rows, variable.shape, variable.name);
  // Strides in bytes along each dimension; their products were checked when the header was read.
  std::vector<std::uint64_t> strides(runs.size(), size_of(variable.type));
  for (std::size_t d = strides.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * static_cast<std::uint64_t>(variable.shape[d + 1]);
  if (variable.has_records) strides[0] = record_bytes_;  // records of all variables are interleaved
  std::uint64_t n_bytes = size_of(variable.type);
  std::uint64_t begin = variable.begin;
  std::uint64_t end = n_bytes;  // end of the last value, relative to begin
  for (std::size_t d = 0; d < runs.size(); ++d) {
    n_bytes *= runs[d].count;
    begin += strides[d] * static_cast<std::uint64_t>(runs[d].first);
    end += strides[d] * static_cast<std::uint64_t>(std::max<std::int64_t>(runs[d].count - 1, 0));
  }
  Values values{variable.type, {}};
  if (n_bytes == 0) return values;
  if (begin > file_bytes_ || end > file_bytes_ - begin)
    refuse(variable.name, fmt::format("extends to byte {}, but the file has {} bytes", begin + end, file_bytes_));
  values.bytes.resize(n_bytes);
  // Dimensions that are read without gaps form one piece.
  std::size_t n_outer = runs.size();
  std::uint64_t piece_bytes = size_of(variable.type);
  for (; n_outer > 0 && strides[n_outer - 1] == piece_bytes; --n_outer) piece_bytes *= runs[n_outer - 1].count;
  for (std::uint64_t piece = 0; piece < n_bytes / piece_bytes; ++piece) {
    std::uint64_t at = begin;
    std::uint64_t rest = piece;
    for (std::size_t d = n_outer; d-- > 0;) {
      const std::uint64_t count = runs[d].count;
      at += strides[d] * (rest % count);
      rest /= count;
    }
    read_bytes(variable, at, std::span(values.bytes).subspan(piece * piece_bytes, piece_bytes));
  }
  return values;
}

void CdfFile::read_bytes(const Variable& variable, std::uint64_t at, std::span<char> bytes) const {
  // Bypass the stream, which would fetch whole buffers for the short pieces of a box.
  while (!bytes.empty()) {
    const ssize_t n = ::pread(::fileno(file_.get()), bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      refuse(variable.name,
             fmt::format("cannot be read: {}", n < 0 ? std::strerror(errno) : "the file ends before it"));
    bytes = bytes.subspan(n);
    at += n;
  }
}

}  // namespace barrio::files::detail
