#include "barrio/mesh/remote_ids.hpp"

#include <algorithm>
#include <numeric>

#include "barrio/base/memory.hpp"

namespace barrio::mesh {

RemoteIds::RemoteIds(const Mesh& mesh, Dim dim) {
  const Sharing& sharing = mesh.sharing(dim);
  const std::span<const GlobalId> ids = mesh.global_ids(dim);
  const Rank me = mesh.context().rank();
  const std::span<const Rank> neighbours = mesh.neighbours();
  std::vector<std::size_t> by_id(sharing.shared.size());
  std::iota(by_id.begin(), by_id.end(), std::size_t{0});
  std::ranges::sort(by_id, {}, [&](std::size_t s) { return ids[index(sharing.shared[s])]; });

  // Both ends of a pair list what they share by ascending global id.
  std::vector<std::vector<std::size_t>> slots(neighbours.size());  // in ids_, of the ids that a neighbour tells
  offsets_.reserve(sharing.shared.size() + 1);
  for (std::size_t s = 0; s < sharing.shared.size(); ++s)
    offsets_.push_back(offsets_.back() + sharing.sharers_of(s).size());
  ids_.resize(offsets_.back());
  exchange::Neighborhood hood(mesh.context(), neighbours);
  auto round = hood.begin_round<LocalId>();
  for (const std::size_t s : by_id) {
    const auto sharers = sharing.sharers_of(s);
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      if (sharers[i] == me) {
        ids_[offsets_[s] + i] = sharing.shared[s];
        continue;
      }
      const auto n = static_cast<std::size_t>(std::ranges::lower_bound(neighbours, sharers[i]) - neighbours.begin());
      round.channel(n).allocate() = sharing.shared[s];
      slots[n].push_back(offsets_[s] + i);
    }
  }
  round.close();
  std::vector<std::size_t> next(neighbours.size(), 0);
  for (const auto& run : round.received_runs()) {
    const auto n = static_cast<std::size_t>(std::ranges::lower_bound(neighbours, run.from) - neighbours.begin());
    for (const LocalId id : run.messages) ids_[slots[n][next[n]++]] = id;
  }
}

std::uint64_t RemoteIds::memory_bytes() const noexcept {
  return barrio::memory_bytes(offsets_) + barrio::memory_bytes(ids_);
}

}  // namespace barrio::mesh
