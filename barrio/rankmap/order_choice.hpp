#pragma once

#include <optional>
#include <string>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/solve.hpp"

namespace barrio::rankmap {

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
