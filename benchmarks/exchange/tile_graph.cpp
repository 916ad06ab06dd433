#include "benchmarks/exchange/tile_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::bench {
namespace {

int modulo(int a, int n) { return (a % n + n) % n; }

}  // namespace

TileGraph::TileGraph(int tile, std::vector<TileLink> links) : tile_(tile), links_(std::move(links)) {
  if (tile < 1)
    throw Error(ErrorCode::usage, {.subject = "tile graph", .cause = "needs at least 1 rank along a side of a tile"});
  for (const TileLink& link : links_)
    if (link.x < 0 || link.x >= tile || link.y < 0 || link.y >= tile)
      throw Error(ErrorCode::usage,
                  {.subject = "tile graph",
                   .cause = fmt::format("has a link that starts at ({}, {}), outside a tile of side {}", link.x, link.y,
                                        tile)});
}

TileGraph TileGraph::semi_regular() {
  return {4, {{3, 3, -2, -2}, {3, 3, -2, 2},  {3, 3, 2, -2},  {3, 3, 2, 2},   {3, 3, -1, 1},  {3, 3, -1, -3},
              {3, 3, 3, 1},   {3, 3, 3, -3},  {3, 3, 1, 1},   {3, 3, 1, -2},  {3, 3, 1, -1},  {3, 3, -3, 1},
              {3, 3, 1, 2},   {3, 3, -3, -1}, {3, 3, 1, 0},   {3, 3, -2, 1},  {3, 3, -2, -1}, {3, 3, -2, 0},
              {3, 3, 1, -3},  {3, 3, -3, -2}, {3, 3, 1, 3},   {3, 3, -3, 0},  {3, 3, 2, 1},   {3, 3, 2, -1},
              {3, 3, 2, 0},   {3, 3, -1, -2}, {3, 3, -1, -1}, {1, 1, 1, -1},  {3, 3, -3, -3}, {1, 1, -3, -1},
              {3, 3, -3, 2},  {1, 1, 1, 3},   {3, 3, -3, 3},  {1, 1, -3, 3},  {3, 3, 1, -4},  {1, 1, 0, -1},
              {3, 3, -2, 3},  {1, 1, 0, -2},  {3, 3, -1, 2},  {1, 1, 1, 1},   {3, 3, -1, 0},  {1, 1, -2, -1},
              {3, 3, 0, -2},  {1, 1, -2, 1},  {3, 3, -3, -4}, {1, 1, -1, -1}, {2, 0, -2, 1},  {0, 2, 1, -2},
              {1, 2, 0, 1},   {2, 1, 0, 1},   {2, 3, 1, 1},   {3, 1, 0, 1}}};
}

std::vector<Rank> TileGraph::neighbours(Rank rank, int n_ranks) const {
  const int per_tile = tile_ * tile_;
  const int n_tiles = n_ranks / per_tile;
  if (rank >= n_tiles * per_tile) return {};
  int n_rows = 1;
  for (int rows = 1; rows * rows <= n_tiles; ++rows)
    if (n_tiles % rows == 0) n_rows = rows;
  const int width = n_tiles / n_rows * tile_;
  const int height = n_rows * tile_;
  const int tile = rank / per_tile;
  const int in_tile = rank % per_tile;
  const int x = tile % (width / tile_) * tile_ + in_tile % tile_;
  const int y = tile / (width / tile_) * tile_ + in_tile / tile_;
  std::vector<Rank> found;
  const auto add = [&](int other_x, int other_y) {
    other_x = modulo(other_x, width);
    other_y = modulo(other_y, height);
    const int other =
        (other_y / tile_ * (width / tile_) + other_x / tile_) * per_tile + other_y % tile_ * tile_ + other_x % tile_;
    if (other != rank) found.push_back(other);
  };
  for (const TileLink& link : links_) {
    if (link.x == x % tile_ && link.y == y % tile_) add(x + link.dx, y + link.dy);
    if (link.x == modulo(x - link.dx, tile_) && link.y == modulo(y - link.dy, tile_)) add(x - link.dx, y - link.dy);
  }
  sort_unique(found);
  return found;
}

}  // namespace barrio::bench
