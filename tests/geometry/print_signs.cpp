// Print the sign for each line of the input. A line: the name of a predicate, coordinates in hexadecimal.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "barrio/geometry/predicates.hpp"

namespace {

using namespace barrio::geometry;

template <std::size_t n, std::size_t width>
std::array<std::array<double, width>, n> points(const std::vector<double>& x) {
  std::array<std::array<double, width>, n> out{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < width; ++k) out[i][k] = x.at(width * i + k);
  return out;
}

int sign_of(const std::string& name, const std::vector<double>& x) {
  if (name == "orient2d") {
    const auto p = points<3, 2>(x);
    return orient2d(p[0], p[1], p[2]);
  }
  if (name == "orient3d") {
    const auto p = points<4, 3>(x);
    return orient3d(p[0], p[1], p[2], p[3]);
  }
  const auto p = points<4, 2>(x);
  return name == "incircle" ? incircle(p[0], p[1], p[2], p[3]) : incircle_unique(p);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name;
    std::string word;
    words >> name;
    std::vector<double> x;
    while (words >> word) x.push_back(std::strtod(word.c_str(), nullptr));
    std::printf("%d\n", sign_of(name, x));
  }
  return 0;
}
