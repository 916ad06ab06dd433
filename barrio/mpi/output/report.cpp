#include "barrio/mpi/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "barrio/mpi/node.hpp"

#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
  std::string line(text.data(), length);
  line = line.substr(0, line.find_first_of(std::string("\n\0", 2)));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

Json document(Context& context, std::string_view schema, int schema_version, std::uint64_t seed) {
  const NodePlace place = find_node(context);
  std::string text;
  if (context.is_root()) {
    Json made = json_document(schema, schema_version);
    made["mpi"] = mpi_library();
    made["ranks"] = context.size();
    made["nodes"] = place.n_nodes;
    made["cores_of_rank_0"] = usable_cores();
    made["seed"] = seed;
    text = made.dump();
  }
  broadcast(context, text);
  return Json::parse(text);
}

std::vector<RegionSummary> summarise(Context& context) {
  Json mine = Json::array();
  for (const RegionTotal& total : context.trace().totals()) {
    Json of_rank = Json::object();
    if (context.size() <= max_ranks_shown) of_rank[std::to_string(context.rank())] = total.seconds;
    mine.push_back({total.name, total.count, 1, total.seconds, total.seconds, total.seconds, of_rank});
  }
  const auto merge = [](std::string low, std::string high) {
    Json all = Json::parse(low);
    for (const Json& other : Json::parse(high)) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const Json& entry) { return entry[0] == other[0]; });
      if (same == all.end()) {
        all.push_back(other);
        continue;
      }
      Json& entry = *same;
      entry[1] = entry[1].get<std::uint64_t>() + other[1].get<std::uint64_t>();
      entry[2] = entry[2].get<int>() + other[2].get<int>();
      entry[3] = std::min(entry[3].get<double>(), other[3].get<double>());
      entry[4] = entry[4].get<double>() + other[4].get<double>();
      entry[5] = std::max(entry[5].get<double>(), other[5].get<double>());
      entry[6].update(other[6]);
    }
    return all.dump();
  };
  const std::string merged = reduce_to_root(context, mine.dump(), merge);
  std::vector<RegionSummary> summary;
  if (!context.is_root()) return summary;
  for (const Json& entry : Json::parse(merged)) {
    const int n_ranks = entry[2].get<int>();
    summary.push_back({.name = entry[0].get<std::string>(),
                       .count = entry[1].get<std::uint64_t>(),
                       .n_ranks = n_ranks,
                       .min_seconds = n_ranks < context.size() ? 0.0 : entry[3].get<double>(),
                       .mean_seconds = entry[4].get<double>() / context.size(),
                       .max_seconds = entry[5].get<double>()});
    if (context.size() > max_ranks_shown) continue;
    summary.back().of_rank.assign(context.size(), 0.0);
    for (const auto& [rank, seconds] : entry[6].items())
      summary.back().of_rank[std::stoi(rank)] = seconds.get<double>();
  }
  return summary;
}

std::string format_summary(const std::vector<RegionSummary>& summary) {
  std::size_t width = 6;
  for (const RegionSummary& region : summary) width = std::max(width, region.name.size());
  std::string text =
      fmt::format("{:<{}}  {:>10} {:>10} {:>10} {:>9}\n", "region", width, "min s", "mean s", "max s", "entries");
  for (const RegionSummary& region : summary) {
    text += fmt::format("{:<{}}  {:>10.4f} {:>10.4f} {:>10.4f} {:>9}\n", region.name, width, region.min_seconds,
                        region.mean_seconds, region.max_seconds, region.count);
  }
  return text;
}

Json to_json(const std::vector<RegionSummary>& summary) {
  Json all = Json::array();
  for (const RegionSummary& region : summary) {
    all.push_back({{"name", region.name},
                   {"entries", region.count},
                   {"ranks", region.n_ranks},
                   {"min_seconds", region.min_seconds},
                   {"mean_seconds", region.mean_seconds},
                   {"max_seconds", region.max_seconds},
                   {"seconds_of_rank", region.of_rank}});
  }
  return all;
}

}  // namespace barrio::mpi
