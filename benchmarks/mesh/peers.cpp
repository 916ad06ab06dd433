#include "benchmarks/mesh/peers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/text.hpp"

namespace barrio::bench {
namespace {

std::vector<PeerKind> make_all() {
  std::vector<PeerKind> all = probe_kinds();
#ifdef BARRIO_BENCH_NO_PETSC
  for (const char* name : {"dmplex", "dmplex-sides"})
    all.push_back({.name = name, .about = "", .lacking = BARRIO_BENCH_NO_PETSC});
#else
  std::ranges::move(dmplex_kinds(), std::back_inserter(all));
#endif
  return all;
}

}  // namespace

std::uint64_t ghost_hash(std::int64_t row, Rank rank) noexcept {
  return Hash64().add(row).add(std::int64_t{rank}).value();
}

const std::vector<PeerKind>& all_peers() {
  static const std::vector<PeerKind> all = make_all();
  return all;
}

PeerKind find_peer(const std::string& name) {
  const auto fault = [&](const std::string& cause) {
    return AgreedError(ErrorCode::usage, {.subject = fmt::format("peer '{}'", name), .cause = cause});
  };
  const auto found = std::ranges::find(all_peers(), name, &PeerKind::name);
  if (found == all_peers().end()) {
    std::vector<std::string> known{"none", "all"};
    for (const PeerKind& kind : all_peers()) known.push_back(kind.name);
    throw fault("is not known." + did_you_mean(name, known));
  }
  if (!found->make) throw fault("is not in this build: " + found->lacking);
  return *found;
}

}  // namespace barrio::bench
