#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "barrio/rankmap/launcher.hpp"
#include "barrio/rankmap/machine_sources.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/qaplib.hpp"
#include "barrio/rankmap/reorder.hpp"
#include "barrio/rankmap/traffic_files.hpp"
#include "bindings.hpp"

// The basis of barrio/rankmap.py, which is the public interface.

namespace barrio::python {
namespace {

using Pairs = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Amounts = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

rankmap::TrafficMatrix traffic_of(int n_ranks, const Pairs& pairs, const Amounts& bytes, const Amounts& messages,
                                  const Amounts& points) {
  if (bytes.shape(0) != pairs.shape(0) || messages.shape(0) != pairs.shape(0) || points.shape(0) != pairs.shape(0))
    throw_usage("traffic", "must have as many values as pairs", "give bytes and messages for each pair");
  std::vector<rankmap::TrafficEntry> entries(pairs.shape(0));
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = {
        .from = pairs(i, 0), .to = pairs(i, 1), .points = points(i), .bytes = bytes(i), .messages = messages(i)};
  return rankmap::TrafficMatrix(n_ranks, std::move(entries));
}

nb::tuple read_traffic(const std::string& path, double collectives) {
  const rankmap::TrafficMatrix traffic = [&] {
    const nb::gil_scoped_release unlocked;
    return rankmap::read_traffic(path, collectives);
  }();
  const std::size_t n = traffic.entries().size();
  std::vector<std::int32_t> pairs;
  std::vector<double> bytes, messages, points;
  pairs.reserve(2 * n);
  for (const rankmap::TrafficEntry& entry : traffic.entries()) {
    pairs.insert(pairs.end(), {entry.from, entry.to});
    bytes.push_back(entry.bytes);
    messages.push_back(entry.messages);
    points.push_back(entry.points);
  }
  return nb::make_tuple(traffic.n_ranks(), copied(std::move(pairs)), copied(std::move(bytes)),
                        copied(std::move(messages)), copied(std::move(points)));
}

rankmap::Machine machine_of(const std::string& machine, const std::string& hosts) {
  return rankmap::describe_machine({.machine = machine, .hosts = hosts}, {});
}

std::string place(int n_ranks, const Pairs& pairs, const Amounts& bytes, const Amounts& messages, const Amounts& points,
                  const std::string& machine_text, const std::string& hosts, const std::optional<Ranks>& given,
                  const std::vector<std::pair<int, int>>& pins, const std::string& weight, double message_bytes,
                  double bottleneck, const std::string& method, std::optional<double> seconds, std::uint64_t seed) {
  const rankmap::TrafficMatrix traffic = traffic_of(n_ranks, pairs, bytes, messages, points);
  const rankmap::Machine machine = machine_of(machine_text, hosts);
  rankmap::MapOptions options{.weight = rankmap::parse_weight(weight),
                              .message_bytes = message_bytes,
                              .bottleneck = bottleneck,
                              .method = rankmap::parse_method(method),
                              .seed = seed,
                              .seconds = seconds.value_or(rankmap::automatic_seconds)};
  if (given)
    options.given = rankmap::Placement({given->data(), given->data() + given->size()}, machine.n_cores());
  else
    options.given = rankmap::Placement::filled(n_ranks, machine);
  for (const auto& [rank, core] : pins) options.pins.push_back({.rank = rank, .core = core});
  const nb::gil_scoped_release unlocked;
  return rankmap::to_json(rankmap::map(traffic, machine, options), traffic, machine).dump();
}

std::string place_qaplib(const std::string& path, bool flows_first, std::optional<double> seconds, std::uint64_t seed) {
  const nb::gil_scoped_release unlocked;
  const rankmap::QaplibInstance problem = rankmap::read_qaplib(
      path, flows_first ? rankmap::QaplibOrder::flows_first : rankmap::QaplibOrder::distances_first);
  const rankmap::MapResult found = rankmap::map(
      problem.traffic, problem.machine, {.seed = seed, .seconds = seconds.value_or(rankmap::automatic_seconds)});
  return rankmap::to_json(found, problem.traffic, problem.machine).dump();
}

void write_order(const std::string& path, const std::string& format, const std::string& machine_text,
                 const std::string& hosts, const Ranks& placement) {
  const rankmap::Machine machine = machine_of(machine_text, hosts);
  rankmap::write_launcher_file(
      path, rankmap::parse_launcher_format(format), machine,
      rankmap::Placement({placement.data(), placement.data() + placement.size()}, machine.n_cores()));
}

std::tuple<int, double, double, double, double, int> reorder(const CommArgument& comm, const Ranks& neighbours,
                                                             const Amounts& weights, std::optional<int> node,
                                                             double inside, double outside, double seconds,
                                                             double min_gain, std::uint64_t seed) {
  return in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    const rankmap::Reordered found = rankmap::reorder(
        *context, std::span(neighbours.data(), neighbours.size()), std::span(weights.data(), weights.size()),
        {.inside = inside, .outside = outside, .node = node, .seconds = seconds, .min_gain = min_gain, .seed = seed});
    return std::tuple(static_cast<int>(found.comm.rank()), found.cost_before, found.cost_after, found.share_before,
                      found.share_after, found.n_moved);
  });
}

}  // namespace

void bind_rankmap(nb::module_& module) {
  module.def("_read_traffic", &read_traffic);
  module.def("_place_ranks", &place);
  module.def("_place_qaplib", &place_qaplib);
  module.def("_write_order", &write_order);
  module.def("_reorder", &reorder);
}

}  // namespace barrio::python
