#include "barrio/io/common/new_tags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/io/common/readers.hpp"

namespace barrio::io::detail {

namespace {

constexpr std::string_view reserved = "the name is reserved in meshes";

}  // namespace

bool is_reserved_tag(std::string_view name) {
  return name.empty() || name == default_partition_tag || name == name_tag ||
         std::ranges::any_of(set_tags, [&](const SetTag& tag) { return name == tag.name; });
}

bool NewTags::wants(std::string_view name) const {
  return std::ranges::none_of(without_, [&](const std::string& other) { return other == "*" || other == name; });
}

mesh::TagTable* NewTags::find(std::string_view name) {
  const auto known = std::ranges::find(tables_.tags, name, [](const mesh::TagTable& tag) { return tag.info.name; });
  return known == tables_.tags.end() ? nullptr : &*known;
}

void NewTags::leave_out(std::string_view name, std::string_view cause) {
  context_.log().notice(fmt::format("the values called '{}' are left out: {}", name, cause));
}

mesh::TagTable* NewTags::find_or_add(const std::string& name, mesh::TagType type) {
  if (!wants(name)) return nullptr;
  mesh::TagTable* known = find(name);
  if (known != nullptr && known->info.type == type && known->info.n_components == 1) return known;
  if (known == nullptr && !is_reserved_tag(name))
    return &tables_.tags.emplace_back(mesh::TagTable{.info = {.name = name, .type = type}});
  leave_out(name, known == nullptr ? reserved : "a tag of that name has another type");
  return nullptr;
}

mesh::TagTable* NewTags::find_or_rename(std::string name, mesh::TagType type, int n_components, bool on_cells) {
  if (!wants(name)) return nullptr;
  if (is_reserved_tag(name)) {
    leave_out(name, reserved);
    return nullptr;
  }
  for (mesh::TagTable* known = find(name); known != nullptr; known = find(name)) {
    const bool is_taken = known->info.type != type || known->info.n_components != n_components ||
                          std::ranges::any_of(known->columns, [&](const mesh::TagColumn& column) {
                            return (column.block >= 0) == on_cells;
                          });
    if (!is_taken) return known;
    name += on_cells ? "_of_cells" : "_of_points";
  }
  return &tables_.tags.emplace_back(
      mesh::TagTable{.info = {.name = std::move(name), .type = type, .n_components = n_components}});
}

}  // namespace barrio::io::detail
