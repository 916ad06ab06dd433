#include "barrio/mesh/tag_field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr std::array<std::string_view, 4> dim_words{"vertices", "edges", "faces", "volumes"};

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return "int64";
}

Error refusal(const TagInfo& info, std::string cause, std::string remedy) {
  return {ErrorCode::usage,
          {.subject = fmt::format("tag '{}'", info.name), .cause = std::move(cause), .remedy = std::move(remedy)}};
}

/// Refuse a tag whose definition does not fit a field of type T. Local, the same on every rank.
template <class T>
void check_definition(const TagInfo& info, int n_components) {
  if (info.length_varies)
    throw refusal(info, "has values of varying length", "read them one by one with MeshTag::value");
  if (info.type != TagType::int32 && info.type != TagType::float64)
    throw refusal(info, fmt::format("holds values of the type {}, which are not numbers", name(info.type)),
                  "read them one by one with MeshTag::value");
  if (info.n_components != n_components)
    throw refusal(info,
                  fmt::format("has {} component(s) of {}, not {}", info.n_components, name(info.type), n_components),
                  fmt::format("ask for n_components = {}", info.n_components));
  if constexpr (std::is_same_v<T, std::int32_t>)
    if (info.type == TagType::float64) throw refusal(info, "has type float64, not int32", "ask for a field of double");
}

/// Tell whether a T holds a number exactly.
template <class T>
bool holds(double value) {
  if constexpr (std::is_same_v<T, double>) return true;
  if constexpr (std::is_same_v<T, float>)
    return !std::isfinite(value) ||
           (std::abs(value) <= double{std::numeric_limits<float>::max()} && static_cast<float>(value) == value);
  constexpr bool is_short = std::is_same_v<T, std::int32_t>;
  constexpr double least = is_short ? -2147483648.0 : -9007199254740992.0;
  constexpr double most = is_short ? 2147483647.0 : 9007199254740992.0;
  return value >= least && value <= most && std::trunc(value) == value;
}

/// Write the values of a tag on all local entities.
/// @param gap  value of an entity that has none
template <class From, class T>
void fill_in(const MeshTag& tag, const MeshTag::Values& on, std::span<const double> gap, std::span<T> out) {
  const std::size_t width = tag.info.n_components;
  const std::size_t n_bytes = tag.info.value_bytes();
  const auto take = [&](double value) {
    if (holds<T>(value)) return static_cast<T>(value);
    throw refusal(tag.info, fmt::format("has the value {}, which {} cannot hold exactly", value, type_name<T>()),
                  "ask for a field of double");
  };
  const Range all({LocalRange{LocalId{0}, local_id(out.size() / width)}});
  const Range gaps = all.without(on.entities);
  for (const LocalId id : gaps)
    for (std::size_t k = 0; k < width; ++k) out[index(id) * width + k] = take(gap[k]);
  std::vector<From> own(width);
  std::size_t item = 0;
  for (const LocalId id : on.entities) {
    std::memcpy(own.data(), on.items.value(item++, n_bytes).data(), n_bytes);
    for (std::size_t k = 0; k < width; ++k) out[index(id) * width + k] = take(own[k]);
  }
}

/// Return the value of entities that have none of their own.
std::vector<double> gap_of(const TagInfo& info, const TagFieldOptions& options) {
  const std::size_t width = info.n_components;
  std::vector<double> gap(width, options.fill.value_or(0.0));
  if (info.default_value.empty()) return gap;
  if (info.type == TagType::float64) {
    std::memcpy(gap.data(), info.default_value.data(), info.value_bytes());
  } else {
    std::vector<std::int32_t> same(width);
    std::memcpy(same.data(), info.default_value.data(), info.value_bytes());
    std::ranges::copy(same, gap.begin());
  }
  return gap;
}

/// Check that all entities have a value, or that there is a default or a fill. Collective.
void check_values(const Mesh& mesh, const MeshTag& tag, Dim dim, const TagFieldOptions& options) {
  std::array<std::int64_t, 4> n{};
  for (int d = 0; d < 4; ++d) {
    const LocalRange owned{LocalId{0}, local_id(mesh.n_owned(Dim{d}))};
    n[d] = tag.on[d].entities.intersected(owned).size();
  }
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(n), MPI_SUM);
  const auto d = index(dim);
  if (n[d] == 0) {
    std::vector<std::string_view> where;
    for (std::size_t other = 0; other < n.size(); ++other)
      if (n[other] > 0) where.push_back(dim_words[other]);
    if (!tag.on_sets.sets.empty()) where.emplace_back("sets");
    throw AgreedError(refusal(tag.info, fmt::format("has no values on {}", dim_words[d]),
                              where.empty() ? "" : fmt::format("it has some on {}", fmt::join(where, ", "))));
  }
  if (n[d] < mesh.n_global(dim) && tag.info.default_value.empty() && !options.fill)
    throw AgreedError(refusal(
        tag.info, fmt::format("has values on {} of {} {} and no default", n[d], mesh.n_global(dim), dim_words[d]),
        "give a value for the others with fill"));
}

}  // namespace

template <class T>
Field<T> tag_as_field(Mesh& mesh, const std::string& name, Dim dim, const TagFieldOptions& options) {
  agree_after(mesh.context(), [&] {
    if (value(dim) < value(Dim::vertex) || value(dim) > value(Dim::volume))
      throw Error(ErrorCode::usage,
                  {.subject = fmt::format("dimension {}", value(dim)), .cause = "must be from 0 to 3"});
    check_definition<T>(mesh.tag(name).info, options.n_components);
  });
  const MeshTag& tag = mesh.tag(name);
  check_values(mesh, tag, dim, options);
  std::vector<T> values(mesh.n_local(dim) * tag.info.n_components);
  std::optional<Field<T>> field;
  agree_after(mesh.context(), [&] {
    const MeshTag::Values& on = tag.on[index(dim)];
    const std::vector<double> gap = gap_of(tag.info, options);
    if (tag.info.type == TagType::float64) {
      fill_in<double, T>(tag, on, gap, values);
    } else {
      fill_in<std::int32_t, T>(tag, on, gap, values);
    }
  });
  agree_after(mesh.context(), [&] { field = mesh.add_field<T>(name, dim, tag.info.n_components); });
  std::ranges::copy(values, field->values().begin());
  return *field;
}

template Field<double> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
template Field<float> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
template Field<std::int32_t> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
template Field<std::int64_t> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);

}  // namespace barrio::mesh
