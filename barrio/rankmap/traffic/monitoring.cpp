#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/text/words.hpp"
#include "barrio/rankmap/traffic_files.hpp"

namespace barrio::rankmap {
namespace {

namespace fs = std::filesystem;

struct PartName {
  std::string prefix;
  int rank = 0;
};

// Parse a file name: "run.12.prof" -> prefix "run", rank 12.
std::optional<PartName> parse_part_name(std::string_view name) {
  if (!name.ends_with(".prof")) return {};
  name.remove_suffix(5);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view digits = name.substr(dot + 1);
  int rank = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (problem != std::errc{} || end != digits.data() + digits.size() || rank < 0) return {};
  return PartName{.prefix = std::string(name.substr(0, dot)), .rank = rank};
}

[[noreturn]] void refuse_run(const std::string& subject, std::string cause) {
  throw Error(
      ErrorCode::bad_input,
      {.subject = subject,
       .cause = std::move(cause),
       .remedy = "give the value of pml_monitoring_filename of one run, or a folder with the files of one run"});
}

// Find the files of one run, by rank.
std::map<int, fs::path> find_parts(const std::string& prefix_or_folder) {
  std::error_code problem;
  const bool is_folder = fs::is_directory(prefix_or_folder, problem);
  const fs::path whole(prefix_or_folder);
  const fs::path folder = is_folder ? whole : whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  std::optional<std::string> prefix;
  if (!is_folder) prefix = whole.filename().string();
  std::map<int, fs::path> parts;
  for (const auto& file : fs::directory_iterator(folder, problem)) {
    const auto name = parse_part_name(file.path().filename().string());
    if (!name || (!is_folder && name->prefix != *prefix)) continue;
    if (!prefix) prefix = name->prefix;
    if (name->prefix != *prefix)
      refuse_run(prefix_or_folder, fmt::format("holds files of two runs, {} and {}", std::min(*prefix, name->prefix),
                                               std::max(*prefix, name->prefix)));
    parts.emplace(name->rank, file.path());
  }
  if (parts.empty()) refuse_run(prefix_or_folder, "has no files PREFIX.<rank>.prof");
  int expected = 0;
  for (const auto& [rank, path] : parts) {
    if (rank != expected) refuse_run(prefix_or_folder, fmt::format("the file of rank {} is missing", expected));
    ++expected;
  }
  if (expected > TrafficMatrix::max_ranks) refuse_run(prefix_or_folder, "has too many files");
  return parts;
}

void read_part(const fs::path& path, int rank, int n_ranks, std::vector<TrafficEntry>& entries) {
  // I: messages of the library itself; S, R: one-sided; C: point-to-point inside collectives; D, O2A, A2O, A2A: the
  // arguments of collectives. Only E is the program's own point-to-point traffic.
  static constexpr std::array<std::string_view, 8> known{"I", "S", "R", "C", "D", "O2A", "A2O", "A2A"};
  LineReader reader(path.string());
  bool is_whole = false;
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty()) continue;
    if (words[0].starts_with('#')) {
      is_whole = is_whole || reader.line().starts_with("# COLLECTIVES");
    } else if (words[0] == "E") {
      if (words.size() < 7 || words[4] != "bytes" || words[6] != "msgs")
        reader.fail("is not 'E <from> <to> <n> bytes <n> msgs sent'", "it may be truncated");
      if (reader.integer(words[1], "the sender", 0, n_ranks - 1) != rank)
        reader.fail(fmt::format("the sender is {} in the file of rank {}", words[1], rank));
      const Rank to = detail::read_int(reader, words[2], "the receiver", 0, n_ranks - 1);
      entries.push_back({.from = rank,
                         .to = to,
                         .points = 0.0,
                         .bytes = reader.amount(words[3], "the bytes"),
                         .messages = reader.amount(words[5], "the messages")});
    } else if (std::ranges::find(known, words[0]) == known.end()) {
      reader.fail("is not a line of a monitoring file");
    }
  }
  if (!is_whole) reader.fail("the part '# COLLECTIVES' is missing", "the file may be truncated; record again");
}

}  // namespace

TrafficMatrix read_monitoring(const std::string& prefix_or_folder) {
  const auto parts = find_parts(prefix_or_folder);
  const int n_ranks = static_cast<int>(parts.size());
  std::vector<TrafficEntry> entries;
  for (const auto& [rank, path] : parts) read_part(path, rank, n_ranks, entries);
  return TrafficMatrix(n_ranks, std::move(entries));
}

}  // namespace barrio::rankmap
