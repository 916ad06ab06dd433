#include "benchmarks/rankmap/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace barrio::bench {
namespace {

constexpr double at_once = 0.05, quick = 1.0;

Case on_nodes(const char* part, Shape shape, Cut cut, int n_parts, int cores, std::vector<double> seconds) {
  return {.part = part,
          .shape = shape,
          .cut = cut,
          .n_parts = n_parts,
          .machine = fmt::format("{}x{}", n_parts / cores, cores),
          .tree = EvenTree{.arities = {cores, n_parts / cores}, .distances = {1, 10}},
          .seconds = std::move(seconds)};
}

Case on_tree(const char* part, Shape shape, Cut cut, EvenTree tree, std::vector<double> seconds) {
  int n_parts = 1;
  for (const int arity : tree.arities) n_parts *= arity;
  const std::string text = fmt::format("{};{}", fmt::join(tree.arities, ":"), fmt::join(tree.distances, ":"));
  return {.part = part,
          .shape = shape,
          .cut = cut,
          .n_parts = n_parts,
          .machine = text,
          .tree = std::move(tree),
          .seconds = std::move(seconds)};
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  // Tables 4 and 5 of the paper: clusters A and B.
  for (const int n : {32, 64, 128}) all.push_back(on_nodes("paper", Shape::wing, Cut::scattered, n, 8, {quick}));
  for (const int n : {48, 96, 240}) all.push_back(on_nodes("paper", Shape::wing, Cut::scattered, n, 12, {quick}));

  const std::vector<double> both{at_once, quick};
  const EvenTree four_levels{.arities = {8, 2, 4, 4}, .distances = {1, 2, 10, 20}};
  all.push_back(on_nodes("goals", Shape::wing, Cut::scattered, 256, 8, both));
  all.push_back(on_nodes("goals", Shape::wing, Cut::metis, 256, 8, both));
  all.push_back(on_nodes("goals", Shape::wing, Cut::metis, 360, 12, both));
  all.push_back(on_tree("goals", Shape::wing, Cut::scattered, four_levels, both));
  all.push_back({.part = "goals",
                 .shape = Shape::wing,
                 .cut = Cut::scattered,
                 .n_parts = 256,
                 .machine = "torus:4x4x2;8;1:10",
                 .tree = {},
                 .seconds = both});

  // Figure 4: Zoltan's numbering depends on the input distribution.
  for (const Cut cut : {Cut::zoltan_serial, Cut::zoltan_distributed})
    for (const int n : {64, 256}) all.push_back(on_nodes("zoltan", Shape::wing, cut, n, 8, {quick}));

  for (const Shape shape : {Shape::wing, Shape::box}) {
    for (const Cut cut : {Cut::scattered, Cut::rcb, Cut::metis}) {
      for (const auto& [n, cores] : {std::pair{64, 16}, {360, 12}, {512, 8}, {1024, 16}, {4096, 16}})
        all.push_back(on_nodes("more", shape, cut, n, cores, {quick}));
    }
  }
  all.push_back(
      on_tree("large", Shape::scrambled, Cut::rcb, {.arities = {16, 16, 128}, .distances = {1, 10, 20}}, {5}));
  all.push_back(
      on_tree("huge", Shape::scrambled, Cut::rcb, {.arities = {16, 16, 512}, .distances = {1, 10, 20}}, {20}));
  return all;
}

}  // namespace

std::string Case::name() const {
  constexpr std::array<std::string_view, 3> shapes{"wing", "box", "scrambled"};
  return fmt::format("{} {} {} on {}", shapes[static_cast<std::size_t>(shape)], name_of(cut), n_parts, machine);
}

std::vector<Case> cases_of(const std::vector<std::string>& parts) {
  std::vector<Case> chosen;
  for (Case& one : all_cases())
    if (std::ranges::find(parts, one.part) != parts.end()) chosen.push_back(std::move(one));
  return chosen;
}

rankmap::TrafficMatrix Workshop::make(mpi::Context& context, const Case& one) {
  if (one.shape == Shape::scrambled) {
    const int n_k = one.n_parts / (one.n_parts > 100'000 ? 64 * 64 : 32 * 32);
    const int side = one.n_parts > 100'000 ? 64 : 32;
    return scrambled_grid(side, side, n_k, 1);
  }
  std::optional<PointGrid>& grid = one.shape == Shape::wing ? wing_ : box_;
  if (!grid) grid = one.shape == Shape::wing ? wing_grid() : box_grid();
  return make_traffic(context, *grid, one.cut, one.n_parts);
}

}  // namespace barrio::bench
