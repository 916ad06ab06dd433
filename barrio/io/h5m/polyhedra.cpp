#include "barrio/io/h5m/polyhedra.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;

/// List the faces that this rank's polyhedra refer to, each once, ascending.
std::vector<std::int64_t> wanted_faces(mpi::Context& context, const IdSpace& ids, const mesh::MeshTables& tables,
                                       const std::string& subject) {
  std::vector<std::int64_t> wanted;
  agree_after(context, [&] {
    for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
      const CellBlock& block = tables.blocks[b];
      if (block.type != CellType::polyhedron) continue;
      const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank());
      for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
        for (const GlobalId face : block.cell(i)) {
          const IdSpace::Table* table = ids.find(value(face));
          if (table == nullptr || table->is_set || table->dim != Dim::face) {
            throw Error(ErrorCode::bad_input,
                        {.subject = subject,
                         .cause = fmt::format("polyhedron {} has face {}, but that is not the id of a face",
                                              first + static_cast<std::int64_t>(i), value(face)),
                         .remedy = damaged_remedy});
          }
          wanted.push_back(value(face));
        }
    }
  });
  sort_unique(wanted);
  return wanted;
}

}  // namespace

void link_polyhedra(mpi::Context& context, const IdSpace& ids, mesh::MeshTables& tables, const std::string& subject) {
  if (!mesh::has_polyhedra(tables)) return;
  const std::vector<std::int64_t> wanted = wanted_faces(context, ids, tables, subject);
  std::vector<Rank> to;
  for (const std::int64_t face : wanted) {
    const IdSpace::Table& table = *ids.find(face);
    to.push_back(tables.blocks[table.block].rows.rank_of(face - table.first));
  }
  const auto asked = exchange::route(context, exchange::pack_by_rank<std::int64_t>(to, wanted));

  exchange::Outbox answers;  // of each face: its id, number of corners, corners
  for (std::size_t p = 0; p < asked.n_peers(); ++p)
    for (const std::int64_t face : asked.of(p)) {
      const IdSpace::Table& table = *ids.find(face);
      const CellBlock& block = tables.blocks[table.block];
      const auto nodes = block.cell(face - table.first - block.rows.first(context.rank()));
      const std::size_t n = std::min(nodes.size(), mesh::n_corners(block.type, nodes.size()));
      const auto corners = mesh::without_padding(nodes.first(n));
      auto& words = answers.begin(asked.peers[p]);
      words.insert(words.end(), {face, std::ssize(corners)});
      for (const GlobalId corner : corners) words.push_back(value(corner));
    }
  const std::vector<std::int64_t> answered = exchange::route(context, answers.parcels()).items;
  const auto place_of = [&](std::int64_t face) { return std::ranges::lower_bound(wanted, face) - wanted.begin(); };
  std::vector<std::span<const std::int64_t>> corners_of(wanted.size());
  for (exchange::WordReader in(answered); !in.done();) {
    const std::size_t place = place_of(in.get());
    corners_of[place] = in.get(in.get());
  }

  for (CellBlock& block : tables.blocks) {
    if (block.type != CellType::polyhedron) continue;
    std::vector<std::int64_t> offsets{0};
    std::vector<GlobalId> nodes;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      for (const GlobalId face : mesh::without_padding(block.cell(i))) {
        const auto corners = corners_of[place_of(value(face))];
        if (corners.empty()) continue;  // such a face is refused with the polyhedron that it leaves open
        for (const std::int64_t corner : corners) nodes.push_back(GlobalId{corner});
        nodes.push_back(GlobalId{corners.front()});
      }
      offsets.push_back(std::ssize(nodes));
    }
    block.nodes_per_cell = 0;
    block.offsets = std::move(offsets);
    block.nodes = std::move(nodes);
  }
}

}  // namespace barrio::io::detail
