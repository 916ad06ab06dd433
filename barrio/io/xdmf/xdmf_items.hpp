#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/io/xdmf/xdmf_file.hpp"

namespace barrio::io::detail {

/// Refuse a file. @throws Error{bad_input}
[[noreturn]] void fail_xdmf(const std::string& path, const std::string& cause, const std::string& remedy = xdmf_remedy);

/// Replace the entities that the document type declares by their texts: <!ENTITY name "text">.
/// @throws Error{bad_input} if the result is vast
std::string with_entities(const std::string& markup, const std::string& path);

/// Return a text without the white space around it.
std::string plain_words(std::string_view text);

/// Return the value of the first attribute that a node has.
std::string value_of(const pugi::xml_node& node, std::initializer_list<const char*> names, const char* otherwise = "");

/// Parser of the DataItems of a file. Local.
class XdmfItems {
 public:
  static constexpr std::int64_t max_count = std::int64_t{1} << 48;

  explicit XdmfItems(const std::string& path) : path_(path), folder_(std::filesystem::path(path).parent_path()) {}

  /// Parse numbers that are at least 0. @throws Error{bad_input} for others, and if their product is vast
  [[nodiscard]] std::vector<std::int64_t> counts(const std::string& text) const;
  /// Parse a DataItem. @throws Error{bad_input} for a form that barrio does not read
  [[nodiscard]] XdmfItem item(const pugi::xml_node& node) const;

 private:
  [[nodiscard]] VtkNumber number_of(const pugi::xml_node& node) const;
  /// Parse the selection "start:stride:count:dimensions" of a part of a dataset.
  void add_part(const std::string& text, XdmfItem& item) const;

  const std::string& path_;
  std::filesystem::path folder_;
};

}  // namespace barrio::io::detail
