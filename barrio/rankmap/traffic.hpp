#pragma once

/// @file Traffic between ranks: matrix of points, bytes and messages, and its communication graph.

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
inline constexpr int traffic_schema_version = 1;  ///< written, and the newest that is read

/// Count of a traffic entry that is the weight of a pair of ranks.
enum class Weight {
  points,    ///< halo points
  bytes,     ///< bytes of messages
  messages,  ///< number of messages
};

/// Return the name of a weight: "points", "bytes", "messages".
std::string_view name_of(Weight weight) noexcept;
/// Parse the name of a weight. @throws Error{usage} naming the choices
Weight parse_weight(std::string_view word);

/// Weight of one entry.
struct Weighing {
  Weight unit = Weight::bytes;  ///< count that is the weight
  double message_bytes = 0.0;   ///< cost of a message besides its bytes, in bytes; with Weight::bytes only
  /// Make a weighing; implicit, so that a Weight serves as one.
  constexpr Weighing(Weight unit_ = Weight::bytes, double message_bytes_ = 0.0) noexcept
      : unit(unit_), message_bytes(message_bytes_) {}
};

/// Traffic from one rank to another, in one step or over a whole run. Values >= 0.
struct TrafficEntry {
  Rank from = 0;          ///< rank that sends
  Rank to = 0;            ///< rank that receives; may be `from`
  double points = 0.0;    ///< halo points of `to` that `from` serves; the paper's a_ij
  double bytes = 0.0;     ///< payload of the messages
  double messages = 0.0;  ///< number of messages; a mean may be a fraction

  bool operator==(const TrafficEntry&) const = default;
};

/// Undirected communication graph in compressed rows: w_ij = a_ij + a_ji, both directions stored.
/// Partners of a rank ascend; no rank is its own partner; every weight is > 0.
struct CommunicationGraph {
  std::vector<std::int64_t> offsets{0};  ///< size n_ranks + 1
  std::vector<Rank> partners;            ///< of all ranks, row after row; size offsets.back()
  std::vector<double> weights;           ///< w_ij of each partner, in the same order

  /// Return the number of ranks, those without partners included.
  [[nodiscard]] int n_ranks() const noexcept { return static_cast<int>(offsets.size()) - 1; }
  /// Return the partners of a rank, ascending. Borrowed from the graph.
  [[nodiscard]] std::span<const Rank> partners_of(Rank rank) const noexcept {
    return std::span(partners).subspan(begin_of(rank), degree_of(rank));
  }
  /// Return the weights of a rank's partners, in their order. Borrowed from the graph.
  [[nodiscard]] std::span<const double> weights_of(Rank rank) const noexcept {
    return std::span(weights).subspan(begin_of(rank), degree_of(rank));
  }
  /// Return the number of partners of a rank.
  [[nodiscard]] std::size_t degree_of(Rank rank) const noexcept { return begin_of(rank + 1) - begin_of(rank); }
  /// Return the number of partners of all ranks, as a factor of estimates of time.
  [[nodiscard]] double n_edge_ends() const noexcept { return static_cast<double>(partners.size()); }
  /// Sum w_ij over unordered pairs. Cost: O(edges).
  [[nodiscard]] double compute_total_weight() const noexcept;
  /// Return the memory of the three arrays.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t begin_of(Rank rank) const noexcept { return offsets[rank]; }
};

/// Sparse traffic between all ranks. Local: the whole matrix is in one process.
/// Entries are sorted by (from, to) and unique. Memory: 40 bytes per entry, nothing of size n_ranks^2.
class TrafficMatrix {
 public:
  /// A file with more ranks than this counts as damaged.
  static constexpr int max_ranks = 1 << 24;

  /// Build from entries in any order; entries of the same (from, to) are added up.
  /// @throws Error{bad_input} on what `validate()` refuses. Cost: O(entries log entries)
  explicit TrafficMatrix(int n_ranks = 0, std::vector<TrafficEntry> entries = {});

  /// Return the number of ranks, those without traffic included.
  [[nodiscard]] int n_ranks() const noexcept { return n_ranks_; }
  /// Return the entries, sorted by (from, to) and unique. Borrowed from the matrix.
  [[nodiscard]] const std::vector<TrafficEntry>& entries() const& noexcept { return entries_; }
  /// Refuse a reference into a temporary.
  const std::vector<TrafficEntry>& entries() const&& = delete;
  /// Return the memory of the entries.
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
  /// Read, as `from_json`, a list of such rows that has another key than "entries".
  static TrafficMatrix from_rows(const Json& document, std::string_view key, const std::string& subject);

  bool operator==(const TrafficMatrix&) const = default;

 private:
  int n_ranks_;
  std::vector<TrafficEntry> entries_;
};

/// Return the value of an entry.
constexpr double value_of(const TrafficEntry& entry, Weighing weighing) noexcept {
  if (weighing.unit == Weight::bytes)
    return weighing.message_bytes > 0.0 ? entry.bytes + weighing.message_bytes * entry.messages : entry.bytes;
  return weighing.unit == Weight::points ? entry.points : entry.messages;
}

/// Sum traffic of several phases of one job, such as the levels of a multigrid cycle, each times a factor >= 0.
/// @throws Error{usage} if they have different numbers of ranks, if there are not as many factors, or if there are no
/// phases
TrafficMatrix sum(std::span<const TrafficMatrix> phases, std::span<const double> factors);

/// Write a traffic document, either complete or not at all. Local. @throws Error{failed}
void write_traffic(const TrafficMatrix& traffic, const std::string& path);
/// Read a traffic document. Local. @throws Error{bad_input}, or Error{failed} if it cannot be opened
TrafficMatrix read_traffic_document(const std::string& path);

}  // namespace barrio::rankmap
