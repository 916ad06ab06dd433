#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "barrio/io/formats/known_formats.hpp"

namespace barrio::io::detail {

/// A format that barrio does not read.
struct ForeignFormat {
  const char* name;    ///< "a mesh of Abaqus (.inp)"
  const char* remedy;  ///< a program that reads it, and writes a format that barrio reads
};

/// Recognise a file of another program by its contents; nothing if it is unknown. Local.
std::optional<ForeignFormat> find_foreign_format(UnknownFile& file);

/// Recognise the beginning of a text or binary file. Local. @param file_bytes  size of the whole file
std::optional<ForeignFormat> find_foreign_format(std::string_view head, std::uint64_t file_bytes);

/// Recognise a folder of another program by the files in it. Local.
std::optional<ForeignFormat> find_foreign_folder(const std::string& path);

}  // namespace barrio::io::detail
