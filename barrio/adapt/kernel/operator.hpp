#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/kernel/sheets.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// Limits of all operators. Lengths in units of the wanted size, qualities as cubes of mean ratios.
struct Limits {
  double short_edge = 0.65;    ///< shorter ones are collapsed
  double long_edge = 1.30;     ///< longer ones are split
  double longest_made = 1.45;  ///< no collapse or swap makes a longer edge
  double floor = 0.027;        ///< no change but a split makes a cell worse than both this and the worst of its cavity
  double outranked = 1.4;      ///< an edge waits for edges of its cells that are longer by this factor
  double split_floor = 8e-3;   ///< no split makes a cell worse than both this and the worst of its cavity
  double share = 1.0;          ///< part of the long and short edges that is changed, at random
  std::uint64_t seed = 0;      ///< of that
  double mend = 0.0;           ///< edges below 1 are collapsed around worse cells, if that makes them better
  double flatness = 0.0;       ///< model units: vertices leave planes and straight lines by no more
  double bad = 0.1;            ///< stars without a worse cell at the start are smoothed only after a change
  double good = 0.4;           ///< better cells are not swapped
  double good_star = 0.5;      ///< a vertex whose tetrahedra are all better stays where it is
  double by_size = 0.5;        ///< smoothing: weight of the wanted size, against the face, in the best height
  bool by_worst = false;       ///< smoothing: cubes of 1 / mean ratio are summed, so the worst cells count most
};

/// Bits of `Vertex::active`.
enum Activity : std::uint8_t { collapses = 1U << 0U, splits = 1U << 1U, swaps = 1U << 2U, smooths = 1U << 3U };
/// Return the bit that says that an operator may find work.
constexpr std::uint8_t wanted(Activity activity) noexcept { return static_cast<std::uint8_t>(activity << 4U); }

/// Note which operators may find work at the vertices of a tetrahedron that is new or was moved, by lengths and
/// quality. This saves searching most stars in vain. An operator that finds nothing clears its note.
void note_wants(Tets& mesh, Slot t, const Limits& limits) noexcept;

/// Mix two keys, in this order, into 64 bits.
[[nodiscard]] std::uint64_t hash_of(const Key& a, const Key& b) noexcept;

/// Tell whether an edge or vertex belongs to the random share that is changed.
[[nodiscard]] bool is_in_share(const Key& a, const Key& b, const Limits& limits) noexcept;

/// Return the order of a candidate: by steps, of which 0 is first and 63 last; within a step by the 58 low bits of a
/// hash. @param step  rounded down, and clamped
[[nodiscard]] std::uint64_t order_of(double step, std::uint64_t hash) noexcept;

/// Candidate of a round. Its cavity is all tetrahedra that have all of its vertices: a star, a ring, or the two at a
/// face.
struct Candidate {
  std::uint64_t order = 0;                            ///< lower goes first
  std::array<Slot, 3> of{no_slot, no_slot, no_slot};  ///< vertices; the rank that owns the first one decides
  Slot tet = no_slot;                                 ///< one of the cavity
};

/// Change of a cavity: the tetrahedra that replace it, or the move of a vertex.
struct Change {
  std::vector<Slot> cavity;
  std::vector<NewTet> made;
  Slot removed = no_slot;    ///< vertex
  Slot moved = no_slot;      ///< vertex
  Point to{};                ///< where `moved` goes
  bool adds_vertex = false;  ///< `made` refers to `added` as `new_vertex`
  Vertex added;
  NodeSets::Number added_to = 0;  ///< membership of `added` in sets
};
inline constexpr Slot new_vertex = -2;

/// Tell whether sets of vertices hold a vertex: it is at the border of what one of them covers, or stands alone in it.
/// @param star  all of its tetrahedra
[[nodiscard]] bool is_held(const Tets& mesh, Slot v, std::span<const Slot> star);

/// Operator: one kind of mesh modification. It proposes candidates from the state at the start of a round, and decides
/// about cavities that have not changed since. Local. No result depends on slots, on the order in a star or on the
/// distribution.
class Operator {
 public:
  Operator(Tets& mesh, const Sizes& sizes, const Limits& limits, Activity activity)
      : mesh_(mesh), sizes_(sizes), limits_(limits), activity_(activity) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Propose candidates at a vertex that this rank owns, and around which something changed since the last proposal.
  virtual void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) = 0;
  /// Find the cavity. @return false if any of it has changed in the round
  virtual bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) = 0;
  /// Decide, after `find_cavity`. @return whether the change is to be made
  virtual bool decide(const Candidate& candidate, std::uint32_t round, Change& out) = 0;
  /// Return the operator's bit of `Vertex::active`.
  [[nodiscard]] Activity activity() const noexcept { return activity_; }

 protected:
  [[nodiscard]] bool is_untouched(std::span<const Slot> tets, std::uint32_t round) const noexcept;
  [[nodiscard]] const Vertex& vertex(Slot v) const noexcept { return mesh_.vertices[v]; }
  /// Clear the operator's note at a vertex: there is no work before something changes around it.
  void has_nothing(Slot v) noexcept {
    const std::uint8_t bit = wanted(activity_);
    mesh_.vertices[v].active &= ~bit;
  }

  Tets& mesh_;
  const Sizes& sizes_;
  const Limits& limits_;

 private:
  Activity activity_;
};

/// The tetrahedra of a vertex, and arrays of the data of its neighbours that operators need.
struct Star {
  std::vector<Slot> tets;
  std::vector<Slot> neighbours;
  std::vector<Point> at;                           ///< of neighbours
  std::vector<double> length;                      ///< of the edge to each neighbour, in units of the wanted size
  std::vector<Slot> with;                          ///< a tetrahedron that has the edge to each neighbour
  std::vector<std::array<std::int32_t, 3>> faces;  ///< places of neighbours, by tetrahedron: (centre, face) is positive
  float worst = 0.0F;                              ///< quality

  void gather(Tets& mesh, Slot v);
  /// Gather from known tetrahedra. @param cavity  all of the vertex
  void gather(Tets& mesh, Slot v, std::span<const Slot> cavity);
};

/// An operator whose cavities are stars.
class StarOperator : public Operator {
 public:
  using Operator::Operator;
  bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) override;

 protected:
  Star star_;
};

/// Collapse a short edge: one end moves onto the other and is removed.
class Collapse final : public StarOperator {
 public:
  using StarOperator::StarOperator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  [[nodiscard]] bool is_along(Slot v, Slot to) const;
  [[nodiscard]] double below(double worst) const noexcept;
  bool note_shortest(Slot v);
  [[nodiscard]] bool is_flat(Slot v);
  void find_targets(double below);
  [[nodiscard]] bool joins_pinched(Slot to) const;
  [[nodiscard]] double worst_made(std::size_t target, double at_least) const;
  [[nodiscard]] bool makes_long_edge(std::size_t target) const;

  Sheets sheets_;
  std::vector<std::size_t> targets_;  // places of neighbours
};

/// Move a vertex to improve its tetrahedra.
class Smooth final : public StarOperator {
 public:
  using StarOperator::StarOperator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  /// Where a vertex should move, and what its star is like now.
  struct Wish {
    Point move{};
    std::int64_t badness = 0;  ///< sum over the star, in fixed point: the order does not matter
    bool is_valid = true;      ///< all of its tetrahedra are positive
  };
  /// Face across from the vertex.
  struct Base {
    Point a;
    Point b;
    Point c;
    Point normal;  ///< away from the vertex; its length is twice the area
    double sum;    ///< of the squares of its edges
  };
  [[nodiscard]] Wish best_move(const Vertex& centre);
  [[nodiscard]] double badness_of(double inverse_ratio) const noexcept;
  [[nodiscard]] bool project(Slot v, Point& move);
  /// Tell whether the star would have a badness below a bound, and no tetrahedron worse than `least` or not positive.
  [[nodiscard]] bool is_better(const Point& at, double least, double bound) const;

  Sheets sheets_;
  std::vector<Base> bases_;
};

/// Halve a long edge.
class Split final : public Operator {
 public:
  using Operator::Operator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  [[nodiscard]] bool makes_short_edge(const Change& change) const;
  [[nodiscard]] bool is_outranked(double length, std::span<const Slot> cavity) const;
  [[nodiscard]] NodeSets::Number membership_between(Slot a, Slot b, Classification on) const;

  Star star_;
  Ring ring_;
};

/// Remove an edge from the tetrahedra around it, or the face between two, if the worst tetrahedron improves.
class Swap final : public Operator {
 public:
  using Operator::Operator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;
  /// Forget what was looked at: limits have changed.
  void forget() noexcept { round_ = 0; }

 private:
  [[nodiscard]] bool has_news(std::span<const Slot> tets) const;
  void propose_edge(Slot t, Slot a, Slot b, std::uint32_t round, std::vector<Candidate>& out);
  void propose_face(Slot t, std::size_t f, std::uint32_t round, std::vector<Candidate>& out);
  void add(std::uint64_t hash, double now, const Candidate& candidate, std::vector<Candidate>& out) const;
  [[nodiscard]] bool may_take_out(const Ring& ring, Slot a, Slot b) const;
  [[nodiscard]] float worst_of(std::span<const Slot> tets) const;
  double without_edge(Slot a, Slot b, std::vector<NewTet>& made);
  double without_face(Slot t, std::size_t f, std::vector<NewTet>& made) const;
  [[nodiscard]] bool makes_long_edge(std::span<const NewTet> made) const;

  std::uint32_t round_ = 0;
  std::uint32_t last_round_ = 0;  // of swaps before this one; 0: none with these limits
  std::vector<Slot> star_;
  Ring ring_;
  Change tried_;
};

}  // namespace barrio::adapt::detail
