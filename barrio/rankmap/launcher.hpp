#pragma once

/// @file Files that make launchers put ranks on the cores of a placement.

#include <string>
#include <string_view>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Format of a file that makes a launcher follow a placement.
enum class LauncherFormat {
  openmpi_rankfile,  ///< rank -> node and core: `rank 0=node3 slot=1`
  openmpi_seq,       ///< rank -> node: line i is the host of rank i, for `--mca rmaps seq`
  mpich,             ///< rank -> node: hosts with counts of consecutive ranks, for Hydra
  intel,             ///< as mpich, for Intel MPI's -machinefile
  cray,              ///< core -> rank: the comma list MPICH_RANK_ORDER
  slurm,             ///< rank -> node: line i is the host of rank i, for `srun --distribution=arbitrary`
  flux,              ///< rank -> node: the task map of RFC 34, for `flux run --taskmap=manual:...`
  permutation,       ///< rank -> core: line i is the core of rank i
};

/// Return the name of a format: "openmpi-rankfile", "openmpi-seq", "mpich", "intel", "cray", "slurm", "flux",
/// "permutation".
std::string_view name_of(LauncherFormat format) noexcept;
/// Parse the name of a format. @throws Error{usage} with the choices
LauncherFormat parse_launcher_format(std::string_view word);

/// Write the launcher's file as text, with a comment at the top that says how to launch with it. Local.
/// Nodes appear by `machine.node_name()`, cores by their number in the node.
/// @param[in] path  name of the file in that comment
/// @throws Error{usage} for `cray` unless each node has the same number of used cores (the last may have fewer): a list
/// of ranks cannot leave a core free
std::string launcher_text(LauncherFormat format, const Machine& machine, const Placement& placement,
                          std::string_view path = "FILE");

/// Write the launcher's file, either complete or not at all. Local. @throws Error{usage}, Error{failed}
void write_launcher_file(const std::string& path, LauncherFormat format, const Machine& machine,
                         const Placement& placement);

/// Read a placement back: a permutation text, or a barrio.map document. Local.
/// @throws Error{bad_input} with file and line, Error{failed} if it cannot be opened
Placement read_placement(const std::string& path, int n_cores);

}  // namespace barrio::rankmap
