#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/json.hpp"

namespace barrio::rankmap {

/// The schema of traffic documents.
inline constexpr std::string_view traffic_schema = "barrio.traffic";
inline constexpr int traffic_schema_version = 1;

/// Say which of the three counts of a traffic entry is the weight of a pair of ranks.
enum class Weight { points, bytes, messages };

/// The word for a weight, as users write it: "points", "bytes", "messages".
std::string_view name_of(Weight weight) noexcept;
/// Read a weight from its word. @throws Error{usage} naming the choices
Weight parse_weight(std::string_view word);

/// What one entry counts for.
struct Weighing {
  Weight unit = Weight::bytes;
  double message_bytes = 0.0;  ///< what a message costs beside its bytes, as so many bytes; with Weight::bytes only
  constexpr Weighing(Weight unit_ = Weight::bytes, double message_bytes_ = 0.0) noexcept
      : unit(unit_), message_bytes(message_bytes_) {}
};

/// What one rank sends to another, in one step or over a whole run. Values >= 0.
struct TrafficEntry {
  Rank from = 0;
  Rank to = 0;
  double points = 0.0;  ///< halo points of `to` that `from` serves; the paper's a_ij
  double bytes = 0.0;
  double messages = 0.0;

  bool operator==(const TrafficEntry&) const = default;
};

/// Hold the undirected communication graph as compressed rows: w_ij = a_ij + a_ji, both directions stored.
/// Partners of a rank ascend; no rank is its own partner; every weight is > 0.
struct CommunicationGraph {
  std::vector<std::int64_t> offsets{0};  ///< size n_ranks + 1
  std::vector<Rank> partners;
  std::vector<double> weights;

  [[nodiscard]] int n_ranks() const noexcept { return static_cast<int>(offsets.size()) - 1; }
  [[nodiscard]] std::span<const Rank> partners_of(Rank rank) const noexcept {
    return std::span(partners).subspan(begin_of(rank), degree_of(rank));
  }
  [[nodiscard]] std::span<const double> weights_of(Rank rank) const noexcept {
    return std::span(weights).subspan(begin_of(rank), degree_of(rank));
  }
  [[nodiscard]] std::size_t degree_of(Rank rank) const noexcept { return begin_of(rank + 1) - begin_of(rank); }
  /// The sum of w_ij over unordered pairs. Cost: O(edges).
  [[nodiscard]] double compute_total_weight() const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t begin_of(Rank rank) const noexcept { return offsets[rank]; }
};

/// Hold how much each rank sends to each other rank, sparse. Local: the whole matrix lives in one process.
/// Entries are sorted by (from, to) and unique. Memory: 40 bytes per entry, nothing of size n_ranks^2.
class TrafficMatrix {
 public:
  /// More ranks than this is taken for a damaged file.
  static constexpr int max_ranks = 1 << 24;

  /// Build from entries in any order; entries of the same (from, to) are added up.
  /// @throws Error{bad_input} on what `validate()` refuses. Cost: O(entries log entries)
  explicit TrafficMatrix(int n_ranks = 0, std::vector<TrafficEntry> entries = {});

  [[nodiscard]] int n_ranks() const noexcept { return n_ranks_; }
  [[nodiscard]] const std::vector<TrafficEntry>& entries() const& noexcept { return entries_; }
  const std::vector<TrafficEntry>& entries() const&& = delete;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  /// Check that ranks are in range and values are finite, not negative and below 1e18.
  /// @throws Error{bad_input} naming the first bad entry
  void validate() const;

  /// Merge both directions into the undirected graph of one weight; self traffic and zeros are left out.
  /// Cost: O(entries), memory about 40 bytes per edge end at the peak.
  [[nodiscard]] CommunicationGraph compute_graph(Weighing weighing) const;

  /// Tell whether an entry between two different ranks has this weight above zero.
  [[nodiscard]] bool has(Weight weight) const noexcept;

  /// Write as a document of schema "barrio.traffic", version 1:
  /// `{..., "ranks": n, "entries": [[from, to, points, bytes, messages], ...]}`.
  [[nodiscard]] Json to_json() const;
  /// Read the document. @param[in] subject  the file's name, for messages @throws Error{bad_input}
  static TrafficMatrix from_json(const Json& document, const std::string& subject);
  /// As `from_json`, from another list of such rows in the document than "entries".
  static TrafficMatrix from_rows(const Json& document, std::string_view key, const std::string& subject);

  bool operator==(const TrafficMatrix&) const = default;

 private:
  int n_ranks_;
  std::vector<TrafficEntry> entries_;
};

/// The value of an entry.
constexpr double value_of(const TrafficEntry& entry, Weighing weighing) noexcept {
  if (weighing.unit == Weight::bytes)
    return weighing.message_bytes > 0.0 ? entry.bytes + weighing.message_bytes * entry.messages : entry.bytes;
  return weighing.unit == Weight::points ? entry.points : entry.messages;
}

/// Add up traffic of several phases of one job, such as the levels of a multigrid cycle, each times a factor >= 0.
/// @throws Error{usage} if they are not of the same number of ranks, not as many as factors, or if there are none
TrafficMatrix sum(std::span<const TrafficMatrix> phases, std::span<const double> factors);

/// Write a traffic document, whole or not at all. Local. @throws Error{failed}
void write_traffic(const TrafficMatrix& traffic, const std::string& path);
/// Read a traffic document. Local. @throws Error{bad_input}, or Error{failed} if it cannot be opened
TrafficMatrix read_traffic_document(const std::string& path);

}  // namespace barrio::rankmap
