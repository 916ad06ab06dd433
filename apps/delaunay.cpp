#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command.hpp"
#include "apps/delaunay/graph_input.hpp"
#include "apps/formula.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/statistics.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName triangulate_region{"delaunay.triangulate"};
constexpr RegionName refine_region{"delaunay.refine"};
constexpr RegionName write_region{"delaunay.write"};
enum class Format { h5m, vtkhdf, triangle };

Format format_of(const std::string& path) {
  if (path.ends_with(".h5m")) return Format::h5m;
  if (path.ends_with(".vtkhdf")) return Format::vtkhdf;
  if (path.ends_with(".ele")) return Format::triangle;
  refuse_together(ErrorCode::usage, path, "has a suffix that is not a format of triangulations",
                  "use .h5m, .vtkhdf or .ele (with .node and .poly beside it)");
}

class Delaunay : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "delaunay"; }
  [[nodiscard]] std::string summary() const override {
    return "Triangulate a planar graph of points and segments, with bounds on angles and areas; or audit a "
           "triangulation";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio delaunay pipe.poly --min-angle 20 --max-area 0.001 -o pipe.h5m";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  void show_on(Progress& progress, mpi::Context&) override {
    progress_ = &progress;
    progress.begin("delaunay", 0);
  }
  void add_options(CLI::App& app) override {
    app.add_option(
           "IN", input_,
           fmt::format("Points, segments, holes and regions in Triangle's format (.poly, .node); polygons (.geojson); "
                       "or triangles to refine (.ele, {})",
                       io::readable_formats))
        ->required();
    app.add_option("--project", project_,
                   "Projection of GeoJSON from longitudes and latitudes to a plane: auto (conformal, around the "
                   "middle, metres; the default), one that PROJ knows ('EPSG:32632'), or none");
    app.add_option("--snap", snap_,
                   "Merge points within this distance, in units of the file, and cut segments that pass points so near "
                   "or cross; 0: no. Default: 0, but for GeoJSON a unit of the last decimal, at least 1e-5")
        ->check(number_from_0());
    CLI::Option* const output = app.add_option(
        "-o,--output", output_, "File to write (.h5m, .vtkhdf for ParaView, .ele for Triangle's three files)");
    CLI::Option* const angle =
        app.add_option("--min-angle", refining_.min_angle,
                       fmt::format("Min angle of triangles, degrees; guaranteed up to {}", delaunay::guaranteed_angle))
            ->check(CLI::Range(0.0, 34.0))
            ->capture_default_str();
    CLI::Option* const area =
        app.add_option("--max-area", refining_.max_area, "Max area of a triangle")->check(positive_number());
    CLI::Option* const size =
        app.add_option("--area", area_text_,
                       "Max area of a triangle by position: a formula of x and y, as in '1e-4 + 0.01*(x^2+y^2)'");
    bounds_ = {angle, area, size};
    app.add_flag("!--no-region-areas", refining_.keeps_regions, "Ignore the max areas of the file's regions");
    app.add_flag("!--no-refinement", refines_,
                 "Add no points; this is the default for points without segments, unless a bound is given");
    app.add_flag("!--keep-boundary", refining_.splits_boundary, "Add no points on the boundary");
    app.add_flag("!--keep-segments", refining_.splits_segments, "Add no points on any segment");
    app.add_flag("--hull", triangulating_.fills_hull,
                 "Triangulate the convex hull, not just the area that segments enclose");
    app.add_option("--max-triangles", refining_.max_triangles, "Stop before there are more")->check(positive_number());
    app.add_option(
           "--audit", audited_,
           "Instead: check that a file (.h5m or .ele) is a triangulation of IN within the bounds; exit code 4 if not")
        ->excludes(output);
  }
  Json run(mpi::Context* context) override {
    if (audited_.empty() == output_.empty())
      refuse_together(ErrorCode::usage, "delaunay", "needs --output or --audit", "name the file to write with -o");
    mpi::agree_after(*context, [&] { read_formula(); });
    Json result = mpi::document(*context, "barrio.delaunay", 1);
    result["input"] = input_;
    result["options"] = {{"min_angle", refining_.min_angle},
                         {"max_area", refining_.max_area},
                         {"area", area_text_},
                         {"region_areas", refining_.keeps_regions},
                         {"refinement", refines_},
                         {"splits_boundary", refining_.splits_boundary},
                         {"splits_segments", refining_.splits_segments},
                         {"hull", triangulating_.fills_hull}};
    if (audited_.empty()) {
      triangulate(*context, result);
    } else {
      audit(*context, result);
    }
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    return r.contains("audit") ? text_of_audit(r) : text_of_mesh(r);
  }
  [[nodiscard]] int exit_code(const Json& r) const override {
    return r.contains("audit") && !r["audit"]["passes"].get<bool>() ? barrio::exit_code(ErrorCode::differs) : 0;
  }

 private:
  /// Parse the formula of areas. @throws Error{usage}
  void read_formula() {
    if (area_text_.empty()) return;
    static const std::array<std::string, 2> names{"x", "y"};
    try {
      refining_.area_at = [formula = Formula(area_text_, names, {})](const delaunay::Point& place) {
        return formula(place);
      };
    } catch (const Error& error) {
      refuse(ErrorCode::usage, "--area", error.cause(), "write it as in 1e-4 + 0.01 * (x^2 + y^2)");
    }
  }

  /// Triangulate, refine and write. Collective; rank 0 does all but the writing.
  void triangulate(mpi::Context& context, Json& result) {
    const Format format = format_of(output_);
    delaunay::Triangulation mesh;
    std::string text;
    mpi::agree_after(context, [&] {
      if (!context.is_root()) return;
      check_output(format);
      Json of_mesh = {{"output", output_}};
      make(context, mesh, of_mesh);
      text = of_mesh.dump();
    });
    mpi::broadcast(context, text);
    result.update(Json::parse(text));
    const Region region(context.trace(), write_region);
    const double start = MPI_Wtime();
    if (format == Format::h5m) delaunay::write_h5m(context, mesh, output_);
    if (format == Format::vtkhdf) delaunay::write_vtkhdf(context, mesh, output_);
    if (format == Format::triangle)
      mpi::agree_after(context, [&] {
        if (context.is_root())
          delaunay::write_triangle_files(mesh, output_.substr(0, output_.size() - std::string_view(".ele").size()));
      });
    result["seconds_of_writing"] = mpi::max(context, MPI_Wtime() - start);
  }

  /// Tell whether to refine: points without segments are refined only if a bound was given.
  [[nodiscard]] bool is_refined(const delaunay::PlanarGraph& graph) const {
    return refines_ && (!graph.segments.empty() ||
                        std::ranges::any_of(bounds_, [](const CLI::Option* bound) { return bound->count() > 0; }));
  }

  /// Check the files to write. @throws Error{failed} if one cannot be written; {usage} if it would replace an input
  /// file
  void check_output(Format format) const {
    std::vector<std::string> outputs{output_};
    const std::string stem = output_.substr(0, output_.rfind('.'));
    if (format == Format::triangle) outputs = {stem + ".ele", stem + ".node", stem + ".poly"};
    const std::string points = input_.substr(0, input_.rfind('.')) + ".node";
    for (const std::string& output : outputs) {
      check_writable(output);
      std::error_code ignored;
      for (const std::string& input : {input_, points})
        if (std::filesystem::equivalent(input, output, ignored))
          refuse(ErrorCode::usage, output, fmt::format("would replace {}, which is an input", input),
                 "choose another name");
    }
  }

  /// Read the graph, triangulate and refine. Local.
  void make(mpi::Context& context, delaunay::Triangulation& mesh, Json& result) {
    GraphInput file = read_graph(input_, {.project = project_, .snap = snap_});
    const double start = MPI_Wtime();
    {
      const Region region(context.trace(), triangulate_region);
      mesh = delaunay::triangulate(file.graph, triangulating_);
    }
    const double middle = MPI_Wtime();
    delaunay::RefineReport report;
    {
      const Region region(context.trace(), refine_region);
      if (progress_ != nullptr) {
        refining_.progress = [this](std::int64_t n) { progress_->update(n); };
        progress_->begin("delaunay", expected_triangles(mesh));
      }
      if (is_refined(file.graph)) report = delaunay::refine(mesh, refining_);
    }
    result["is_refined"] = is_refined(file.graph);
    const double end = MPI_Wtime();
    result["projection"] = file.projection;
    result["has_default_projection"] = file.has_default_projection;
    result["points_in_file"] = file.n_points;
    result["segments_in_file"] = file.n_segments;
    result["snapping"] = snapping_to_json(file);
    file.graph = {};
    result["points_outside"] = delaunay::compact(mesh);
    result["vertices"] = mesh.n_vertices();
    result["triangles"] = mesh.n_triangles();
    if (mesh.n_repeated_segments > 0)
      file.left_out.push_back(
          fmt::format("{} pieces of segments that repeat others, with their markers", mesh.n_repeated_segments));
    result.update(delaunay::to_json(delaunay::shape_statistics(mesh)));
    result["regions"] = n_used_regions(mesh);
    result["left_out"] = file.left_out;
    result["points_added"] = {{"inside", report.n_free_points - report.n_removed_points},
                              {"on_segments", report.n_segment_points}};
    result["bad_triangles"] = {{"at_segments", report.n_left_at_segments}, {"by_rounding", report.n_left_by_rounding}};
    result["is_complete"] = report.is_complete;
    result["memory_bytes"] = mesh.memory_bytes();
    result["seconds_of_triangulating"] = middle - start;
    result["seconds_of_refining"] = end - middle;
  }

  static std::int64_t n_used_regions(const delaunay::Triangulation& mesh) {
    std::vector<char> is_used(mesh.regions.size(), 0);
    for (const delaunay::Triangle& t : mesh.triangles.items()) is_used[t.region()] = 1;
    return std::count(is_used.begin() + 1, is_used.end(), 1);
  }

  /// Estimate the number of triangles; 0 if it is unknown.
  [[nodiscard]] std::int64_t expected_triangles(const delaunay::Triangulation& mesh) const {
    if (refining_.max_area <= 0) return 0;
    double area = 0.0;
    for (const delaunay::Triangle& t : mesh.triangles.items())
      if (t.is_used()) area += mesh.area(t);
    constexpr double usual = 1.55;  // triangles per area over bound
    return static_cast<std::int64_t>(std::min(usual * area / refining_.max_area, 1e18));
  }

  void audit(mpi::Context& context, Json& result) {
    std::string text;
    mpi::agree_after(context, [&] {
      if (!context.is_root()) return;
      const GraphInput file = read_graph(input_, {.project = project_, .snap = snap_});
      const delaunay::AuditedMesh mesh = delaunay::read_audited(audited_);
      if (!is_refined(file.graph)) refining_.min_angle = 0.0;
      const delaunay::Audit found = delaunay::audit(mesh, file.graph,
                                                    {.min_angle = refining_.min_angle,
                                                     .max_area = refining_.max_area,
                                                     .keeps_regions = refining_.keeps_regions,
                                                     .area_at = refining_.area_at,
                                                     .is_delaunay = true});
      text = delaunay::to_json(found).dump();
    });
    mpi::broadcast(context, text);
    result["mesh"] = audited_;
    result["audit"] = Json::parse(text);
  }

  [[nodiscard]] std::string text_of_mesh(const Json& r) const {
    const auto n = [&](const Json& of) { return format_count(of.get<std::int64_t>()); };
    const double seconds = r["seconds_of_triangulating"].get<double>() + r["seconds_of_refining"].get<double>();
    std::string text = fmt::format("{}: {} triangles, {} vertices in {} ({:.2f} M triangles/s, {:.0f} bytes each)\n",
                                   output_, n(r["triangles"]), n(r["vertices"]), format_seconds(seconds),
                                   r["triangles"].get<double>() / seconds / 1e6,
                                   r["memory_bytes"].get<double>() / r["triangles"].get<double>());
    text +=
        fmt::format("  {} points of the file, {} added inside, {} on segments; {} regions\n", n(r["points_in_file"]),
                    n(r["points_added"]["inside"]), n(r["points_added"]["on_segments"]), n(r["regions"]));
    if (const auto projection = r["projection"].get<std::string>(); !projection.empty())
      text += fmt::format("  projected: {}{}\n", projection,
                          r["has_default_projection"].get<bool>()
                              ? " (the default for degrees; --project none takes them as they are)"
                              : "");
    text += text_of_snapping(r["snapping"]);
    if (r["points_outside"].get<std::int64_t>() > 0)
      text += fmt::format("  {} points of the file lie outside the segments or in holes, and are left out\n",
                          n(r["points_outside"]));
    text += fmt::format("  angles from {:.1f} degrees, areas from {:.3g} to {:.3g}\n", r["angles"]["min"].get<double>(),
                        r["areas"]["min"].get<double>(), r["areas"]["max"].get<double>());
    const Json& bad = r["bad_triangles"];
    if (bad["at_segments"].get<std::int64_t>() > 0)
      text +=
          fmt::format("  {} times a bad triangle was left because segments may not be split\n", n(bad["at_segments"]));
    if (bad["by_rounding"].get<std::int64_t>() > 0)
      text += fmt::format("  {} times a bad triangle was left because coordinates are too coarse for smaller ones\n",
                          n(bad["by_rounding"]));
    if (!r["is_complete"].get<bool>()) text += "  stopped at --max-triangles: not all triangles meet the bounds\n";
    if (!r["left_out"].empty())
      text += fmt::format("  left out: {}\n", fmt::join(r["left_out"].get<std::vector<std::string>>(), ", "));
    return text;
  }

  [[nodiscard]] std::string text_of_audit(const Json& r) const {
    const Json& audit = r["audit"];
    std::string text =
        fmt::format("{} {}\n", audited_, audit["passes"].get<bool>() ? "passes the audit" : "FAILS the audit");
    for (const Json& check : audit["checks"])
      text += fmt::format("  {:<12} {:<6} {}\n", check["check"].get<std::string>(),
                          check["met"].get<bool>() ? "met" : "FAULT", check["text"].get<std::string>());
    return text;
  }

  std::string input_;
  std::string output_;
  std::string audited_;
  std::string area_text_;
  std::string project_;
  std::optional<double> snap_;
  Progress* progress_ = nullptr;
  bool refines_ = true;
  std::array<const CLI::Option*, 3> bounds_{};  // options that bound triangles
  delaunay::TriangulateOptions triangulating_;
  delaunay::RefineOptions refining_;
};

}  // namespace

std::unique_ptr<Command> make_delaunay() { return std::make_unique<Delaunay>(); }

}  // namespace barrio::apps
