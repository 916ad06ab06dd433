#include "barrio/mesh/detail/builder.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"

namespace barrio::mesh {

MeshBuilder::MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out)
    : context_(context), tables_(tables), options_(options), out_(out) {
  if (options.ghost_layers < 0) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} ghost layers", options.ghost_layers),
                                         .cause = "is not a number of layers",
                                         .remedy = "ask for 0 or more"});
  }
  for (const CellBlock& block : tables.blocks) {
    if (block.type == CellType::polyhedron && block.rows.n_rows > 0) {
      throw AgreedError(ErrorCode::bad_input,
                        {.subject = fmt::format("{} polyhedra", block.rows.n_rows),
                         .cause = "are defined by faces, and distributed meshes of polyhedra are not supported",
                         .remedy = "split them into tets, pyramids, prisms and hexes"});
    }
  }
}

void MeshBuilder::build() {
  out_.context = &context_;
  out_.cell_dim = tables_.top_dim();
  out_.ghost_layers = options_.ghost_layers;
  out_.n_parts = tables_.n_parts;
  const Slabs slices{tables_.n_parts, context_.size()};
  out_.parts = {LocalId{static_cast<std::int32_t>(slices.first(context_.rank()))},
                LocalId{static_cast<std::int32_t>(slices.first(context_.rank() + 1))}};
  home_runs_ = detail::set_runs_at_home(context_, tables_);
  fetch_cells();
  resolve_vertices();
  fetch_ghosts();
  number_vertices();
  number_cells();
  hood_.reset();
  for (int d = 1; d < value(out_.cell_dim); ++d) fetch_sides(Dim{d});
  fill_sets();
  fetch_tags();
}

}  // namespace barrio::mesh
