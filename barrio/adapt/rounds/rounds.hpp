#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/rounds/border.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// What rounds of one operator came to, on this rank.
struct OperatorCounts {
  std::int64_t n_candidates = 0;
  std::int64_t n_decided = 0;  ///< cavities that were looked at
  std::int64_t n_applied = 0;
  std::int64_t n_rounds = 0;
  std::int64_t n_passes = 0;
};

/// Apply operators in rounds, with one result whatever the distribution.
///
/// A round means: take the candidates by ascending order, and apply one if no tetrahedron of its cavity was changed in
/// the round. On several ranks each candidate is decided by the owner of its first vertex, who sees the whole cavity.
/// Those whose cavity others see are announced to them. In passes each rank goes through all candidates that it knows;
/// one that meets an earlier one that is not decided yet waits, and so does what meets it. Between passes ranks tell
/// their neighbours what was decided, and what became of it. So no element changes its owner in a round.
/// Source: Blelloch, Fineman, Gibbons, Shun 2012, "Internally deterministic parallel algorithms can be fast".
class Rounds {
 public:
  /// Collective. @param sizes, limits  borrowed @param end  rounds that begin later are not made
  Rounds(mpi::Context& context, Tets& mesh, const Sizes& sizes, const Limits& limits,
         std::chrono::steady_clock::time_point end);

  /// One round. Collective. @return number of changes, on all ranks. Cost: one reduction and one exchange with the
  /// neighbours for each pass, and one exchange more
  std::int64_t run(Operator& op, OperatorCounts& counts);
  /// Whether no more rounds are to follow, on all ranks: a size was no size somewhere, or the time is over.
  [[nodiscard]] bool must_stop() const noexcept { return must_stop_; }
  /// Ranks that see tetrahedra that this one sees, ascending; between rounds. Local.
  [[nodiscard]] std::span<const Rank> neighbours();
  /// Let operators look at all vertices; smoothing only at those of bad tetrahedra.
  void activate_all();

 private:
  struct Announced {  // as it travels
    std::uint64_t order;
    std::array<Key, 3> keys;
  };
  struct SentVertex {
    Key key;
    Point at;
    double inverse_size;
    Rank owner;
    Classification classification;
  };
  struct SentTet {
    std::array<std::uint16_t, 4> v;  // places among the vertices of the change
    std::array<std::uint16_t, 4> face_membership;
    std::uint32_t cell_membership;
    std::uint32_t features;
  };
  struct SentChange {
    std::uint32_t candidate;  // place in what was announced to the receiver
    std::uint16_t n_vertices;
    std::uint16_t n_tets;
    std::uint32_t moves;  // 1: the one vertex moves, and nothing else
  };
  /// What a neighbour hears after a pass.
  struct News {
    std::vector<std::uint32_t> decided;  // places in what was announced to it
    std::vector<SentChange> changes;
    std::vector<SentVertex> vertices;
    std::vector<SentTet> tets;
    std::vector<double> values;          // of vertices: what they carry
    std::vector<Origin> vertex_origins;  // if they are carried
    std::vector<Origin> tet_origins;     // if they are carried
    void clear() noexcept {
      decided.clear();
      changes.clear();
      vertices.clear();
      tets.clear();
      values.clear();
      vertex_origins.clear();
      tet_origins.clear();
    }
  };
  /// A candidate of this rank, or one that a neighbour has announced.
  struct Item {
    Candidate candidate;
    std::int32_t neighbour = -1;  // place of the neighbour that announced it; -1: of this rank
    std::int32_t told = -1;       // place in what was announced; of this rank: first of those in `told_`
    std::int32_t n_told = 0;      // of this rank: neighbours that see its cavity
    bool is_decided = false;
  };
  /// Who was told of a candidate: neighbour, and the place in what was announced to it.
  using Told = std::pair<std::uint32_t, std::uint32_t>;

  void collect(Operator& op, OperatorCounts& counts);
  void announce();
  void take_announced(const Announced& one, std::size_t neighbour);
  [[nodiscard]] std::span<const Told> told_of(const Item& item) const noexcept {
    return item.n_told == 0 ? std::span<const Told>() : std::span(told_).subspan(item.told, item.n_told);
  }
  void sort_items();
  /// @return number of candidates of this rank that wait
  std::int64_t run_pass(Operator& op, OperatorCounts& counts);
  void fetch_ahead(std::size_t i) const noexcept;
  [[nodiscard]] bool is_frozen(const Candidate& candidate, std::span<const Slot> cavity) const noexcept;
  bool decide(Operator& op, Item& item, OperatorCounts& counts);
  bool refuse(const Item& item);
  /// Whether the time is over: then no more is begun. @param step  the clock is looked at once in many
  bool is_late(std::size_t step);
  void reserve_foreign(const Candidate& candidate);
  void commit(const Item& item);
  void commit_move();
  void inherit();
  void move_vertex(Slot v, const Point& to, double inverse_size, std::span<const double> values,
                   std::span<const Slot> cavity);
  void find_others(std::span<const Slot> cavity);
  void tell(const Item& item, std::span<const Slot> made);
  void exchange_news();
  /// One of the changes in what a neighbour has sent.
  struct Heard {
    std::span<const SentVertex> vertices;
    std::span<const SentTet> tets;
    std::span<const double> values;
    std::span<const Origin> vertex_origins;
    std::span<const Origin> tet_origins;
    /// Take the part of a change off the front.
    Heard next(const SentChange& change, std::size_t n_values);
  };
  void take_news(std::span<const std::byte> bytes, std::size_t neighbour);
  void apply(const SentChange& change, const Heard& heard, const Candidate& candidate);
  void activate(std::span<const Slot> tets);
  void find_visible_cavity(const Candidate& candidate, std::vector<Slot>& out) const;
  [[nodiscard]] bool is_before(const Candidate& a, const Candidate& b) const noexcept;

  mpi::Context& context_;
  Tets& mesh_;
  const Sizes& sizes_;
  const Limits& limits_;
  std::chrono::steady_clock::time_point end_;
  bool is_late_ = false;
  bool must_stop_ = false;
  Border border_;
  std::optional<exchange::Neighborhood> hood_;
  std::uint32_t round_ = 0;
  std::uint32_t pass_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Item> items_;                          // by ascending order
  std::vector<std::uint32_t> open_;                  // those that are not decided, ascending
  std::vector<std::vector<std::size_t>> announced_;  // items of each neighbour, by place
  std::vector<std::uint32_t> n_told_;                // announced to each neighbour
  std::vector<Told> told_;
  std::vector<News> news_;             // for each neighbour
  std::vector<std::uint32_t> others_;  // neighbours that see what is at hand
  Change change_;
  std::vector<Slot> cavity_;
  std::vector<Slot> vertices_;
  std::vector<double> values_;  // of a vertex that moves
};

}  // namespace barrio::adapt::detail
