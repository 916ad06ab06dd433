#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

/// Builder of a legacy file.
class Legacy {
 public:
  Legacy(int version, bool is_binary) : version_(version), is_binary_(is_binary) {
    line(fmt::format("# vtk DataFile Version {}.0\ntitle\n{}", version, is_binary ? "BINARY" : "ASCII"));
  }
  Legacy& line(const std::string& text) {
    text_ += text + "\n";
    return *this;
  }
  template <class T>
  Legacy& numbers(const std::vector<T>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (is_binary_) {
        std::array<char, sizeof(T)> raw;
        std::memcpy(raw.data(), &items[i], sizeof(T));
        if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(raw);
        text_.append(raw.data(), raw.size());
      } else {
        text_ += fmt::format("{}{}", items[i], i % 7 == 6 ? "\n" : " ");  // line breaks have no meaning
      }
    }
    return line("");
  }
  /// Add cells in the layout of the version.
  Legacy& cells(const std::string& keyword, const std::vector<std::vector<int>>& list) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> nodes;
    std::vector<int> mixed;
    for (const auto& cell : list) {
      mixed.push_back(static_cast<int>(cell.size()));
      mixed.insert(mixed.end(), cell.begin(), cell.end());
      nodes.insert(nodes.end(), cell.begin(), cell.end());
      offsets.push_back(nodes.size());
    }
    if (version_ < 5) return line(fmt::format("{} {} {}", keyword, list.size(), mixed.size())).numbers(mixed);
    return line(fmt::format("{} {} {}", keyword, offsets.size(), nodes.size()))
        .line("OFFSETS vtktypeint64")
        .numbers(offsets)
        .line("CONNECTIVITY vtktypeint64")
        .numbers(nodes);
  }
  const std::string& text() const { return text_; }
  /// Write the file on rank 0. Collective.
  std::string write() const {
    const auto path = scratch() / fmt::format("legacy{}{}.vtk", version_, is_binary_);
    mpi::barrier(world());
    if (world().rank() == 0) std::ofstream(path, std::ios::binary) << text_;
    mpi::barrier(world());
    return path.string();
  }

 private:
  int version_;
  bool is_binary_;
  std::string text_;
};

/// Make a row of tets between two rows of points.
inline std::string row_of_tets(int version, bool is_binary, int n) {
  std::vector<std::vector<int>> cells;
  for (int i = 0; i < n; ++i) cells.push_back({i, i + 1, i + 2, i + 3});
  std::vector<double> x;
  for (int i = 0; i < n + 3; ++i) x.insert(x.end(), {1.0 * i, 1.0 * (i % 2), 1.0 * (i % 3)});
  Legacy file(version, is_binary);
  file.line("DATASET UNSTRUCTURED_GRID").line(fmt::format("POINTS {} double", n + 3)).numbers(x).cells("CELLS", cells);
  file.line(fmt::format("CELL_TYPES {}", n)).numbers(std::vector<int>(static_cast<std::size_t>(n), 10));
  file.line(fmt::format("CELL_DATA {}\nFIELD data 1\nheat 1 {} double", n, n));
  return file.numbers(std::vector<double>(static_cast<std::size_t>(n), 0.5)).text();
}

}  // namespace barrio::test
