#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// How long messages take between pairs of ranks of one kind, by size.
struct MessageTimes {
  std::vector<std::int64_t> bytes;
  std::vector<double> seconds;  ///< one way; the median over pairs of each pair's best
  int n_pairs = 0;
  /// The time of the smallest message.
  [[nodiscard]] double latency() const noexcept { return seconds.empty() ? 0.0 : seconds.front(); }
  /// Bytes per second beyond the latency: the median over messages of 64 KiB and more, or of the largest; 0 if nothing
  /// was measured.
  [[nodiscard]] double bandwidth() const;
};

/// A machine as messages see it.
struct MeasuredMachine {
  std::vector<HostRun> hosts;  ///< where ranks were, in their order
  MessageTimes inside;         ///< between ranks of one node; without sizes if no node has two ranks
  MessageTimes between;        ///< between ranks of two nodes; without sizes if there is one node
  /// Distances inside a node and between nodes for `Machine`: what a byte costs, 1 inside. Without measurements of both
  /// kinds, the usual 1 and 10.
  [[nodiscard]] std::vector<double> distances() const;
  /// As how many bytes a message counts beside its own between nodes: latency times bandwidth; 0 if not measured.
  [[nodiscard]] double message_bytes() const { return between.latency() * between.bandwidth(); }
};

struct MeasureOptions {
  std::int64_t max_bytes = 4 << 20;
  int max_pairs = 8;          ///< of each kind; pairs are measured one after the other
  double pair_seconds = 0.2;  ///< about how long a pair is measured
};

/// Measure latency and bandwidth between cores by ping-pong, from 1 byte to 4 MiB: of the first rank of a node with
/// ranks near and far on it, of the first ranks of nodes near and far in their order. Others sleep meanwhile.
/// Collective. The result is the same on all ranks. Cost: 2 * max_pairs * pair_seconds at most.
/// @throws AgreedError{usage} on one rank
MeasuredMachine measure_machine(mpi::Context& context, const MeasureOptions& options = {});

/// A document of schema barrio.machine, version 1.
Json to_json(const MeasuredMachine& machine);
/// Read such a document. Local. @throws Error{bad_input}, Error{failed}
MeasuredMachine read_measured_machine(const std::string& path);

}  // namespace barrio::rankmap
