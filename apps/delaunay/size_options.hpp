#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/size_field.hpp"

namespace barrio::apps {

/// Options of `barrio delaunay` that bound triangles by position.
class SizeOptions {
 public:
  void add_to(CLI::App& app);
  /// Tell whether one of them is given.
  [[nodiscard]] bool are_given() const noexcept { return !area_.empty() || !sizes_.empty() || !background_.empty(); }
  /// Check what can be checked without the graph. @throws Error{usage}
  void check() const;
  /// Set `area_at`, `size` and `resolution` of the options for a graph, whose file is `input`. Reads files. Local.
  /// @throws Error{usage}, {failed}, {bad_input}
  void apply(const delaunay::PlanarGraph& graph, const std::string& input, delaunay::RefineOptions& options,
             std::vector<std::string>& left_out) const;
  /// Return the files that they read.
  [[nodiscard]] std::vector<std::string> files() const;
  /// Let sizes grow slowly around the regions with a max area. Local.
  void limit_regions(const delaunay::Triangulation& mesh, delaunay::RefineOptions& options) const;
  /// Return the options for the result document.
  [[nodiscard]] Json to_json() const;

 private:
  [[nodiscard]] bool is_area_file() const noexcept { return area_.ends_with(".area"); }
  [[nodiscard]] delaunay::SizeField size_of(const std::string& text, const delaunay::PlanarGraph& graph) const;
  [[nodiscard]] delaunay::SizeField size_of_background(std::vector<std::string>& left_out) const;
  [[nodiscard]] delaunay::SizeField size_of_area_file(const std::string& input) const;

  std::string area_;
  std::vector<std::string> sizes_;
  std::string background_;
  std::string field_;
  double growth_ = 0.0;
  double resolution_ = 0.0;
};

}  // namespace barrio::apps
