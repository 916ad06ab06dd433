#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace barrio::test {

/// A small netCDF file, to be written in any of the formats. Written from the specification of the classic format; the
/// netCDF-4 form has what readers of meshes look at; of dimensions that have names, the scales.
struct NetcdfContents {
  struct Variable {
    std::string name;
    std::vector<long> shape;
    std::variant<std::vector<int>, std::vector<double>, std::string> values;
    std::vector<std::pair<std::string, std::string>> attributes = {};
    bool has_records = false;
    std::vector<std::string> dimensions = {};                  ///< names; made up if there are none
    std::vector<std::pair<std::string, double>> numbers = {};  ///< attributes
    bool is_written = true;  ///< else it has its fill value, 0, and no room in the file; netCDF-4 alone
  };
  std::vector<Variable> variables;

  Variable& operator[](const std::string& name);
  void remove(const std::string& name);
};

enum class NetcdfFormat { cdf1 = 1, cdf2 = 2, hdf5 = 4, cdf5 = 5 };

/// On one process.
void write(const NetcdfContents& contents, const std::filesystem::path& path, NetcdfFormat format);

/// Texts of one length, as netCDF keeps lists of names.
std::string padded(const std::vector<std::string>& texts, std::size_t length);

}  // namespace barrio::test
