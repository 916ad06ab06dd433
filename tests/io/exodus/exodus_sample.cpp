#include "tests/io/exodus/exodus_sample.hpp"

namespace barrio::test {
namespace {

using Integers = std::vector<int>;
using Reals = std::vector<double>;

}  // namespace

NetcdfContents exodus_sample() {
  NetcdfContents file;
  const auto add = [&](const std::string& name, const std::vector<long>& shape, auto values,
                       std::vector<std::pair<std::string, std::string>> attributes = {}) {
    file.variables.push_back({name, shape, std::move(values), std::move(attributes)});
  };
  const auto add_records = [&](const std::string& name, const std::vector<long>& shape, Reals values) {
    add(name, shape, std::move(values));
    file.variables.back().has_records = true;
  };
  Reals x;
  Reals y;
  Reals z;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i) {
        x.push_back(i);
        y.push_back(j);
        z.push_back(k);
      }
  x.push_back(1.5);
  y.push_back(0.5);
  z.push_back(2);
  add("coordx", {13}, x);
  add("coordy", {13}, y);
  add("coordz", {13}, z);
  add("eb_status", {5}, Integers{1, 1, 0, 1, 1});
  add("eb_prop1", {5}, Integers{10, 20, 25, 30, 40}, {{"name", "ID"}});
  add("eb_prop2", {5}, Integers{1, 2, 3, 4, 5}, {{"name", "COLOUR"}});
  add("eb_names", {5, 8}, padded({"steel", "air", "empty", "", "skin"}, 8));
  add("connect1", {1, 8}, Integers{1, 2, 5, 4, 7, 8, 11, 10}, {{"elem_type", "HEX8"}});
  add("connect2", {1, 8}, Integers{2, 3, 6, 5, 8, 9, 12, 11}, {{"elem_type", "hex"}});
  add("connect4", {1, 5}, Integers{8, 9, 12, 11, 13}, {{"elem_type", "PYRAMID5"}});
  add("connect5", {1, 4}, Integers{1, 4, 5, 2}, {{"elem_type", "SHELL4"}});
  add("elem_num_map", {4}, Integers{11, 12, 13, 14});
  add("ns_prop1", {1}, Integers{5}, {{"name", "ID"}});
  add("ns_names", {1, 8}, padded({"fixed"}, 8));
  add("node_ns1", {5}, Integers{1, 10, 4, 7, 10});
  add("ss_prop1", {3}, Integers{100, 200, 300}, {{"name", "ID"}});
  add("ss_names", {3, 8}, padded({"inlet", "", ""}, 8));
  add("elem_ss1", {1}, Integers{1});
  add("side_ss1", {1}, Integers{4});
  // The face between the hexes and the face under the pyramid, each from both sides; the shell itself and the face of
  // the hex on it; and an edge of the shell.
  add("elem_ss2", {7}, Integers{1, 2, 3, 2, 4, 1, 4});
  add("side_ss2", {7}, Integers{2, 4, 5, 6, 1, 5, 3});
  add("elem_ss3", {2}, Integers{1, 3});
  add("side_ss3", {2}, Integers{4, 1});
  add("name_nod_var", {1, 12}, padded({"temperature"}, 12));
  add("name_elem_var", {2, 8}, padded({"density", "strain"}, 8));
  add("name_glo_var", {1, 8}, padded({"energy"}, 8));
  add_records("time_whole", {2}, {0.0, 0.5});
  Reals temperature(13, -1.0);
  for (int i = 0; i < 13; ++i) temperature.push_back(100.0 + i);
  add_records("vals_nod_var1", {2, 13}, temperature);
  add_records("vals_elem_var1eb1", {2, 1}, {-1.0, 7.8});
  add_records("vals_elem_var1eb2", {2, 1}, {-1.0, 1.2});
  add_records("vals_elem_var2eb2", {2, 1}, {-1.0, 0.25});
  add_records("vals_glo_var", {2, 1}, {-1.0, 42.0});
  return file;
}

}  // namespace barrio::test
