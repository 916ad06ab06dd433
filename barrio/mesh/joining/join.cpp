#include "barrio/mesh/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/joining/join_rows.hpp"
#include "barrio/mesh/tables/append_each.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mesh/tables/set_runs.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::for_each_new_run;
using detail::NewBlocks;
using detail::NewVertices;
using detail::SlabMail;

constexpr RegionName join_number_region{"join.number"};
constexpr RegionName tables_region{"join.tables"};

/// Append a slab's rows in order, from segments of all ranks.
template <class Segment, class Append>
void append_in_order(std::vector<Segment>& segments, Append&& append) {
  std::ranges::sort(segments, {}, &Segment::first);
  for (const Segment& segment : segments) append(segment);
}

/// Count distinct rows.
std::size_t n_distinct(std::vector<std::int64_t>& rows) {
  sort_unique(rows);
  return rows.size();
}

/// Refuse a merge that makes vertices of one cell the same. Collective. Cost: one look-up of rows, only if vertices of
/// one piece may have become one: if some have several partners or are chained, or a piece is joined with itself.
void refuse_collapsed(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                      const JoinReport& report) {
  const bool may_collapse = std::ranges::any_of(report.joints, [](const Joint& joint) {
    return joint.is_joined && (joint.a == joint.b || joint.n_ambiguous > 0 || joint.n_chained > 0);
  });
  if (!may_collapse) return;
  const auto new_rows = vertices.translation([&](NewVertices::Wanted& wanted) {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      for (const CellBlock& block : pieces[p].blocks) wanted.add(p, block.nodes);
  });
  std::int64_t n_collapsed = 0;
  std::int64_t first = std::ssize(pieces);
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (std::int64_t p = 0; p < std::ssize(pieces); ++p) {
    const auto new_row = new_rows.of(p);
    for (const CellBlock& block : pieces[p].blocks) {
      for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
        before.clear();
        after.clear();
        for (const GlobalId node : block.cell(i)) {
          before.push_back(value(node));
          after.push_back(new_row(value(node)));
        }
        if (n_distinct(before) == n_distinct(after)) continue;
        n_collapsed += 1;
        first = std::min(first, p);
      }
    }
  }
  n_collapsed = mpi::sum(context, n_collapsed);
  first = mpi::min(context, first);
  if (n_collapsed == 0) return;
  double tolerance = 0.0;
  for (const Joint& joint : report.joints) tolerance = std::max(tolerance, joint.tolerance);
  throw AgreedError(
      ErrorCode::differs,
      {.subject = fmt::format("tolerance {:g}", tolerance),
       .cause = fmt::format("is too wide: {} cells and listed sides would lose corners, the first in piece {}",
                            n_collapsed, first),
       .remedy = "choose one below the shortest edge of the cells where pieces meet"});
}

/// A run of cells. Cells of this rank have the vertex rows of their piece, cells of others the new rows.
struct CellSegment {
  std::size_t first = 0;  // place in the slab of its block
  std::size_t piece = 0;
  std::span<const GlobalId> old_nodes{};       // of this rank
  std::span<const std::uint32_t> new_nodes{};  // of others, in 32 bits
  std::span<const GlobalId> new_wide_nodes{};  // of others, in 64 bits
  std::span<const std::int64_t> sizes{};       // numbers of nodes, if these vary: of others
  std::span<const std::int64_t> ends{};        // offsets, if these vary: of this rank
  std::span<const std::int32_t> parts{};
};

/// Return cells of a block of this rank, with their parts if they have any.
CellSegment cells_here(std::size_t piece, const CellBlock& block, std::span<const std::int32_t> parts, std::size_t at,
                       std::size_t n, std::size_t to) {
  CellSegment here{.first = to, .piece = piece};
  const std::size_t width = block.nodes_per_cell;
  if (width > 0) {
    here.old_nodes = std::span(block.nodes).subspan(at * width, n * width);
  } else {
    const std::size_t first = block.offsets[at];
    here.old_nodes = std::span(block.nodes).subspan(first, block.offsets[at + n] - first);
    here.ends = std::span(block.offsets).subspan(at, n + 1);
  }
  if (!parts.empty()) here.parts = parts.subspan(at, n);
  return here;
}

/// Write cells into a message. Nodes travel in 32 bits where they suffice for the mesh.
template <class NewRow>
void put_cells(detail::MessageWriter& message, const CellSegment& here, bool is_narrow, const NewRow& new_row) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i + 1 < here.ends.size(); ++i) sizes.push_back(here.ends[i + 1] - here.ends[i]);
  message.put(sizes);
  const auto translate = [&]<class Node>(std::span<Node> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<Node>(new_row(value(here.old_nodes[i])));
  };
  if (is_narrow) {
    translate(message.put_room<std::uint32_t>(here.old_nodes.size()));
  } else {
    translate(message.put_room<GlobalId>(here.old_nodes.size()));
  }
  message.put(here.parts);
}

CellSegment get_cells(detail::MessageReader& in, std::size_t first, bool is_narrow) {
  CellSegment segment{.first = first};
  segment.sizes = in.get<std::int64_t>();
  if (is_narrow) {
    segment.new_nodes = in.get<std::uint32_t>();
  } else {
    segment.new_wide_nodes = in.get<GlobalId>();
  }
  segment.parts = in.get<std::int32_t>();
  return segment;
}

/// Append cells to their block.
void append_cells(const CellSegment& segment, const NewVertices::Translation& new_rows, CellBlock& block,
                  std::vector<std::int32_t>& parts) {
  detail::append_each(block.nodes, segment.old_nodes,
                      [new_row = new_rows.of(segment.piece)](GlobalId node) { return GlobalId{new_row(value(node))}; });
  detail::append_each(block.nodes, segment.new_nodes, [](std::uint32_t node) { return GlobalId{node}; });
  block.nodes.insert(block.nodes.end(), segment.new_wide_nodes.begin(), segment.new_wide_nodes.end());
  for (std::size_t i = 0; i + 1 < segment.ends.size(); ++i)
    block.offsets.push_back(block.offsets.back() + segment.ends[i + 1] - segment.ends[i]);
  for (const std::int64_t size : segment.sizes) block.offsets.push_back(block.offsets.back() + size);
  parts.insert(parts.end(), segment.parts.begin(), segment.parts.end());
}

void move_cells(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                const NewBlocks& blocks, MeshTables& out) {
  const Rank me = context.rank();
  const auto new_rows = vertices.translation([&](NewVertices::Wanted& wanted) {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      for (const CellBlock& block : pieces[p].blocks) wanted.add(p, block.nodes);
  });
  for (const MeshTables& piece : pieces) {
    PartSets former = piece.part_sets;
    drop_part_sets(context, former);
  }
  const bool have_parts = std::ranges::all_of(pieces, [](const MeshTables& piece) { return piece.n_parts > 0; });
  const Dim top = out.top_dim();
  const bool is_narrow = out.vertices.n_rows <= std::numeric_limits<std::uint32_t>::max();
  std::vector<std::vector<CellSegment>> segments(out.blocks.size());
  std::vector<std::vector<std::int32_t>> parts_of_blocks;  // segments borrow from these
  SlabMail mail(context);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const MeshTables& piece = pieces[p];
    const auto new_row = new_rows.of(p);
    std::size_t at_top = 0;
    for (std::size_t b = 0; b < piece.blocks.size(); ++b) {
      const CellBlock& block = piece.blocks[b];
      const NewBlocks::Place& place = blocks.of_piece[p][b];
      const std::size_t n_here = block.rows.size(me);
      std::vector<std::int32_t>& parts = parts_of_blocks.emplace_back();
      if (topology(block.type).dim == top) {
        if (have_parts)
          detail::append_each(parts, std::span(piece.parts).subspan(at_top, n_here),
                              [&](std::int32_t part) { return out.n_parts + part; });
        at_top += n_here;
      }
      mail.send(
          place.block, out.blocks[place.block].rows, place.first + block.rows.first(me), n_here,
          [&](detail::MessageWriter& message, std::size_t at, std::size_t n) {
            put_cells(message, cells_here(p, block, parts, at, n, 0), is_narrow, new_row);
          },
          [&](std::size_t at, std::size_t n, std::size_t to) {
            segments[place.block].push_back(cells_here(p, block, parts, at, n, to));
          });
    }
    if (have_parts) out.n_parts += piece.n_parts;
  }
  mail.deliver([&](std::int32_t table, std::size_t first, std::size_t, detail::MessageReader& in) {
    segments[table].push_back(get_cells(in, first, is_narrow));
  });
  for (std::size_t b = 0; b < out.blocks.size(); ++b) {
    CellBlock& block = out.blocks[b];
    block.nodes.reserve(block.rows.size(me) * block.nodes_per_cell);
    if (block.nodes_per_cell == 0) block.offsets.assign(1, 0);
    append_in_order(segments[b],
                    [&](const CellSegment& segment) { append_cells(segment, new_rows, block, out.parts); });
  }
}

/// Make the sets of the joined mesh.
/// @return for each piece the places of its sets
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
      SetInfo& set = out.sets[places[s]];
      for (const SetInSet& inner : piece.sets[s].contained) {
        const std::int32_t place = places[inner.set];
        if (set.is_ordered || std::ranges::find(set.contained, place, &SetInSet::set) == set.contained.end())
          set.contained.push_back({place, inner.position});
      }
      for (const std::int32_t child : piece.sets[s].children) add(set.children, places[child]);
      for (const std::int32_t parent : piece.sets[s].parents) add(set.parents, places[parent]);
    }
  }
  return place_of;
}

void move_members(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                  const NewBlocks& blocks, const std::vector<std::vector<std::int32_t>>& place_of, MeshTables& out) {
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const MeshTables& piece = pieces[p];
    const auto new_set = [&](std::int32_t set) { return place_of[p][set]; };
    MeshTables of_vertices;  // the same sets, with their vertices only
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
      const std::size_t first = run.first;
      for (std::int32_t i = 0; i < run.count; ++i) {
        const SetRows rows{new_set(run.set), Dim::vertex, vertices.row(p, first + i), 1,
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

void check(const std::vector<MeshTables>& pieces, const JoinOptions& options) {
  const std::int64_t n = std::ssize(pieces);
  if (n == 0) refuse_together(ErrorCode::usage, "join", "needs pieces", "give at least one");
  if (!std::isfinite(options.tolerance))
    refuse_together(ErrorCode::usage, fmt::format("tolerance {}", options.tolerance), "must be a finite number",
                    "give a length in model units");
  for (const JointOptions& joint : options.joints) {
    if (joint.a < 0 || joint.a >= n || joint.b < 0 || joint.b >= n || joint.a == joint.b)
      refuse_together(ErrorCode::usage, fmt::format("joint of pieces {} and {}", joint.a, joint.b),
                      fmt::format("does not exist among {} pieces", n), "count pieces from 0");
    if (!(std::isfinite(joint.tolerance) && joint.tolerance >= 0.0))
      refuse_together(ErrorCode::usage, fmt::format("tolerance {}", joint.tolerance),
                      "must be a finite number of at least 0", "give a length in model units");
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
    const Region region(context.trace(), join_number_region);
    vertices.emplace(context, pieces, joints.becomes());
  }
  const Region region(context.trace(), tables_region);
  joined.report.n_vertices = vertices->n_rows();
  refuse_collapsed(context, pieces, *vertices, joined.report);
  const NewBlocks blocks(pieces, context.size(), out);
  detail::move_vertices(context, pieces, *vertices, out);
  move_cells(context, pieces, *vertices, blocks, out);
  const auto place_of = join_sets(pieces, out);
  move_members(context, pieces, *vertices, blocks, place_of, out);
  detail::join_tags(context, pieces, *vertices, blocks, place_of, out);
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
                      {"max_gap", joint.max_gap},
                      {"nearest_miss", std::isfinite(joint.nearest_miss) ? Json(joint.nearest_miss) : Json()},
                      {"joined", joint.is_joined}});
  }
  return Json{{"joints", joints}, {"vertices_before", report.n_vertices_before}, {"vertices", report.n_vertices}};
}

}  // namespace barrio::mesh
