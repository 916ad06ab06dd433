// Inspect and damage HDF5 files, for tests in Python that must not need h5py.
//   hdf5_tool digest FILE | numbers FILE DATASET | set FILE DATASET PLACE VALUE | remove FILE PATH
//   hdf5_tool polygons FILE GROUP | type FILE GROUP TYPE | gmsh-binary TEXT BINARY
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/io/damage.hpp"
#include "tests/io/gmsh/gmsh_binary.hpp"

int main(int argc, char** argv) {
  using namespace barrio::test;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto is = [&](const char* name, std::size_t n) { return words.size() == n && words[0] == name; };
  if (is("digest", 2)) {
    for (const std::string& line : digest(words[1])) fmt::print("{}\n", line);
  } else if (is("numbers", 3)) {
    for (const double number : numbers(words[1], words[2])) fmt::print("{:.17g}\n", number);
  } else if (is("set", 5)) {
    set_value(words[1], words[2], std::atol(words[3].c_str()), std::atof(words[4].c_str()));
  } else if (is("remove", 3)) {
    remove_link(words[1], words[2]);
  } else if (is("polygons", 3)) {
    make_polygons(words[1], words[2]);
  } else if (is("type", 4)) {
    set_type(words[1], words[2], words[3]);
  } else if (is("gmsh-binary", 3)) {
    write_gmsh_binary(words[1], words[2]);
  } else {
    fmt::print(stderr, "hdf5_tool: the words make no sense; see the top of its source\n");
    return 2;
  }
  return 0;
}
