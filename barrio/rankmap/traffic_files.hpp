#pragma once

/// @file Read traffic files of other programs: METIS, Matrix Market, Open MPI monitoring.

#include <string>

#include "barrio/rankmap/recorded_run.hpp"
#include "barrio/rankmap/traffic.hpp"

/// Readers of traffic files of other programs. All are local; all throw Error{bad_input} with file and line for damaged
/// contents, and Error{failed} if the file cannot be opened. A format that has one number per pair without a unit
/// (METIS, Matrix Market) gives it as points and as bytes, and counts one message.
namespace barrio::rankmap {

/// Read a METIS or Chaco graph: vertex = rank, the edge (v, u) in the line of v = traffic from v to u.
/// Vertex weights and sizes are ignored. Format: METIS 5 manual, section 4.1.1.
TrafficMatrix read_metis_graph(const std::string& path);

/// Read a Matrix Market coordinate file: row sends to column; real, integer or pattern; general or symmetric.
TrafficMatrix read_matrix_market(const std::string& path);

/// Read the output of Open MPI's pml/monitoring: `PREFIX.RANK.prof`, one file per rank, point-to-point messages of
/// the program (lines `E`). @param[in] prefix_or_folder  the prefix, or a folder that holds files of one prefix
/// To record: mpirun --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3
///            --mca pml_monitoring_filename PREFIX ...
TrafficMatrix read_monitoring(const std::string& prefix_or_folder);

/// Read traffic of any known kind, recognised by content: barrio.traffic JSON, Matrix Market, METIS graph, monitoring
/// files.
/// @param[in] collectives  weight of the traffic of collectives in a recorded run, where other traffic has 1; >= 0
TrafficMatrix read_traffic(const std::string& path, double collectives = 1.0);

/// Read as `read_traffic`, with all contents of the file; only barrio.traffic JSON has more than messages.
RecordedRun read_run(const std::string& path);

}  // namespace barrio::rankmap
