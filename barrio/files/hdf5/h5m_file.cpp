#include "barrio/files/h5m_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "barrio/base/error.hpp"

namespace barrio::files {
namespace {

// Numbered from 1 in this order, as in current files. Readers use the names, not the numbers.
constexpr std::array<const char*, 10> type_names{"Edge",    "Tri",   "Quad",  "Polygon", "Tet",
                                                 "Pyramid", "Prism", "Knife", "Hex",     "Polyhedron"};

std::uint8_t number_of(std::size_t place) { return static_cast<std::uint8_t>(place + 1); }

Handle enum_of_types() {
  Handle type(H5Tenum_create(H5T_NATIVE_UINT8), &H5Tclose);
  for (std::size_t i = 0; i < type_names.size(); ++i) {
    const std::uint8_t number = number_of(i);
    H5Tenum_insert(type.get(), type_names[i], &number);
  }
  return type;
}

/// Estimate the size in bytes of the tables and of the structure of the file.
std::uint64_t bytes_of(const H5mTables& tables) {
  std::int64_t n = 3 * tables.n_vertices + 4 * tables.n_sets;
  for (const H5mTables::Elements& table : tables.elements)
    n += table.n_nodes > 0 ? table.n * table.n_nodes : table.n + table.n_entries;
  return 8 * static_cast<std::uint64_t>(n) + 65536;
}

Handle type_in_file(const H5mValues& values) {
  const auto array_of = [&](hid_t number) {
    const auto n = static_cast<hsize_t>(values.n);
    return Handle(n == 1 ? H5Tcopy(number) : H5Tarray_create2(number, 1, &n), &H5Tclose);
  };
  switch (values.of) {
    case H5mValues::Of::int32: return array_of(H5T_NATIVE_INT32);
    case H5mValues::Of::int64: return array_of(H5T_NATIVE_INT64);
    case H5mValues::Of::float64: return array_of(H5T_NATIVE_DOUBLE);
    case H5mValues::Of::id: return array_of(H5T_NATIVE_UINT64);
    case H5mValues::Of::opaque: return {H5Tcreate(H5T_OPAQUE, values.n), &H5Tclose};
    case H5mValues::Of::bits: break;
  }
  Handle bits(H5Tcopy(H5T_NATIVE_B8), &H5Tclose);
  H5Tset_precision(bits.get(), values.n);
  return bits;
}

}  // namespace

std::size_t H5mValues::bytes() const noexcept {
  const auto count = static_cast<std::size_t>(n);
  switch (of) {
    case Of::int32: return 4 * count;
    case Of::int64:
    case Of::float64:
    case Of::id: return 8 * count;
    case Of::opaque: return count;
    case Of::bits: break;
  }
  return 1;
}

std::string h5m_escaped(const std::string& name) {
  if (name == ".") return "\\2E";
  std::string path;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte > 126 || c == '/' || c == '\\') {
      path += fmt::format("\\{:02X}", byte);
    } else {
      path += c;
    }
  }
  return path;
}

std::string h5m_unescaped(const std::string& path) {
  std::string name;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < path.size() && std::isxdigit(static_cast<unsigned char>(path[at])) != 0;
    };
    if (path[i] == '\\' && is_digit(i + 1) && is_digit(i + 2)) {
      name += static_cast<char>(std::stoi(path.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      name += path[i];
    }
  }
  return name;
}

H5mFile::H5mFile(mpi::Context& context, const std::string& path, H5mTables tables, std::uint64_t more_bytes)
    : tables_(std::move(tables)), file_(context, path, bytes_of(tables_) + more_bytes) {
  for (const H5mTables::Elements& table : tables_.elements)
    if (std::ranges::find(type_names, table.type) == type_names.end())
      refuse_together(ErrorCode::usage, fmt::format("{}: elements of type '{}'", path, table.type),
                      "do not exist in the .h5m format");
  for (const char* group : {"/tstt", "/tstt/nodes", "/tstt/elements", "/tstt/sets", "/tstt/tags"})
    file_.make_group(group);
  Handle types = enum_of_types();
  file_.commit_type("/tstt/elemtypes", types.get());
  coordinates_ = file_.make_rows<double>("/tstt/nodes/coordinates", tables_.n_vertices, 3);
  file_.write_attribute("/tstt/nodes/coordinates", "start_id", std::int64_t{1});
  first_set_ = 1 + tables_.n_vertices;
  for (std::size_t t = 0; t < tables_.elements.size(); ++t) make_elements(types, t);
  file_.write_attribute("/tstt", "max_id", first_set_ + tables_.n_sets - 1);
}

/// Build the path of a table. Its name is by convention type and number of nodes, "Tet4"; a second table of this name
/// gets a number.
std::string H5mFile::path_of(std::int32_t table) const {
  if (table < 0) return "/tstt/nodes";
  const auto name_of = [](const H5mTables::Elements& one) {
    return one.type + (one.n_nodes > 0 ? std::to_string(one.n_nodes) : "");
  };
  const std::string name = name_of(tables_.elements.at(table));
  const auto end = tables_.elements.begin() + table;
  const auto n_alike =
      std::count_if(tables_.elements.begin(), end, [&](const auto& one) { return name_of(one) == name; });
  return fmt::format("/tstt/elements/{}{}", name, n_alike == 0 ? "" : fmt::format("_{}", n_alike + 1));
}

void H5mFile::make_elements(Handle& types, std::size_t table) {
  const H5mTables::Elements& sizes = tables_.elements[table];
  const std::string where = path_of(static_cast<std::int32_t>(table));
  file_.make_group(where);
  const std::uint8_t number = number_of(std::ranges::find(type_names, sizes.type) - type_names.begin());
  file_.write_attribute(where, "element_type", types.get(), &number);
  Elements& made = elements_.emplace_back();
  if (sizes.n_nodes > 0) {
    const hid_t type = sizes.has_short_ids ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64;
    made.connectivity = file_.make_rows(where + "/connectivity", type, sizes.n, sizes.n_nodes);
  } else {
    made.connectivity = file_.make_rows<std::int64_t>(where + "/connectivity", sizes.n_entries);
    made.lasts = file_.make_rows<std::int64_t>(where + "/poly_indices", sizes.n);
  }
  made.first_id = first_set_;
  file_.write_attribute(where + "/connectivity", "start_id", made.first_id);
  first_set_ += sizes.n;
}

const H5mFile::Elements& H5mFile::find(std::int32_t table) const {
  if (table < 0 || table >= std::ssize(elements_))
    refuse(ErrorCode::usage, fmt::format("table {} of elements", table),
           fmt::format("does not exist: the file has {}", elements_.size()));
  return elements_[table];
}

std::int64_t H5mFile::first_id(std::int32_t table) const { return table == vertices ? 1 : find(table).first_id; }

void H5mFile::put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ids) {
  file_.keep_fault(capture([&] { file_.put_rows(find(table).connectivity, first, ids); }));
}

void H5mFile::put_elements(std::int32_t table, std::int64_t first, std::span<const std::int32_t> ids) {
  file_.keep_fault(capture([&] { file_.put_rows(find(table).connectivity, first, ids); }));
}

void H5mFile::put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ends,
                           std::int64_t first_entry, std::span<const std::int64_t> ids) {
  file_.keep_fault(capture([&] {
    file_.put_rows(find(table).connectivity, first_entry, ids);
    put_lasts(find(table).lasts, first, ends);
  }));
}

void H5mFile::put_lasts(const FileWriter::Rows& rows, std::int64_t first, std::span<const std::int64_t> ends) {
  std::vector<std::int64_t> lasts(ends.begin(), ends.end());
  for (std::int64_t& last : lasts) last -= 1;
  file_.put_rows<std::int64_t>(rows, first, lasts);
}

H5mFile::Tag H5mFile::make_tag(const H5mNewTag& tag) {
  Tag made;
  made.path_ = h5m_escaped(tag.name);
  made.type_ = type_in_file(tag.values);
  made.is_variable_ = tag.is_variable;
  const std::string where = "/tstt/tags/" + made.path_;
  const auto storage = static_cast<std::int32_t>(tag.storage);
  constexpr std::int32_t yes = 1;
  file_.make_group(where);
  file_.commit_type(where + "/type", made.type_.get());
  file_.write_attribute(where, "class", H5T_NATIVE_INT32, &storage);
  if (tag.values.of == H5mValues::Of::id) file_.write_attribute(where, "is_handle", H5T_NATIVE_INT32, &yes);
  if (tag.is_variable) file_.write_attribute(where, "variable_length", H5T_NATIVE_INT32, &yes);
  if (tag.repeats_rows) file_.write_attribute(where, "repeats_rows", H5T_NATIVE_INT32, &yes);
  const auto write_value = [&](const char* name, std::span<const std::byte> bytes) {
    if (bytes.size() == tag.values.bytes()) file_.write_attribute(where, name, made.type_.get(), bytes.data());
  };
  write_value("default", tag.default_value);
  write_value("global", tag.mesh_value);
  return made;
}

FileWriter::Rows H5mFile::make_dense(const Tag& tag, std::int32_t table) {
  if (table < vertices || table >= std::ssize(tables_.elements))
    refuse_together(ErrorCode::usage, fmt::format("table {} of elements", table),
                    fmt::format("does not exist: the file has {}", tables_.elements.size()));
  const std::int64_t n = table == vertices ? tables_.n_vertices : tables_.elements[table].n;
  return file_.make_rows(fmt::format("{}/tags/{}", path_of(table), tag.path_), tag.type_.get(), n, 0);
}

H5mFile::Sparse H5mFile::make_sparse(const Tag& tag, std::int64_t n_ids, std::int64_t n_values) {
  const std::string where = "/tstt/tags/" + tag.path_;
  Sparse rows;
  rows.ids = file_.make_rows<std::int64_t>(where + "/id_list", n_ids);
  if (tag.is_variable_) rows.lasts = file_.make_rows<std::int64_t>(where + "/var_indices", n_ids);
  rows.values = file_.make_rows(where + "/values", tag.type_.get(), tag.is_variable_ ? n_values : n_ids, 0);
  return rows;
}

void H5mFile::make_sets(const H5mSetList& sets) {
  has_list_of_sets_ = true;
  if (std::ssize(sets.contents_end) != tables_.n_sets || std::ssize(sets.flags) != tables_.n_sets ||
      std::ssize(sets.children_end) != tables_.n_sets || std::ssize(sets.parents_end) != tables_.n_sets)
    refuse_together(ErrorCode::usage, "the columns of the list of sets",
                    fmt::format("must all have {} rows, one per set", tables_.n_sets));
  if (!sets.children.empty()) file_.write_small<std::int64_t>("/tstt/sets/children", sets.children);
  if (!sets.parents.empty()) file_.write_small<std::int64_t>("/tstt/sets/parents", sets.parents);
  std::vector<std::int64_t> list;
  for (std::size_t s = 0; s < sets.flags.size(); ++s)
    list.insert(list.end(),
                {sets.contents_end[s] - 1, sets.children_end[s] - 1, sets.parents_end[s] - 1, sets.flags[s]});
  file_.write_small<std::int64_t>("/tstt/sets/list", list, 4);
  file_.write_attribute("/tstt/sets/list", "start_id", first_set_);
  const std::int64_t n_words = sets.contents_end.empty() ? 0 : sets.contents_end.back();
  if (n_words > 0) contents_ = file_.make_rows<std::int64_t>("/tstt/sets/contents", n_words);
}

void H5mFile::close() {
  if (!has_list_of_sets_) make_sets({});
  file_.close();
}

}  // namespace barrio::files
