#pragma once

/// @file The barrio.map document: result of a search for a placement, written and read as JSON.

#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/solve.hpp"

namespace barrio::rankmap {

/// The schema of map documents.
inline constexpr std::string_view map_schema = "barrio.map";
inline constexpr int map_schema_version = 1;  ///< written, and the newest that is read

/// Largest number of nodes for which the document has the matrix of bytes between nodes.
inline constexpr int max_nodes_in_document = 64;
/// Largest number of nodes for which it has their names.
inline constexpr int max_names_in_document = 1 << 17;

/// Write a result as a document of schema "barrio.map", version 1: machine, costs, figures before and after, and
/// `placement` (rank -> core) with the order to which it was compared. Keys: docs/explanation/rank-mapping.md.
Json to_json(const MapResult& result, const TrafficMatrix& traffic, const Machine& machine);

/// Read the placement from a barrio.map document. @param[in] subject  the file's name, for messages
/// @throws Error{bad_input} if it is missing or invalid, or of a machine with another number of cores
Placement placement_from_json(const Json& document, int n_cores, const std::string& subject);

/// Read the node of each rank from a barrio.map document. @param[in] subject  as above
/// @throws Error{bad_input} if the document does not state it
std::vector<int> nodes_from_json(const Json& document, const std::string& subject);

}  // namespace barrio::rankmap
