#include "barrio/io/vtkhdf/vtkhdf_tags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>

#include "barrio/io/common/readers.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::Dim;
using mesh::FieldData;
using mesh::Mesh;
using mesh::MeshTag;
using mesh::TagType;

constexpr std::string_view ghost_array = "vtkGhostType";

/// Counts of owned entities, on all ranks, that have a value of their own, by dimension.
using Counts = std::array<std::int64_t, 4>;

std::vector<Counts> count_values(const Mesh& mesh) {
  std::vector<Counts> counts;
  for (const MeshTag& tag : mesh.tags()) {
    Counts& n = counts.emplace_back();
    for (int d = 0; d < std::ssize(n); ++d) {
      const mesh::LocalRange owned{LocalId{0}, local_id(mesh.n_owned(Dim{d}))};
      n[d] = tag.on[d].entities.intersected(owned).size();
    }
  }
  if (!counts.empty())
    mpi::all_reduce(mesh.context(), std::span<std::int64_t>(counts[0].data(), 4 * counts.size()), MPI_SUM);
  return counts;
}

/// Say why a tag cannot be an array; empty if it can.
std::string_view fault_of(const MeshTag& tag) {
  if (tag.info.length_varies) return "values of varying length";
  switch (tag.info.type) {
    case TagType::int32:
    case TagType::float64: return tag.info.name == ghost_array ? "a name that VTK uses itself" : "";
    case TagType::entity: return "entities";
    case TagType::bytes: return "bytes";
    case TagType::bits: return "bits";
  }
  return "";
}

/// Count in words: "1 set", "7 sets".
std::string counted(std::size_t n, std::string_view one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

/// Notice of what is left out, in one sentence.
class Notice {
 public:
  void leave_out(std::string what) { left_out_.push_back(std::move(what)); }
  void fill(const std::string& name) {
    if (std::ranges::find(filled_, name) == filled_.end()) filled_.push_back(name);
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    if (!left_out_.empty())
      all = fmt::format("VTKHDF cannot hold {}; .h5m keeps all of it", fmt::join(left_out_, ", "));
    if (!filled_.empty())
      all += fmt::format("{}NaN stands where {} {} no value", all.empty() ? "" : "; ", fmt::join(filled_, ", "),
                         filled_.size() == 1 ? "has" : "have");
    return all;
  }

 private:
  std::vector<std::string> left_out_;
  std::vector<std::string> filled_;
};

/// Report sets that are not materials, and listed entities below the cells.
void tell_of_entities(const Mesh& mesh, Notice& notice) {
  const std::size_t n_sets = std::ranges::count_if(
      mesh.sets(), [](const mesh::MeshSet& set) { return set.info.kind != mesh::SetKind::material; });
  if (n_sets > 0) notice.leave_out(counted(n_sets, "set") + " other than materials");
  for (int d = value(mesh.cell_dim()) - 1; d > 0; --d) {
    const std::size_t n = mesh.n_global(Dim{d});
    if (n > 0) notice.leave_out(counted(n, d == 1 ? "listed edge" : "listed face"));
  }
}

/// Report materials whose ids are those of others.
void tell_of_materials(const Mesh& mesh, Notice& notice) {
  const std::vector<std::int32_t> numbers = material_numbers(mesh);
  for (std::size_t s = 0; s < numbers.size(); ++s) {
    const mesh::SetInfo& info = mesh.sets()[s].info;
    if (info.kind == mesh::SetKind::material && numbers[s] != info.id)
      notice.leave_out(
          fmt::format("a second material of id {} ('{}' is written as {})", info.id, info.name, numbers[s]));
  }
}

/// Report the values that are left out of a tag that becomes an array.
void tell_of_rest(const Mesh& mesh, const MeshTag& tag, const Counts& n, Notice& notice) {
  std::vector<std::string_view> where;
  for (int d = value(mesh.cell_dim()) - 1; d > 0; --d)
    if (n[d] > 0) where.push_back(d == 1 ? "edges" : "faces");
  if (!tag.on_sets.sets.empty()) where.emplace_back("sets");
  if (!tag.info.mesh_value.empty()) where.emplace_back("the mesh as a whole");
  if (!where.empty()) notice.leave_out(fmt::format("tag '{}' on {}", tag.info.name, fmt::join(where, " and ")));
}

}  // namespace

bool ChosenTags::has(Dim dim, std::string_view name) const noexcept {
  return std::ranges::any_of(
      arrays, [&](const TagArray& array) { return array.dim == dim && array_name(array.tag->info.name) == name; });
}

ChosenTags choose_tags(const Mesh& mesh, std::span<const FieldData* const> fields) {
  ChosenTags chosen;
  Notice notice;
  tell_of_entities(mesh, notice);
  tell_of_materials(mesh, notice);
  for (const auto& field : mesh.fields())
    if (field->dim != Dim::vertex && field->dim != mesh.cell_dim())
      notice.leave_out(fmt::format("field '{}' on {}", field->name, field->dim == Dim::edge ? "edges" : "faces"));
  const std::vector<Counts> counts = count_values(mesh);
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const MeshTag& tag = mesh.tags()[t];
    const Counts& n = counts[t];
    const bool is_used = std::ranges::any_of(n, [](std::int64_t one) { return one > 0; });
    if (const std::string_view fault = fault_of(tag); !fault.empty()) {
      if (is_used || !tag.on_sets.sets.empty() || !tag.info.mesh_value.empty())
        notice.leave_out(fmt::format("tag '{}' ({})", tag.info.name, fault));
      continue;
    }
    for (const Dim dim : {Dim::vertex, mesh.cell_dim()}) {
      const std::int64_t n_values = n[index(dim)];
      if (n_values == 0) continue;
      const std::string written = array_name(tag.info.name);
      const auto field = std::ranges::find_if(
          fields, [&](const FieldData* one) { return one->dim == dim && array_name(one->name) == written; });
      if (field != fields.end() && (*field)->name == tag.info.name) continue;
      if (field != fields.end() || chosen.has(dim, written)) {
        notice.leave_out(fmt::format("tag '{}' (the name '{}' is taken)", tag.info.name, written));
        continue;
      }
      const bool has_gaps = n_values < mesh.n_global(dim) && tag.info.default_value.empty();
      chosen.arrays.push_back({&tag, dim, has_gaps});
      if (has_gaps) notice.fill(fmt::format("'{}'", tag.info.name));
    }
    if (tag.info.name != global_id_tag) tell_of_rest(mesh, tag, n, notice);
  }
  chosen.notice = notice.text();
  return chosen;
}

std::vector<std::int32_t> material_numbers(const Mesh& mesh) {
  const auto is_material = [](const mesh::MeshSet& set) { return set.info.kind == mesh::SetKind::material; };
  std::set<std::int32_t> taken;
  for (const mesh::MeshSet& set : mesh.sets())
    if (is_material(set)) taken.insert(set.info.id);
  std::set<std::int32_t> written;
  std::int32_t next = 1;
  std::vector<std::int32_t> numbers;
  for (const mesh::MeshSet& set : mesh.sets()) {
    std::int32_t number = set.info.id;
    if (is_material(set) && !written.insert(number).second) {
      while (!taken.insert(next).second) ++next;
      number = next;
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string array_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name == "." ? "_" : name;
}

FieldData values_of(const Mesh& mesh, const TagArray& array) {
  const mesh::TagInfo& info = array.tag->info;
  const std::size_t width = info.n_components;
  const std::size_t n_local = mesh.n_local(array.dim);
  const MeshTag::Values& on = array.tag->on[index(array.dim)];
  FieldData data{.name = array_name(info.name), .dim = array.dim, .n_components = info.n_components, .values = {}};
  const auto collect = [&]<class From, class To>(From, std::vector<To> values, To nothing) {
    std::vector<To> gap(width, nothing);
    if (!info.default_value.empty()) {
      std::vector<From> same(width);
      std::memcpy(same.data(), info.default_value.data(), width * sizeof(From));
      std::ranges::copy(same, gap.begin());
    }
    for (std::size_t i = 0; i < n_local; ++i) std::ranges::copy(gap, values.begin() + (i * width));
    std::size_t item = 0;
    std::vector<From> own(width);
    for (const LocalId id : on.entities) {
      std::memcpy(own.data(), on.items.value(item++, info.value_bytes()).data(), info.value_bytes());
      std::ranges::copy(own, values.begin() + (index(id) * width));
    }
    data.values = std::move(values);
  };
  const std::size_t n = n_local * width;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (info.type == TagType::float64) {
    collect(double{}, std::vector<double>(n), nan);
  } else if (array.has_gaps) {
    collect(std::int32_t{}, std::vector<double>(n), nan);
  } else {
    collect(std::int32_t{}, std::vector<std::int32_t>(n), 0);
  }
  return data;
}

}  // namespace barrio::io::detail
