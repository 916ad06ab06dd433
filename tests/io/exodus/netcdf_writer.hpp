#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace barrio::test {

/// Contents of a small netCDF file, for any of the formats. Implements the specification of the classic format; the
/// netCDF-4 form has only the parts that mesh readers use, with scales for named dimensions.
struct NetcdfContents {
  struct Variable {
    std::string name;
    std::vector<long> shape;
    std::variant<std::vector<int>, std::vector<double>, std::string> values;
    std::vector<std::pair<std::string, std::string>> attributes = {};
    bool has_records = false;
    std::vector<std::string> dimensions = {};                  ///< names; generated if empty
    std::vector<std::pair<std::string, double>> numbers = {};  ///< attributes
    bool is_written = true;  ///< else the fill value, 0, and no space in the file; only netCDF-4
  };
  std::vector<Variable> variables;

  Variable& operator[](const std::string& name);
  void remove(const std::string& name);
};

enum class NetcdfFormat { cdf1 = 1, cdf2 = 2, hdf5 = 4, cdf5 = 5 };

/// Write a file, on one process.
void write(const NetcdfContents& contents, const std::filesystem::path& path, NetcdfFormat format);

/// Pad texts to one length, as in netCDF's lists of names.
std::string padded(const std::vector<std::string>& texts, std::size_t length);

}  // namespace barrio::test
