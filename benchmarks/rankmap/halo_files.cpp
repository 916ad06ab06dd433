#include "benchmarks/rankmap/halo_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"

namespace barrio::bench {
namespace {

// Number of ranks, number of entries; points of each rank; for each entry sender, receiver and points.
using Words = std::vector<std::int32_t>;

Words read_words(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw Error(ErrorCode::failed, {.subject = path, .cause = "cannot be opened", .remedy = "make it with 'plan'"});
  Words words(static_cast<std::size_t>(file.tellg()) / sizeof(std::int32_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(std::int32_t)));
  return words;
}

}  // namespace

std::string level_path(const std::string& folder, int level) { return fmt::format("{}/level{}", folder, level); }

void write_level(const std::string& path, std::span<const std::int32_t> part, const rankmap::TrafficMatrix& traffic) {
  const auto n_ranks = static_cast<std::size_t>(traffic.n_ranks());
  Words words{traffic.n_ranks(), static_cast<std::int32_t>(traffic.entries().size())};
  words.resize(2 + n_ranks, 0);
  for (const std::int32_t owner : part) ++words[2 + static_cast<std::size_t>(owner)];
  for (const rankmap::TrafficEntry& entry : traffic.entries())
    words.insert(words.end(), {entry.from, entry.to, static_cast<std::int32_t>(entry.points)});
  write_file_atomically(
      path, std::string_view(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::int32_t)));
}

RankHalo read_level(const std::string& path, Rank rank, int n_ranks) {
  const Words words = read_words(path);
  const auto n = static_cast<std::size_t>(n_ranks);
  if (words.size() < 2 || words[0] != n_ranks || words.size() != 2 + n + 3 * static_cast<std::size_t>(words[1])) {
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = fmt::format("is not a level of {} ranks", n_ranks),
                                       .remedy = "run as many ranks as were planned"});
  }
  const std::span points = std::span(words).subspan(2, n);
  RankHalo halo{.n_points = points[static_cast<std::size_t>(rank)],
                .mean_points = std::accumulate(points.begin(), points.end(), 0.0) / n_ranks};
  for (std::size_t i = 2 + n; i < words.size(); i += 3) {
    if (words[i] == rank) halo.to.push_back({words[i + 1], words[i + 2]});
    if (words[i + 1] == rank) halo.from.push_back({words[i], words[i + 2]});
  }
  return halo;
}

}  // namespace barrio::bench
