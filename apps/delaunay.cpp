#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/delaunay/graph_input.hpp"
#include "apps/delaunay/size_options.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/checksum.hpp"
#include "barrio/delaunay/forecast.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/statistics.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "barrio/mpi/node_memory.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName triangulate_region{"delaunay.triangulate"};
constexpr RegionName refine_region{"delaunay.refine"};
constexpr RegionName write_region{"delaunay.write"};

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
    app.add_option(
           "--hole", holes_,
           "Leave the area of a feature of GeoJSON empty, such as an island in the sea: its name or number; may "
           "be repeated")
        ->allow_extra_args(false);  // IN may follow
    CLI::Option* const output = app.add_option(
        "-o,--output", output_,
        "File to write (.h5m, .vtkhdf or .vtu for ParaView, .msh for Gmsh, .ele for Triangle's three files)");
    CLI::Option* const angle =
        app.add_option("--min-angle", refining_.min_angle,
                       fmt::format("Min angle of triangles, degrees; guaranteed up to {}", delaunay::guaranteed_angle))
            ->check(CLI::Range(0.0, 34.0))
            ->capture_default_str();
    CLI::Option* const area =
        app.add_option("--max-area", refining_.max_area, "Max area of a triangle")->check(positive_number());
    bounds_ = {angle, area};
    sizes_.add_to(app);
    app.add_flag("!--no-region-areas", refining_.keeps_regions, "Ignore the max areas of the file's regions");
    app.add_flag("!--no-refinement", refines_,
                 "Add no points; this is the default for points without segments, unless a bound is given");
    app.add_flag("!--keep-boundary", refining_.splits_boundary, "Add no points on the boundary");
    app.add_flag("!--keep-segments", refining_.splits_segments, "Add no points on any segment");
    app.add_option("--keep-marker", refining_.kept_markers,
                   "Add no points on segments with this marker; may be repeated")
        ->allow_extra_args(false);
    app.add_flag(
        "--move-points", refining_.moves_points,
        "Move points that were added before others are added: a tenth fewer triangles at 20 degrees, up to half "
        "at 33, in up to twice the time");
    app.add_option(
           "--method", method_,
           "sequential, on one rank; or pcdm: cut the domain into parts, refine them on all ranks, and agree on "
           "the edges between them")
        ->check(CLI::IsMember(std::vector<std::string>{"sequential", "pcdm"}))
        ->capture_default_str();
    CLI::Option* const parts =
        app.add_option(
               "--parts", parting_.n_parts,
               "Parts of the domain for --method pcdm; by default one for 50 000 triangles, at least 16. The mesh "
               "depends on it, not on the number of ranks")
            ->check(positive_number());
    CLI::Option* const memory =
        app.add_option(
               "--memory", memory_,
               "For --method pcdm: memory for parts on each node, shared by its ranks, such as 1GiB or 500MB; parts "
               "that do not fit lie in a scratch file on a disk. Default: no limit")
            ->transform(CLI::AsSizeValue(true));
    CLI::Option* const scratch =
        app.add_option("--scratch", scratch_,
                       "Folder of the scratch file, on a local disk. Default: that of the output")
            ->needs(memory);
    CLI::Option* const asynchronous =
        app.add_flag("--asynchronous", is_asynchronous_,
                     "For --method pcdm: parts follow the splits of others as soon as they hear of them, instead of in "
                     "steps. The mesh then differs from run to run, within the same bounds");
    of_parts_ = {parts, memory, scratch, asynchronous};
    app.add_flag("--hull", triangulating_.fills_hull,
                 "Triangulate the convex hull, not just the area that segments enclose");
    app.add_option("--max-triangles", refining_.max_triangles,
                   "Stop before there are more; by default at 5 000 000 and 1000 a vertex, if angles alone need them")
        ->check(positive_number());
    app.add_option(
           "--audit", audited_,
           "Instead: check that a file (.h5m or .ele) is a triangulation of IN within the bounds; exit code 4 if not")
        ->excludes(output);
  }
  Json run(mpi::Context* context) override {
    if (audited_.empty() == output_.empty())
      refuse_together(ErrorCode::usage, "delaunay", "needs --output or --audit", "name the file to write with -o");
    mpi::agree_after(*context, [&] {
      sizes_.check();
      for (const CLI::Option* option : of_parts_)
        if (option->count() > 0 && method_ != "pcdm")
          refuse(ErrorCode::usage, option->get_name(), "belongs to --method pcdm", "give both, or leave it out");
    });
    Json result = mpi::document(*context, "barrio.delaunay", 1);
    result["input"] = input_;
    result["options"] = {{"min_angle", refining_.min_angle},
                         {"max_area", refining_.max_area},
                         {"region_areas", refining_.keeps_regions},
                         {"refinement", refines_},
                         {"splits_boundary", refining_.splits_boundary},
                         {"splits_segments", refining_.splits_segments},
                         {"kept_markers", refining_.kept_markers},
                         {"moves_points", refining_.moves_points},
                         {"hull", triangulating_.fills_hull},
                         {"method", method_},
                         {"holes", holes_}};
    result["options"].update(sizes_.to_json());
    if (audited_.empty() && method_ == "pcdm") {
      triangulate_in_parts(*context, result);
    } else if (audited_.empty()) {
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
  /// Triangulate, refine and write. Collective; rank 0 does all but the writing.
  void triangulate(mpi::Context& context, Json& result) {
    delaunay::Triangulation mesh;
    std::string text;
    mpi::agree_after(context, [&] {
      if (!context.is_root()) return;
      check_output();
      Json of_mesh = {{"output", output_}};
      make(context, mesh, of_mesh);
      text = of_mesh.dump();
    });
    mpi::broadcast(context, text);
    result.update(Json::parse(text));
    const Region region(context.trace(), write_region);
    const double start = MPI_Wtime();
    delaunay::write(context, mesh, output_);
    result["seconds_of_writing"] = mpi::max(context, MPI_Wtime() - start);
  }

  /// Tell whether to refine: points without segments are refined only if a bound was given.
  [[nodiscard]] bool is_refined(const delaunay::PlanarGraph& graph) const {
    return refines_ && (!graph.segments.empty() || sizes_.are_given() ||
                        std::ranges::any_of(bounds_, [](const CLI::Option* bound) { return bound->count() > 0; }));
  }

  /// Check the files to write. @throws Error{failed} if one cannot be written; {usage} if it would replace an input
  /// file
  void check_output() const {
    const std::vector<std::string> outputs = delaunay::written_files(output_);
    const std::string points = input_.substr(0, input_.rfind('.')) + ".node";
    std::vector<std::string> inputs = sizes_.files();
    inputs.insert(inputs.end(), {input_, points});
    for (const std::string& output : outputs) {
      check_writable(output);
      std::error_code ignored;
      for (const std::string& input : inputs)
        if (std::filesystem::equivalent(input, output, ignored))
          refuse(ErrorCode::usage, output, fmt::format("would replace {}, which is an input", input),
                 "choose another name");
    }
  }

  /// Triangulate on rank 0, refine in parts on all ranks, and write. Collective.
  void triangulate_in_parts(mpi::Context& context, Json& result) {
    delaunay::Triangulation mesh;
    std::string text;
    const double start = MPI_Wtime();
    mpi::agree_after(context, [&] {
      check_method();
      if (context.is_root()) check_output();
      if (!context.is_root() && !sizes_.are_given()) return;
      GraphInput file = read_graph(input_, {.project = project_, .holes = holes_, .snap = snap_});
      sizes_.apply(file.graph, input_, refining_, file.left_out);
      if (!context.is_root()) return;
      if (!is_refined(file.graph))
        refuse(ErrorCode::usage, "--method pcdm", "refines, but no bound is given", "give one, or leave it out");
      Json of_mesh = {{"output", output_}};
      begin(context, file, mesh, of_mesh);
      describe(file, mesh, of_mesh);
      of_mesh["points_outside"] = n_points_outside(mesh);
      of_mesh["left_out"] = file.left_out;
      text = of_mesh.dump();
    });
    mpi::broadcast(context, text);
    result.update(Json::parse(text));
    const double middle = MPI_Wtime();
    limit_memory(context);
    if (is_asynchronous_) parting_.order = delaunay::PartOrder::asynchronous;
    if (progress_ != nullptr)
      parting_.progress = [this, &context](std::int64_t n) { progress_->update(n * context.size()); };
    delaunay::PartReport report;
    const delaunay::PartedTriangulation parted = [&] {
      const Region region(context.trace(), refine_region);
      return delaunay::refine_in_parts(context, std::move(mesh), refining_, parting_, report);
    }();
    const double end = MPI_Wtime();
    result["options"]["memory"] = memory_;
    result["options"]["asynchronous"] = is_asynchronous_;
    const delaunay::PartedSummary all = delaunay::summarize(context, parted);
    result["vertices"] = all.n_vertices;
    result["triangles"] = all.n_triangles;
    result.update(delaunay::to_json(all.shape));
    result["regions"] = all.n_regions;
    add(report.refinement, result);
    result["parts"] = delaunay::to_json(report);
    result["checksum"] = hex(all.checksum);
    result["memory_bytes"] = mpi::sum(context, parted.memory_bytes());
    result["seconds_of_triangulating"] = mpi::max(context, middle - start);
    result["seconds_of_refining"] = mpi::max(context, end - middle);
    const Region region(context.trace(), write_region);
    const double start_of_writing = MPI_Wtime();
    delaunay::write(context, parted, output_);
    result["seconds_of_writing"] = mpi::max(context, MPI_Wtime() - start_of_writing);
    result["peak_bytes_of_rank"] = mpi::max(context, peak_resident_bytes());
  }

  /// Give each rank its share of the memory for parts. Collective.
  void limit_memory(mpi::Context& context) {
    if (memory_ == 0) return;
    // a part on its way to the disk is there twice, and some wait to be written
    constexpr double for_parts = 0.75;
    const auto share = static_cast<double>(memory_) / mpi::find_node(context).ranks_on_node;
    parting_.max_memory_bytes = static_cast<std::uint64_t>(for_parts * share);
    const std::filesystem::path folder = std::filesystem::path(output_).parent_path();
    parting_.scratch = !scratch_.empty() ? scratch_ : folder.empty() ? "." : folder.string();
  }

  /// @throws Error{usage} for options that do not go together with parts
  void check_method() const {
    const auto refuse_option = [](const char* option) {
      refuse(ErrorCode::usage, option, "is not possible with --method pcdm", "leave out one of the two");
    };
    if (!refines_) refuse_option("--no-refinement");
    if (refining_.moves_points) refuse_option("--move-points");
    if (refining_.max_triangles > 0) refuse_option("--max-triangles");
    if (triangulating_.fills_hull) refuse_option("--hull");
    const delaunay::TriangulationFormat format = delaunay::triangulation_format(output_);
    if (format != delaunay::TriangulationFormat::h5m && format != delaunay::TriangulationFormat::vtkhdf)
      refuse(ErrorCode::usage, output_, "is in a format that several ranks cannot write together",
             "write .h5m or .vtkhdf, and use barrio convert");
  }

  /// Triangulate and estimate the number of triangles. Local.
  void begin(mpi::Context& context, const GraphInput& file, delaunay::Triangulation& mesh, Json& result) {
    {
      const Region region(context.trace(), triangulate_region);
      mesh = delaunay::triangulate(file.graph, triangulating_);
      sizes_.limit_regions(mesh, refining_);
    }
    const delaunay::Forecast expected = expect(file.graph, mesh);
    result["forecast"] = delaunay::to_json(expected);
    result["is_refined"] = is_refined(file.graph);
    if (progress_ != nullptr) {
      refining_.progress = [this](std::int64_t n) { progress_->update(n); };
      progress_->begin("delaunay", static_cast<std::int64_t>(std::min(expected.n_triangles, 1e18)));
    }
  }

  /// Describe what was read. Local.
  static void describe(GraphInput& file, const delaunay::Triangulation& mesh, Json& result) {
    result["projection"] = file.projection;
    result["has_default_projection"] = file.has_default_projection;
    result["points_in_file"] = file.n_points;
    result["segments_in_file"] = file.n_segments;
    result["snapping"] = snapping_to_json(file);
    name_segments_outside(file, mesh, result);
    file.graph = {};
    if (mesh.n_repeated_segments > 0)
      file.left_out.push_back(
          fmt::format("{} pieces of segments that repeat others, with their markers", mesh.n_repeated_segments));
  }

  /// Store the counts of a refinement.
  static void add(const delaunay::RefineReport& report, Json& result) {
    result["points_added"] = {{"inside", report.n_free_points - report.n_removed_points},
                              {"on_segments", report.n_segment_points}};
    result["point_moves"] = report.n_moved_points;
    result["bad_triangles"] = {{"at_segments", report.n_left_at_segments}, {"by_rounding", report.n_left_by_rounding}};
    result["is_complete"] = report.is_complete;
    result["max_triangles"] = report.max_triangles;
  }

  /// Count the points of the input that have no triangle.
  static std::int64_t n_points_outside(const delaunay::Triangulation& mesh) {
    std::vector<char> has_triangle(mesh.points.size(), 0);
    for (const delaunay::Triangle& t : mesh.triangles.items())
      for (std::size_t i = 0; t.is_used() && i < 3; ++i) has_triangle[t.vertices[i]] = 1;
    return std::ranges::count(has_triangle, 0);
  }

  /// Read the graph, triangulate and refine. Local.
  void make(mpi::Context& context, delaunay::Triangulation& mesh, Json& result) {
    GraphInput file = read_graph(input_, {.project = project_, .holes = holes_, .snap = snap_});
    sizes_.apply(file.graph, input_, refining_, file.left_out);
    const double start = MPI_Wtime();
    begin(context, file, mesh, result);
    const double middle = MPI_Wtime();
    delaunay::RefineReport report;
    if (is_refined(file.graph)) {
      const Region region(context.trace(), refine_region);
      report = delaunay::refine(mesh, refining_);
    }
    const double end = MPI_Wtime();
    describe(file, mesh, result);
    result["points_outside"] = delaunay::compact(mesh);
    result["vertices"] = mesh.n_vertices();
    result["triangles"] = mesh.n_triangles();
    if (const std::int64_t n = delaunay::n_names_lost(mesh, delaunay::triangulation_format(output_)); n > 0)
      file.left_out.push_back(fmt::format("{} names of regions and markers, which .h5m and .msh hold", n));
    result.update(delaunay::to_json(delaunay::shape_statistics(mesh)));
    result["regions"] = n_used_regions(mesh);
    result["left_out"] = file.left_out;
    add(report, result);
    result["checksum"] = hex(delaunay::checksum(mesh));
    result["memory_bytes"] = mesh.memory_bytes();
    result["seconds_of_triangulating"] = middle - start;
    result["seconds_of_refining"] = end - middle;
  }

  /// Store how many segments lie outside or in holes, and the numbers of the first of them.
  static void name_segments_outside(const GraphInput& file, const delaunay::Triangulation& mesh, Json& result) {
    const std::vector<std::int32_t> dropped = delaunay::dropped_segments(mesh);
    constexpr std::size_t max_named = 10;
    Json numbers = Json::array();
    for (std::size_t i = 0; i < std::min(dropped.size(), max_named); ++i) {
      const auto row = static_cast<std::size_t>(dropped[i]);
      numbers.push_back(row < file.segment_numbers.size() ? file.segment_numbers[row] : std::int64_t{dropped[i]});
    }
    result["segments_outside"] = {{"count", dropped.size()}, {"first", numbers}};
  }

  static std::int64_t n_used_regions(const delaunay::Triangulation& mesh) {
    std::vector<char> is_used(mesh.regions.size(), 0);
    for (const delaunay::Triangle& t : mesh.triangles.items()) is_used[t.region()] = 1;
    return std::count(is_used.begin() + 1, is_used.end(), 1);
  }

  /// Estimate the number of triangles. @throws Error{failed} if memory cannot hold them, unless the user gave a limit
  [[nodiscard]] delaunay::Forecast expect(const delaunay::PlanarGraph& graph,
                                          const delaunay::Triangulation& mesh) const {
    if (!is_refined(graph)) return {};
    const delaunay::Forecast expected = delaunay::forecast(mesh, refining_);
    if (refining_.max_triangles == 0 && memory_ == 0)
      delaunay::check_fits(expected, mpi::available_bytes(),
                           "allow larger areas by --max-area, --area or the file's regions, or stop early by "
                           "--max-triangles");
    return expected;
  }

  void audit(mpi::Context& context, Json& result) {
    std::string text;
    mpi::agree_after(context, [&] {
      if (!context.is_root()) return;
      GraphInput file = read_graph(input_, {.project = project_, .holes = holes_, .snap = snap_});
      sizes_.apply(file.graph, input_, refining_, file.left_out);
      const delaunay::AuditedMesh mesh = delaunay::read_audited(audited_);
      if (!is_refined(file.graph)) refining_.min_angle = 0.0;
      const delaunay::Audit found = delaunay::audit(mesh, file.graph,
                                                    {.min_angle = refining_.min_angle,
                                                     .max_area = refining_.max_area,
                                                     .keeps_regions = refining_.keeps_regions,
                                                     .area_at = refining_.area_at,
                                                     .size = refining_.size,
                                                     .resolution = refining_.resolution,
                                                     .is_delaunay = true,
                                                     .in_parts = method_ == "pcdm",
                                                     .fills_hull = triangulating_.fills_hull});
      text = delaunay::to_json(found).dump();
    });
    mpi::broadcast(context, text);
    result["mesh"] = audited_;
    result["audit"] = Json::parse(text);
  }

  /// Write how long the disk was busy, and how much of that ranks had to wait for it.
  [[nodiscard]] static std::string text_of_disk(const Json& seconds) {
    const auto run = seconds["run"].get<double>();
    const auto percent = [&](const char* what) { return run > 0.0 ? 100.0 * seconds[what].get<double>() / run : 0.0; };
    return fmt::format("  the disk was busy for {:.0f} % of the refinement; ranks waited for it for {:.0f} %\n",
                       percent("disk"), percent("waiting_for_disk"));
  }

  [[nodiscard]] std::string text_of_mesh(const Json& r) const {
    const auto n = [&](const Json& of) { return format_count(of.get<std::int64_t>()); };
    const double seconds = r["seconds_of_triangulating"].get<double>() + r["seconds_of_refining"].get<double>();
    std::string text = fmt::format("{}: {} triangles, {} vertices in {} ({:.2f} M triangles/s, {:.0f} bytes each)\n",
                                   output_, n(r["triangles"]), n(r["vertices"]), format_seconds(seconds),
                                   r["triangles"].get<double>() / seconds / 1e6,
                                   r["memory_bytes"].get<double>() / r["triangles"].get<double>());
    text +=
        fmt::format("  {} points of the file, {} added inside, {} on segments; regions: {}\n", n(r["points_in_file"]),
                    n(r["points_added"]["inside"]), n(r["points_added"]["on_segments"]), n(r["regions"]));
    if (r.contains("parts"))
      text += fmt::format(
          "  {} parts along {} edges, which got {} points in {} exchange(s); the largest part has {:.2f} "
          "times the mean\n",
          n(r["parts"]["n"]), n(r["parts"]["interfaces"]), n(r["parts"]["interface_points"]),
          n(r["parts"]["exchanges"]), r["parts"]["imbalance_of_parts"].get<double>());
    if (r.contains("parts") && r["parts"]["bytes_written"].get<std::uint64_t>() > 0)
      text += fmt::format("  scratch file: {} written, {} read; a rank had at most {} in memory\n",
                          format_bytes(r["parts"]["bytes_written"].get<std::uint64_t>()),
                          format_bytes(r["parts"]["bytes_read"].get<std::uint64_t>()),
                          format_bytes(r["peak_bytes_of_rank"].get<std::uint64_t>())) +
              text_of_disk(r["parts"]["seconds"]);
    if (const auto projection = r["projection"].get<std::string>(); !projection.empty())
      text += fmt::format("  projected: {}{}\n", projection,
                          r["has_default_projection"].get<bool>()
                              ? " (the default for degrees; --project none takes them as they are)"
                              : "");
    text += text_of_snapping(r["snapping"]);
    if (r["points_outside"].get<std::int64_t>() > 0)
      text += fmt::format("  {} points of the file lie outside the segments or in holes, and are left out\n",
                          n(r["points_outside"]));
    if (const auto count = r["segments_outside"]["count"].get<std::int64_t>(); count > 0) {
      const auto first = r["segments_outside"]["first"].get<std::vector<std::int64_t>>();
      text += fmt::format("  {} segments of the file lie outside or in holes, in whole or in part: {}{}\n", n(count),
                          fmt::join(first, ", "), std::ssize(first) < count ? ", ..." : "");
    }
    text += fmt::format("  angles from {:.1f} degrees, areas from {:.3g} to {:.3g}\n", r["angles"]["min"].get<double>(),
                        r["areas"]["min"].get<double>(), r["areas"]["max"].get<double>());
    const Json& bad = r["bad_triangles"];
    if (bad["at_segments"].get<std::int64_t>() > 0)
      text +=
          fmt::format("  {} times a bad triangle was left because segments may not be split\n", n(bad["at_segments"]));
    if (bad["by_rounding"].get<std::int64_t>() > 0)
      text += fmt::format("  {} times a bad triangle was left because coordinates are too coarse for smaller ones\n",
                          n(bad["by_rounding"]));
    if (const Json& expected = r["forecast"]["triangles"]; !expected.is_null())
      text += fmt::format("  {} triangles were expected from areas and bounds\n",
                          format_count(std::llround(expected.get<double>())));
    if (!r["is_complete"].get<bool>()) text += text_of_limit(r);
    if (!r["left_out"].empty())
      text += fmt::format("  left out: {}\n", fmt::join(r["left_out"].get<std::vector<std::string>>(), ", "));
    return text;
  }

  [[nodiscard]] std::string text_of_limit(const Json& r) const {
    if (refining_.max_triangles > 0) return "  stopped at --max-triangles: not all triangles meet the bounds\n";
    return fmt::format(
        "  not reached: {} triangles do not suffice for a min angle of {:g} degrees; use a smaller one, or "
        "allow more by --max-triangles\n",
        format_count(r["max_triangles"].get<std::int64_t>()), r["options"]["min_angle"].get<double>());
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
  std::string project_;
  std::vector<std::string> holes_;
  std::optional<double> snap_;
  Progress* progress_ = nullptr;
  bool refines_ = true;
  std::array<const CLI::Option*, 2> bounds_{};    // options that bound triangles
  std::array<const CLI::Option*, 4> of_parts_{};  // options of --method pcdm
  delaunay::TriangulateOptions triangulating_;
  delaunay::RefineOptions refining_;
  delaunay::PartOptions parting_;
  std::uint64_t memory_ = 0;  // bytes on a node; 0: no limit
  std::string scratch_;
  bool is_asynchronous_ = false;
  std::string method_ = "sequential";
  SizeOptions sizes_;
};

}  // namespace

std::unique_ptr<Command> make_delaunay() { return std::make_unique<Delaunay>(); }

}  // namespace barrio::apps
