#include "tests/io/gmsh/gmsh_binary.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace barrio::test {
namespace {

class Copier {
 public:
  Copier(const std::filesystem::path& text, const std::filesystem::path& binary)
      : in_(text), out_(binary, std::ios::binary) {}

  void run() {
    for (std::string line; std::getline(in_, line);) {
      out_ << line << '\n';
      if (line == "$MeshFormat") {
        std::getline(in_, line);
        out_ << "4.1 1 8\n";
        put<std::int32_t>(1);
        out_ << '\n';
      } else if (line == "$PhysicalNames") {
        while (std::getline(in_, line) && line != "$EndPhysicalNames") out_ << line << '\n';
        out_ << line << '\n';
      } else if (line == "$Entities") {
        entities();
      } else if (line == "$Nodes") {
        nodes();
      } else if (line == "$Elements") {
        elements();
      }
    }
  }

 private:
  template <class T>
  void put(T value) {
    out_.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// Copy the next n numbers of the text. @return the last one
  template <class T>
  T copy(std::int64_t n = 1) {
    T value{};
    for (; n > 0; --n) {
      in_ >> value;
      put(value);
    }
    return value;
  }
  void end_line() {
    std::string rest;
    std::getline(in_, rest);
    out_ << '\n';
  }
  void entities() {
    std::vector<std::int64_t> n(4);
    for (auto& count : n) count = copy<std::int64_t>();
    for (std::size_t dim = 0; dim < 4; ++dim) {
      for (std::int64_t i = 0; i < n[dim]; ++i) {
        copy<std::int32_t>();
        copy<double>(dim == 0 ? 3 : 6);
        copy<std::int32_t>(copy<std::int64_t>());
        if (dim > 0) copy<std::int32_t>(copy<std::int64_t>());
      }
    }
    end_line();
  }
  void nodes() {
    std::int64_t n_blocks = copy<std::int64_t>();
    copy<std::int64_t>(3);
    for (; n_blocks > 0; --n_blocks) {
      copy<std::int32_t>(3);
      const auto n = copy<std::int64_t>();
      copy<std::int64_t>(n);
      copy<double>(3 * n);
    }
    end_line();
  }
  void elements() {
    static const std::map<int, int> n_nodes{{1, 2}, {2, 3}, {3, 4}, {4, 4}, {5, 8}, {6, 6}, {7, 5}, {15, 1}};
    std::int64_t n_blocks = copy<std::int64_t>();
    copy<std::int64_t>(3);
    for (; n_blocks > 0; --n_blocks) {
      const auto type = copy<std::int32_t>(3);
      copy<std::int64_t>(copy<std::int64_t>() * (1 + n_nodes.at(type)));
    }
    end_line();
  }
  std::ifstream in_;
  std::ofstream out_;
};

}  // namespace

void write_gmsh_binary(const std::filesystem::path& text, const std::filesystem::path& binary) {
  Copier(text, binary).run();
}

}  // namespace barrio::test
