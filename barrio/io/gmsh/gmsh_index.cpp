#include <algorithm>
#include <array>

#include "barrio/base/json.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/gmsh/gmsh_file.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {

std::vector<int> GmshIndex::groups_of(int dim, int entity) const {
  const auto at = groups.find({dim, entity});
  return at == groups.end() ? std::vector<int>{} : at->second;
}

std::string GmshIndex::group_name(int dim, int group) const {
  const auto at = group_names.find({dim, group});
  return at == group_names.end() ? "" : at->second;
}

int GmshIndex::part_of(int dim, int entity) const {
  const auto at = parts.find({dim, entity});
  return at == parts.end() ? -1 : at->second;
}

int GmshIndex::n_parts_of(int dim) const {
  const bool has_one = std::ranges::any_of(elements, [&](const Block& block) {
    return block.n > 0 && block.entity_dim == dim && part_of(dim, block.entity_tag) >= 0;
  });
  return has_one ? n_parts : 0;
}

void GmshIndex::share(mpi::Context& context) {
  std::array<std::int64_t, 6> header{is_binary ? 1 : 0, is_old ? 1 : 0, max_node_tag,
                                     is_first ? 1 : 0,  n_parts,        has_parameters ? 1 : 0};
  mpi::broadcast(context, std::span<std::int64_t>(header));
  is_binary = header[0] != 0;
  is_old = header[1] != 0;
  max_node_tag = header[2];
  is_first = header[3] != 0;
  n_parts = static_cast<int>(header[4]);
  has_parameters = header[5] != 0;
  mpi::broadcast(context, nodes);
  mpi::broadcast(context, elements);
  std::string text;
  if (context.is_root()) {
    Json named = Json::array();
    for (const auto& [key, name] : group_names) named.push_back({key.first, key.second, name});
    Json grouped = Json::array();
    for (const auto& [key, list] : groups) grouped.push_back({key.first, key.second, list});
    Json parted = Json::array();
    for (const auto& [key, part] : parts) parted.push_back({key.first, key.second, part});
    text = Json{named, grouped, parted}.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  mpi::broadcast(context, text);
  const Json all = Json::parse(text);
  for (const Json& entry : all[0])
    group_names[{entry[0].get<int>(), entry[1].get<int>()}] = entry[2].get<std::string>();
  for (const Json& entry : all[1])
    groups[{entry[0].get<int>(), entry[1].get<int>()}] = entry[2].get<std::vector<int>>();
  for (const Json& entry : all[2]) parts[{entry[0].get<int>(), entry[1].get<int>()}] = entry[2].get<int>();
}

GmshShares GmshIndex::shares_of(mpi::Context& context) const {
  const auto deal = [&](const std::vector<std::pair<Rank, GmshSegment>>& segments) {
    std::vector<Rank> to;
    std::vector<GmshSegment> items;
    for (const auto& [rank, segment] : segments) {
      to.push_back(rank);
      items.push_back(segment);
    }
    return exchange::route(context, exchange::pack_by_rank<GmshSegment>(to, items)).items;
  };
  GmshShares shares;
  shares.nodes = deal(node_segments);
  shares.elements = deal(element_segments);
  return shares;
}

}  // namespace barrio::io::detail
