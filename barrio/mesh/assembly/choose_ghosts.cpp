#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/assembly/assembly.hpp"

namespace barrio::mesh {
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

void MeshAssembly::choose_ghosts(std::span<const SetInfo> infos) {
  ghost_ranks_ = options_.ghost_ranks;
  std::ranges::sort(ghost_ranks_);
  const bool is_left_out = !ghost_ranks_.empty() && !std::ranges::binary_search(ghost_ranks_, context_.rank());
  if (is_left_out || !options_.ghost_sets.empty()) may_leave_.assign(n_own_cells_, false);
  if (options_.ghost_sets.empty()) return;
  const std::vector<bool> is_wanted = wanted_sets(options_.ghost_sets, infos);
  if (is_left_out) return;
  for (const detail::SetRun& run : cell_sets())
    if (is_wanted[run.set]) std::fill_n(may_leave_.begin() + run.first, run.count, true);
}

}  // namespace barrio::mesh
