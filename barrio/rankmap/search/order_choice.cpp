#include "barrio/rankmap/solve.hpp"

#include <fmt/format.h>

#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/rankmap/search/bottleneck.hpp"

namespace barrio::rankmap {
namespace {

constexpr double rounding = 1e-12;

double gain_of(double before, double after) { return before > 0.0 ? 1.0 - after / before : 0.0; }

std::string percent(double part) { return fmt::format("{:.3g} %", 100.0 * part); }

double sure_gain_of(const MapResult& result, const Machine& machine, const MapOptions& options,
                    const TrafficMatrix& sure) {
  const CommunicationGraph graph = sure.compute_graph(Weighing(options.weight, options.message_bytes));
  const auto mixed = [&](const Placement& placement) {
    return mixed_cost(graph, machine, placement, options.bottleneck);
  };
  return gain_of(mixed(result.given), mixed(result.placement));
}

std::string why_given_stays(const OrderChoice& choice, const MapResult& result) {
  if (result.placement == result.given) return "it is as good as the placement found";
  const bool is_tie = choice.gain <= rounding;
  const double calmer = gain_of(result.before.max_node_out_bytes, result.after.max_node_out_bytes);
  if (is_tie && (calmer <= rounding || calmer < choice.min_gain)) return "the placement found costs the same";
  if (!is_tie && choice.gain < choice.min_gain)
    return fmt::format("the placement found gains {}, less than --min-gain {:.3g}", percent(choice.gain),
                       100.0 * choice.min_gain);
  if (!choice.sure_gain) return {};
  const bool is_sure =
      is_tie ? *choice.sure_gain >= -rounding : *choice.sure_gain > rounding && *choice.sure_gain >= choice.min_gain;
  if (is_sure) return {};
  return fmt::format(
      "the placement found gains {} with collectives and {} without, and a recording only estimates who sends to "
      "whom in collectives; --collectives 1 counts them in full",
      percent(choice.gain), percent(*choice.sure_gain));
}

}  // namespace

OrderChoice choose_order(const MapResult& result, const Machine& machine, const MapOptions& options, double min_gain,
                         const TrafficMatrix* sure) {
  if (!(min_gain >= 0.0 && min_gain <= 1.0))
    throw Error(ErrorCode::usage, {.subject = fmt::format("--min-gain {}", 100.0 * min_gain),
                                   .cause = "must be a part of the cost in percent",
                                   .remedy = "use 0 to 100"});
  OrderChoice choice{.gain = gain_of(result.mixed_before, result.mixed_after), .min_gain = min_gain};
  if (sure != nullptr) choice.sure_gain = sure_gain_of(result, machine, options, *sure);
  choice.reason = why_given_stays(choice, result);
  choice.keeps_given = !choice.reason.empty();
  return choice;
}

MapResult with_given_order(MapResult result) {
  result.placement = result.given;
  result.cost_after = result.cost_before;
  result.mixed_after = result.mixed_before;
  result.after = result.before;
  result.method = "given order";
  return result;
}

Json to_json(const OrderChoice& choice, const MapResult& found) {
  Json document{{"order", choice.keeps_given ? "given" : "found"},
                {"gain", choice.gain},
                {"min_gain", choice.min_gain},
                {"gain_without_collectives", choice.sure_gain ? Json(*choice.sure_gain) : Json()},
                {"reason", choice.reason}};
  document["found"] = {{"method", found.method},
                       {"cost", found.cost_after},
                       {"mixed_cost", found.mixed_after},
                       {"max_node_out_bytes", found.after.max_node_out_bytes},
                       {"placement", found.placement.core_of_rank()}};
  return document;
}

}  // namespace barrio::rankmap
