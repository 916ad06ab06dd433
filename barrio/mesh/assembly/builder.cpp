#include "barrio/mesh/assembly/builder.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName set_region{"mesh.sets"};

/// Collective. @throws AgreedError{usage} if ranks do not exist or are not the same everywhere
void check_ghost_ranks(mpi::Context& context, std::span<const Rank> ranks) {
  Hash64 hash(ranks.size());
  for (const Rank rank : ranks) hash.add(std::int64_t{rank});
  const std::int64_t mine = hash.value() >> 1U;
  std::array<std::int64_t, 2> ends{mine, -mine};
  mpi::all_reduce(context, std::span<std::int64_t>(ends), MPI_MAX);
  if (ends[0] != -ends[1]) {
    throw AgreedError(ErrorCode::usage, {.subject = "ranks between which ghosts go",
                                         .cause = "are not the same on every rank",
                                         .remedy = "give all ranks the same list, or none at all"});
  }
  for (const Rank rank : ranks) {
    if (rank >= 0 && rank < context.size()) continue;
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("ghosts of rank {}", rank),
                                         .cause = fmt::format("cannot be: there are {} ranks", context.size()),
                                         .remedy = "name ranks from 0 on"});
  }
}

}  // namespace

MeshBuilder::MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out)
    : MeshAssembly(context, options, out), tables_(tables) {
  if (options.ghost_layers < 0) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} ghost layers", options.ghost_layers),
                                         .cause = "is not a number of layers",
                                         .remedy = "ask for 0 or more"});
  }
  if (options.bridge >= tables.top_dim() && tables.top_dim() > Dim::vertex) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("ghosts over a bridge of dimension {}", value(options.bridge)),
                       .cause = fmt::format("cannot be found: the cells are of dimension {}", value(tables.top_dim())),
                       .remedy = "bridge by vertices, or by entities of a dimension below the cells'"});
  }
  check_ghost_ranks(context, options.ghost_ranks);
}

void MeshBuilder::build() {
  out_.context = &context_;
  out_.cell_dim = tables_.top_dim();
  out_.options = options_;
  out_.n_parts = tables_.n_parts;
  out_.part_sets = tables_.part_sets;
  const Slabs slices{tables_.n_parts, context_.size()};
  out_.parts = {LocalId{static_cast<std::int32_t>(slices.first(context_.rank()))},
                LocalId{static_cast<std::int32_t>(slices.first(context_.rank() + 1))}};
  {
    const Region region(context_.trace(), set_region);
    home_runs_ = detail::set_runs_at_home(context_, tables_);
  }
  fetch_cells();
  resolve_vertices();
  choose_ghosts(tables_.sets);
  add_ghosts();
  number_vertices();
  number_cells();
  std::array<HeldSides, 4> sides = fetch_sides();
  for (int d = 1; d < value(out_.cell_dim); ++d)
    if (tables_.n_global(Dim{d}) > 0) place_sides(Dim{d}, std::move(sides[d]));
  {
    const Region region(context_.trace(), set_region);
    fill_sets(tables_.sets);
  }
  fetch_tags();
  count_left_out();
}

void MeshBuilder::count_left_out() {
  const auto dim_below = index(out_.cell_dim);
  std::array<std::int64_t, 4> n{static_cast<std::int64_t>(out_.vertices.n_owned)};
  for (std::size_t d = 1; d < dim_below; ++d) n[d] = out_.entities[d].n_owned;
  mpi::all_reduce(context_, std::span<std::int64_t>(n).first(dim_below), MPI_SUM);
  out_.vertices.n_global = n[0];
  cells().n_global = tables_.n_global(out_.cell_dim);
  if (n[0] < tables_.vertices.n_rows) {
    context_.log().notice(fmt::format("{} vertices belong to no {} and are left out", tables_.vertices.n_rows - n[0],
                                      out_.cell_dim == Dim::volume ? "volume" : "cell"));
  }
  for (std::size_t d = 1; d < dim_below; ++d) {
    out_.entities[d].n_global = n[d];
    const std::int64_t n_listed = tables_.n_global(Dim{static_cast<int>(d)});
    if (n[d] == n_listed) continue;
    context_.log().notice(fmt::format("{} of {} listed entities of dimension {} are no side of a cell and are left out",
                                      n_listed - n[d], n_listed, d));
  }
}

}  // namespace barrio::mesh
