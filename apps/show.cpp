#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "apps/command.hpp"
#include "apps/delaunay/graph_input.hpp"
#include "apps/launch/program.hpp"
#include "apps/reading.hpp"
#include "barrio/base/log.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/from_arrays.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

using mesh::Dim;

constexpr std::array show_steps{WorkStep{"io.read", 0.2}, WorkStep{"io.write", 0.2}, WorkStep{"show.draw", 0.6}};
constexpr RegionName draw_region{"show.draw"};
constexpr int max_steps = 24;                    // frames of a film
constexpr const char* shown_set = "barrio_set";  // array with the place of an entity's set in the list; -1 without one

/// Make the tables of the listed sides alone, as cells, with their sets.
mesh::MeshTables sides_of(const mesh::MeshTables& tables) {
  const auto dim = Dim{mesh::value(tables.top_dim()) - 1};
  mesh::MeshTables sides;
  sides.vertices = tables.vertices;
  sides.coordinates = tables.coordinates;
  sides.sets = tables.sets;
  std::ranges::copy_if(tables.blocks, std::back_inserter(sides.blocks),
                       [&](const mesh::CellBlock& block) { return mesh::topology(block.type).dim == dim; });
  std::ranges::copy_if(tables.members, std::back_inserter(sides.members),
                       [&](const mesh::SetRows& rows) { return rows.dim == dim; });
  return sides;
}

/// Add a field with the set of each entity: materials before other sets, and of several the first.
void add_set_field(mesh::Mesh& mesh, Dim dim) {
  const mesh::Field<std::int32_t> field = mesh.add_field<std::int32_t>(shown_set, dim);
  std::ranges::fill(field.values(), -1);
  for (const bool is_material : {true, false}) {
    for (std::size_t s = 0; s < mesh.sets().size(); ++s) {
      const mesh::MeshSet& set = mesh.sets()[s];
      if ((set.info.kind == mesh::SetKind::material) != is_material) continue;
      const mesh::Range& members = dim == Dim::vertex ? set.vertices : set.entities[mesh::index(dim)];
      for (const LocalId id : members)
        if (field[id] < 0) field[id] = static_cast<std::int32_t>(s);
    }
  }
}

/// Tell whether a file is of the plane: Triangle's files or polygons.
bool is_planar(const std::string& path) {
  constexpr std::array<std::string_view, 5> suffixes{".poly", ".node", ".ele", ".geojson", ".json"};
  return std::ranges::find(suffixes, std::filesystem::path(path).extension().string()) != suffixes.end();
}

/// Points, triangles and segments of a planar file, as arrays of a mesh in space.
struct PlanarArrays {
  std::vector<double> coordinates;
  std::vector<std::int64_t> triangles;
  std::vector<std::int64_t> edges;
  std::map<std::int32_t, std::vector<std::int64_t>> triangles_of_region;
  std::map<std::int32_t, std::vector<std::int64_t>> edges_of_marker;
  std::map<std::int32_t, std::string> names;  // of markers

  void add_points(const std::vector<delaunay::Point>& points) {
    for (const delaunay::Point& point : points) coordinates.insert(coordinates.end(), {point[0], point[1], 0.0});
  }
  void add_edges(const std::vector<delaunay::PlanarGraph::Edge>& all, const std::vector<delaunay::MarkerName>& named) {
    for (const auto& edge : all) {
      edges_of_marker[edge.marker].push_back(std::ssize(edges) / 2);
      edges.insert(edges.end(), edge.ends.begin(), edge.ends.end());
    }
    for (const delaunay::MarkerName& one : named) names[one.marker] = one.name;
  }
};

/// Read Triangle's files or polygons. Local.
PlanarArrays read_planar(const std::string& path) {
  PlanarArrays arrays;
  std::vector<std::string> left_out;
  if (path.ends_with(".ele")) {
    const delaunay::FlatMesh mesh = read_flat_mesh(path, left_out);
    arrays.add_points(mesh.points);
    arrays.add_edges(mesh.edges, mesh.marker_names);
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      arrays.triangles.insert(arrays.triangles.end(), mesh.triangles[i].begin(), mesh.triangles[i].end());
      if (!mesh.triangle_regions.empty()) arrays.triangles_of_region[mesh.triangle_regions[i]].push_back(i);
    }
    return arrays;
  }
  const GraphInput input = read_graph(path, {});
  arrays.add_points(input.graph.points);
  arrays.add_edges(input.graph.segments, input.graph.marker_names);
  return arrays;
}

/// Make the tables of a planar file, which the first rank reads. Collective.
mesh::MeshTables planar_tables(mpi::Context& context, const std::string& path) {
  PlanarArrays arrays;
  agree_after(context, [&] {
    if (!context.is_root()) return;
    arrays = read_planar(path);
    if (arrays.triangles.empty() && arrays.edges.empty())
      refuse(ErrorCode::bad_input, path, "has points alone", fmt::format("barrio delaunay {} -o mesh.vtkhdf", path));
  });
  std::int64_t n_triangles = std::ssize(arrays.triangles);
  mpi::broadcast(context, std::span(&n_triangles, 1));
  mesh::MeshArrays given{.coordinates = arrays.coordinates};
  const auto add_sets = [&](const auto& members, mesh::CellType type, mesh::SetKind kind) {
    // the list of sets is the same on every rank
    std::vector<std::int32_t> ids;
    for (const auto& [id, places] : members) ids.push_back(id);
    mpi::broadcast(context, ids);
    for (const std::int32_t id : ids) {
      const bool is_marker = kind == mesh::SetKind::neumann;
      std::string name = fmt::format("{} {}", is_marker ? "marker" : "region", id);
      if (is_marker && arrays.names.contains(id)) name = arrays.names.at(id);
      mpi::broadcast(context, name);
      mesh::MeshArrays::Set& set = given.add_set(kind, id, name);
      if (members.contains(id)) set.members.push_back({type, members.at(id)});
    }
  };
  if (n_triangles > 0) {
    given.cells.push_back({.type = mesh::CellType::triangle, .nodes_per_cell = 3, .nodes = arrays.triangles});
    add_sets(arrays.triangles_of_region, mesh::CellType::triangle, mesh::SetKind::material);
  }
  given.cells.push_back({.type = mesh::CellType::edge, .nodes_per_cell = 2, .nodes = arrays.edges});
  add_sets(arrays.edges_of_marker, mesh::CellType::edge, mesh::SetKind::neumann);
  return mesh::tables_from_arrays(context, given);
}

/// Count the members of each set. Collective.
std::vector<std::int64_t> counts_of(const mesh::Mesh& mesh, Dim dim) {
  std::vector<std::int64_t> n(mesh.sets().size());
  const std::size_t n_owned = mesh.n_owned(dim);
  for (std::size_t s = 0; s < n.size(); ++s) {
    const mesh::MeshSet& set = mesh.sets()[s];
    for (const LocalId id : dim == Dim::vertex ? set.vertices : set.entities[mesh::index(dim)])
      n[s] += index(id) < n_owned ? 1 : 0;
  }
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(n), MPI_SUM);
  return n;
}

class Show : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "show"; }
  [[nodiscard]] std::string summary() const override {
    return "Draw a mesh file or a result: a page with its sets, a cut, sizes, quality and fields, or one picture";
  }
  [[nodiscard]] std::string example() const override { return "barrio show wing.msh -o wing.png"; }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return show_steps; }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option(
           "FILE", input_,
           fmt::format(
               "File to show: a mesh ({}), Triangle's files and polygons (.poly, .ele, .geojson), results of barrio "
               "as VTKHDF, or their list (.vtkhdf.series)",
               io::readable_formats))
        ->required();
    app.add_option("-o,--output", output_, "Page (.html), picture (.png) or film of the steps (.gif) to write")
        ->capture_default_str();
    app.add_option("--field", fields_, "Field to draw; repeat it for several (default: the first ones of the file)");
    app.add_flag("--no-open", stays_closed_, "Do not open the page where there is a screen");
    reading_.add_to(app, "Time step to show, from 1; 0: all, as a film");
  }
  Json run(mpi::Context* context) override {
    const std::string suffix = std::filesystem::path(output_).extension().string();
    if (suffix != ".html" && suffix != ".png" && suffix != ".gif")
      throw AgreedError(ErrorCode::usage,
                        {.subject = output_,
                         .cause = "is neither a page (.html), nor a picture (.png), nor a film (.gif)",
                         .remedy = "choose one of these suffixes, as in -o mesh.png"});
    std::vector<std::string> line;
    std::unique_ptr<ScratchFolder> scratch;
    int is_ready = 0;  // the file is a result that needs no conversion
    agree_after(*context, [&] {
      if (!context->is_root()) return;
      is_ready = is_drawn_as_it_is() ? 1 : 0;
      line = python_line("barrio show", {"-m", "barrio.report.show"});
      const std::filesystem::path parent = std::filesystem::path(output_).parent_path();
      ScratchFolder::remove_left(parent, "barrio-show");
      scratch = std::make_unique<ScratchFolder>(parent.empty() ? "." : parent, "barrio-show");
      folder_ = scratch->path().string();
    });
    mpi::broadcast(*context, folder_);
    mpi::broadcast(*context, std::span(&is_ready, 1));

    Json about = json_document("barrio.show", 1);
    about["input"] = input_;
    if (is_ready != 0) {
      about["cells"] = std::filesystem::absolute(input_).string();
      about["step"] = reading_.step;
    } else {
      prepare(*context, about);
    }
    int code = 0;
    {
      const Region region(context->trace(), draw_region);
      agree_after(*context, [&] {
        if (context->is_root()) code = draw(std::move(line), about);
      });
      mpi::broadcast(*context, std::span(&code, 1));
    }
    code_ = code;
    Json result = mpi::document(*context, "barrio.show", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["code"] = code_;
    return result;
  }
  [[nodiscard]] std::string render(const Json&) const override { return code_ == 0 ? output_ + "\n" : ""; }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  /// Tell whether the file needs no conversion. Local. @throws Error for a file that is not of a mesh
  [[nodiscard]] bool is_drawn_as_it_is() const {
    if (input_.ends_with(".json") && read_json_file(input_).value("schema", "").starts_with("barrio."))
      throw Error(ErrorCode::bad_input, {.subject = input_,
                                         .cause = "is not a mesh: a document of results has a page of its own",
                                         .remedy = fmt::format("barrio report {}", input_)});
    if (is_planar(input_)) return false;
    return input_.ends_with(".vtkhdf.series") || io::detect_format(input_) == io::Format::vtkhdf;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }

  /// Read the mesh, and write its cells, at each step, and its listed sides.
  void prepare(mpi::Context& context, Json& about) {
    agree_after(context, [&] {
      if (context.is_root() && !is_planar(input_)) about["inspected"] = io::inspect(input_, {.with_quality = false});
    });
    std::int64_t n_steps = 0;
    if (context.is_root() && !is_planar(input_)) {
      const Json& found = about["inspected"];
      n_steps = found.value("time_steps", std::int64_t{0});
      if (found.contains("grid")) n_steps = found["grid"].value("time_steps", n_steps);
    }
    mpi::broadcast(context, std::span(&n_steps, 1));
    std::vector<int> steps{reading_.step};
    if (reading_.step == 0 && n_steps > 1) {
      const int n = static_cast<int>(std::min<std::int64_t>(n_steps, max_steps));
      steps.clear();
      for (int i = 0; i < n; ++i) steps.push_back(1 + static_cast<int>(i * (n_steps - 1) / (n - 1)));
    }
    Json frames = Json::array();
    for (const int step : steps) {
      Reading reading = reading_;
      reading.step = step;
      mesh::MeshTables tables = is_planar(input_) ? planar_tables(context, input_)
                                                  : io::read_tables(context, input_, reading.in(io::TableOptions{}));
      const bool is_first = step == steps.front();
      if (is_first && mesh::value(tables.top_dim()) > 1) write_sides(context, tables, about);
      if (tables.n_parts == 0) {
        mesh::partition_cells(context, tables, context.size());
        if (is_first) about["has_no_parts"] = true;
      }
      mesh::Mesh mesh(context, std::move(tables));
      add_set_field(mesh, mesh.cell_dim());
      add_set_field(mesh, Dim::vertex);
      if (is_first) list_sets(mesh, about);
      const std::string name = steps.size() > 1 ? fmt::format("cells-{}.vtkhdf", step) : "cells.vtkhdf";
      const QuietLog quiet(context.log());  // of what VTKHDF cannot hold
      io::VtkhdfWriter writer(mesh, file(name), {.fields = {shown_set}, .with_tags = true});
      writer.close();
      frames.push_back({{"name", name}, {"time", time_of(about, step)}});
    }
    if (steps.size() == 1) {
      about["cells"] = file("cells.vtkhdf");
      return;
    }
    about["cells"] = file("cells.vtkhdf.series");
    const Json series{{"file-series-version", "1.0"}, {"files", frames}};
    agree_after(context, [&] {
      if (context.is_root()) write_file_atomically(file("cells.vtkhdf.series"), series.dump());
    });
  }

  /// Return the time of a step, from 1; its number if the file's description has no times.
  static double time_of(Json& about, int step) {
    if (!about.contains("inspected")) return 0.0;
    const Json times = about["inspected"].value("times", Json::array());
    const auto place = static_cast<std::size_t>(std::max(step, 1)) - 1;
    if (place < times.size() && times[place].is_number()) return times[place].get<double>();
    about["steps_are_numbers"] = true;
    return step;
  }

  void write_sides(mpi::Context& context, const mesh::MeshTables& tables, Json& about) const {
    mesh::MeshTables sides = sides_of(tables);
    if (sides.blocks.empty()) return;
    const QuietLog quiet(context.log());  // of vertices on no side
    mesh::partition_cells(context, sides, context.size());
    mesh::Mesh mesh(context, std::move(sides));
    add_set_field(mesh, mesh.cell_dim());
    io::VtkhdfWriter writer(mesh, file("sides.vtkhdf"), {.fields = {shown_set}});
    writer.close();
    about["sides"] = file("sides.vtkhdf");
  }

  static void list_sets(const mesh::Mesh& mesh, Json& about) {
    const auto top = mesh.cell_dim();
    std::map<std::string, std::vector<std::int64_t>> counts;
    counts["cells"] = counts_of(mesh, top);
    if (mesh::value(top) > 1) counts["sides"] = counts_of(mesh, Dim{mesh::value(top) - 1});
    if (mesh::value(top) > 0) counts["vertices"] = counts_of(mesh, Dim::vertex);
    Json sets = Json::array();
    for (std::size_t s = 0; s < mesh.sets().size(); ++s) {
      const mesh::SetInfo& info = mesh.sets()[s].info;
      Json set{{"kind", mesh::name(info.kind)}, {"id", info.id}, {"name", info.name}};
      for (const auto& [what, n] : counts) set[what] = n[s];
      sets.push_back(std::move(set));
    }
    about["sets"] = std::move(sets);
  }

  /// Let Python draw. @return its exit code
  int draw(std::vector<std::string> line, const Json& about) const {
    write_file_atomically(file("about.json"), about.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    line.insert(line.end(), {file("about.json"), "-o", output_});
    for (const std::string& field : fields_) line.insert(line.end(), {"--field", field});
    if (stays_closed_) line.emplace_back("--no-open");
    return run_program(line, ProgramOutput::dropped);
  }

  std::string input_;
  std::string output_ = "show.html";
  std::string folder_;
  std::vector<std::string> fields_;
  bool stays_closed_ = false;
  Reading reading_;
  int code_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_show() { return std::make_unique<Show>(); }

}  // namespace barrio::apps
