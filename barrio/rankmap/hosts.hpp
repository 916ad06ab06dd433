#pragma once

/// @file Hosts: names and host files of launchers and batch systems, and the placement they imply.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Consecutive ranks, or slots for ranks, on one host.
struct HostRun {
  std::string name;  ///< of the host, as the launcher or batch system spells it
  int count = 0;     ///< 0: not specified

  bool operator==(const HostRun&) const = default;
};

/// Resolve Slurm's short form of names: "n[01-03,7]" is n01, n02, n03, n7; several brackets in a name multiply. Names
/// are separated by ','. @throws Error{usage} quoting the invalid text
std::vector<std::string> expand_names(std::string_view text);

/// Read hosts from a text such as "n01:8,n[02-04]:16": names with the number of slots of each.
/// @throws Error{usage}
std::vector<HostRun> parse_hosts(std::string_view text);

/// Read a host file of a launcher or batch system: one host per line, as "n01", "n01:8", "n01 slots=8" or "n01 8", with
/// '#' before comments. A line without a number is one slot if its host appears again; if not, the number is
/// unspecified. Local. @throws Error{bad_input} with file and line, Error{failed}
std::vector<HostRun> read_host_file(const std::string& path);

/// Merge runs: each host once, in the order of first appearance, with the sum of its counts.
std::vector<HostRun> merge_hosts(std::span<const HostRun> runs);

/// Place ranks that are listed by host: each on the next free core of its host. The other cores stay free. @throws
/// Error{bad_input} naming a host that is not in the machine, or has more ranks than cores
Placement placement_of_hosts(std::span<const HostRun> ranks, const Machine& machine);

}  // namespace barrio::rankmap
