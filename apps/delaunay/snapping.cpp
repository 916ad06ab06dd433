#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "apps/delaunay/graph_input.hpp"
#include "barrio/base/text.hpp"

namespace barrio::apps {
namespace {

/// Write the first names of a list, and the number of the others.
std::string first_of(const Json& names) {
  constexpr std::size_t max_names = 10;
  std::vector<std::string> shown;
  for (const Json& name : names)
    if (shown.size() < max_names) shown.push_back(name.get<std::string>());
  std::string text = fmt::format("{}", fmt::join(shown, "; "));
  if (names.size() > max_names) text += fmt::format("; and {} more", names.size() - max_names);
  return text;
}

}  // namespace

Json snapping_to_json(const GraphInput& input) {
  if (!input.snapped) return nullptr;
  const delaunay::SnapReport& report = *input.snapped;
  return {{"tolerance", report.tolerance},
          {"is_default", input.has_default_tolerance},
          {"merged_points", report.n_merged_points},
          {"max_move", report.max_move},
          {"points_on_segments", report.n_points_on_segments},
          {"crossings", report.n_crossings},
          {"repeated_segments", report.n_repeated_segments},
          {"cut_rings", input.n_cut_rings},
          {"overlap_area", report.overlap_area},
          {"overlaps", input.overlaps},
          {"inverted", input.inverted},
          {"vanished", input.vanished}};
}

std::string text_of_snapping(const Json& s) {
  if (s.is_null()) return "";
  const auto n = [&](const char* key) { return format_count(s[key].get<std::int64_t>()); };
  std::string text = fmt::format(
      "  snapped within {}{}: {} points merged, by up to {:.2g}; {} ends on segments, {} crossings, {} repeated "
      "pieces\n",
      s["tolerance"].get<double>(),
      s["is_default"].get<bool>() ? " (from the file's digits; --snap 0 leaves it as it is)" : "", n("merged_points"),
      s["max_move"].get<double>(), n("points_on_segments"), n("crossings"), n("repeated_segments"));
  if (s["cut_rings"].get<std::int64_t>() > 0)
    text += fmt::format("  {} rings cross 180 degrees, and were cut there\n", n("cut_rings"));
  if (!s["overlaps"].empty())
    text += fmt::format("  {} pairs of areas overlap, by {:.3g} in sum; the first keeps it: {}\n", s["overlaps"].size(),
                        s["overlap_area"].get<double>(), first_of(s["overlaps"]));
  if (!s["inverted"].empty())
    text += fmt::format("  left out where a ring crosses itself or a hole lies outside: {}\n", first_of(s["inverted"]));
  if (!s["vanished"].empty()) text += fmt::format("  vanished: {}\n", first_of(s["vanished"]));
  return text;
}

}  // namespace barrio::apps
