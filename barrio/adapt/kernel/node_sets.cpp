#include "barrio/adapt/kernel/node_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "barrio/base/error.hpp"

namespace barrio::adapt::detail {
namespace {

std::vector<std::int32_t> common_of(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

NodeSets::NodeSets(std::vector<std::vector<std::int32_t>> sets) {
  constexpr std::size_t max_memberships = 4'000;
  std::set<std::vector<std::int32_t>> known(sets.begin(), sets.end());
  for (std::size_t i = 0; i < sets.size(); ++i) {  // `sets` grows by what is new
    if (known.size() > max_memberships)
      refuse_together(ErrorCode::usage,
                      fmt::format("more than {} distinct memberships of vertices in sets", max_memberships),
                      "cannot be kept while cells change");
    for (std::size_t j = 0; j < i; ++j) {
      std::vector<std::int32_t> both = common_of(sets[i], sets[j]);
      if (known.insert(both).second) sets.push_back(std::move(both));
    }
  }
  sets_.assign(known.begin(), known.end());
}

NodeSets::Number NodeSets::number_of(const std::vector<std::int32_t>& sets) const {
  return static_cast<Number>(std::ranges::lower_bound(sets_, sets) - sets_.begin());
}

NodeSets::Number NodeSets::common(Number a, Number b) const {
  if (a == b || a == 0) return a;
  return b == 0 ? b : number_of(common_of(sets_[a], sets_[b]));
}

}  // namespace barrio::adapt::detail
