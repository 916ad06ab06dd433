#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "apps/command.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"

namespace barrio::apps {
namespace {

/// Write a number of steps, with the first and the last time where the file has them.
std::string steps_of(const Json& result, std::int64_t n_steps) {
  const Json times = result.value("times", Json::array());
  if (times.empty() || !times.front().is_number() || !times.back().is_number()) return format_count(n_steps);
  return fmt::format("{}, times {:g} to {:g}", format_count(n_steps), times.front().get<double>(),
                     times.back().get<double>());
}

class Info : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "info"; }
  [[nodiscard]] std::string summary() const override {
    return "Show the contents of a mesh file: counts, sets, tags, parts, box, quality";
  }
  [[nodiscard]] std::string example() const override { return "barrio info wing.h5m"; }
  void add_options(CLI::App& app) override {
    app.add_option("FILE", file_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_flag("!--no-quality", with_quality_, "Leave out box and quality, which need all coordinates");
  }
  Json run(mpi::Context*) override {
    Json result = json_document("barrio.info", 1);
    result.update(io::inspect(file_, {.with_quality = with_quality_}));
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    std::vector<std::pair<std::string, std::string>> rows;
    const auto count = [](const Json& n) { return format_count(n.get<std::int64_t>()); };
    rows.emplace_back("format", fmt::format("{}, {}", r["format"].get<std::string>(),
                                            format_bytes(r["file_bytes"].get<std::uint64_t>())));
    if (r.contains("grid")) {
      const Json& grid = r["grid"];
      rows.emplace_back(
          "grid", fmt::format("{} longitudes{}, {} latitudes, {} levels; time steps: {}", count(grid["longitudes"]),
                              grid["is_periodic"] ? " all round" : "", count(grid["latitudes"]), count(grid["levels"]),
                              steps_of(r, grid["time_steps"].get<std::int64_t>())));
    }
    rows.emplace_back("vertices", count(r["vertices"]));
    const Json nodes_per_cell = r.value("nodes_per_cell", Json::object());
    for (const auto& [type, n] : r["entities"].items()) {
      std::string text = count(n);
      if (nodes_per_cell.contains(type))  // of second order
        for (const auto& [n_nodes, n_of_kind] : nodes_per_cell.at(type).items())
          text += fmt::format(", {} of {} nodes", n_of_kind == n ? "all" : count(n_of_kind), n_nodes);
      rows.emplace_back(type, text);
    }
    if (r.contains("time_steps")) rows.emplace_back("time steps", steps_of(r, r["time_steps"].get<std::int64_t>()));
    if (r.contains("unsupported"))
      for (const Json& what : r["unsupported"]) rows.emplace_back("not supported", what.get<std::string>());
    rows.emplace_back("parts",
                      r["sets"]["parts"] == 0 ? "none: barrio partition makes them" : count(r["sets"]["parts"]));
    std::vector<std::string> partitions;
    for (const Json& p : r.value("partitions", Json::array()))
      partitions.push_back(fmt::format("{} ({} parts)", p["tag"].get<std::string>(), count(p["parts"])));
    if (partitions.size() > 1) rows.emplace_back("partitions", fmt::format("{}", fmt::join(partitions, ", ")));
    std::vector<std::string> kinds;
    for (const auto& [kind, n] : r["sets"].items())
      if (kind != "parts" && kind != "total" && n != 0) kinds.push_back(fmt::format("{} {}", count(n), kind));
    rows.emplace_back("sets", fmt::format("{}{}", count(r["sets"]["total"]),
                                          kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, ", "))));
    std::vector<std::string> named;
    for (const Json& set : r["named_sets"]) {
      if (named.size() == 12) {
        named.emplace_back("...");
        break;
      }
      named.push_back(fmt::format(
          "{} {}{}", set["kind"].get<std::string>(), set["id"].get<int>(),
          set["name"].get<std::string>().empty() ? "" : fmt::format(" '{}'", set["name"].get<std::string>())));
    }
    if (!named.empty()) rows.emplace_back("", fmt::format("{}", fmt::join(named, ", ")));
    std::vector<std::string> tags;
    for (const Json& tag : r["tags"])
      tags.push_back(fmt::format("{} ({})", tag["name"].get<std::string>(), tag["type"].get<std::string>()));
    if (!tags.empty()) rows.emplace_back("tags", fmt::format("{}", fmt::join(tags, ", ")));
    if (r.contains("vertices_not_finite"))
      rows.emplace_back("not finite", fmt::format("{} vertices have a coordinate that is not finite",
                                                  format_count(r["vertices_not_finite"].get<std::int64_t>())));
    if (r.contains("box")) {
      const auto low = r["box"]["low"].get<std::vector<double>>();
      const auto high = r["box"]["high"].get<std::vector<double>>();
      rows.emplace_back("box", fmt::format("[{:.6g}, {:.6g}] x [{:.6g}, {:.6g}] x [{:.6g}, {:.6g}]", low[0], high[0],
                                           low[1], high[1], low[2], high[2]));
    }
    if (r.contains("quality")) {
      const Json& q = r["quality"];
      rows.emplace_back(
          "edges", fmt::format("{:.4g} to {:.4g}", q["shortest_edge"].get<double>(), q["longest_edge"].get<double>()));
      rows.emplace_back("edge ratio",
                        fmt::format("{:.3f} at worst, {:.3f} on average (1 is best)", q["min_edge_ratio"].get<double>(),
                                    q["mean_edge_ratio"].get<double>()));
      rows.emplace_back("inverted", count(q["inverted"]));
    }
    return file_ + "\n" + two_columns(rows);
  }

 private:
  std::string file_;
  bool with_quality_ = true;
};

}  // namespace

std::unique_ptr<Command> make_info() { return std::make_unique<Info>(); }

}  // namespace barrio::apps
