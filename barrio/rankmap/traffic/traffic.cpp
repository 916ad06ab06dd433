#include "barrio/rankmap/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/text/words.hpp"

namespace barrio::rankmap {
namespace {

constexpr double max_value = 1e18;  // sums of products with distances stay finite

constexpr std::array<std::pair<std::string_view, Weight>, 3> weights{
    {{"points", Weight::points}, {"bytes", Weight::bytes}, {"messages", Weight::messages}}};

void check_rank(Rank rank, int n_ranks, std::string_view which, const std::string& subject) {
  if (rank < 0 || rank >= n_ranks)
    refuse(ErrorCode::bad_input, subject, fmt::format("{} rank {} is not in 0..{}", which, rank, n_ranks - 1));
}

void check_entry(const TrafficEntry& entry, int n_ranks, const std::string& subject) {
  check_rank(entry.from, n_ranks, "sending", subject);
  check_rank(entry.to, n_ranks, "receiving", subject);
  for (const auto& [word, weight] : weights) {
    const double value = value_of(entry, weight);
    if (!(value >= 0.0 && value <= max_value))
      refuse(ErrorCode::bad_input, subject,
             fmt::format("{} from rank {} to {} are {}; a finite number >= 0 was expected", word, entry.from, entry.to,
                         value));
  }
}

void check_n_ranks(std::int64_t n_ranks, const std::string& subject) {
  if (n_ranks < 0 || n_ranks > TrafficMatrix::max_ranks)
    refuse(ErrorCode::bad_input, subject,
           fmt::format("{} ranks; 0 to {} are possible", n_ranks, TrafficMatrix::max_ranks));
}

// Counts are nearly always whole numbers, and then easier to read as integers.
Json number(double value) {
  if (value == std::floor(value) && value < 9e15) return Json(static_cast<std::int64_t>(value));
  return value;
}

TrafficEntry entry_from(const Json& row, const std::string& subject) {
  if (!row.is_array() || row.size() != 5 || !row[0].is_number_integer() || !row[1].is_number_integer())
    refuse(ErrorCode::bad_input, subject, "is not [from, to, points, bytes, messages]");
  for (std::size_t i = 2; i < 5; ++i)
    if (!row[i].is_number()) refuse(ErrorCode::bad_input, subject, fmt::format("value {} is not a number", i));
  const auto rank = [&](const Json& value) {
    const auto wide = value.get<std::int64_t>();
    if (wide < 0 || wide >= TrafficMatrix::max_ranks)
      refuse(ErrorCode::bad_input, subject, fmt::format("{} is not a rank", wide));
    return static_cast<Rank>(wide);
  };
  return {.from = rank(row[0]),
          .to = rank(row[1]),
          .points = row[2].get<double>(),
          .bytes = row[3].get<double>(),
          .messages = row[4].get<double>()};
}

}  // namespace

std::string_view name_of(Weight weight) noexcept { return weights[static_cast<std::size_t>(weight)].first; }

Weight parse_weight(std::string_view word) { return detail::value_of_word("weight", word, weights); }

double CommunicationGraph::compute_total_weight() const noexcept {
  double twice = 0.0;
  for (const double weight : weights) twice += weight;
  return twice / 2.0;
}

std::uint64_t CommunicationGraph::memory_bytes() const noexcept {
  return barrio::memory_bytes(offsets) + barrio::memory_bytes(partners) + barrio::memory_bytes(weights);
}

TrafficMatrix::TrafficMatrix(int n_ranks, std::vector<TrafficEntry> entries)
    : n_ranks_(n_ranks), entries_(std::move(entries)) {
  check_n_ranks(n_ranks, "traffic");
  validate();
  const auto key = [](const TrafficEntry& entry) { return std::pair(entry.from, entry.to); };
  // Stable, so that equal entries are added in the given order and the sums do not vary between libraries.
  std::ranges::stable_sort(entries_, {}, key);
  std::size_t last = 0;
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (key(entries_[i]) == key(entries_[last])) {
      entries_[last].points += entries_[i].points;
      entries_[last].bytes += entries_[i].bytes;
      entries_[last].messages += entries_[i].messages;
    } else {
      entries_[++last] = entries_[i];
    }
  }
  if (!entries_.empty()) entries_.resize(last + 1);
  validate();
}

std::uint64_t TrafficMatrix::memory_bytes() const noexcept { return barrio::memory_bytes(entries_); }

void TrafficMatrix::validate() const {
  for (const TrafficEntry& entry : entries_) check_entry(entry, n_ranks_, "traffic");
}

CommunicationGraph TrafficMatrix::compute_graph(Weighing weighing) const {
  const std::size_t n = n_ranks_;
  const auto counts = [&](const TrafficEntry& entry) {
    return entry.from != entry.to && value_of(entry, weighing) > 0.0;
  };
  // Rows of A and of its transpose, each sorted by partner because the entries are; they are then merged row by row.
  struct Arrival {
    Rank from;
    double value;
  };
  const auto arrivals = Ragged<Arrival>::grouped(n, [&](auto&& put) {
    for (const TrafficEntry& entry : entries_)
      if (counts(entry)) put(entry.to, Arrival{entry.from, value_of(entry, weighing)});
  });
  CommunicationGraph graph;
  graph.offsets.reserve(n + 1);
  auto sent = entries_.begin();
  for (Rank i = 0; i < n_ranks_; ++i) {
    auto arrival = arrivals[i].begin();
    const auto arrivals_end = arrivals[i].end();
    const auto add = [&](Rank partner, double value) {
      graph.partners.push_back(partner);
      graph.weights.push_back(value);
    };
    for (; sent != entries_.end() && sent->from == i; ++sent) {
      if (!counts(*sent)) continue;
      for (; arrival != arrivals_end && arrival->from < sent->to; ++arrival) add(arrival->from, arrival->value);
      const bool both = arrival != arrivals_end && arrival->from == sent->to;
      add(sent->to, value_of(*sent, weighing) + (both ? arrival->value : 0.0));
      if (both) ++arrival;
    }
    for (; arrival != arrivals_end; ++arrival) add(arrival->from, arrival->value);
    graph.offsets.push_back(graph.partners.size());
  }
  return graph;
}

TrafficMatrix sum(std::span<const TrafficMatrix> phases, std::span<const double> factors) {
  if (phases.empty() || phases.size() != factors.size())
    throw Error(ErrorCode::usage, {.subject = "sum of traffic",
                                   .cause = fmt::format("{} phases and {} factors", phases.size(), factors.size()),
                                   .remedy = "give one factor for each phase"});
  std::vector<TrafficEntry> entries;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].n_ranks() != phases[0].n_ranks())
      throw Error(ErrorCode::usage, {.subject = "sum of traffic",
                                     .cause = fmt::format("phase {} has {} ranks, but phase 0 has {}", i,
                                                          phases[i].n_ranks(), phases[0].n_ranks()),
                                     .remedy = "give traffic of one job"});
    for (TrafficEntry entry : phases[i].entries()) {
      entry.points *= factors[i];
      entry.bytes *= factors[i];
      entry.messages *= factors[i];
      entries.push_back(entry);
    }
  }
  return TrafficMatrix(phases[0].n_ranks(), std::move(entries));
}

bool TrafficMatrix::has(Weight weight) const noexcept {
  return std::ranges::any_of(
      entries_, [&](const TrafficEntry& entry) { return entry.from != entry.to && value_of(entry, weight) > 0.0; });
}

Json TrafficMatrix::to_json() const {
  Json document = json_document(traffic_schema, traffic_schema_version);
  document["ranks"] = n_ranks_;
  Json rows = Json::array();
  for (const TrafficEntry& entry : entries_)
    rows.push_back({entry.from, entry.to, number(entry.points), number(entry.bytes), number(entry.messages)});
  document["entries"] = std::move(rows);
  return document;
}

TrafficMatrix TrafficMatrix::from_json(const Json& document, const std::string& subject) {
  return from_rows(document, "entries", subject);
}

TrafficMatrix TrafficMatrix::from_rows(const Json& document, std::string_view key, const std::string& subject) {
  if (!document.is_object()) refuse(ErrorCode::bad_input, subject, "is not a JSON object");
  const auto ranks = document.find("ranks");
  if (ranks == document.end() || !ranks->is_number_integer())
    refuse(ErrorCode::bad_input, subject, "has no whole number \"ranks\"",
           "write {\"schema\": \"barrio.traffic\", \"ranks\": n, ...}");
  const auto n_ranks = ranks->get<std::int64_t>();
  check_n_ranks(n_ranks, subject);
  const auto rows = document.find(key);
  if (rows == document.end() || !rows->is_array())
    refuse(ErrorCode::bad_input, subject, fmt::format("has no list \"{}\"", key),
           fmt::format("write \"{}\": [[from, to, points, bytes, messages], ...]", key));
  std::vector<TrafficEntry> entries;
  entries.reserve(rows->size());
  for (const Json& row : *rows) {
    const std::string place = fmt::format("{}, {}[{}]", subject, key, entries.size());
    entries.push_back(entry_from(row, place));
    check_entry(entries.back(), static_cast<int>(n_ranks), place);
  }
  return TrafficMatrix(static_cast<int>(n_ranks), std::move(entries));
}

void write_traffic(const TrafficMatrix& traffic, const std::string& path) {
  // One entry per line: readable for users and for diff.
  const Json document = traffic.to_json();
  std::string text = "{\n";
  for (const auto& [key, value] : document.items())
    if (key != "entries") text += fmt::format("{}: {},\n", Json(key).dump(), value.dump());
  text += "\"entries\": [";
  const char* separator = "\n";
  for (const Json& row : document["entries"]) {
    text += separator + row.dump();
    separator = ",\n";
  }
  write_file_atomically(path, text + "\n]\n}\n");
}

TrafficMatrix read_traffic_document(const std::string& path) {
  return TrafficMatrix::from_json(read_json_document(path, traffic_schema, traffic_schema_version), path);
}

}  // namespace barrio::rankmap
