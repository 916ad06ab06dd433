#include "tests/io/medit/medit_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace barrio::test {
namespace {

class Bytes {
 public:
  explicit Bytes(const MeditForm& form) : form_(form) {}
  template <class T>
  void put(T item) {
    std::string bytes(reinterpret_cast<const char*>(&item), sizeof item);
    if (form_.is_swapped) std::ranges::reverse(bytes);
    text += bytes;
  }
  void word(std::int64_t number) { put(static_cast<std::int32_t>(number)); }
  void integer(std::int64_t number) { form_.version > 3 ? put(number) : word(number); }
  void position(std::int64_t number) { form_.version > 2 ? put(number) : word(number); }
  void real(double number) { form_.version > 1 ? put(number) : put(static_cast<float>(number)); }
  std::string text;

 private:
  const MeditForm& form_;
};

std::string binary(const std::vector<MeditRows>& contents, const MeditForm& form, int dimension) {
  const std::int64_t integer_bytes = form.version > 3 ? 8 : 4;
  const std::int64_t position_bytes = form.version > 2 ? 8 : 4;
  const std::int64_t real_bytes = form.version > 1 ? 8 : 4;
  Bytes file(form);
  file.word(1);
  file.word(form.version);
  file.word(3);
  file.position(16 + position_bytes);
  file.word(dimension);
  for (const MeditRows& section : contents) {
    const auto n_integers = static_cast<std::int64_t>(section.rows.at(0).size()) - section.n_reals;
    file.word(section.code);
    file.position(std::ssize(file.text) + position_bytes + integer_bytes +
                  std::ssize(section.rows) * (section.n_reals * real_bytes + n_integers * integer_bytes));
    file.integer(std::ssize(section.rows));
    for (const std::vector<double>& row : section.rows)
      for (std::size_t i = 0; i < row.size(); ++i)
        i < static_cast<std::size_t>(section.n_reals) ? file.real(row[i])
                                                      : file.integer(static_cast<std::int64_t>(row[i]));
  }
  file.word(54);
  file.position(0);
  return file.text;
}

}  // namespace

std::vector<MeditRows> medit_sample() {
  return {{"Vertices",
           4,
           3,
           {{0, 0, 0, 0},
            {1, 0, 0, 0},
            {1, 1, 0, 7},
            {0, 1, 0, 7},
            {0, 0, 1, 0},
            {1, 0, 1, 0},
            {1, 1, 1, -2},
            {0, 1, 1, 0},
            {0.5, 0.5, 1.5, 0},
            {2, 0.5, 0, 0},
            {2, 0.5, 1, 0},
            {0.25, 0.25, 2.5, 0}}},
          {"Hexahedra", 10, 0, {{1, 2, 3, 4, 5, 6, 7, 8, 40}}},
          {"Triangles", 6, 0, {{5, 6, 9, 3}, {2, 10, 3, 0}, {6, 11, 7, 3}}},
          {"Pyramids", 49, 0, {{5, 6, 7, 8, 9, 40}}},
          {"Edges", 5, 0, {{1, 2, 5}, {2, 3, 0}, {10, 11, 6}}},
          {"Prisms", 9, 0, {{2, 10, 3, 6, 11, 7, 50}}},
          {"Quadrilaterals", 7, 0, {{1, 2, 3, 4, 3}, {2, 10, 11, 6, 4}}},
          {"Tetrahedra", 8, 0, {{5, 6, 9, 12, 0}}},
          {"Corners", 13, 0, {{1}, {2}, {12}}},
          {"Ridges", 14, 0, {{1}, {3}}},
          {"RequiredVertices", 15, 0, {{3}}},
          {"RequiredEdges", 16, 0, {{2}}},
          {"RequiredTriangles", 17, 0, {{1}, {3}}},
          {"RequiredQuadrilaterals", 18, 0, {{2}}},
          {"RequiredTetrahedra", 12, 0, {{1}}}};
}

std::vector<MeditRows> flat_medit_sample() {
  return {{"Vertices", 4, 2, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0.5, 9}}},
          {"Edges", 5, 0, {{1, 2, 4}, {2, 5, 4}, {5, 3, 8}}},
          {"Triangles", 6, 0, {{2, 5, 3, 1}}},
          {"Quadrilaterals", 7, 0, {{1, 2, 3, 4, 2}}},
          {"Corners", 13, 0, {{5}}},
          {"RequiredTriangles", 17, 0, {{1}}}};
}

std::string medit_file(const std::vector<MeditRows>& contents, const MeditForm& form, int dimension) {
  if (form.is_binary) return binary(contents, form, dimension);
  std::string text = fmt::format("MeshVersionFormatted {}\n\nDimension\n{}\n", form.version, dimension);
  for (const MeditRows& section : contents) {
    text += fmt::format("\n{}\n{}\n", section.keyword, section.rows.size());
    for (const std::vector<double>& row : section.rows) {
      for (const double number : row) text += fmt::format("{} ", number);
      text += "\n";
    }
  }
  return text + "\nEnd\n";
}

}  // namespace barrio::test
