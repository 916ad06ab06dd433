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
#include "barrio/mesh/detail/join_rows.hpp"
#include "barrio/mesh/detail/message.hpp"
#include "barrio/mesh/detail/set_runs.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::for_each_new_run;
using detail::NewBlocks;
using detail::NewVertices;
using detail::SlabMail;

constexpr RegionName number_region{"join.number"};
constexpr RegionName tables_region{"join.tables"};

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
                      {"widest_gap", joint.widest_gap},
                      {"nearest_miss", std::isfinite(joint.nearest_miss) ? Json(joint.nearest_miss) : Json()},
                      {"joined", joint.is_joined}});
  }
  return Json{{"joints", joints}, {"vertices_before", report.n_vertices_before}, {"vertices", report.n_vertices}};
}

}  // namespace barrio::mesh
