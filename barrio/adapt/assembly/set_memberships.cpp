#include "barrio/adapt/assembly/set_memberships.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

using Sets = std::vector<std::vector<std::int32_t>>;

std::string to_text(const Sets& all) {
  std::string text;
  for (const auto& sets : all) text += fmt::format("{};", fmt::join(sets, ","));
  return text;
}

Sets from_text(const std::string& text) {
  Sets all;
  std::vector<std::int32_t> sets;
  std::int32_t number = -1;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = (number < 0 ? 0 : 10 * number) + (c - '0');
      continue;
    }
    if (number >= 0) sets.push_back(number);
    number = -1;
    if (c != ';') continue;
    all.push_back(sets);
    sets.clear();
  }
  return all;
}

}  // namespace

std::size_t SetMemberships::add(std::span<const std::int32_t> sets) {
  const auto at = std::ranges::find_if(sets_, [&](const auto& known) { return std::ranges::equal(known, sets); });
  if (at != sets_.end()) return at - sets_.begin();
  sets_.emplace_back(sets.begin(), sets.end());
  return sets_.size() - 1;
}

std::vector<std::uint16_t> SetMemberships::agree(mpi::Context& context, std::uint16_t first) {
  std::string all =
      mpi::reduce_to_root(context, to_text(sets_), [](const std::string& mine, const std::string& theirs) {
        Sets both = from_text(mine + theirs);
        sort_unique(both);
        return to_text(both);
      });
  mpi::broadcast(context, all);
  Sets known = from_text(all);
  sort_unique(known);
  constexpr std::size_t max_memberships = 32'000;
  if (known.size() > max_memberships)
    throw AgreedError(
        ErrorCode::usage,
        {.subject = fmt::format("{} distinct memberships in sets", known.size()),
         .cause = fmt::format("are more than the {} that can be kept while cells change", max_memberships)});
  std::vector<std::uint16_t> numbers;
  for (const auto& sets : sets_)
    numbers.push_back(static_cast<std::uint16_t>(first + (std::ranges::lower_bound(known, sets) - known.begin())));
  sets_ = std::move(known);
  first_ = first;
  return numbers;
}

}  // namespace barrio::adapt::detail
