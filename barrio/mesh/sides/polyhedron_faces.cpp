#include "barrio/mesh/polyhedron_faces.hpp"

#include <algorithm>
#include <numeric>

#include "barrio/exchange/outbox.hpp"
#include "barrio/mesh/tables/side_key.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::SideKey;

bool is_polyhedra(const CellBlock& block) { return block.type == CellType::polyhedron && block.rows.n_rows > 0; }

struct ListedFace {
  SideKey key;
  std::int64_t row;
};

/// Send the listed faces to the homes of their lowest vertices. Collective. @return sorted by key
std::vector<ListedFace> listed_at_homes(mpi::Context& context, const MeshTables& tables) {
  std::vector<Rank> to;
  std::vector<ListedFace> faces;
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != Dim::face) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const auto nodes = block.cell(i);
      const auto corners = without_padding(nodes.first(n_corners(block.type, nodes.size())));
      faces.push_back({detail::side_key(corners), value(first + i)});
      to.push_back(tables.vertices.rank_of(faces.back().key[0]));
    }
  }
  faces = exchange::route(context, exchange::pack_by_rank<ListedFace>(to, faces)).items;
  std::ranges::stable_sort(faces, {}, &ListedFace::key);
  return faces;
}

/// A face requested by a polyhedron.
struct AskedFace {
  SideKey key;
  std::span<const std::int64_t> corners;
  std::int64_t row;  // -1: not listed
};

}  // namespace

bool has_polyhedra(const MeshTables& tables) noexcept { return std::ranges::any_of(tables.blocks, is_polyhedra); }

std::vector<std::int64_t> list_polyhedron_faces(mpi::Context& context, MeshTables& tables) {
  const std::vector<ListedFace> listed = listed_at_homes(context, tables);
  std::vector<Rank> to;
  exchange::Outbox asking;
  for (const CellBlock& block : tables.blocks) {
    if (!is_polyhedra(block)) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
      for_each_loop(block.cell(i), [&](std::span<const GlobalId> face) {
        to.push_back(tables.vertices.rank_of(*std::ranges::min_element(face)));
        auto& words = asking.begin(to.back());
        words.push_back(std::ssize(face));
        for (const GlobalId corner : face) words.push_back(value(corner));
      });
  }
  const auto asked = exchange::route(context, asking.parcels());

  std::vector<AskedFace> faces;
  std::vector<std::size_t> n_of_peer;
  std::vector<GlobalId> corners;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    const std::size_t n_before = faces.size();
    for (exchange::WordReader in(asked.of(p)); !in.done();) {
      const auto words = in.get(in.get());
      corners.clear();
      for (const std::int64_t word : words) corners.push_back(GlobalId{word});
      const SideKey key = detail::side_key(corners);
      const auto found = std::ranges::lower_bound(listed, key, {}, &ListedFace::key);
      faces.push_back({key, words, found != listed.end() && found->key == key ? found->row : -1});
    }
    n_of_peer.push_back(faces.size() - n_before);
  }

  // New faces by key; the polyhedron with the lowest row determines the order of their corners.
  std::vector<std::size_t> order(faces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return faces[i].row >= 0; });
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return faces[i].key; });
  const auto is_first = [&](std::size_t o) { return o == 0 || faces[order[o]].key != faces[order[o - 1]].key; };
  std::int64_t n_new = 0;
  for (std::size_t o = 0; o < order.size(); ++o) n_new += is_first(o) ? 1 : 0;
  CellBlock block{CellType::polygon, {mpi::sum(context, n_new), context.size()}, 0, {}, {}};
  const std::int64_t n_listed = tables.n_global(Dim::face);
  std::int64_t row = mpi::exclusive_sum(context, n_new) - 1;
  exchange::Outbox adding;
  for (std::size_t o = 0; o < order.size(); ++o) {
    AskedFace& face = faces[order[o]];
    if (is_first(o)) {
      auto& words = adding.begin(block.rows.rank_of(++row));
      words.push_back(std::ssize(face.corners));
      words.insert(words.end(), face.corners.begin(), face.corners.end());
    }
    face.row = n_listed + row;
  }
  if (block.rows.n_rows > 0) {
    // Senders ascend with rows, so the faces arrive in the order of rows.
    const std::vector<std::int64_t> added = exchange::route(context, adding.parcels()).items;
    block.offsets.assign(1, 0);
    for (exchange::WordReader in(added); !in.done();) {
      for (const std::int64_t corner : in.get(in.get())) block.nodes.push_back(GlobalId{corner});
      block.offsets.push_back(std::ssize(block.nodes));
    }
    tables.blocks.push_back(std::move(block));
  }

  exchange::Parcels<std::int64_t> answers;
  std::size_t at = 0;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    std::vector<std::int64_t> rows;
    for (const std::size_t end = at + n_of_peer[p]; at < end; ++at) rows.push_back(faces[at].row);
    answers.add(asked.peers[p], rows);
  }
  const auto answered = exchange::route(context, answers);
  const std::vector<std::size_t> sent_order = exchange::order_by_rank(to);
  std::vector<std::int64_t> rows(to.size());
  for (std::size_t i = 0; i < sent_order.size(); ++i) rows[sent_order[i]] = answered.items[i];
  return rows;
}

}  // namespace barrio::mesh
