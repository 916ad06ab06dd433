#pragma once

/// @file Describe a machine from the user's files and options: hosts, switches, node, distances.

#include <span>
#include <string>
#include <vector>

#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// The user's description of a machine; any part may be missing.
struct MachineSources {
  /// The text form of `Machine::parse`, or the name of a file: a host file, Slurm's topology.conf, a matrix of
  /// distances between cores, or the result of `barrio map --measure`.
  std::string machine = {};
  /// The nodes of the job, in the order in which the launcher fills them: a list in the form of `parse_hosts`, or a
  /// host file.
  std::string hosts = {};
  /// The inside of a node: hwloc's XML.
  std::string node = {};
  /// Cores to use of each node if nothing else specifies them; 0: unspecified.
  int cores_per_node = 0;
  /// Distances, from the inside out, that replace the usual ones; empty: the usual ones, or those of the text form.
  std::vector<double> distances = {};
};

/// Make the machine. Without any description it is that of the recorded run. Local.
/// The usual distances are 1, 2, ... inside a node, and 10, 20, ... between nodes, switch after switch.
/// @param[in] recorded  location of the ranks in the recorded run; empty: unknown
/// @throws Error{usage} for contradictory descriptions, or without any; Error{bad_input} for damaged files, and for
/// hosts that are not in the machine; Error{failed} for files that cannot be read
Machine describe_machine(const MachineSources& sources, std::span<const HostRun> recorded);

/// Read a symmetric matrix of distances between cores: n rows of n numbers; lines of '#' or '%' are comments, a first
/// line with n alone is skipped. Local. @throws Error{bad_input} with file and line, Error{failed}
std::vector<double> read_distance_matrix(const std::string& path, int& n_cores);

}  // namespace barrio::rankmap
