#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "barrio/io/common/description.hpp"
#include "barrio/io/common/id_sets.hpp"
#include "barrio/io/medit/medit_file.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;
using mesh::SetKind;

class MeditInspector {
 public:
  MeditInspector(const std::string& path, const InspectOptions& options)
      : index_(index_medit(path, 1)), in_(path, medit_remedy, '#') {
    has_quality_ = has_quality(index_.n_rows(MeditUse::vertices, CellType::vertex), options);
  }

  Json run() {
    Json result;
    result["format"] =
        fmt::format("Medit {}, {}{}{}", index_.head.version, index_.head.is_binary ? "binary" : "text",
                    index_.head.is_swapped ? ", bytes swapped" : "", index_.head.has_end ? "" : ", without End");
    result["vertices"] = index_.n_rows(MeditUse::vertices, CellType::vertex);
    CellCounts counts;
    for (const MeditIndex::Section& section : index_.sections) {
      if (section.keyword->use != MeditUse::cells) continue;
      const mesh::CellTopology& topology = mesh::topology(section.keyword->type);
      counts[{section.keyword->type, section.keyword->n_nodes_of_cell()}] = section.n;
      top_ = std::max(top_, value(topology.dim));
    }
    add_entities(result, counts);
    std::vector<std::string> unsupported = index_.left_out;
    for (const std::string& cells : index_.guessed_orders())
      unsupported.push_back(fmt::format("no order of the nodes of {}", cells));
    if (!unsupported.empty()) result["unsupported"] = unsupported;
    for (const MeditIndex::Section& section : index_.sections) look_at_rows(section);
    add_sets(result, sets());
    result["tags"] = tags();
    if (!has_quality_) return result;
    add_box(result, points_);
    for (const MeditIndex::Section& section : index_.sections) add_quality(section);
    if (quality_.n() > 0) result["quality"] = quality_.json();
    return result;
  }

 private:
  void look_at_rows(const MeditIndex::Section& section) {
    const MeditKeyword& keyword = *section.keyword;
    const int dim = value(mesh::topology(keyword.type).dim);
    std::set<std::int64_t>& references = references_[dim];
    read_medit_rows(in_, index_, section, section.n, [&](const MeditEntry& entry) {
      if (keyword.use == MeditUse::vertices && has_quality_) points_.push_back(entry.x);
      if (entry.reference != 0 && references.size() <= IdSets::most) references.insert(entry.reference);
      lowest_ = std::min(lowest_, entry.reference);
      highest_ = std::max(highest_, entry.reference);
    });
  }

  /// List the sets that the reader makes: those of cells, those of vertices, lists.
  [[nodiscard]] std::vector<mesh::SetInfo> sets() const {
    std::vector<mesh::SetInfo> all;
    for (const int dim : {1, 2, 3, 0}) {
      if (!are_ids(dim)) continue;  // these become a tag
      for (const std::int64_t reference : references_[dim])
        all.push_back({dim == top_ ? SetKind::material
                       : dim == 0  ? SetKind::dirichlet
                                   : SetKind::neumann,
                       static_cast<std::int32_t>(reference), ""});
    }
    for (const MeditIndex::Section& section : index_.sections)
      if (section.keyword->use == MeditUse::list)
        all.push_back({SetKind::other, 0, std::string(section.keyword->name)});
    return all;
  }
  /// Tell whether references can be ids of sets: those of vertices, or of all cells.
  [[nodiscard]] bool are_ids(int dim) const {
    std::size_t n = 0;
    bool are_narrow = true;
    for (int d = dim == 0 ? 0 : 1; d <= (dim == 0 ? 0 : 3); ++d) {
      const std::set<std::int64_t>& references = references_[d];
      n += references.size();
      if (!references.empty())
        are_narrow = are_narrow && is_narrow(*references.begin()) && is_narrow(*references.rbegin());
    }
    return are_narrow && n <= IdSets::most;
  }
  static bool is_narrow(std::int64_t reference) noexcept { return std::in_range<std::int32_t>(reference); }

  [[nodiscard]] Json tags() const {
    Json dense_on = Json::array();
    if (!are_ids(0)) dense_on.push_back("vertices");
    if (!are_ids(top_)) dense_on.push_back("cells");
    if (dense_on.empty()) return Json::array();
    return Json::array({{{"name", "reference"},
                         {"type", is_narrow(lowest_) && is_narrow(highest_) ? "int" : "double"},
                         {"storage", "dense"},
                         {"variable_length", false},
                         {"sparse_values", 0},
                         {"dense_on", dense_on}}});
  }

  void add_quality(const MeditIndex::Section& section) {
    const MeditKeyword& keyword = *section.keyword;
    if (keyword.use != MeditUse::cells || value(mesh::topology(keyword.type).dim) != top_) return;
    std::vector<Point> corners;
    read_medit_rows(in_, index_, section, section.n, [&](const MeditEntry& cell) {
      corners.clear();
      for (const std::int64_t vertex : cell.numbers.first(mesh::topology(keyword.type).n_corners))
        corners.push_back(points_[vertex]);
      quality_.add(keyword.type, corners);
    });
  }

  MeditIndex index_;
  Scanner in_;
  bool has_quality_ = false;
  int top_ = 0;
  std::array<std::set<std::int64_t>, 4>
      references_;  // by dimension, without 0; only as many as decide whether they fit
  std::int64_t lowest_ = 0;
  std::int64_t highest_ = 0;
  std::vector<Point> points_;
  Quality quality_;
};

}  // namespace

Json inspect_medit(const std::string& path, const InspectOptions& options) {
  return MeditInspector(path, options).run();
}

}  // namespace barrio::io::detail
