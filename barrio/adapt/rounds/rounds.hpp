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

/// Totals of one operator, on this rank.
struct OperatorCounts {
  std::int64_t n_candidates = 0;
  std::int64_t n_decided = 0;  ///< candidates whose cavity was examined
  std::int64_t n_applied = 0;
  std::int64_t n_rounds = 0;
  std::int64_t n_passes = 0;
};

/// Rounds of operators, with the same result on any distribution.
///
/// A round takes the candidates by ascending order, and applies one if no tetrahedron of its cavity was changed in the
/// round. On several ranks the owner of a candidate's first vertex decides: it sees the whole cavity. A candidate whose
/// cavity other ranks see is announced to them. In passes each rank goes through all candidates that it knows. One that
/// meets an earlier undecided candidate waits, and so does any later one that meets it. Between passes ranks tell their
/// neighbours the decisions and the new tetrahedra. No tetrahedron changes its owner in a round.
/// Source: Blelloch, Fineman, Gibbons, Shun 2012, "Internally deterministic parallel algorithms can be fast".
class Rounds {
 public:
  /// Construct. Collective. @param sizes, limits  borrowed @param end  no change is made after it
  Rounds(mpi::Context& context, Tets& mesh, const Sizes& sizes, const Limits& limits,
         std::chrono::steady_clock::time_point end);

  /// Run one round. Collective. @return number of changes on all ranks. Cost: one reduction and one exchange with the
  /// neighbours a pass, and one more exchange
  std::int64_t run(Operator& op, OperatorCounts& counts);
  /// Tell whether rounds must end, on all ranks: a size was invalid somewhere, or the time is over.
  [[nodiscard]] bool must_stop() const noexcept { return must_stop_; }
  /// Return the ranks that see tetrahedra that this one sees, ascending; between rounds. Local.
  [[nodiscard]] std::span<const Rank> neighbours();
  /// Let operators look at all vertices, but smoothing only at those of bad tetrahedra.
  void activate_all();

 private:
  struct Announced {  // as it travels
    std::uint64_t order;
    std::array<Key, 3> keys;
  };
  struct SentVertex {
    Key key;
    Point at;
    float inverse_size;
    Rank owner;
    NodeSets::Number node_sets;
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
  /// News for a neighbour after a pass.
  struct News {
    std::vector<std::uint32_t> decided;  // places in what was announced to it
    std::vector<SentChange> changes;
    std::vector<SentVertex> vertices;
    std::vector<SentTet> tets;
    std::vector<double> values;          // of vertices: what they carry
    std::vector<Parent> vertex_parents;  // if they are carried
    std::vector<Parent> tet_parents;     // if they are carried
    void clear() noexcept {
      decided.clear();
      changes.clear();
      vertices.clear();
      tets.clear();
      values.clear();
      vertex_parents.clear();
      tet_parents.clear();
    }
  };
  /// A candidate of this rank, or one that a neighbour has announced.
  struct Item {
    Candidate candidate;
    std::int32_t neighbour = -1;  // place of the neighbour that announced it; -1: of this rank
    std::int32_t told = -1;       // place in the neighbour's announcement; of this rank: first entry in `told_`
    std::int32_t n_told = 0;      // of this rank: number of neighbours that see its cavity
    bool is_decided = false;
  };
  /// Announcement of a candidate: the neighbour, and the candidate's place in what it was told.
  using Told = std::pair<std::uint32_t, std::uint32_t>;

  void collect(Operator& op, OperatorCounts& counts);
  void announce();
  void take_announced(const Announced& one, std::size_t neighbour);
  [[nodiscard]] std::span<const Told> told_of(const Item& item) const noexcept {
    return item.n_told == 0 ? std::span<const Told>() : std::span(told_).subspan(item.told, item.n_told);
  }
  void sort_items();
  /// Go through the undecided candidates once. @return number of candidates of this rank that wait
  std::int64_t run_pass(Operator& op, OperatorCounts& counts);
  void fetch_ahead(std::size_t i) const noexcept;
  [[nodiscard]] bool is_frozen(const Candidate& candidate, std::span<const Slot> cavity) const noexcept;
  bool decide(Operator& op, Item& item, OperatorCounts& counts);
  bool refuse(const Item& item);
  /// Tell whether the time is over. @param step  the clock is read once in many steps
  bool is_late(std::size_t step);
  void reserve_foreign(const Candidate& candidate);
  void commit(const Item& item);
  void commit_move();
  void inherit();
  void move_vertex(Slot v, const Point& to, float inverse_size, std::span<const double> values,
                   std::span<const Slot> cavity);
  void find_others(std::span<const Slot> cavity);
  void tell(const Item& item, std::span<const Slot> made);
  void exchange_news();
  /// One change in a neighbour's news.
  struct Heard {
    std::span<const SentVertex> vertices;
    std::span<const SentTet> tets;
    std::span<const double> values;
    std::span<const Parent> vertex_parents;
    std::span<const Parent> tet_parents;
    /// Take the part of the next change off the front.
    Heard next(const SentChange& change, std::size_t n_values);
  };
  void take_news(std::span<const std::byte> bytes, std::size_t neighbour);
  void apply(const SentChange& change, const Heard& heard, const Candidate& candidate);
  void activate(std::span<const Slot> tets);
  void find_visible_cavity(const Candidate& candidate, std::vector<Slot>& out);
  void find_own_cavity(const Candidate& candidate, std::span<const Slot> star, std::vector<Slot>& out);
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
  std::vector<std::uint32_t> others_;  // neighbours that see the cavity at hand
  Change change_;
  std::vector<Slot> cavity_;
  std::vector<Slot> star_;
  Ring ring_;
  std::vector<Slot> vertices_;
  std::vector<double> values_;  // of a vertex that moves
};

}  // namespace barrio::adapt::detail
