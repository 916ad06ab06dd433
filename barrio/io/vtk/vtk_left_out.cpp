#include "barrio/io/vtk/vtk_left_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

std::string described(const std::vector<std::string>& names, std::string_view what) {
  constexpr std::size_t max_names = 50;
  const auto shown = std::span(names).first(std::min(names.size(), max_names));
  return fmt::format("{} '{}'{}", what, fmt::join(shown, "', '"), shown.size() < names.size() ? " and more" : "");
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& others) {
  for (const std::string& name : others)
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
}

std::string encoded(const VtkLeftOut& all) {
  return Json{all.arrays, all.field_data, all.others}.dump(-1, ' ', true, Json::error_handler_t::replace);
}

VtkLeftOut decoded(const std::string& text) {
  const Json all = Json::parse(text);
  const auto names = [&](int k) { return all[k].get<std::vector<std::string>>(); };
  return {names(0), names(1), names(2)};
}

}  // namespace

void VtkLeftOut::add(const VtkLeftOut& other) {
  add_new(arrays, other.arrays);
  add_new(field_data, other.field_data);
  add_new(others, other.others);
}

void VtkLeftOut::unite(mpi::Context& context) {
  std::string all =
      mpi::reduce_to_root(context, encoded(*this), [](const std::string& merged, const std::string& of_higher_rank) {
        VtkLeftOut both = decoded(merged);
        both.add(decoded(of_higher_rank));
        return encoded(both);
      });
  mpi::broadcast(context, all);
  *this = decoded(all);
}

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
