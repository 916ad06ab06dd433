#include "barrio/delaunay/output/h5m_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay::detail {
namespace {

using files::H5mFile;

/// Write a tag with a value on some sets. Collective; rank 0 has the values.
template <class T>
void write_set_tag(mpi::Context& context, H5mFile& file, const char* name, files::H5mValues::Of of, T none,
                   const std::vector<std::int64_t>& ids, const std::vector<T>& values) {
  if (ids.empty()) return;
  const auto tag =
      file.make_tag({.name = name, .values = {of, 1}, .default_value = std::as_bytes(std::span<const T>(&none, 1))});
  const auto rows = file.make_sparse(tag, std::ssize(ids));
  if (!context.is_root()) return;
  file.put_ids(rows, 0, ids);
  file.put_values(rows.values, 0, std::ssize(values), std::as_bytes(std::span(values)));
}

}  // namespace

void write_names(mpi::Context& context, H5mFile& file, const std::vector<std::string>& names) {
  constexpr std::size_t name_bytes = 32;
  std::vector<std::int64_t> ids;
  std::string text;
  std::vector<std::string> cut;
  for (std::size_t s = 0; s < names.size(); ++s) {
    if (names[s].empty()) continue;
    ids.push_back(file.first_set() + static_cast<std::int64_t>(s));
    std::size_t n = std::min(names[s].size(), name_bytes);
    const auto is_within_letter = [&](std::size_t i) { return (names[s][i] & '\xc0') == '\x80'; };  // of UTF-8
    if (n < names[s].size()) {
      cut.push_back(names[s]);
      while (n > 0 && is_within_letter(n)) --n;
    }
    text.append(names[s], 0, n);
    text.resize(ids.size() * name_bytes, '\0');
  }
  std::int64_t n_names = std::ssize(ids);
  mpi::broadcast<std::int64_t>(context, std::span(&n_names, 1));
  if (n_names == 0) return;
  if (!cut.empty())
    context.log().notice(
        fmt::format("the names of {} set(s) are cut to the {} bytes that .h5m files have for them; the first is '{}'",
                    cut.size(), name_bytes, cut[0]));
  const auto tag = file.make_tag({.name = "NAME", .values = {files::H5mValues::Of::opaque, name_bytes}});
  const auto rows = file.make_sparse(tag, n_names);
  if (!context.is_root()) return;
  file.put_ids(rows, 0, ids);
  file.put_values(rows.values, 0, n_names, std::as_bytes(std::span(text)));
}

void write_sets(mpi::Context& context, H5mFile& file, const std::vector<RowSet>& sets, const PartRows& parts) {
  std::vector<std::int64_t> region_sets;
  std::vector<std::int32_t> region_ids;
  std::vector<double> attributes;
  std::vector<std::int64_t> marker_sets;
  std::vector<std::int32_t> markers;
  files::H5mSetList list;
  std::vector<std::int64_t> words;
  for (std::int64_t s = 0; s < std::ssize(sets); ++s) {
    const std::int64_t id = file.first_set() + s;
    words.push_back(file.first_id(sets[s].table) + sets[s].first);
    words.push_back(sets[s].count);
    list.contents_end.push_back(std::ssize(words));
    list.flags.push_back(files::H5mSetList::unique | files::H5mSetList::ranged);
    list.children_end.push_back(0);
    list.parents_end.push_back(0);
    if (sets[s].table == triangle_table) {
      region_sets.push_back(id);
      region_ids.push_back(sets[s].id);
      attributes.push_back(sets[s].attribute);
    } else {
      marker_sets.push_back(id);
      markers.push_back(sets[s].id);
    }
  }
  std::vector<std::int64_t> part_sets;
  std::vector<std::int32_t> part_numbers;
  const auto n_words = std::ssize(words);
  for (std::size_t p = 0; p < parts.end.size(); ++p) {
    part_sets.push_back(file.first_set() + std::ssize(sets) + static_cast<std::int64_t>(p));
    part_numbers.push_back(static_cast<std::int32_t>(p));
    list.contents_end.push_back(n_words + parts.end[p]);
    list.flags.push_back(files::H5mSetList::unique | files::H5mSetList::ranged);
    list.children_end.push_back(0);
    list.parents_end.push_back(0);
  }
  words.insert(words.end(), parts.words.begin(), parts.words.end());
  write_set_tag(context, file, "MATERIAL_SET", files::H5mValues::Of::int32, std::int32_t{-1}, region_sets, region_ids);
  write_set_tag(context, file, "REGION_ATTRIBUTE", files::H5mValues::Of::float64, 0.0, region_sets, attributes);
  write_set_tag(context, file, "NEUMANN_SET", files::H5mValues::Of::int32, std::int32_t{-1}, marker_sets, markers);
  write_set_tag(context, file, "PARALLEL_PARTITION", files::H5mValues::Of::int32, std::int32_t{-1}, part_sets,
                part_numbers);
  if (list.flags.empty()) return;
  file.make_sets(list);
  if (context.is_root()) file.put_contents(0, words);
}

}  // namespace barrio::delaunay::detail
