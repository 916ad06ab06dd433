#include "barrio/mesh/cell_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

const TagTable& find_tag(const MeshTables& tables, const std::string& name) {
  const auto found = std::ranges::find(tables.tags, name, [](const TagTable& tag) { return tag.info.name; });
  std::vector<std::string> known;
  for (const TagTable& tag : tables.tags) known.push_back(tag.info.name);
  if (found == tables.tags.end()) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("weight '{}'", name),
                                         .cause = "is not a tag of this mesh." + did_you_mean(name, known),
                                         .remedy = "barrio info lists the tags of a file"});
  }
  const TagInfo& info = found->info;
  const bool is_number = info.type == TagType::int32 || info.type == TagType::float64;
  if (!is_number || info.n_components != 1 || info.length_varies) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("weight '{}'", name),
                                         .cause = "must be a tag with a single number per cell",
                                         .remedy = "give a tag with one integer or real number per cell"});
  }
  return *found;
}

double number_in(std::span<const std::byte> bytes, TagType type) {
  std::int32_t integer = 0;
  double real = 0.0;
  if (type == TagType::int32) {
    std::memcpy(&integer, bytes.data(), sizeof integer);
    return integer;
  }
  std::memcpy(&real, bytes.data(), sizeof real);
  return real;
}

/// Read the tag's value on each of this rank's top cells.
std::vector<double> values_on_cells(mpi::Context& context, const MeshTables& tables, const TagTable& tag) {
  constexpr double none = -1.0;
  std::vector<double> values;
  const std::vector<GlobalId> ids = top_ids(context, tables);
  agree_after(context, [&] {
    const double common = tag.info.default_value.empty() ? none : number_in(tag.info.default_value, tag.info.type);
    for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) {
      if (topology(tables.blocks[b].type).dim != tables.top_dim()) continue;
      const std::size_t first = values.size();
      const std::int64_t n = tables.blocks[b].rows.size(context.rank());
      std::vector<bool> has_value(n, !tag.info.default_value.empty());
      values.resize(first + n, common);
      for (const TagColumn& column : tag.columns) {
        if (column.block != b) continue;
        for (std::int64_t i = 0; i < (column.is_dense ? n : std::ssize(column.rows)); ++i) {
          const std::int64_t row = column.is_dense ? i : column.rows[i];
          values[first + row] = number_in(column.items.value(i, tag.info.value_bytes()), tag.info.type);
          has_value[row] = true;
        }
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const bool is_sound = std::isfinite(values[first + i]) && values[first + i] >= 0.0;
        if (has_value[i] && is_sound) continue;
        throw Error(
            ErrorCode::bad_input,
            {.subject = fmt::format("weight '{}' of element {} (0-based)", tag.info.name, value(ids[first + i])),
             .cause = has_value[i] ? fmt::format("is {}", values[first + i]) : "is missing",
             .remedy = "give each cell a finite number >= 0"});
      }
    }
  });
  return values;
}

/// Return the bits of the integer that stands for the largest real weight: as many as the sum over all cells has room
/// for, so that the smaller ones do not vanish beside it.
int bits_of_largest(const CellWeights& weights, std::int64_t n_cells) {
  std::int64_t of_type = 1;
  for (const auto& [type, weight] : weights.by_type) of_type = std::max(of_type, weight);
  const auto bits = [](std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))); };
  return std::clamp(61 - bits(n_cells) - bits(of_type), 20, 52);
}

}  // namespace

std::vector<std::int64_t> compute_cell_weights(mpi::Context& context, const MeshTables& tables,
                                               const CellWeights& weights) {
  if (weights.by_type.empty() && weights.tag.empty()) return {};
  std::vector<std::int64_t> all;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    const auto known = weights.by_type.find(block.type);
    all.insert(all.end(), block.rows.size(context.rank()), known == weights.by_type.end() ? 1 : known->second);
  }
  double largest = 1.0;
  std::vector<double> values(all.size(), 1.0);
  if (!weights.tag.empty()) {
    const TagTable& tag = find_tag(tables, weights.tag);
    values = values_on_cells(context, tables, tag);
    if (tag.info.type == TagType::float64) {
      largest = mpi::max(context, values.empty() ? 0.0 : std::ranges::max(values));
      const int n_bits = bits_of_largest(weights, tables.n_global(tables.top_dim()));
      for (double& value : values)
        if (value > 0.0) value = std::max(std::round(std::ldexp(value / largest, n_bits)), 1.0);
    }
  }
  double total = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) total += static_cast<double>(all[i]) * values[i];
  if (mpi::sum(context, total) > std::ldexp(1.0, 62)) {
    throw AgreedError(ErrorCode::bad_input, {.subject = "weights of cells",
                                             .cause = "add up to more than 2^62",
                                             .remedy = "divide them all by the same number"});
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i] *= static_cast<std::int64_t>(values[i]);
  if (mpi::max(context, all.empty() ? std::int64_t{0} : std::ranges::max(all)) == 0)
    context.log().notice("all weights of cells are 0: each cell counts as 1");
  return all;
}

}  // namespace barrio::mesh
