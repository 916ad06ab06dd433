#include "barrio/delaunay/audit/edge_table.hpp"

namespace barrio::delaunay::detail {

EdgeTable::EdgeTable(const AuditedMesh& mesh) : mesh_(&mesh), first_(mesh.points.size() + 2, 0) {
  // count by the lower vertex, and place; `first_` is then one entry ahead, so places need no second copy
  const auto for_each_code = [&](auto&& visit) {
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
      for (std::uint32_t i = 0; i < 3; ++i) visit((t << 2U) | i);
  };
  const auto low = [&](std::uint32_t code) -> std::size_t { return std::min(from(code), to(code)); };
  for_each_code([&](std::uint32_t code) { ++first_[low(code) + 2]; });
  for (std::size_t v = 2; v < first_.size(); ++v) first_[v] += first_[v - 1];
  codes_.resize(3 * mesh.triangles.size());
  for_each_code([&](std::uint32_t code) { codes_[first_[low(code) + 1]++] = code; });
  first_.pop_back();
  std::vector<std::uint64_t> keys;  // of one vertex: the higher one, then the code
  for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
    keys.clear();
    for (std::uint32_t i = first_[v]; i < first_[v + 1]; ++i) {
      const std::uint64_t upper = high(codes_[i]);
      keys.push_back((upper << 32U) | codes_[i]);
    }
    std::ranges::sort(keys);
    std::uint64_t last = ~std::uint64_t{0};
    for (std::size_t k = 0; k < keys.size(); ++k) {
      codes_[first_[v] + k] = static_cast<std::uint32_t>(keys[k]);
      if (keys[k] >> 32U != last) ++n_edges_;
      last = keys[k] >> 32U;
    }
  }
}

EdgeTable::Uses EdgeTable::find(std::int32_t a, std::int32_t b) const noexcept {
  const auto [low, upper] = std::minmax(a, b);
  const auto begin = codes_.begin() + first_[low];
  const auto end = codes_.begin() + first_[low + 1];
  Uses uses;
  for (auto i = std::ranges::lower_bound(begin, end, upper, {}, [&](std::uint32_t code) { return high(code); });
       i != end && high(*i) == upper; ++i)
    uses.add(use(*i));
  return uses;
}

}  // namespace barrio::delaunay::detail
