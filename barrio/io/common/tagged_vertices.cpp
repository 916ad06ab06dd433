#include "barrio/io/common/tagged_vertices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

[[noreturn]] void missing(const std::string& path, GlobalId tag) {
  throw Error(ErrorCode::bad_input,
              {.subject = path,
               .cause = fmt::format("an element has node {}, which is not in the file", value(tag)),
               .remedy = damaged_remedy});
}

}  // namespace

VertexRows::VertexRows(mpi::Context& context, const std::string& path, std::vector<TaggedVertex> mine,
                       std::int64_t max_tag, mesh::MeshTables& tables)
    : context_(context), homes_{max_tag + 1, context.size()} {
  std::vector<Rank> to;
  for (const TaggedVertex& v : mine) to.push_back(homes_.rank_of(v.tag));
  held_ = exchange::route(context, exchange::pack_by_rank<TaggedVertex>(to, mine)).items;
  std::sort(held_.begin(), held_.end(), [](const TaggedVertex& a, const TaggedVertex& b) { return a.tag < b.tag; });
  agree_after(context, [&] {
    for (std::size_t i = 1; i < held_.size(); ++i)
      if (held_[i].tag == held_[i - 1].tag)
        throw Error(ErrorCode::bad_input, {.subject = path,
                                           .cause = fmt::format("has node {} twice", held_[i].tag),
                                           .remedy = "number the nodes of the file anew"});
  });
  first_row_ = mpi::exclusive_sum(context, std::ssize(held_));
  tables.vertices = {mpi::sum(context, std::ssize(held_)), context.size()};
  const std::int64_t highest = mpi::max(context, held_.empty() ? std::int64_t{0} : held_.back().tag);
  if (highest > tables.vertices.n_rows)
    context.log().notice(
        fmt::format("{}: its {} nodes have numbers up to {}; vertices are numbered without gaps, in "
                    "the order of these",
                    path, tables.vertices.n_rows, highest));
  to.clear();
  std::vector<std::array<double, 3>> points;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    to.push_back(tables.vertices.rank_of(first_row_ + i));
    points.push_back(held_[i].x);
  }
  // Senders ascend with rows, so the points arrive in order.
  for (const auto& x : exchange::route(context, exchange::pack_by_rank<std::array<double, 3>>(to, points)).items)
    tables.coordinates.insert(tables.coordinates.end(), x.begin(), x.end());
}

void VertexRows::translate(const std::string& path, std::vector<GlobalId>& tags) const {
  std::vector<GlobalId> wanted = tags;
  sort_unique(wanted);
  std::vector<Rank> to;
  agree_after(context_, [&] {
    for (const GlobalId tag : wanted) {
      if (value(tag) < 0 || value(tag) >= homes_.n_rows) missing(path, tag);
      to.push_back(homes_.rank_of(tag));
    }
  });
  const auto find_rows = [&](const exchange::Parcels<GlobalId>& asked) {
    std::vector<GlobalId> found;
    agree_after(context_, [&] {
      for (const GlobalId tag : asked.items) {
        const auto at = std::lower_bound(held_.begin(), held_.end(), value(tag),
                                         [](const TaggedVertex& v, std::int64_t t) { return v.tag < t; });
        if (at == held_.end() || at->tag != value(tag)) missing(path, tag);
        found.push_back(GlobalId{first_row_ + (at - held_.begin())});
      }
    });
    return found;
  };
  const std::vector<GlobalId> rows = exchange::ask_together(context_, to, wanted, find_rows);
  for (GlobalId& tag : tags) tag = rows[std::lower_bound(wanted.begin(), wanted.end(), tag) - wanted.begin()];
}

}  // namespace barrio::io::detail
