#include "barrio/io/detail/new_tags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/io/detail/readers.hpp"

namespace barrio::io::detail {

bool NewTags::wants(std::string_view name) const {
  return std::ranges::none_of(without_, [&](const std::string& other) { return other == "*" || other == name; });
}

mesh::TagTable* NewTags::find_or_add(const std::string& name, mesh::TagType type) {
  if (!wants(name)) return nullptr;
  const auto known = std::ranges::find(tables_.tags, name, [](const mesh::TagTable& tag) { return tag.info.name; });
  if (known != tables_.tags.end() && known->info.type == type) return &*known;
  const bool is_reserved = name == default_partition_tag || name == name_tag ||
                           std::ranges::any_of(set_tags, [&](const SetTag& tag) { return name == tag.name; });
  if (known != tables_.tags.end() || is_reserved) {
    context_.log().notice(fmt::format(
        "the values called '{}' are left out: {}", name,
        is_reserved ? "the name means something else in meshes" : "there are others of the name and of another type"));
    return nullptr;
  }
  return &tables_.tags.emplace_back(mesh::TagTable{.info = {.name = name, .type = type}});
}

}  // namespace barrio::io::detail
