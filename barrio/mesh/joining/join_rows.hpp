#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "barrio/exchange/router.hpp"
#include "barrio/mesh/joining/joints.hpp"
#include "barrio/mesh/tables/id_index.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mpi/collectives.hpp"

// Tools of join.cpp and merge_vertices.cpp that bring rows of pieces into the tables of the joined mesh.

namespace barrio::mesh::detail {

/// New rows of the vertices of all pieces.
class NewVertices {
 public:
  /// Number the vertices that stay, piece after piece, row after row. Collective.
  /// @param[in] becomes  for each piece and row of this rank's slab, the id of the vertex that it becomes
  NewVertices(mpi::Context& context, const std::vector<MeshTables>& pieces,
              const std::vector<std::vector<std::int64_t>>& becomes)
      : context_(context), pieces_(pieces), ids_(pieces), row_of_(pieces.size()) {
    const Rank me = context.rank();
    std::vector<std::int64_t> n_kept(pieces.size(), 0);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      std::int64_t id = ids_.first[p] + pieces[p].vertices.first(me);
      for (const std::int64_t target : becomes[p]) n_kept[p] += target == id++ ? 1 : 0;
    }
    std::vector<std::int64_t> totals = n_kept;
    mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
    mpi::exclusive_sum(context, std::span<std::int64_t>(n_kept));
    std::vector<std::int64_t> merged;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      std::int64_t id = ids_.first[p] + pieces[p].vertices.first(me);
      std::int64_t row = n_rows_ + n_kept[p];
      for (const std::int64_t target : becomes[p]) {
        const bool stays = target == id++;
        row_of_[p].push_back(stays ? row++ : -1 - target);
        if (!stays) merged.push_back(target);
      }
      n_rows_ += totals[p];
    }
    const Lookup found = look_up(merged);
    for (auto& rows : row_of_)
      for (std::int64_t& row : rows)
        if (row < 0) row = -1 - (found.of(-1 - row) + 1);  // still negative, since it is merged into that row
  }

  [[nodiscard]] std::int64_t n_rows() const noexcept { return n_rows_; }
  /// Return the new row of a row of this rank's slab.
  [[nodiscard]] std::int64_t row(std::size_t piece, std::size_t i) const {
    const std::int64_t row = row_of_[piece][i];
    return row >= 0 ? row : -2 - row;
  }
  /// Tell whether a vertex stays; false if it was merged into another.
  [[nodiscard]] bool stays(std::size_t piece, std::size_t i) const { return row_of_[piece][i] >= 0; }

  /// New rows, as answered by other ranks.
  struct Lookup {
    IdIndex index;
    std::vector<std::int64_t> rows;
    [[nodiscard]] std::int64_t of(std::int64_t id) const { return rows[index.find(GlobalId{id})]; }
  };

  /// New rows of some rows of the pieces. Borrows from the NewVertices; OfPiece borrows from this.
  class Translation {
   public:
    /// New rows of one piece.
    struct OfPiece {
      std::span<const std::int64_t> here;  ///< of this rank's slab, as `row_of_`
      std::int64_t first;                  ///< row of the slab
      std::int64_t first_id;
      const Lookup& found;
      [[nodiscard]] std::int64_t operator()(std::int64_t row) const {
        const std::uint64_t at = row - first;
        if (at >= here.size()) return found.of(first_id + row);
        return here[at] >= 0 ? here[at] : -2 - here[at];
      }
    };
    /// Return the new rows of a piece.
    /// @pre the rows asked for are among the wanted ones
    OfPiece of(std::size_t piece) const&& = delete;
    [[nodiscard]] OfPiece of(std::size_t piece) const& {
      const NewVertices& v = *vertices_;
      return {v.row_of_[piece], v.pieces_[piece].vertices.first(v.context_.rank()), v.ids_.first[piece], found_};
    }

   private:
    friend class NewVertices;
    const NewVertices* vertices_ = nullptr;
    Lookup found_;
  };
  /// Collects the rows to translate; keeps only those of other ranks' slabs.
  class Wanted {
   public:
    void add(std::size_t piece, std::int64_t row) {
      const Slabs& slabs = vertices_.pieces_[piece].vertices;
      const std::int64_t first = slabs.first(vertices_.context_.rank());
      if (row < first || row >= slabs.first(vertices_.context_.rank() + 1))
        far_.push_back(vertices_.ids_.first[piece] + row);
    }
    void add(std::size_t piece, std::span<const GlobalId> rows) {
      const Slabs& slabs = vertices_.pieces_[piece].vertices;
      const std::int64_t first = slabs.first(vertices_.context_.rank());
      const std::uint64_t n = slabs.size(vertices_.context_.rank());
      constexpr std::size_t n_together = 512;  // few such chunks have rows of other ranks
      for (; !rows.empty(); rows = rows.subspan(std::min(n_together, rows.size()))) {
        const auto some = rows.first(std::min(n_together, rows.size()));
        bool is_all_here = true;
        for (const GlobalId row : some) {
          const std::uint64_t at = barrio::value(row) - first;  // a lower row wraps to a high one
          is_all_here = is_all_here && at < n;
        }
        if (is_all_here) continue;
        for (const GlobalId row : some) add(piece, barrio::value(row));
      }
    }

   private:
    friend class NewVertices;
    explicit Wanted(const NewVertices& vertices) : vertices_(vertices) {}
    const NewVertices& vertices_;
    std::vector<std::int64_t> far_;
  };
  /// Get the new rows of any rows of pieces. Collective.
  /// @param visit  called as visit(wanted), to add all rows that will be asked for
  template <class Visit>
  [[nodiscard]] Translation translation(Visit&& visit) const {
    Wanted wanted(*this);
    visit(wanted);
    Translation result;
    result.vertices_ = this;
    result.found_ = look_up(std::move(wanted.far_));
    return result;
  }

 private:
  /// Ask the homes of vertices for their new rows. Collective.
  [[nodiscard]] Lookup look_up(std::vector<std::int64_t> wanted) const {
    Lookup found;
    std::vector<GlobalId> ids;
    ids.reserve(wanted.size());
    for (const std::int64_t id : wanted) ids.push_back(GlobalId{id});
    found.index = IdIndex(ids, 0);
    struct Request {
      std::int32_t piece;
      std::int32_t row;
    };
    std::vector<Rank> to;
    std::vector<Request> requests;
    for (const GlobalId id : found.index.ids()) {
      const int piece = ids_.piece_of(barrio::value(id));
      const Slabs& slabs = pieces_[piece].vertices;
      const std::int64_t row = barrio::value(id) - ids_.first[piece];
      to.push_back(slabs.rank_of(row));
      requests.push_back({piece, static_cast<std::int32_t>(row - slabs.first(to.back()))});
    }
    const std::vector<std::size_t> order = exchange::order_by_rank(to);
    const auto asked = exchange::route(context_, exchange::pack_by_rank<Request>(to, requests));
    exchange::Parcels<std::int64_t> answers{asked.peers, asked.offsets, {}};
    for (const Request& request : asked.items) answers.items.push_back(row(request.piece, request.row));
    const auto rows = exchange::route(context_, answers);
    found.rows.resize(ids.empty() ? 0 : found.index.size());
    for (std::size_t i = 0; i < order.size(); ++i) found.rows[order[i]] = rows.items[i];
    return found;
  }

  mpi::Context& context_;
  const std::vector<MeshTables>& pieces_;
  PieceIds ids_;
  std::vector<std::vector<std::int64_t>> row_of_;
  std::int64_t n_rows_ = 0;
};

/// Destinations of the blocks of pieces: the block of the same kind, after the rows of earlier pieces.
struct NewBlocks {
  struct Place {
    std::int32_t block;
    std::int64_t first;
  };
  std::vector<std::vector<Place>> of_piece;

  NewBlocks(const std::vector<MeshTables>& pieces, int n_ranks, MeshTables& out) {
    for (const MeshTables& piece : pieces) {
      auto& places = of_piece.emplace_back();
      for (const CellBlock& block : piece.blocks) {
        auto at = std::ranges::find_if(out.blocks, [&](const CellBlock& known) {
          return known.type == block.type && known.nodes_per_cell == block.nodes_per_cell;
        });
        if (at == out.blocks.end()) {
          out.blocks.push_back({block.type, {0, n_ranks}, block.nodes_per_cell, {}, {}});
          at = std::prev(out.blocks.end());
        }
        places.push_back({static_cast<std::int32_t>(at - out.blocks.begin()), at->rows.n_rows});
        at->rows.n_rows += block.rows.n_rows;
      }
    }
  }
};

/// Turn a run of rows of a dimension of a piece into runs of rows of the joined mesh: visit(row of the piece, first
/// row, count).
template <class Visit>
void for_each_new_run(const MeshTables& piece, const std::vector<NewBlocks::Place>& places, const MeshTables& out,
                      Dim dim, std::int64_t first, std::int64_t count, Visit&& visit) {
  for (std::size_t b = 0; b < piece.blocks.size(); ++b) {
    if (topology(piece.blocks[b].type).dim != dim) continue;
    const std::int64_t first_row = piece.first_row(b);
    const std::int64_t low = std::max(first, first_row);
    const std::int64_t high = std::min(first + count, first_row + piece.blocks[b].rows.n_rows);
    if (low < high) visit(low, out.first_row(places[b].block) + places[b].first + low - first_row, high - low);
  }
}

/// Rows on their way into the slabs of the joined mesh, table by table.
class SlabMail {
 public:
  explicit SlabMail(mpi::Context& context) : context_(context) {}

  /// Send rows first .. first + count of a table to their homes.
  /// @param pack  pack(message, first of these, count)
  template <class Pack>
  void send(std::int32_t table, const Slabs& slabs, std::int64_t first, std::int64_t count, Pack&& pack) {
    send(table, slabs, first, count, pack, [&](std::size_t at, std::size_t n, std::size_t place) {
      put(context_.rank(), table, place, n);
      pack(messages_[context_.rank()], at, n);
    });
  }
  /// Do the same, but keep rows that stay on this rank at once.
  /// @param keep  keep(first of these, count, place in the slab)
  template <class Pack, class Keep>
  void send(std::int32_t table, const Slabs& slabs, std::int64_t first, std::int64_t count, Pack&& pack, Keep&& keep) {
    for (std::int64_t at = first; at < first + count;) {
      const Rank home = slabs.rank_of(at);
      const std::int64_t n = std::min(first + count, slabs.first(home + 1)) - at;
      const std::size_t place = at - slabs.first(home);
      if (home == context_.rank()) {
        keep(at - first, n, place);
      } else {
        put(home, table, place, n);
        pack(messages_[home], at - first, n);
      }
      at += n;
    }
  }
  /// Deliver the rows. Collective.
  /// @param take  take(table, first place in the slab, count, message); messages live as long as this object
  template <class Take>
  void deliver(Take&& take) {
    exchange::Parcels<std::byte> parcels;
    own_ = std::move(messages_[context_.rank()]);  // not sent
    messages_.erase(context_.rank());
    std::size_t n_bytes = 0;
    for (const auto& [rank, message] : messages_) n_bytes += message.bytes().size();
    parcels.items.reserve(n_bytes);
    for (auto& [rank, message] : messages_) {
      parcels.add(rank, message.bytes());
      message = {};
    }
    messages_.clear();
    received_ = exchange::route(context_, parcels, exchange::Route::automatic);
    const auto take_all = [&](std::span<const std::byte> message) {
      for (MessageReader in(message); !in.done();) {
        const auto head = in.get<std::int64_t>();
        take(static_cast<std::int32_t>(head[0]), head[1], head[2], in);
      }
    };
    take_all(own_.bytes());
    for (std::size_t p = 0; p < received_.n_peers(); ++p) take_all(received_.of(p));
  }

 private:
  void put(Rank home, std::int32_t table, std::int64_t place, std::int64_t n) {
    const std::array<std::int64_t, 3> head{table, place, n};
    messages_[home].put(std::span<const std::int64_t>(head));
  }
  mpi::Context& context_;
  std::map<Rank, MessageWriter> messages_;
  MessageWriter own_;
  exchange::Parcels<std::byte> received_;
};

/// Move the vertices that stay to their new homes. Collective. Fills the vertices and coordinates of `out`.
void move_vertices(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                   MeshTables& out);

/// Join the tags of pieces. Collective.
/// @param[in] place_of  for each piece the places of its sets in the joined mesh
/// @throws AgreedError{bad_input} if a tag is not of the same type in all pieces
void join_tags(mpi::Context& context, std::vector<MeshTables>& pieces, const NewVertices& vertices,
               const NewBlocks& blocks, const std::vector<std::vector<std::int32_t>>& place_of, MeshTables& out);

}  // namespace barrio::mesh::detail
