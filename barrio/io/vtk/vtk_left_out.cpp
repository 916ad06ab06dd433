#include "barrio/io/vtk/vtk_left_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace barrio::io::detail {
namespace {

std::string described(const std::vector<std::string>& names, std::string_view what) {
  constexpr std::size_t max_names = 50;
  const auto shown = std::span(names).first(std::min(names.size(), max_names));
  return fmt::format("{} '{}'{}", what, fmt::join(shown, "', '"), shown.size() < names.size() ? " and more" : "");
}

}  // namespace

void VtkLeftOut::tell(mpi::Context& context, const std::string& path) const {
  const std::vector<std::string> all = unsupported();
  if (!all.empty()) context.log().notice(fmt::format("{}: left out: {}", path, fmt::join(all, "; ")));
}

std::vector<std::string> VtkLeftOut::unsupported() const {
  std::vector<std::string> all;
  if (!arrays.empty()) all.push_back(described(arrays, "arrays without numbers"));
  if (!field_data.empty()) all.push_back(described(field_data, "field data of the whole file"));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace barrio::io::detail
