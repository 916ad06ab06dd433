#include "barrio/mesh/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/id_index.hpp"
#include "barrio/mesh/detail/joints.hpp"
#include "barrio/mesh/detail/message.hpp"
#include "barrio/mesh/detail/set_runs.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName number_region{"join.number"};
constexpr RegionName tables_region{"join.tables"};

/// New rows of the vertices of all pieces.
class NewVertices {
 public:
  /// Collective. Vertices that stay are counted piece after piece, row after row.
  NewVertices(mpi::Context& context, const std::vector<MeshTables>& pieces, const detail::Joints& joints)
      : context_(context), pieces_(pieces), ids_(pieces), row_of_(pieces.size()) {
    const auto& becomes = joints.becomes();
    const Rank me = context.rank();
    std::vector<std::int64_t> n_kept(pieces.size(), 0);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const std::int64_t first = ids_.first[p] + pieces[p].vertices.first(me);
      for (std::size_t i = 0; i < becomes[p].size(); ++i)
        n_kept[p] += becomes[p][i] == first + static_cast<std::int64_t>(i) ? 1 : 0;
    }
    std::vector<std::int64_t> totals = n_kept;
    mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
    mpi::exclusive_sum(context, std::span<std::int64_t>(n_kept));
    std::vector<std::int64_t> merged;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const std::int64_t first = ids_.first[p] + pieces[p].vertices.first(me);
      std::int64_t row = n_rows_ + n_kept[p];
      for (std::size_t i = 0; i < becomes[p].size(); ++i) {
        const bool stays = becomes[p][i] == first + static_cast<std::int64_t>(i);
        row_of_[p].push_back(stays ? row++ : -1 - becomes[p][i]);
        if (!stays) merged.push_back(becomes[p][i]);
      }
      n_rows_ += totals[p];
    }
    const Lookup found = look_up(merged);
    for (auto& rows : row_of_)
      for (std::int64_t& row : rows)
        if (row < 0) row = -1 - (found.of(-1 - row) + 1);  // still negative: merged away, and into which row
  }

  [[nodiscard]] std::int64_t n_rows() const noexcept { return n_rows_; }
  /// New row of a row of this rank's slab.
  [[nodiscard]] std::int64_t row(std::size_t piece, std::size_t i) const {
    const std::int64_t row = row_of_[piece][i];
    return row >= 0 ? row : -2 - row;
  }
  /// Whether the vertex stays, or is one that another became.
  [[nodiscard]] bool stays(std::size_t piece, std::size_t i) const { return row_of_[piece][i] >= 0; }

  /// Turn rows of pieces into new rows, wherever they are. Collective.
  /// @param visit  called twice as visit(take), and calls take(piece, row of the piece) for each row: the first time
  /// that returns -1, the second time the new row
  template <class Visit>
  void translate(Visit&& visit) const {
    const Rank me = context_.rank();
    std::vector<std::int64_t> far;
    const auto here = [&](std::size_t piece, std::int64_t row) -> std::int64_t {
      const Slabs& slabs = pieces_[piece].vertices;
      const std::int64_t first = slabs.first(me);
      return row >= first && row < first + static_cast<std::int64_t>(slabs.size(me))
                 ? this->row(piece, static_cast<std::size_t>(row - first))
                 : -1;
    };
    visit([&](std::size_t piece, std::int64_t row) {
      if (here(piece, row) < 0) far.push_back(ids_.first[piece] + row);
      return std::int64_t{-1};
    });
    const Lookup found = look_up(std::move(far));
    visit([&](std::size_t piece, std::int64_t row) {
      const std::int64_t known = here(piece, row);
      return known >= 0 ? known : found.of(ids_.first[piece] + row);
    });
  }

 private:
  /// Answers of other ranks.
  struct Lookup {
    detail::IdIndex index;
    std::vector<std::int64_t> rows;
    [[nodiscard]] std::int64_t of(std::int64_t id) const {
      return rows[static_cast<std::size_t>(index.find(GlobalId{id}))];
    }
  };
  /// Ask the homes of vertices for their new rows. Collective.
  [[nodiscard]] Lookup look_up(std::vector<std::int64_t> wanted) const {
    Lookup found;
    std::vector<GlobalId> ids;
    ids.reserve(wanted.size());
    for (const std::int64_t id : wanted) ids.push_back(GlobalId{id});
    found.index = detail::IdIndex(ids, 0);
    struct Request {
      std::int32_t piece;
      std::int32_t row;
    };
    std::vector<Rank> to;
    std::vector<Request> requests;
    for (const GlobalId id : found.index.ids()) {
      const int piece = ids_.piece_of(barrio::value(id));
      const Slabs& slabs = pieces_[static_cast<std::size_t>(piece)].vertices;
      const std::int64_t row = barrio::value(id) - ids_.first[static_cast<std::size_t>(piece)];
      to.push_back(slabs.rank_of(row));
      requests.push_back({piece, static_cast<std::int32_t>(row - slabs.first(to.back()))});
    }
    const std::vector<std::size_t> order = exchange::detail::order_by_rank(to);
    const auto asked = exchange::route(context_, exchange::pack_by_rank<Request>(to, requests));
    exchange::Parcels<std::int64_t> answers{asked.peers, asked.offsets, {}};
    for (const Request& request : asked.items)
      answers.items.push_back(row(static_cast<std::size_t>(request.piece), static_cast<std::size_t>(request.row)));
    const auto rows = exchange::route(context_, answers);
    found.rows.resize(ids.empty() ? 0 : found.index.size());
    for (std::size_t i = 0; i < order.size(); ++i) found.rows[order[i]] = rows.items[i];
    return found;
  }

  mpi::Context& context_;
  const std::vector<MeshTables>& pieces_;
  detail::PieceIds ids_;
  std::vector<std::vector<std::int64_t>> row_of_;
  std::int64_t n_rows_ = 0;
};

/// Where the blocks of pieces go: to the block of the same kind, after the rows of the pieces before.
struct NewBlocks {
  struct Place {
    std::size_t block;
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
        places.push_back({static_cast<std::size_t>(at - out.blocks.begin()), at->rows.n_rows});
        at->rows.n_rows += block.rows.n_rows;
      }
    }
  }
};

/// Turn a run of rows of a dimension of a piece into runs of rows of the whole: visit(row of the piece, run).
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

/// Rows on their way into the slabs of the whole, table by table.
class SlabMail {
 public:
  explicit SlabMail(mpi::Context& context) : context_(context) {}

  /// Send rows first .. first + count of a table to where they belong. @param pack  pack(message, first of these,
  /// count)
  template <class Pack>
  void send(std::int32_t table, const Slabs& slabs, std::int64_t first, std::int64_t count, Pack&& pack) {
    send(table, slabs, first, count, pack, [&](std::size_t at, std::size_t n, std::size_t place) {
      put(context_.rank(), table, place, n);
      pack(messages_[context_.rank()], at, n);
    });
  }
  /// The same, with rows that stay on this rank taken at once. @param keep  keep(first of these, count, place in the
  /// slab)
  template <class Pack, class Keep>
  void send(std::int32_t table, const Slabs& slabs, std::int64_t first, std::int64_t count, Pack&& pack, Keep&& keep) {
    for (std::int64_t at = first; at < first + count;) {
      const Rank home = slabs.rank_of(at);
      const std::int64_t n = std::min(first + count, slabs.first(home + 1)) - at;
      const auto place = static_cast<std::size_t>(at - slabs.first(home));
      if (home == context_.rank()) {
        keep(static_cast<std::size_t>(at - first), static_cast<std::size_t>(n), place);
      } else {
        put(home, table, place, static_cast<std::size_t>(n));
        pack(messages_[home], static_cast<std::size_t>(at - first), static_cast<std::size_t>(n));
      }
      at += n;
    }
  }
  /// Deliver. Collective. @param take  take(table, first place in the slab, count, message)
  template <class Take>
  void deliver(Take&& take) {
    exchange::Parcels<std::byte> parcels;
    const detail::MessageWriter own = std::move(messages_[context_.rank()]);  // stays where it is
    messages_.erase(context_.rank());
    std::size_t n_bytes = 0;
    for (const auto& [rank, message] : messages_) n_bytes += message.bytes().size();
    parcels.items.reserve(n_bytes);
    for (auto& [rank, message] : messages_) {
      parcels.add(rank, message.bytes());
      message = {};
    }
    messages_.clear();
    const auto received = exchange::route(context_, parcels, exchange::Route::automatic);
    const auto take_all = [&](std::span<const std::byte> message) {
      for (detail::MessageReader in(message); !in.done();) {
        const auto head = in.get<std::int64_t>();
        take(static_cast<std::int32_t>(head[0]), static_cast<std::size_t>(head[1]), static_cast<std::size_t>(head[2]),
             in);
      }
    };
    take_all(own.bytes());
    for (std::size_t p = 0; p < received.n_peers(); ++p) take_all(received.of(p));
  }

 private:
  void put(Rank home, std::int32_t table, std::size_t place, std::size_t n) {
    const std::array<std::int64_t, 3> head{table, static_cast<std::int64_t>(place), static_cast<std::int64_t>(n)};
    messages_[home].put(std::span<const std::int64_t>(head));
  }
  mpi::Context& context_;
  std::map<Rank, detail::MessageWriter> messages_;
};

void move_vertices(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                   MeshTables& out) {
  const Rank me = context.rank();
  out.vertices = {vertices.n_rows(), context.size()};
  out.coordinates.resize(3 * out.vertices.size(me));
  SlabMail mail(context);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    // Those that stay follow each other.
    std::vector<double> kept;
    std::int64_t first = -1;
    for (std::size_t i = 0; i < pieces[p].vertices.size(me); ++i) {
      if (!vertices.stays(p, i)) continue;
      if (first < 0) first = vertices.row(p, i);
      kept.insert(kept.end(), &pieces[p].coordinates[3 * i], &pieces[p].coordinates[3 * i] + 3);
    }
    if (kept.empty()) continue;
    mail.send(
        -1, out.vertices, first, static_cast<std::int64_t>(kept.size() / 3),
        [&](detail::MessageWriter& message, std::size_t at, std::size_t n) {
          message.put(std::span<const double>(kept).subspan(3 * at, 3 * n));
        },
        [&](std::size_t at, std::size_t n, std::size_t place) {
          std::ranges::copy(std::span<const double>(kept).subspan(3 * at, 3 * n),
                            out.coordinates.begin() + static_cast<std::ptrdiff_t>(3 * place));
        });
  }
  mail.deliver([&](std::int32_t, std::size_t first, std::size_t, detail::MessageReader& in) {
    std::ranges::copy(in.get<double>(), out.coordinates.begin() + static_cast<std::ptrdiff_t>(3 * first));
  });
}

void move_cells(mpi::Context& context, std::vector<MeshTables>& pieces, const NewVertices& vertices,
                const NewBlocks& blocks, MeshTables& out) {
  const Rank me = context.rank();
  vertices.translate([&](auto&& take) {
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      for (CellBlock& block : pieces[p].blocks) {
        for (GlobalId& node : block.nodes) {
          if (const std::int64_t row = take(p, value(node)); row >= 0) node = GlobalId{row};
        }
      }
    }
  });
  const bool have_parts = std::ranges::all_of(pieces, [](const MeshTables& piece) { return piece.n_parts > 0; });
  const Dim top = out.top_dim();
  std::vector<std::size_t> first_top(out.blocks.size(), 0);
  std::size_t n_top = 0;
  for (std::size_t b = 0; b < out.blocks.size(); ++b) {
    CellBlock& block = out.blocks[b];
    block.nodes.resize(block.rows.size(me) * static_cast<std::size_t>(block.nodes_per_cell));
    if (topology(block.type).dim != top) continue;
    first_top[b] = n_top;
    n_top += block.rows.size(me);
  }
  if (have_parts) {
    for (const MeshTables& piece : pieces) out.n_parts += piece.n_parts;
    out.parts.resize(n_top);
  }
  // Blocks whose cells have any number of nodes are put together from pieces by their first rows.
  struct Part {
    std::size_t first;
    std::vector<std::int64_t> sizes;
    std::vector<GlobalId> nodes;
  };
  std::vector<std::vector<Part>> varying(out.blocks.size());
  const auto take = [&](std::size_t b, std::size_t first, std::span<const std::int64_t> sizes, const auto& nodes,
                        std::span<const std::int32_t> parts) {
    CellBlock& block = out.blocks[b];
    if (block.nodes_per_cell > 0) {
      auto to =
          block.nodes.begin() + static_cast<std::ptrdiff_t>(first * static_cast<std::size_t>(block.nodes_per_cell));
      for (const auto node : nodes) *to++ = GlobalId{static_cast<std::int64_t>(node)};
    } else {
      Part& part = varying[b].emplace_back(Part{first, {sizes.begin(), sizes.end()}, {}});
      for (const auto node : nodes) part.nodes.push_back(GlobalId{static_cast<std::int64_t>(node)});
    }
    if (!parts.empty()) std::ranges::copy(parts, out.parts.begin() + static_cast<std::ptrdiff_t>(first_top[b] + first));
  };
  // Nodes travel in 32 bits where they suffice for the mesh.
  const bool is_narrow = out.vertices.n_rows <= std::numeric_limits<std::uint32_t>::max();
  std::int32_t first_part = 0;
  SlabMail mail(context);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const MeshTables& piece = pieces[p];
    std::size_t at_top = 0;
    for (std::size_t b = 0; b < piece.blocks.size(); ++b) {
      const CellBlock& block = piece.blocks[b];
      const NewBlocks::Place& place = blocks.of_piece[p][b];
      const bool is_top = topology(block.type).dim == top;
      const std::size_t n_here = block.rows.size(me);
      std::vector<std::int32_t> parts;
      if (have_parts && is_top)
        for (std::size_t i = 0; i < n_here; ++i) parts.push_back(first_part + piece.parts[at_top + i]);
      if (is_top) at_top += n_here;
      const auto parts_of = [&](std::size_t at, std::size_t n) {
        return parts.empty() ? std::span<const std::int32_t>() : std::span<const std::int32_t>(parts).subspan(at, n);
      };
      const auto sizes_of = [&](std::size_t at, std::size_t n) {
        std::vector<std::int64_t> sizes;
        for (std::size_t i = at; block.nodes_per_cell == 0 && i < at + n; ++i)
          sizes.push_back(block.offsets[i + 1] - block.offsets[i]);
        return sizes;
      };
      const auto nodes_of = [&](std::size_t at, std::size_t n) {
        const auto width = static_cast<std::size_t>(block.nodes_per_cell);
        const std::size_t first = width > 0 ? at * width : static_cast<std::size_t>(block.offsets[at]);
        const std::size_t end = width > 0 ? first + n * width : static_cast<std::size_t>(block.offsets[at + n]);
        return std::span<const GlobalId>(block.nodes).subspan(first, end - first);
      };
      mail.send(
          static_cast<std::int32_t>(place.block), out.blocks[place.block].rows, place.first + block.rows.first(me),
          static_cast<std::int64_t>(n_here),
          [&](detail::MessageWriter& message, std::size_t at, std::size_t n) {
            message.put(sizes_of(at, n));
            if (is_narrow) {
              std::vector<std::uint32_t> nodes;
              nodes.reserve(nodes_of(at, n).size());
              for (const GlobalId node : nodes_of(at, n)) nodes.push_back(static_cast<std::uint32_t>(value(node)));
              message.put(nodes);
            } else {
              message.put(nodes_of(at, n));
            }
            message.put(parts_of(at, n));
          },
          [&](std::size_t at, std::size_t n, std::size_t to) {
            take(place.block, to, sizes_of(at, n), nodes_of(at, n), parts_of(at, n));
          });
    }
    first_part += piece.n_parts;
  }
  mail.deliver([&](std::int32_t table, std::size_t first, std::size_t, detail::MessageReader& in) {
    const auto sizes = in.get<std::int64_t>();
    if (is_narrow) {
      const auto nodes = in.get<std::uint32_t>();
      take(static_cast<std::size_t>(table), first, sizes, nodes, in.get<std::int32_t>());
    } else {
      const auto nodes = in.get<GlobalId>();
      take(static_cast<std::size_t>(table), first, sizes, nodes, in.get<std::int32_t>());
    }
  });
  for (std::size_t b = 0; b < out.blocks.size(); ++b) {
    CellBlock& block = out.blocks[b];
    if (block.nodes_per_cell > 0) continue;
    std::ranges::sort(varying[b], {}, &Part::first);
    block.offsets.assign(1, 0);
    for (const Part& part : varying[b]) {
      for (const std::int64_t size : part.sizes) block.offsets.push_back(block.offsets.back() + size);
      block.nodes.insert(block.nodes.end(), part.nodes.begin(), part.nodes.end());
    }
  }
}

/// Make the sets of the whole. @return for each piece the places of its sets
std::vector<std::vector<std::int32_t>> join_sets(const std::vector<MeshTables>& pieces, MeshTables& out) {
  std::map<std::tuple<SetKind, std::int32_t, std::string>, std::int32_t> known;
  std::vector<std::vector<std::int32_t>> place_of;
  for (const MeshTables& piece : pieces) {
    auto& places = place_of.emplace_back();
    for (const SetInfo& set : piece.sets) {
      const bool is_common =
          set.kind != SetKind::geometry && !set.is_ordered && (set.kind != SetKind::other || !set.name.empty());
      const auto next = static_cast<std::int32_t>(out.sets.size());
      const auto place = is_common ? known.try_emplace({set.kind, set.id, set.name}, next).first->second : next;
      if (place == next) {
        out.sets.push_back(set);
        SetInfo& copy = out.sets.back();
        copy.contained.clear();
        copy.children.clear();
        copy.parents.clear();
      }
      places.push_back(place);
    }
    const auto add = [](std::vector<std::int32_t>& all, std::int32_t set) {
      if (std::ranges::find(all, set) == all.end()) all.push_back(set);
    };
    for (std::size_t s = 0; s < piece.sets.size(); ++s) {
      SetInfo& set = out.sets[static_cast<std::size_t>(places[s])];
      for (const SetInSet& inner : piece.sets[s].contained) {
        const std::int32_t place = places[static_cast<std::size_t>(inner.set)];
        if (set.is_ordered || std::ranges::find(set.contained, place, &SetInSet::set) == set.contained.end())
          set.contained.push_back({place, inner.position});
      }
      for (const std::int32_t child : piece.sets[s].children)
        add(set.children, places[static_cast<std::size_t>(child)]);
      for (const std::int32_t parent : piece.sets[s].parents)
        add(set.parents, places[static_cast<std::size_t>(parent)]);
    }
  }
  return place_of;
}

void move_members(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                  const NewBlocks& blocks, const std::vector<std::vector<std::int32_t>>& place_of, MeshTables& out) {
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const MeshTables& piece = pieces[p];
    const auto new_set = [&](std::int32_t set) { return place_of[p][static_cast<std::size_t>(set)]; };
    MeshTables of_vertices;  // the same sets, with vertices alone
    of_vertices.vertices = piece.vertices;
    for (const SetRows& rows : piece.members) {
      if (rows.dim == Dim::vertex) {
        of_vertices.members.push_back(rows);
        continue;
      }
      for_each_new_run(piece, blocks.of_piece[p], out, rows.dim, rows.first, rows.count,
                       [&](std::int64_t old, std::int64_t first, std::int64_t count) {
                         out.members.push_back({new_set(rows.set), rows.dim, first, count,
                                                rows.position < 0 ? -1 : rows.position + old - rows.first});
                       });
    }
    for (const detail::HomeRun& run : detail::set_runs_at_home(context, of_vertices).of_vertices) {
      for (std::int32_t i = 0; i < run.count; ++i) {
        const SetRows rows{new_set(run.set), Dim::vertex, vertices.row(p, static_cast<std::size_t>(run.first + i)), 1,
                           run.position < 0 ? -1 : run.position + i};
        SetRows* last = out.members.empty() ? nullptr : &out.members.back();
        if (i > 0 && last != nullptr && last->first + last->count == rows.first &&
            rows.position == (last->position < 0 ? -1 : last->position + last->count)) {
          last->count += 1;
        } else {
          out.members.push_back(rows);
        }
      }
    }
  }
}

/// A row of a table of the whole and its value.
struct TagRow {
  std::int32_t block;
  std::int64_t row;
  std::span<const std::byte> value;
};

void move_tag(mpi::Context& context, const std::vector<TagRow>& rows, TagTable& tag, const MeshTables& out) {
  SlabMail mail(context);
  const auto slabs_of = [&](std::int32_t block) -> const Slabs& {
    return block < 0 ? out.vertices : out.blocks[static_cast<std::size_t>(block)].rows;
  };
  for (std::size_t begin = 0; begin < rows.size();) {
    // A run of rows that follow each other is one message at most.
    std::size_t end = begin + 1;
    while (end < rows.size() && rows[end].block == rows[begin].block && rows[end].row == rows[end - 1].row + 1) ++end;
    mail.send(rows[begin].block, slabs_of(rows[begin].block), rows[begin].row, static_cast<std::int64_t>(end - begin),
              [&](detail::MessageWriter& message, std::size_t at, std::size_t n) {
                std::vector<std::int32_t> sizes;
                std::vector<std::byte> bytes;
                for (std::size_t i = begin + at; i < begin + at + n; ++i) {
                  sizes.push_back(static_cast<std::int32_t>(rows[i].value.size()));
                  bytes.insert(bytes.end(), rows[i].value.begin(), rows[i].value.end());
                }
                message.put(sizes);
                message.put(bytes);
              });
    begin = end;
  }
  struct Item {
    std::int32_t block;
    std::int32_t row;
    std::vector<std::byte> value;
  };
  std::vector<Item> items;
  mail.deliver([&](std::int32_t block, std::size_t first, std::size_t, detail::MessageReader& in) {
    const auto sizes = in.get<std::int32_t>();
    auto bytes = in.get<std::byte>();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto value = bytes.first(static_cast<std::size_t>(sizes[i]));
      items.push_back({block, static_cast<std::int32_t>(first + i), {value.begin(), value.end()}});
      bytes = bytes.subspan(value.size());
    }
  });
  std::ranges::sort(items, {}, [](const Item& item) { return std::tuple(item.block, item.row); });
  for (std::int32_t block = -1; block < static_cast<std::int32_t>(out.blocks.size()); ++block) {
    const auto [first, end] = std::ranges::equal_range(items, block, {}, &Item::block);
    const auto n = mpi::sum(context, static_cast<std::int64_t>(end - first));
    if (n == 0) continue;
    TagColumn column{.block = block, .is_dense = n == slabs_of(block).n_rows && !tag.info.length_varies};
    if (tag.info.length_varies) column.items.offsets.push_back(0);
    for (auto item = first; item != end; ++item) {
      if (!column.is_dense) column.rows.push_back(item->row);
      column.items.add(item->value, tag.info.length_varies);
    }
    tag.columns.push_back(std::move(column));
  }
}

void join_tags(mpi::Context& context, std::vector<MeshTables>& pieces, const NewVertices& vertices,
               const NewBlocks& blocks, const std::vector<std::vector<std::int32_t>>& place_of, MeshTables& out) {
  const Rank me = context.rank();
  // Values that are entities name the rows of the whole.
  vertices.translate([&](auto&& take) {
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto turn = [&](TagItems& items) {
        for (std::size_t at = 0; at + sizeof(EntityCode) <= items.bytes.size(); at += sizeof(EntityCode)) {
          EntityCode code{};
          std::memcpy(&code, &items.bytes[at], sizeof code);
          if (code == EntityCode::none || is_set(code) || dim_of(code) != Dim::vertex) continue;
          const std::int64_t row = take(p, row_of(code));
          if (row < 0) continue;
          code = code_of(Dim::vertex, GlobalId{row});
          std::memcpy(&items.bytes[at], &code, sizeof code);
        }
      };
      for (TagTable& tag : pieces[p].tags) {
        if (tag.info.type != TagType::entity) continue;
        for (TagColumn& column : tag.columns) turn(column.items);
        turn(tag.on_sets.items);
      }
    }
  });
  std::map<std::string, std::vector<TagRow>> rows;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    MeshTables& piece = pieces[p];
    for (TagTable& tag : piece.tags) {
      auto known = std::ranges::find(out.tags, tag.info.name, [](const TagTable& t) { return t.info.name; });
      if (known == out.tags.end()) {
        out.tags.push_back({.info = tag.info});
        known = std::prev(out.tags.end());
      }
      if (known->info.type != tag.info.type || known->info.n_components != tag.info.n_components ||
          known->info.length_varies != tag.info.length_varies) {
        throw AgreedError(ErrorCode::bad_input, {.subject = fmt::format("tag '{}'", tag.info.name),
                                                 .cause = "is not of the same type in all pieces",
                                                 .remedy = "leave it out of one of them"});
      }
      const auto turn_codes = [&](TagItems& items) {
        for (std::size_t at = 0; tag.info.type == TagType::entity && at + sizeof(EntityCode) <= items.bytes.size();
             at += sizeof(EntityCode)) {
          EntityCode code{};
          std::memcpy(&code, &items.bytes[at], sizeof code);
          if (code == EntityCode::none) continue;
          if (is_set(code)) {
            code = code_of_set(place_of[p][static_cast<std::size_t>(row_of(code))]);
          } else if (dim_of(code) != Dim::vertex) {
            for_each_new_run(
                piece, blocks.of_piece[p], out, dim_of(code), row_of(code), 1,
                [&](std::int64_t, std::int64_t first, std::int64_t) { code = code_of(dim_of(code), GlobalId{first}); });
          }
          std::memcpy(&items.bytes[at], &code, sizeof code);
        }
      };
      for (TagColumn& column : tag.columns) {
        turn_codes(column.items);
        const bool on_vertices = column.block < 0;
        const Slabs& slabs = on_vertices ? piece.vertices : piece.blocks[static_cast<std::size_t>(column.block)].rows;
        const std::size_t n = column.is_dense ? slabs.size(me) : column.rows.size();
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t at = column.is_dense ? i : static_cast<std::size_t>(column.rows[i]);
          const auto value = column.items.value(i, tag.info.value_bytes());
          if (on_vertices) {
            if (vertices.stays(p, at)) rows[tag.info.name].push_back({-1, vertices.row(p, at), value});
          } else {
            const NewBlocks::Place& place = blocks.of_piece[p][static_cast<std::size_t>(column.block)];
            rows[tag.info.name].push_back({static_cast<std::int32_t>(place.block),
                                           place.first + slabs.first(me) + static_cast<std::int64_t>(at), value});
          }
        }
      }
      turn_codes(tag.on_sets.items);
      std::map<std::int32_t, std::vector<std::byte>> on_sets;
      const auto collect = [&](const TagOnSets& values, auto&& place) {
        for (std::size_t i = 0; i < values.sets.size(); ++i) {
          const auto value = values.items.value(i, tag.info.value_bytes());
          on_sets.try_emplace(place(values.sets[i]), value.begin(), value.end());
        }
      };
      collect(known->on_sets, [](std::int32_t set) { return set; });
      collect(tag.on_sets, [&](std::int32_t set) { return place_of[p][static_cast<std::size_t>(set)]; });
      known->on_sets = {};
      for (const auto& [set, value] : on_sets) {
        known->on_sets.sets.push_back(set);
        known->on_sets.items.add(value, tag.info.length_varies);
      }
    }
  }
  for (TagTable& tag : out.tags) move_tag(context, rows[tag.info.name], tag, out);
}

void check(const std::vector<MeshTables>& pieces, const JoinOptions& options) {
  const auto refuse = [](std::string subject, std::string cause, std::string remedy) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
  };
  const auto n = static_cast<int>(pieces.size());
  if (n == 0) refuse("join", "needs pieces", "give at least one");
  if (!std::isfinite(options.tolerance))
    refuse(fmt::format("tolerance {}", options.tolerance), "is not a finite number", "give a length in model units");
  for (const JointOptions& joint : options.joints) {
    if (joint.a < 0 || joint.a >= n || joint.b < 0 || joint.b >= n || joint.a == joint.b)
      refuse(fmt::format("joint of pieces {} and {}", joint.a, joint.b),
             fmt::format("does not exist among {} pieces", n), "pieces count from 0");
    if (!(std::isfinite(joint.tolerance) && joint.tolerance >= 0.0))
      refuse(fmt::format("tolerance {}", joint.tolerance), "is not a finite number >= 0",
             "give a length in model units");
  }
}

}  // namespace

Joined join(mpi::Context& context, std::vector<MeshTables> pieces, const JoinOptions& options) {
  check(pieces, options);
  Joined joined;
  const detail::Joints joints(context, pieces, options);
  joined.report.joints = joints.list();
  for (const MeshTables& piece : pieces) joined.report.n_vertices_before += piece.vertices.n_rows;
  MeshTables& out = joined.tables;
  std::optional<NewVertices> vertices;
  {
    const Region region(context.trace(), number_region);
    vertices.emplace(context, pieces, joints);
  }
  const Region region(context.trace(), tables_region);
  joined.report.n_vertices = vertices->n_rows();
  const NewBlocks blocks(pieces, context.size(), out);
  move_vertices(context, pieces, *vertices, out);
  move_cells(context, pieces, *vertices, blocks, out);
  const auto place_of = join_sets(pieces, out);
  move_members(context, pieces, *vertices, blocks, place_of, out);
  join_tags(context, pieces, *vertices, blocks, place_of, out);
  return joined;
}

Json to_json(const JoinReport& report) {
  Json joints = Json::array();
  for (const Joint& joint : report.joints) {
    joints.push_back({{"a", joint.a},
                      {"b", joint.b},
                      {"tolerance", joint.tolerance},
                      {"near", joint.n_near},
                      {"matched", joint.n_matched},
                      {"unmatched", joint.n_unmatched()},
                      {"ambiguous", joint.n_ambiguous},
                      {"chained", joint.n_chained},
                      {"widest_gap", joint.widest_gap},
                      {"nearest_miss", std::isfinite(joint.nearest_miss) ? Json(joint.nearest_miss) : Json()},
                      {"joined", joint.is_joined}});
  }
  return Json{{"joints", joints}, {"vertices_before", report.n_vertices_before}, {"vertices", report.n_vertices}};
}

}  // namespace barrio::mesh
