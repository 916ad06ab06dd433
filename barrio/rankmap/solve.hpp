#pragma once

/// @file Find a placement of ranks on cores with small communication cost.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Search method.
enum class Method {
  best,                ///< barrio's own: several starts, annealed and polished
  paper_construction,  ///< the construction method alone
  paper_improvement,   ///< pair exchange in blocks, from the construction
  paper_from_given,    ///< pair exchange in blocks, from the given order
};

/// Return the name of a method: "best", "paper-construction", "paper-improvement", "paper-from-given".
std::string_view name_of(Method method) noexcept;
/// Parse the name of a method. @throws Error{usage} naming the choices
Method parse_method(std::string_view word);

/// A rank that must be on a core.
struct Pin {
  Rank rank = 0;  ///< rank that must not move
  int core = -1;  ///< -1: its core in the given order
};

/// Let `map` choose the search time: a second for 128 to 8 192 ranks, less for fewer, in proportion for more; a power
/// of two.
inline constexpr double automatic_seconds = -1.0;

/// Options of `map()`.
struct MapOptions {
  Weight weight = Weight::bytes;  ///< count of the traffic that the objective weighs
  double message_bytes = 0.0;     ///< cost of a message besides its bytes, in bytes; with Weight::bytes only
  /// Share of the busiest node in the objective, 0..1: 0 is the sum Z alone, see `mixed_cost`.
  double bottleneck = 0.0;
  Method method = Method::best;  ///< search method; the paper's serve to compare
  int block = 64;          ///< cores per block of the paper's pair exchange; the number of cores or more: all pairs
  std::uint64_t seed = 1;  ///< of the random parts of `Method::best`
  /// Search time of `Method::best`, about, in seconds of one core of this decade. It is counted in work, not in time,
  /// so the result is the same everywhere; see `patience`. Work comes in pieces in an order that does not depend on
  /// this time, and the best is kept: more seconds never give a worse result. Powers of two are used in full; between
  /// them up to half is left over.
  double seconds = automatic_seconds;
  /// Factor of that time after which the search ends early, on a machine that is slower or runs a sanitizer; infinity:
  /// never.
  double patience = 3.0;
  std::optional<Placement> given = {};  ///< the order to beat; empty: rank i on core i
  std::vector<Pin> pins = {};           ///< ranks that must not move
};

/// Result of `map()`: the placement found, and its costs beside those of the given order.
struct MapResult {
  Placement given;  ///< the order to beat; with pins to other cores, the pinned ranks have been exchanged
  /// The best found; of two with the same cost, the one with the smaller load on its busiest node; `given` if nothing
  /// is better.
  Placement placement;
  Weight weight = Weight::bytes;  ///< that of the options; all costs are in its unit
  std::string method;             ///< method that found it, in words
  double cost_before = 0.0;       ///< Z of `given`
  /// Z after the construction method alone; may exceed cost_before. NaN on machines too large for that method.
  double cost_construction = 0.0;
  double cost_after = 0.0;    ///< Z of `placement`, <= cost_before unless a bottleneck counts
  double mixed_before = 0.0;  ///< objective of `given`: Z unless a bottleneck counts
  double mixed_after = 0.0;   ///< objective of `placement`, <= mixed_before
  double lower_bound = 0.0;   ///< no placement has a Z below this
  PlacementFigures before;    ///< of `given`
  PlacementFigures after;     ///< of `placement`
  bool is_complete = true;    ///< false: the search ended early, and the result may vary with the machine
  double seconds = 0.0;       ///< time spent searching
};

/// Find a placement of ranks on cores with a small cost Z = sum of w_ij * distance, never worse than the given order.
/// The starts are that order, the construction method, a greedy choice of ranks and cores, and bisections of ranks and
/// machine. Whole groups move first, then single ranks, by simulated annealing, and pair exchanges polish the best
/// placement. Local. Deterministic for given options unless ended early (see `MapResult::is_complete`). There may be
/// fewer ranks than cores; the graph may be empty or disconnected.
/// @throws Error{usage} if there are more ranks than cores, if the weight is zero in all entries though another is not,
/// if an option is out of range, if `given` is not of this size, or if two pins conflict
/// Cost: `seconds` of search, and at least O(edges log edges log groups). Memory O(edges + cores) for each of up to 32
/// starts, and up to 64 MB.
/// Source: Brandfass, Alrutz, Gerhold 2012, section 5.2, for the paper's methods; the starts and searches that `best`
/// adds name their sources.
MapResult map(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options = {});

/// Decision whether a placement is worth a change of order.
struct OrderChoice {
  bool keeps_given = false;  ///< true: the given order stays
  double gain = 0.0;         ///< part of the objective, 0..1
  double min_gain = 0.0;     ///< smallest gain for a change
  /// The gain without collectives, whose bytes a recording only estimates; empty: they do not count, or the user
  /// vouches for them.
  std::optional<double> sure_gain = {};
  std::string reason = {};  ///< why the given order stays, in words; empty if it does not stay
};

/// Choose between the given order and the placement found: the given one stays if the gain with collectives or the gain
/// without them is below `min_gain`. If both cost the same, the busiest node decides: the bytes that leave it must fall
/// by `min_gain`. Local. @param[in] sure  the traffic without collectives; null: they do not count, or the user vouches
/// for them
/// @param[in] options  those of the search that gave the result. @throws Error{usage} if min_gain is not in 0..1
/// Cost: O(edges) @return the choice; `result` is unchanged
OrderChoice choose_order(const MapResult& result, const Machine& machine, const MapOptions& options, double min_gain,
                         const TrafficMatrix* sure);

/// Return the result with the given order as its placement.
MapResult with_given_order(MapResult result);

/// Write a choice and the search result, for the key "choice" of a document barrio.map.
Json to_json(const OrderChoice& choice, const MapResult& found);

}  // namespace barrio::rankmap
