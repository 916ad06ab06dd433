#include "barrio/mesh/assembly/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName set_region{"mesh.sets"};

}  // namespace

MeshBuilder::MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out)
    : context_(context), options_(std::move(options)), out_(out), tables_(tables) {
  detail::check_options(context_, options_, tables.top_dim());
}

MeshBuilder::MeshBuilder(mpi::Context& context, MeshTables&& tables, BuildOptions options, Mesh::Storage& out)
    : MeshBuilder(context, std::as_const(tables), std::move(options), out) {
  consumed_ = &tables;
}

void MeshBuilder::free_cells() {
  if (consumed_ == nullptr) return;
  for (CellBlock& block : consumed_->blocks) {
    if (topology(block.type).dim != out_.cell_dim) continue;
    free_memory(block.nodes);
    free_memory(block.offsets);
  }
  free_memory(consumed_->parts);
}

void MeshBuilder::build() {
  if (tables_.n_parts < 1 && tables_.top_dim() != Dim::vertex)
    refuse_together(ErrorCode::usage, "tables of a mesh", "have cells in no parts", "call partition_cells first");
  out_.context = &context_;
  out_.cell_dim = tables_.top_dim();
  known_.dim = out_.cell_dim;
  known_.takes_ghosts = options_.ghost_layers > 0;
  out_.options = options_;
  out_.n_parts = tables_.n_parts;
  out_.part_sets = tables_.part_sets;
  const Slabs slices{tables_.n_parts, context_.size()};
  out_.parts = {local_id(slices.first(context_.rank())), local_id(slices.first(context_.rank() + 1))};
  {
    const Region region(context_.trace(), set_region);
    home_runs_ = detail::set_runs_at_home(context_, tables_);
  }
  fetch_cells();
  resolve_vertices();
  if (consumed_ != nullptr) free_memory(consumed_->coordinates);
  const detail::GhostChoice choice(context_.rank(), options_, tables_.sets, known_);
  detail::Ghosts ghosts = detail::add_ghosts(context_, options_, choice, known_);
  numbered_ = detail::number(context_, std::move(known_), ghosts);
  std::array<HeldSides, 4> held = fetch_sides();
  std::array<detail::PlacedSides, 4> sides;
  for (int d = 1; d < value(out_.cell_dim); ++d)
    if (tables_.n_global(Dim{d}) > 0)
      sides[d] = detail::place_sides(context_, options_, std::move(held[d]), std::move(shapes_[d]), numbered_, ghosts);
  {
    const Region region(context_.trace(), set_region);
    MeshAssembly::put_together(out_, numbered_, sides, tables_.sets);
    out_.neighbours = std::move(ghosts.neighbours);
  }
  fetch_tags();
  count_left_out();
}

std::string MeshBuilder::losses_of_sets(Dim dim) const {
  const std::size_t n_sets = tables_.sets.size();
  std::vector<std::int64_t> n(2 * n_sets, 0);  // in the tables, with copies in several runs; then in the mesh
  const auto count = [&](const std::vector<detail::HomeRun>& runs) {
    for (const detail::HomeRun& run : runs) n[run.set] += run.count;
  };
  if (dim == Dim::vertex) count(home_runs_.of_vertices);
  for (std::size_t b = 0; b < home_runs_.of_blocks.size() && dim != Dim::vertex; ++b)
    if (topology(tables_.blocks[b].type).dim == dim) count(home_runs_.of_blocks[b]);
  const std::size_t n_owned = dim == Dim::vertex ? out_.vertices.n_owned : out_.entities[index(dim)].n_owned;
  for (std::size_t s = 0; s < n_sets; ++s) {
    const Range& members = dim == Dim::vertex ? out_.sets[s].vertices : out_.sets[s].entities[index(dim)];
    n[n_sets + s] = members.intersected({LocalId{0}, local_id(n_owned)}).size();
  }
  mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
  std::vector<std::string> losses;
  for (std::size_t s = 0; s < n_sets; ++s) {
    if (n[s] <= n[n_sets + s]) continue;
    const SetInfo& set = tables_.sets[s];
    losses.push_back(fmt::format("{} {}{} ({})", name(set.kind), set.id,
                                 set.name.empty() ? "" : fmt::format(" '{}'", set.name),
                                 n[n_sets + s] == 0 ? std::string("all") : std::to_string(n[s] - n[n_sets + s])));
  }
  if (losses.empty()) return "";
  constexpr std::size_t max_named = 10;
  const std::size_t n_named = std::min(losses.size(), max_named);
  std::string text = fmt::format(": of the sets {}", fmt::join(losses.begin(), losses.begin() + n_named, ", "));
  if (n_named < losses.size()) text += fmt::format(" and {} more", losses.size() - n_named);
  return text;
}

void MeshBuilder::count_left_out() {
  const int dim_below = value(out_.cell_dim);
  std::array<std::int64_t, 4> n{};
  n[0] = out_.vertices.n_owned;
  for (int d = 1; d < dim_below; ++d) n[d] = out_.entities[d].n_owned;
  mpi::all_reduce(context_, std::span<std::int64_t>(n).first(dim_below), MPI_SUM);
  out_.vertices.n_global = n[0];
  out_.entities[dim_below].n_global = tables_.n_global(out_.cell_dim);
  if (n[0] < tables_.vertices.n_rows) {
    context_.log().notice(fmt::format("{} vertices belong to no {} and are left out{}", tables_.vertices.n_rows - n[0],
                                      out_.cell_dim == Dim::volume ? "volume" : "cell", losses_of_sets(Dim::vertex)));
  }
  for (int d = 1; d < dim_below; ++d) {
    out_.entities[d].n_global = n[d];
    const std::int64_t n_listed = tables_.n_global(Dim{d});
    if (n[d] == n_listed) continue;
    context_.log().notice(
        fmt::format("{} of {} listed entities of dimension {} are not sides of a cell and are left out{}",
                    n_listed - n[d], n_listed, d, losses_of_sets(Dim{d})));
  }
}

}  // namespace barrio::mesh
