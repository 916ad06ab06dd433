#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// So many ranks in a row, or so many places for ranks, on one host.
struct HostRun {
  std::string name;
  int count = 0;  ///< 0: not said

  bool operator==(const HostRun&) const = default;
};

/// Write out Slurm's short form of names: "n[01-03,7]" is n01, n02, n03, n7; several brackets in a name multiply.
/// Names are separated by ','. @throws Error{usage} quoting what is no such list
std::vector<std::string> expand_names(std::string_view text);

/// Read hosts from a text such as "n01:8,n[02-04]:16": names with how many places each has.
/// @throws Error{usage}
std::vector<HostRun> parse_hosts(std::string_view text);

/// Read a host file as launchers and batch systems have them: a host a line, as "n01", "n01:8", "n01 slots=8" or
/// "n01 8", with '#' before comments; a line without a number is one place if its host appears again, and says nothing
/// if it does not. Local. @throws Error{bad_input} with file and line, Error{failed}
std::vector<HostRun> read_host_file(const std::string& path);

/// Each host once, in the order in which they appear first, with the sum of its counts.
std::vector<HostRun> merge_hosts(std::span<const HostRun> runs);

/// Where ranks are that were counted off by host: each on the next free core of its host. The rest of the machine stays
/// empty. @throws Error{bad_input} naming a host that is not of the machine, or has more ranks than cores
Placement placement_of_hosts(std::span<const HostRun> ranks, const Machine& machine);

}  // namespace barrio::rankmap
