// Quality triangulation, compared with Triangle, CGAL and delabella: triangles per second, bytes per triangle, and
// their number.
//
//   barrio bench delaunay
//   barrio bench delaunay --parts pipe --millions 16 --repeats 3
//   barrio bench delaunay --parts coasts --files lake.poly islands.poly
//   barrio --ranks 2 bench delaunay --parts pcdm --millions 8
#include <fmt/format.h>

#include <string>
#include <vector>

#include "barrio/base/text.hpp"
#include "benchmarks/delaunay/peers.hpp"
#include "benchmarks/delaunay/runs.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"

namespace {

using namespace barrio;

const std::vector<std::string> all_parts{"pipe", "square", "square400", "coasts", "saws", "points", "pcdm"};

struct Options {
  std::vector<std::string> parts{all_parts};
  bench::MesherOptions meshers;
  bench::Output output;
};

/// Write a line for each mesher of a row.
std::string text_of(const Json& row) {
  std::string text;
  for (const char* who :
       {"barrio", "barrio_moving", "parts_on_one_rank", "parts_on_all_ranks", "triangle", "cgal", "delabella"}) {
    if (!row.contains(who)) continue;
    const Json& one = row[who];
    text += fmt::format("  {:<18} {:>12} triangles, {:.3f} s (median {:.3f}), {:.2f} M/s", who,
                        format_count(one["triangles"].get<std::int64_t>()), one["min_seconds"].get<double>(),
                        one["median_seconds"].get<double>(), one["triangles_per_second"].get<double>() / 1e6);
    const bool has_bytes = who == std::string("barrio") && row.contains("peak_bytes_per_triangle");
    text += has_bytes ? fmt::format(", peak {:.1f} B each\n", row["peak_bytes_per_triangle"].get<double>()) : "\n";
  }
  return text;
}

std::string to_text(const Json& document) {
  std::string text;
  for (const Json& part : document["parts"]) {
    const std::string name = part["part"].get<std::string>();
    if (!part.contains("cases")) {
      text += fmt::format("{}, {:g} M\n{}", name, part["millions"].get<double>(), text_of(part));
      continue;
    }
    constexpr std::size_t max_shown = 50;  // the document has all
    std::size_t n_shown = 0;
    for (const Json& row : part["cases"]) {
      if (++n_shown > max_shown) break;
      text += fmt::format("{}, {}", name, row["name"].get<std::string>());
      if (row.contains("min_angle")) text += fmt::format(", {:g} degrees", row["min_angle"].get<double>());
      text += "\n" + text_of(row);
    }
    if (part["cases"].size() > max_shown) text += fmt::format("{} more in --json\n", part["cases"].size() - max_shown);
  }
  for (const auto& [peer, reason] : document["left_out"].items())
    text += fmt::format("without {}: {}\n", peer, reason.get<std::string>());
  for (const Json& one : document["goals"])
    text += fmt::format("{} {:<44} {:.4g}{} (goal {} {:.4g})\n", one["met"].get<bool>() ? "met    " : "NOT MET",
                        one["id"].get<std::string>(), one["value"].get<double>(), one["unit"].get<std::string>(),
                        one["better"].get<std::string>() == "higher" ? ">=" : "<=", one["goal"].get<double>());
  return text;
}

void run(Context& context, int argc, char** argv) {
  Options options;
  CLI::App app("Measure quality triangulation, on one core, or in parts on several");
  app.add_option("--parts", options.parts,
                 "pipe, square, square400: refinement by area; coasts: by angle; saws: small angles; points: "
                 "triangulations of points of nine kinds; pcdm: refinement in parts, also on several ranks")
      ->check(CLI::IsMember(all_parts))
      ->capture_default_str();
  app.add_option("--millions", options.meshers.millions, "Triangles, or points, in millions")->capture_default_str();
  app.add_option("--angles", options.meshers.angles, "Min angles of coasts, in degrees")->capture_default_str();
  app.add_option("--files", options.meshers.files, ".poly files to measure beside the coasts");
  app.add_option("--n-parts", options.meshers.n_parts, "Parts of the domains of pcdm")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
      "--scratch", options.meshers.scratch,
      "Folder on a disk: pcdm also refines the pipe with a quarter of the memory, along a curve and shuffled");
  app.add_option("--repeats", options.meshers.repeats, "Interleaved runs of each mesher")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("!--no-peers", options.meshers.has_peers, "Skip Triangle, CGAL and delabella");
  bench::add_output_options(app, options.output);
  if (!bench::parse(app, "bench delaunay", context, argc, argv)) return;
  bench::begin_output(context, options.output);
  Json document = json_document("barrio.bench.delaunay", 1);
  document["ranks"] = context.size();
  document["left_out"] = Json::object();
  if (!bench::why_no_triangle().empty()) document["left_out"]["Triangle"] = bench::why_no_triangle();
  if (!bench::why_no_cgal().empty()) document["left_out"]["CGAL"] = bench::why_no_cgal();
  if (!bench::why_no_delabella().empty()) document["left_out"]["delabella"] = bench::why_no_delabella();
  bench::Goals goals;
  if (context.size() > 1 && options.parts != std::vector<std::string>{"pcdm"})
    refuse_together(ErrorCode::usage, "bench delaunay", "must run on one rank, but for its part pcdm",
                    "leave out --ranks, or say --parts pcdm");
  document["parts"] = Json::array();
  for (const std::string& part : options.parts) {
    if (part == "coasts") document["parts"].push_back(bench::measure_coasts(options.meshers, goals));
    if (part == "saws") document["parts"].push_back(bench::measure_saws(options.meshers, goals));
    if (part == "coasts" || part == "saws") continue;
    for (const double millions : options.meshers.millions)
      document["parts"].push_back(part == "pcdm"     ? bench::measure_parted(context, millions, options.meshers, goals)
                                  : part == "points" ? bench::measure_points(millions, options.meshers, goals)
                                                     : bench::measure_dense(part, millions, options.meshers, goals));
  }
  document["goals"] = goals.list();
  bench::print_output(context, options.output, document, to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::bench::run_benchmark(argc, argv, [&](Context& context) { run(context, argc, argv); });
}
