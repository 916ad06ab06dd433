#include "barrio/rankmap/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "barrio/rankmap/record/keep.h"

namespace barrio::rankmap {
namespace {

namespace fs = std::filesystem;

/// A link in the layout of barrio_link in record.h.
struct Link {
  std::int32_t from, to;
  std::uint64_t bytes, messages;
};

/// Counts of one rank.
struct RankFile {
  barrio_kept_head head{};
  std::vector<TrafficEntry> messages, collectives;
};

/// Reader of consecutive objects; it never reads past the end.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  bool read(T& value) {
    if (end_ - at_ < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  /// Move to the next chunk. @return whether there is one
  bool next_chunk() {
    begin_ = at_ = end_;
    end_ = bytes_.size();
    std::uint64_t size = 0;
    if (!read(size) || size < sizeof size || size > end_ - begin_) return false;
    end_ = begin_ + size;
    return true;
  }

 private:
  std::string bytes_;
  std::size_t begin_ = 0, at_ = 0, end_ = 0;
};

void add(std::vector<TrafficEntry>& entries, std::int32_t from, std::int32_t to, std::uint64_t bytes,
         std::uint64_t messages, std::int32_t size) {
  if (from == to || from < 0 || to < 0 || from >= size || to >= size || messages == 0) return;
  entries.push_back(
      {.from = from, .to = to, .bytes = static_cast<double>(bytes), .messages = static_cast<double>(messages)});
}

/// Read the calls of one collective, by their targets.
bool read_total(Bytes& bytes, RankFile& file) {
  std::uint64_t calls = 0, sum = 0, next = 0, n_targets = 0;
  if (!bytes.read(calls) || !bytes.read(sum) || !bytes.read(next) || !bytes.read(n_targets)) return false;
  for (std::uint64_t k = 0; k < n_targets; ++k) {
    barrio_target target{};
    if (!bytes.read(target)) return false;
    if (target.divided_by == 0) continue;
    add(file.collectives, file.head.rank, target.to, sum * target.times / target.divided_by, calls * target.messages,
        file.head.size);
  }
  return true;
}

std::optional<RankFile> read_rank_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  Bytes bytes(std::string(std::istreambuf_iterator<char>(stream), {}));
  RankFile file;
  if (!stream.good() && !stream.eof()) return {};
  if (!bytes.next_chunk() || !bytes.read(file.head)) return {};
  const barrio_kept_head& head = file.head;
  if (std::memcmp(head.magic, BARRIO_KEPT_MAGIC, sizeof head.magic) != 0 || head.rank < 0 || head.rank >= head.size ||
      head.size > TrafficMatrix::max_ranks)
    return {};
  do {
    std::uint64_t kind = 0;
    while (bytes.read(kind) && kind != barrio_kept_end) {
      if (kind == barrio_kept_total) {
        if (!read_total(bytes, file)) return {};
        continue;
      }
      Link link{};
      if (kind > barrio_kept_total || !bytes.read(link)) return {};
      add(kind == barrio_kept_messages ? file.messages : file.collectives, link.from, link.to, link.bytes,
          link.messages, head.size);
    }
  } while (bytes.next_chunk());
  return file;
}

/// Add up the rows of a pair that were counted apart.
TrafficMatrix summed(int n_ranks, std::vector<TrafficEntry> entries) {
  std::ranges::sort(entries, {}, [](const TrafficEntry& entry) { return std::pair(entry.from, entry.to); });
  std::vector<TrafficEntry> sums;
  for (const TrafficEntry& entry : entries) {
    if (sums.empty() || sums.back().from != entry.from || sums.back().to != entry.to) {
      sums.push_back(entry);
      continue;
    }
    sums.back().bytes += entry.bytes;
    sums.back().messages += entry.messages;
  }
  return TrafficMatrix(n_ranks, std::move(sums));
}

KeptRun put_together(const std::vector<fs::path>& paths) {
  KeptRun kept;
  std::vector<TrafficEntry> messages, collectives;
  std::map<Rank, std::string> host_of;
  int n_ranks = 0;
  kept.is_over = true;
  for (const fs::path& path : paths) {
    const std::optional<RankFile> file = read_rank_file(path);
    if (!file) continue;
    const barrio_kept_head& head = file->head;
    n_ranks = std::max(n_ranks, head.size);
    host_of.emplace(head.rank, std::string(head.host, ::strnlen(head.host, sizeof head.host)));
    messages.insert(messages.end(), file->messages.begin(), file->messages.end());
    collectives.insert(collectives.end(), file->collectives.begin(), file->collectives.end());
    kept.is_written = kept.is_written || head.is_written != 0;
    kept.is_over = kept.is_over && head.is_over != 0;
    kept.run.seconds = std::max(kept.run.seconds, head.seconds);
  }
  for (Rank rank = 0; rank < n_ranks; ++rank)
    if (!host_of.contains(rank)) kept.missing.push_back(rank);
  kept.is_over = kept.is_over && kept.missing.empty() && n_ranks > 0;
  if (kept.missing.empty()) {
    for (const auto& [rank, host] : host_of) {
      if (kept.run.hosts.empty() || kept.run.hosts.back().name != host) kept.run.hosts.push_back({host, 0});
      ++kept.run.hosts.back().count;
    }
  }
  kept.run.traffic = summed(n_ranks, std::move(messages));
  kept.run.collectives = summed(n_ranks, std::move(collectives));
  return kept;
}

}  // namespace

std::vector<KeptRun> read_kept_runs(const std::string& folder) {
  std::map<std::string, std::vector<fs::path>> jobs;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
    if (entry.path().extension() == ".rank") jobs[entry.path().stem().stem().string()].push_back(entry.path());
  if (problem)
    throw Error(ErrorCode::failed, {.subject = folder,
                                    .cause = fmt::format("cannot be read: {}", problem.message()),
                                    .remedy = "name the folder with the files of a recording"});
  std::vector<KeptRun> runs;
  for (const auto& [name, paths] : jobs)
    if (KeptRun kept = put_together(paths); kept.run.traffic.n_ranks() > 0) runs.push_back(std::move(kept));
  return runs;
}

Json to_json(const KeptRun& kept, std::optional<double> seconds) {
  Json document = kept.run.traffic.to_json();
  document["collectives"] = kept.run.collectives.to_json()["entries"];
  document["made_by"] = "barrio record";
  document["ended_early"] = !kept.is_over;
  document["missing_ranks"] = kept.missing;
  if (kept.run.seconds > 0.0) seconds = kept.run.seconds;
  if (seconds) document["seconds"] = *seconds;
  if (!kept.run.hosts.empty()) {
    document["hosts"] = Json::array();
    for (const HostRun& host : kept.run.hosts) document["hosts"].push_back({host.name, host.count});
  }
  return document;
}

}  // namespace barrio::rankmap
