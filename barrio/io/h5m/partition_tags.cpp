#include <algorithm>
#include <set>

#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_tags.hpp"

namespace barrio::io::detail {

bool is_set_tag(const std::string& name) { return std::ranges::find(set_tags, name, &SetTag::name) != set_tags.end(); }

bool is_id_tag(const std::string& name) { return name == global_id_tag || name == "UNIQUE_ID"; }

bool may_give_parts(const files::H5mTag& tag, const files::H5mCatalog& catalog) {
  const auto is_of_elements = [&](const std::string& table) {
    return std::ranges::find(catalog.groups, table, &files::H5mGroup::name) != catalog.groups.end();
  };
  const bool is_on_elements = tag.n_sparse > 0 || std::ranges::any_of(tag.dense_on, is_of_elements);
  const bool is_integer = tag.type == "int32" || tag.type == "int64";
  return is_integer && !tag.is_variable && is_on_elements && !is_set_tag(files::h5m_unescaped(tag.name));
}

std::vector<PartitionTag> find_partition_tags(hid_t file, const files::H5mCatalog& catalog) {
  std::vector<PartitionTag> found;
  for (const files::H5mTag& tag : catalog.tags) {
    const std::string name = files::h5m_unescaped(tag.name);
    const bool is_integer = tag.type.starts_with("int") && tag.type.find('[') == std::string::npos;
    const bool may_mark_parts = is_integer && !tag.is_variable && tag.n_sparse <= catalog.n_sets &&
                                std::ranges::all_of(tag.dense_on, [](const auto& table) { return table == "sets"; });
    if (!may_mark_parts || is_set_tag(name) || is_id_tag(name)) continue;
    const std::vector<files::H5mSetValue> marked = files::read_h5m_set_tag(file, catalog, tag.name);
    if (marked.empty() || std::ssize(marked) < tag.n_sparse) continue;
    std::set<std::int64_t> values;
    for (const files::H5mSetValue& entry : marked) values.insert(entry.value);
    found.push_back({name, std::ssize(values)});
  }
  return found;
}

}  // namespace barrio::io::detail
