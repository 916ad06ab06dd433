#include "apps/delaunay/size_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "apps/command.hpp"
#include "apps/delaunay/graph_input.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/cases/formula.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::apps {
namespace {

using delaunay::SizeField;

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(x)) return {};
  return x;
}

/// A size in the form kind,name=number,...
struct SizeText {
  std::string kind;
  std::map<std::string, double> numbers = {};

  [[nodiscard]] double get(const std::string& name, std::optional<double> by_default = {}) const {
    if (const auto found = numbers.find(name); found != numbers.end()) return found->second;
    if (!by_default)
      refuse(ErrorCode::usage, fmt::format("size of the kind '{}'", kind), fmt::format("must give '{}'", name));
    return *by_default;
  }
  [[nodiscard]] delaunay::SizeProfile profile() const {
    const delaunay::SizeProfile usual;
    return {.min_size = get("min_size"),
            .max_size = get("max_size", usual.max_size),
            .width = get("width", usual.width),
            .growth = get("growth", usual.growth)};
  }
};

/// Split a size at its commas. @param known  names of numbers, by kind
SizeText split(const std::string& text, const std::map<std::string, std::vector<std::string>>& known) {
  const std::string subject = fmt::format("size '{}'", text);
  SizeText size{text.substr(0, text.find(','))};
  const auto names = known.find(size.kind);
  if (names == known.end())
    refuse(ErrorCode::usage, subject, "is neither a number above 0 nor a known kind",
           "give an edge length, marker,id=3,min_size=0.01,... or point,x=0,y=0,min_size=0.01,...");
  for (std::size_t at = size.kind.size(); at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string word = text.substr(at + 1, end - at - 1);
    at = end;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(names->second, name) == names->second.end())
      refuse(ErrorCode::usage, subject,
             fmt::format("has no parameter '{}'.{}", name, did_you_mean(name, names->second)),
             fmt::format("its parameters are {}", fmt::join(names->second, ", ")));
    const std::optional<double> value =
        name.size() < word.size() ? number_of(word.substr(name.size() + 1)) : std::nullopt;
    if (!value) refuse(ErrorCode::usage, subject, fmt::format("must give a number for '{}'", name));
    if (!size.numbers.emplace(name, *value).second)
      refuse(ErrorCode::usage, subject, fmt::format("gives '{}' twice", name));
  }
  return size;
}

SizeText size_text(const std::string& text) {
  return split(text, {{"marker", {"id", "min_size", "max_size", "width", "growth"}},
                      {"point", {"x", "y", "min_size", "max_size", "width", "growth"}}});
}

/// Return the formula of areas as a function.
std::function<double(const delaunay::Point&)> formula_of(const std::string& text) {
  static const std::array<std::string, 2> names{"x", "y"};
  try {
    return [formula = cases::Formula(text, names, {})](const delaunay::Point& place) { return formula(place); };
  } catch (const Error& error) {
    refuse(ErrorCode::usage, "--area", error.cause(), "write it as in 1e-4 + 0.01 * (x^2 + y^2)");
  }
}

/// Return the sizes of a vertex attribute of a mesh. @param name  empty: its only one
std::vector<double> sizes_in(const delaunay::FlatMesh& mesh, const std::string& path, const std::string& name) {
  std::vector<std::string> known;
  std::size_t first = 0;
  std::optional<std::size_t> column;
  for (const delaunay::Attribute& attribute : mesh.attributes) {
    if (attribute.n_components == 1) known.push_back(attribute.name);
    if (attribute.n_components == 1 && (attribute.name == name || name.empty())) column = first;
    first += attribute.n_components;
  }
  if (!column || (name.empty() && known.size() > 1))
    refuse(ErrorCode::usage, path,
           name.empty() ? fmt::format("has {} real numbers at each vertex", known.size())
                        : fmt::format("has no real number '{}' at each vertex.{}", name, did_you_mean(name, known)),
           known.empty() ? std::string("give a mesh with a size at each vertex")
                         : fmt::format("name one by --size-field: {}", fmt::join(known, ", ")));
  std::vector<double> sizes;
  for (std::size_t at = *column; at < mesh.attribute_values.size(); at += first)
    sizes.push_back(mesh.attribute_values[at]);
  return sizes;
}

}  // namespace

void SizeOptions::add_to(CLI::App& app) {
  app.add_option(
      "--area", area_,
      "Max area of a triangle by position: a formula of x and y, as in '1e-4 + 0.01*(x^2+y^2)'; or Triangle's "
      ".area file for the triangles of IN (.ele)");
  app.add_option(
         "-s,--size", sizes_,
         "Wanted edge length: a number; marker,id=M,min_size=F[,max_size=L][,width=W][,growth=G] by the distance "
         "from segments and points with a marker; or point,x=X,y=Y,min_size=F,...; may be repeated: the "
         "smallest length counts")
      ->allow_extra_args(false);  // IN may follow
  CLI::Option* const background = app.add_option(
      "--background", background_, "Triangle mesh with a wanted edge length at each vertex (in any format of IN)");
  app.add_option("--size-field", field_,
                 "Name of the attribute of --background with the lengths (default: the only one)")
      ->needs(background);
  app.add_option(
         "--growth", growth_,
         "Largest growth of edge lengths per unit of length, for instance 0.2: for --area, --size, --background "
         "and the max areas of regions")
      ->check(positive_number());
  app.add_option("--resolution", resolution_,
                 "Distance of the samples of --area: narrower places may be missed (default: that of 2^18 in the "
                 "domain, a 512th of a square)")
      ->check(positive_number());
}

void SizeOptions::check() const {
  if (!area_.empty() && !is_area_file()) (void)formula_of(area_);
  for (const std::string& text : sizes_)
    if (const std::optional<double> size = number_of(text))
      (void)delaunay::uniform_size(*size);
    else
      (void)size_text(text).profile();
}

SizeField SizeOptions::size_of(const std::string& text, const delaunay::PlanarGraph& graph) const {
  if (const std::optional<double> size = number_of(text)) return delaunay::uniform_size(*size);
  const SizeText size = size_text(text);
  if (size.kind == "point") return delaunay::size_near(delaunay::Point{size.get("x"), size.get("y")}, size.profile());
  const double id = size.get("id");
  if (std::trunc(id) != id || std::abs(id) > std::numeric_limits<std::int32_t>::max())
    refuse(ErrorCode::usage, fmt::format("size '{}'", text), "must give a whole number for 'id'");
  return delaunay::size_near(graph, static_cast<std::int32_t>(id), size.profile());
}

SizeField SizeOptions::size_of_background(std::vector<std::string>& left_out) const {
  std::vector<std::string> ignored;
  const delaunay::FlatMesh mesh = read_flat_mesh(background_, ignored);
  for (const std::string& what : ignored)
    if (!what.starts_with("tag ")) left_out.push_back(fmt::format("{} of {}", what, background_));
  return delaunay::size_on_mesh({mesh.points, mesh.triangles}, sizes_in(mesh, background_, field_));
}

SizeField SizeOptions::size_of_area_file(const std::string& input) const {
  if (!input.ends_with(".ele"))
    refuse(ErrorCode::usage, area_, "has max areas for the triangles of an .ele file, which IN is not",
           "give the .ele file as IN, or a formula");
  std::vector<std::string> ignored;
  const delaunay::FlatMesh mesh = delaunay::read_ele(input, ignored);
  return delaunay::size_of_areas({mesh.points, mesh.triangles},
                                 delaunay::read_areas(area_, std::ssize(mesh.triangles)));
}

void SizeOptions::apply(const delaunay::PlanarGraph& graph, const std::string& input, delaunay::RefineOptions& options,
                        std::vector<std::string>& left_out) const {
  std::vector<SizeField> fields;
  for (const std::string& text : sizes_) fields.push_back(size_of(text, graph));
  if (!background_.empty()) fields.push_back(size_of_background(left_out));
  if (is_area_file()) fields.push_back(size_of_area_file(input));
  options.resolution = resolution_;
  if (!area_.empty() && !is_area_file()) options.area_at = formula_of(area_);
  if (growth_ > 0) {
    const delaunay::Rectangle domain = delaunay::bounding_rectangle(graph.points);
    if (options.area_at)
      fields.push_back(delaunay::limit_growth(
          [area_at = options.area_at](const delaunay::Point& place) { return delaunay::size_of_area(area_at(place)); },
          growth_, domain));
    options.size = delaunay::limit_growth(delaunay::smallest_size(std::move(fields)), growth_, domain);
  } else {
    options.size = delaunay::smallest_size(std::move(fields));
  }
}

std::vector<std::string> SizeOptions::files() const {
  std::vector<std::string> all;
  if (!background_.empty()) all.push_back(background_);
  if (is_area_file()) all.push_back(area_);
  return all;
}

void SizeOptions::limit_regions(const delaunay::Triangulation& mesh, delaunay::RefineOptions& options) const {
  if (growth_ <= 0 || !options.keeps_regions) return;
  options.size = delaunay::smallest_size({options.size, delaunay::size_near_regions(mesh, growth_)});
}

Json SizeOptions::to_json() const {
  return {{"area", area_},        {"size", sizes_},    {"background", background_},
          {"size_field", field_}, {"growth", growth_}, {"resolution", resolution_}};
}

}  // namespace barrio::apps
