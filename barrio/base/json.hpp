#pragma once

/// @file JSON documents with schema and version, and atomic writing of files.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio {

/// JSON that keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// Begin a result document: schema name and version, barrio's version and commit, compiler, host, time.
/// Local. Rooms that know more (the MPI, the rank count) add it; see `mpi::document`.
Json json_document(std::string_view schema, int schema_version);

/// Describe an error as JSON: code, subject, cause, remedy.
Json to_json(const Error& error);

/// Write text to a file atomically: a temporary file, a flush and a rename. Readers see the old file or the whole new
/// one.
/// Local. @throws Error{failed} naming the file and the system's reason; the temporary file is removed then
void write_file_atomically(const std::string& path, std::string_view text);

/// Read a JSON file. Local. @throws Error{bad_input} with the position of the first mistake, or Error{failed}
Json read_json_file(const std::string& path);

/// Read a document and check its schema and version. @throws Error{bad_input} if it has another schema or a newer
/// version
Json read_json_document(const std::string& path, std::string_view schema, int newest_version);

}  // namespace barrio
