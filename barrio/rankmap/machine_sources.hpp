#pragma once

#include <span>
#include <string>
#include <vector>

#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// What a user says of a machine; any of it may be left out.
struct MachineSources {
  /// The text form of `Machine::parse`, or the name of a file: a host file, Slurm's topology.conf, a matrix of
  /// distances between cores, or what `barrio map --measure` wrote.
  std::string machine = {};
  /// The nodes of the job, in the order in which the launcher fills them: a list as `parse_hosts` takes it, or a host
  /// file.
  std::string hosts = {};
  /// The inside of a node: hwloc's XML.
  std::string node = {};
  /// Cores to use of each node where nothing else says it; 0: not said.
  int cores_per_node = 0;
  /// Distances, from the inside out, instead of the usual ones; empty: the usual ones, or those of the text form.
  std::vector<double> distances = {};
};

/// Make the machine. Without a word about it, it is that of the run that traffic was recorded in. Local.
/// The usual distances are 1, 2, ... inside a node, and 10, 20, ... between nodes, switch after switch.
/// @param[in] recorded  where ranks were in the recorded run; empty: not known
/// @throws Error{usage} for what does not go together, or if nothing is said; Error{bad_input} for damaged files, and
///         for hosts that are not of the machine; Error{failed} for files that cannot be read
Machine describe_machine(const MachineSources& sources, std::span<const HostRun> recorded);

/// Read a symmetric matrix of distances between cores: n rows of n numbers; lines of '#' or '%' are comments, a first
/// line with n alone is read over. Local. @throws Error{bad_input} with file and line, Error{failed}
std::vector<double> read_distance_matrix(const std::string& path, int& n_cores);

}  // namespace barrio::rankmap
