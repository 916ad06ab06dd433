#pragma once

/// @file Measure latency and bandwidth between cores and nodes, and derive distances.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// Times of messages between pairs of ranks of one kind, by size.
struct MessageTimes {
  std::vector<std::int64_t> bytes;  ///< message sizes, ascending; empty if nothing was measured
  std::vector<double> seconds;      ///< one way; the median over pairs of each pair's best
  int n_pairs = 0;                  ///< pairs of ranks that were measured
  /// Return the time of the smallest message.
  [[nodiscard]] double latency() const noexcept { return seconds.empty() ? 0.0 : seconds.front(); }
  /// Return bytes per second beyond the latency: the median over messages of 64 KiB and more, or of the largest; 0 if
  /// nothing was measured.
  [[nodiscard]] double bandwidth() const;
};

/// Message times of a machine.
struct MeasuredMachine {
  std::vector<HostRun> hosts;  ///< of the ranks, in their order
  MessageTimes inside;         ///< between ranks of one node; without sizes if no node has two ranks
  MessageTimes between;        ///< between ranks of two nodes; without sizes if there is only one node
  /// Return distances inside a node and between nodes for `Machine`: the cost of a byte, 1 inside. Unless both kinds
  /// were measured, the usual 1 and 10.
  [[nodiscard]] std::vector<double> distances() const;
  /// Return the bytes that one message between nodes costs besides its own: latency times bandwidth; 0 if not measured.
  [[nodiscard]] double message_bytes() const { return between.latency() * between.bandwidth(); }
};

/// Options of `measure_machine()`; the same on all ranks.
struct MeasureOptions {
  std::int64_t max_bytes = 4 << 20;  ///< size of the largest message
  int max_pairs = 8;                 ///< of each kind; pairs are measured one after the other
  double pair_seconds = 0.2;         ///< measuring time of a pair, about
};

/// Measure latency and bandwidth between cores by ping-pong, from 1 byte to `max_bytes`: from the first rank of a node
/// to near and far ranks on it, and between the first ranks of nodes that are near and far in their order. Other ranks
/// sleep meanwhile. Collective. The result is the same on all ranks. Cost: at most 2 * max_pairs * pair_seconds.
/// @throws AgreedError{usage} on one rank
MeasuredMachine measure_machine(mpi::Context& context, const MeasureOptions& options = {});

/// Write a document of schema barrio.machine, version 1.
Json to_json(const MeasuredMachine& machine);
/// Read such a document. Local. @throws Error{bad_input}, Error{failed}
MeasuredMachine read_measured_machine(const std::string& path);

}  // namespace barrio::rankmap
