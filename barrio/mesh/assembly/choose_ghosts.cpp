#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/assembly/ghosts.hpp"

namespace barrio::mesh::detail {
namespace {

/// How users may call a set besides its name.
std::string by_id(SetKind kind, std::int32_t id) { return fmt::format("{} {}", name(kind), id); }

bool is_called(const SetInfo& info, const std::string& wanted) {
  const auto has_role = [&](const SetRole& role) { return by_id(role.kind, role.id) == wanted; };
  return info.name == wanted || by_id(info.kind, info.id) == wanted || std::ranges::any_of(info.more_roles, has_role);
}

/// Which sets are wanted, or held by wanted ones. All ranks find the same.
std::vector<bool> wanted_sets(const std::vector<std::string>& wanted, std::span<const SetInfo> infos) {
  std::vector<std::int32_t> open;
  for (const std::string& one : wanted) {
    const std::size_t n_before = open.size();
    for (std::size_t s = 0; s < infos.size(); ++s)
      if (is_called(infos[s], one)) open.push_back(static_cast<std::int32_t>(s));
    if (open.size() > n_before) continue;
    std::vector<std::string> known;
    for (const SetInfo& info : infos) known.push_back(info.name.empty() ? by_id(info.kind, info.id) : info.name);
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("ghosts of the set '{}'", one),
                                         .cause = "cannot be: there is no such set." + did_you_mean(one, known),
                                         .remedy = "barrio info lists the sets of a file"});
  }
  std::vector<bool> is_wanted(infos.size(), false);
  while (!open.empty()) {
    const std::size_t set = open.back();
    open.pop_back();
    if (is_wanted[set]) continue;
    is_wanted[set] = true;
    for (const SetInSet& inner : infos[set].contained) open.push_back(inner.set);
  }
  return is_wanted;
}

}  // namespace

GhostChoice::GhostChoice(Rank me, const BuildOptions& options, std::span<const SetInfo> infos, const KnownCells& known)
    : ranks(options.ghost_ranks) {
  std::ranges::sort(ranks);
  const bool is_left_out = !ranks.empty() && !std::ranges::binary_search(ranks, me);
  if (is_left_out || !options.ghost_sets.empty()) may_leave.assign(known.n_own, false);
  if (options.ghost_sets.empty()) return;
  const std::vector<bool> is_wanted = wanted_sets(options.ghost_sets, infos);
  if (is_left_out) return;
  for (const SetRun& run : known.cell_sets)
    if (is_wanted[run.set]) std::fill_n(may_leave.begin() + run.first, run.count, true);
}

}  // namespace barrio::mesh::detail
