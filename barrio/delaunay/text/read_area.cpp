#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "barrio/base/line_reader.hpp"
#include "barrio/delaunay/size_field.hpp"

namespace barrio::delaunay {

std::vector<double> read_areas(const std::string& path, std::int64_t n_triangles) {
  LineReader reader(path);
  std::vector<double> areas;
  bool has_head = false;
  while ((!has_head || std::ssize(areas) < n_triangles) && reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words.front().starts_with('#')) continue;
    if (!has_head) {
      const std::int64_t n =
          reader.integer(words.front(), "the number of triangles", 0, std::numeric_limits<std::int32_t>::max());
      if (n != n_triangles)
        reader.fail(fmt::format("has areas of {} triangles, but the mesh has {}", n, n_triangles),
                    "give the .area file of this .ele file");
      has_head = true;
      continue;
    }
    if (words.size() < 2 || words[1].starts_with('#'))
      reader.fail("the max area of a triangle is missing", "the line is too short");
    areas.push_back(reader.real(words[1], "a max area"));
  }
  if (!has_head || std::ssize(areas) != n_triangles)
    reader.fail("the file ends before its areas", "the file may be truncated");
  return areas;
}

}  // namespace barrio::delaunay
