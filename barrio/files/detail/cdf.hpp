#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/files/hdf5.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::files::detail {

/// Tell whether a file starts like a classic netCDF file. @param head  its first bytes
bool is_cdf(std::string_view head) noexcept;

class CdfHeader;

/// A classic netCDF file, open to read: CDF-1, CDF-2 or CDF-5. The header gives the offset of each array. Arrays are
/// big-endian and contiguous, except along the record dimension: there the records of all variables are interleaved.
/// Source: the NetCDF Classic Format Specification, and its CDF-5 extension by PnetCDF.
class CdfFile {
 public:
  enum class Type : std::uint8_t {
    int8 = 1,
    text,
    int16,
    int32,
    float32,
    float64,
    uint8,
    uint16,
    uint32,
    int64,
    uint64
  };
  /// Numbers or text, big-endian as in the file.
  struct Values {
    Type type = Type::text;
    std::string bytes;
  };
  struct Attribute {
    std::string name;
    Values values;
  };
  struct Variable {
    std::string name;
    std::vector<std::int64_t> shape = {};
    std::vector<std::int32_t> dimensions = {};  ///< places in `CdfFile::dimensions()`
    bool has_records = false;                   ///< its first dimension is the record dimension
    Type type = Type::text;
    std::uint64_t begin = 0;       ///< offset of the data, or of the first record
    std::uint64_t item_bytes = 0;  ///< size of the data, or of one record
    std::vector<Attribute> attributes = {};
  };

  /// Open on this process alone. Local.
  /// @throws Error{bad_input} if the header is damaged or the file ends within it
  explicit CdfFile(const std::string& path);
  /// Open on all ranks. Collective; only rank 0 reads the header from the file.
  CdfFile(mpi::Context& context, const std::string& path);

  [[nodiscard]] const std::vector<Variable>& variables() const& noexcept { return variables_; }
  /// Return the names of all dimensions.
  [[nodiscard]] const std::vector<std::string>& dimensions() const& noexcept { return dimensions_; }
  [[nodiscard]] const std::vector<Attribute>& attributes() const& noexcept { return attributes_; }
  [[nodiscard]] int version() const noexcept { return version_; }
  /// Find the variable with a name; null if there is none.
  [[nodiscard]] const Variable* find(std::string_view name) const noexcept;

  /// Read rows of a variable. Local.
  /// @throws Error{bad_input} naming the variable if the rows do not exist or the file ends before them
  [[nodiscard]] Values read(const Variable& variable, Rows rows) const;

 private:
  void parse(CdfHeader& header);
  void check_size(const Variable& variable) const;
  void read_bytes(const Variable& variable, std::uint64_t at, std::span<char> bytes) const;
  [[noreturn]] void refuse(const std::string& variable, std::string cause) const;

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t file_bytes_ = 0;
  int version_ = 1;
  std::vector<std::string> dimensions_;
  std::vector<Variable> variables_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< places of variables, by name
  std::vector<Attribute> attributes_;
  std::uint64_t record_bytes_ = 0;  ///< size of one record of all variables together
};

/// Return the size in bytes of one number or character.
std::size_t size_of(CdfFile::Type type) noexcept;

}  // namespace barrio::files::detail
