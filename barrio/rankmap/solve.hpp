#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// How a placement is looked for.
enum class Method {
  best,                ///< barrio's own: several starts, annealed and polished
  paper_construction,  ///< the construction method alone
  paper_improvement,   ///< pair exchange in blocks, from the construction
  paper_from_given,    ///< pair exchange in blocks, from the order given
};

/// The word for a method, as users write it: "best", "paper-construction", "paper-improvement", "paper-from-given".
std::string_view name_of(Method method) noexcept;
/// Read a method from its word. @throws Error{usage} naming the choices
Method parse_method(std::string_view word);

/// A rank that has to be on a core.
struct Pin {
  Rank rank = 0;
  int core = -1;  ///< -1: where the order given has it
};

/// Let `map` choose how long to search: a second for 128 to 8 192 ranks, less for fewer, in proportion for more; a
/// power of two.
inline constexpr double automatic_seconds = -1.0;

struct MapOptions {
  Weight weight = Weight::bytes;
  double message_bytes = 0.0;  ///< what a message costs beside its bytes, as so many bytes; with Weight::bytes only
  /// The share of the busiest node in what is minimised, 0..1: 0 is the sum Z alone, see `mixed_cost`.
  double bottleneck = 0.0;
  Method method = Method::best;
  int block = 64;          ///< cores per block of the paper's pair exchange; as many as cores or more: all pairs
  std::uint64_t seed = 1;  ///< of the random parts of `Method::best`
  /// About how long `Method::best` searches, in seconds of one core of this decade. It is counted in work, not in time,
  /// so that the result is the same everywhere; see `patience`. Work comes in pieces whose order does not depend on
  /// this, and the best is kept: more seconds never give worse. Powers of two are used to the full, between them up to
  /// half is left over.
  double seconds = automatic_seconds;
  /// How many times as long it may take before it is ended early, on a machine that is slower or looked at by a
  /// sanitizer; infinity: it is never.
  double patience = 3.0;
  std::optional<Placement> given = {};  ///< the order to beat; empty: rank i on core i
  std::vector<Pin> pins = {};           ///< ranks that may not move
};

struct MapResult {
  Placement given;  ///< the order that was to be beaten; with pins to other cores, their ranks have changed places
  /// The best found; of two that cost the same, the one whose busiest node has less to do; `given` if nothing is
  /// better.
  Placement placement;
  Weight weight = Weight::bytes;
  std::string method;        ///< what found it, in words
  double cost_before = 0.0;  ///< Z of `given`
  /// Z after the construction method alone; may exceed cost_before. NaN on machines too large for that method.
  double cost_construction = 0.0;
  double cost_after = 0.0;    ///< Z of `placement`, <= cost_before unless a bottleneck counts
  double mixed_before = 0.0;  ///< what was minimised, of `given`: Z unless a bottleneck counts
  double mixed_after = 0.0;   ///< the same of `placement`, <= mixed_before
  double lower_bound = 0.0;   ///< no placement has a Z below this
  PlacementFigures before;
  PlacementFigures after;
  bool is_complete = true;  ///< false: the search was ended early, the result may vary with the machine
  double seconds = 0.0;     ///< time spent searching
};

/// Find a placement of ranks on cores with a small cost Z = sum of w_ij * distance, never worse than the order given.
/// The starts are that order, the construction method, a greedy choice of ranks and cores, and bisections of ranks and
/// machine; whole groups are moved, then single ranks are, by simulated annealing, and the best placement is polished
/// by pair exchanges. Local. Deterministic for given options unless ended early (see `MapResult::is_complete`). Ranks
/// may be fewer than cores; the graph may be empty or fall apart.
/// @throws Error{usage} if there are more ranks than cores, if the weight is zero in all entries though another is not,
///         if an option is out of range, if `given` is not of this size, or if two pins are in each other's way
/// Cost: what `seconds` asks for, and at least O(edges log edges log groups). Memory O(edges + cores) for each of up to
/// 32 starts, and up to 64 MB. Source: Brandfass, Alrutz, Gerhold 2012, section 5.2, for the paper's methods; the
/// starts and searches that `best` adds name their sources.
MapResult map(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options = {});

/// Whether a placement that was found is worth a change of order.
struct OrderChoice {
  bool keeps_given = false;
  double gain = 0.0;      ///< part of what was minimised, 0..1
  double min_gain = 0.0;  ///< what it takes for a change
  /// The gain without collectives, whose bytes a recording only guesses; empty: they do not count, or are vouched for.
  std::optional<double> sure_gain = {};
  std::string reason = {};  ///< why the given order stays, in words; empty: it does not
};

/// Choose between the order given and the placement found: the given one stays if the gain is below `min_gain`, or if
/// it is so without collectives. Where both cost the same, the busiest node decides: the bytes that leave it have to
/// fall by `min_gain`. Local. @param[in] sure  the traffic without collectives; null: they do not count, or are vouched
/// for
/// @param[in] options  those that the result was found with. @throws Error{usage} if min_gain is not in 0..1
/// Cost: O(edges) @return what was chosen; `result` is as it was
OrderChoice choose_order(const MapResult& result, const Machine& machine, const MapOptions& options, double min_gain,
                         const TrafficMatrix* sure);

/// The same result with the given order as its placement.
MapResult with_given_order(MapResult result);

/// Write a choice and what was found, for the key "choice" of a document barrio.map.
Json to_json(const OrderChoice& choice, const MapResult& found);

}  // namespace barrio::rankmap
