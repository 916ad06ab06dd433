// The minimum work of any reader: read slabs, make ids local, find the sharers of vertices. No coordinates are sent to
// their users, and there are no ghosts, sets or sides: this is a bound, not a mesh.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mesh/peers.hpp"

namespace barrio::bench {
namespace {

/// A set of ids in a narrow range, as bits; positions in it ascend with ids.
class IdBits {
 public:
  explicit IdBits(std::span<const GlobalId> ids) {
    if (ids.empty()) return;
    const auto [low, high] = std::ranges::minmax(ids);
    first_ = value(low);
    words_.resize(static_cast<std::size_t>(value(high) - first_) / 64 + 1);
    for (const GlobalId id : ids) words_[word_of(id)] |= bit_of(id);
    std::int32_t n = 0;
    for (const std::uint64_t word : words_) {
      before_.push_back(n);
      n += std::popcount(word);
    }
    n_ = n;
  }
  /// Return the position of an id. @pre the id is in the set
  [[nodiscard]] LocalId place(GlobalId id) const noexcept {
    const std::size_t word = word_of(id);
    return LocalId{before_[word] + std::popcount(words_[word] & (bit_of(id) - 1))};
  }
  [[nodiscard]] std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> all;
    all.reserve(n_);
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        all.push_back(first_ + static_cast<std::int64_t>(64 * w) + std::countr_zero(rest));
    return all;
  }

 private:
  [[nodiscard]] std::size_t word_of(GlobalId id) const noexcept {
    return static_cast<std::size_t>(value(id) - first_) / 64;
  }
  [[nodiscard]] std::uint64_t bit_of(GlobalId id) const noexcept {
    return std::uint64_t{1} << (static_cast<std::uint64_t>(value(id) - first_) % 64);
  }
  std::int64_t first_ = 0;
  std::size_t n_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> before_;
};

/// A vertex that a rank uses, and its position there.
struct Use {
  std::int64_t id;
  Rank user;
  LocalId at;
};

/// Message to a user of a vertex: another user, and the position there.
struct Sharer {
  LocalId at;
  Rank other;
  LocalId at_other;
};

class Probe : public Peer {
 public:
  Phases load(mpi::Context& context, const PeerTask& task) override {
    Laps laps;
    std::vector<GlobalId> nodes;
    {
      const files::SharedFile file = files::open_to_read(context, task.file.path);
      agree_after(context, [&] {
        nodes = files::read_ids(file.get(), task.connectivity(), task.first_id, task.cells);
        coordinates_ = files::read_reals(file.get(), "/tstt/nodes/coordinates", task.vertices);
      });
    }
    laps.lap("read");
    const IdBits bits(nodes);
    nodes_.reserve(nodes.size());
    for (const GlobalId node : nodes) nodes_.push_back(bits.place(node));
    ids_ = bits.ids();
    laps.lap("compact");
    share(context, task);
    laps.lap("share");
    return laps.phases();
  }

  PeerCounts count(mpi::Context& context, const PeerTask& task) override {
    check_contents(context, task);
    check_sharers(context);
    return {.n_shared_vertices = mpi::sum(context, n_shared_here_)};
  }

 private:
  /// Find sharers: all users of a vertex send it to its home, which sends each of them the others.
  void share(mpi::Context& context, const PeerTask& task) {
    const Slabs homes{task.file.n_vertices, context.size()};
    const std::int64_t first = homes.first(context.rank());
    std::vector<Rank> to;
    std::vector<Use> uses;
    std::vector<Use> here;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const Use use{ids_[i], context.rank(), LocalId{static_cast<std::int32_t>(i)}};
      const std::int64_t at = use.id - first;
      if (at >= 0 && at < static_cast<std::int64_t>(homes.size(context.rank()))) {
        here.push_back(use);
      } else {
        to.push_back(homes.rank_of(use.id));
        uses.push_back(use);
      }
    }
    const std::vector<Use> came = exchange::route(context, exchange::pack_by_rank<Use>(to, uses)).items;
    std::vector<std::uint8_t> n_users(homes.size(context.rank()), 0);
    const auto n_of = [&](const Use& use) -> std::uint8_t& { return n_users[use.id - first]; };
    const auto add = [&](const Use& use) { n_of(use) = static_cast<std::uint8_t>(std::min(n_of(use) + 1, 2)); };
    std::ranges::for_each(here, add);
    std::ranges::for_each(came, add);
    std::vector<Use> shared;
    const auto is_shared = [&](const Use& use) { return n_of(use) > 1; };
    std::ranges::copy_if(here, std::back_inserter(shared), is_shared);
    std::ranges::copy_if(came, std::back_inserter(shared), is_shared);
    std::ranges::sort(shared, {}, [](const Use& use) { return std::pair(use.id, use.user); });
    to.clear();
    std::vector<Sharer> answers;
    for (std::size_t i = 0, end = 0; i < shared.size(); i = end) {
      for (end = i; end < shared.size() && shared[end].id == shared[i].id;) ++end;
      n_shared_here_ += 1;
      for (std::size_t a = i; a < end; ++a) {
        for (std::size_t b = i; b < end; ++b) {
          if (a == b) continue;
          to.push_back(shared[a].user);
          answers.push_back({shared[a].at, shared[b].user, shared[b].at});
        }
      }
    }
    sharers_ = exchange::route(context, exchange::pack_by_rank<Sharer>(to, answers)).items;
  }

  /// Check that ids can be recovered from positions, and that coordinates are those of the unit cube.
  void check_contents(mpi::Context& context, const PeerTask& task) const {
    const double sum = mpi::sum(context, std::accumulate(coordinates_.begin(), coordinates_.end(), 0.0));
    std::vector<std::int64_t> again;
    {
      const files::SharedFile file = files::open_to_read(context, task.file.path);
      agree_after(context, [&] {
        for (const GlobalId id : files::read_ids(file.get(), task.connectivity(), task.first_id, task.cells))
          again.push_back(value(id));
      });
    }
    agree_after(context, [&] {
      const double wanted = 1.5 * static_cast<double>(task.file.n_vertices);
      bool is_sound = std::abs(sum - wanted) < 1e-9 * wanted && again.size() == nodes_.size();
      for (std::size_t i = 0; is_sound && i < again.size(); ++i) is_sound = ids_[index(nodes_[i])] == again[i];
      if (!is_sound) throw Error(ErrorCode::differs, {.subject = "peer 'probe'", .cause = "read wrong contents"});
    });
  }

  /// Check that the position of a sharer refers to the same vertex.
  void check_sharers(mpi::Context& context) const {
    std::vector<Rank> to;
    std::vector<Use> claims;
    for (const Sharer& sharer : sharers_) {
      to.push_back(sharer.other);
      claims.push_back({ids_[index(sharer.at)], context.rank(), sharer.at_other});
    }
    const auto came = exchange::route(context, exchange::pack_by_rank<Use>(to, claims)).items;
    agree_after(context, [&] {
      for (const Use& claim : came)
        if (index(claim.at) >= ids_.size() || ids_[index(claim.at)] != claim.id)
          throw Error(ErrorCode::differs, {.subject = "peer 'probe'", .cause = "found a wrong sharer of a vertex"});
    });
  }

  std::vector<LocalId> nodes_;
  std::vector<std::int64_t> ids_;
  std::vector<double> coordinates_;
  std::vector<Sharer> sharers_;
  std::int64_t n_shared_here_ = 0;
};

}  // namespace

std::vector<PeerKind> probe_kinds() {
  return {{.name = "probe",
           .about = "the minimum: read slabs, make ids local, find sharers of vertices; no ghosts",
           .make = [] { return std::make_unique<Probe>(); }}};
}

}  // namespace barrio::bench
