#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// What operators keep to. Lengths in the wanted size, qualities as cubes of mean ratios.
struct Limits {
  double short_edge = 0.65;    ///< shorter ones are collapsed
  double long_edge = 1.30;     ///< longer ones are split
  double longest_made = 1.45;  ///< no collapse or swap makes a longer one
  double floor = 0.027;        ///< nothing is made worse than both this and what was there
  double bad = 0.1;            ///< what is better at first is smoothed only after a change
  double good = 0.4;           ///< what is better is not swapped
  double good_star = 0.5;      ///< a vertex whose tetrahedra are all better stays where it is
  double by_size = 0.5;        ///< smoothing: part of the wanted size, beside the faces around, in the best height
};

/// Bits of `Vertex::active`.
enum Activity : std::uint8_t { collapses = 1U << 0U, splits = 1U << 1U, swaps = 1U << 2U, smooths = 1U << 3U };
/// The bit that says that an operator may find something to do.
constexpr std::uint8_t wanted(Activity activity) noexcept { return static_cast<std::uint8_t>(activity << 4U); }

/// Note which operators may find something to do at the vertices of a tetrahedron that is new or was moved: by lengths
/// and quality, so that no star is looked at in vain. Operators take the notes back where there is nothing.
void note_wants(Tets& mesh, Slot t, const Limits& limits) noexcept;

/// Mix two keys, in this order, into 64 bits.
[[nodiscard]] std::uint64_t hash_of(const Key& a, const Key& b) noexcept;

/// Something to be tried in a round. Its cavity is all tetrahedra that have all of its vertices: a star, a ring, or the
/// two at a face.
struct Candidate {
  std::uint64_t order = 0;                            ///< the lower, the earlier
  std::array<Slot, 3> of{no_slot, no_slot, no_slot};  ///< vertices; the rank that owns the first one decides
  Slot tet = no_slot;                                 ///< one of the cavity
};

/// What a candidate comes to: other tetrahedra for its cavity.
struct Change {
  std::vector<Slot> cavity;
  std::vector<NewTet> made;
  Slot removed = no_slot;    ///< vertex
  Slot moved = no_slot;      ///< vertex
  Point to{};                ///< where `moved` goes
  bool adds_vertex = false;  ///< `added` stands in `made` as `new_vertex`
  Vertex added;
};
inline constexpr Slot new_vertex = -2;

/// One kind of mesh modification. Looks at candidates from the state at the start of a round, and at cavities that have
/// not changed since. Local. No result depends on slots, on the order in a star or on the distribution.
class Operator {
 public:
  Operator(Tets& mesh, const Sizes& sizes, const Limits& limits, Activity activity)
      : mesh_(mesh), sizes_(sizes), limits_(limits), activity_(activity) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// What may be tried at a vertex that this rank owns, and that changed since it was last asked for
  virtual void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) = 0;
  /// Find the cavity. @return false if any of it has changed in the round
  virtual bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) = 0;
  /// Decide, after `find_cavity`. @return whether the change is to be made
  virtual bool decide(const Candidate& candidate, std::uint32_t round, Change& out) = 0;
  /// The bit of `Vertex::active`.
  [[nodiscard]] Activity activity() const noexcept { return activity_; }

 protected:
  [[nodiscard]] bool is_untouched(std::span<const Slot> tets, std::uint32_t round) const noexcept;
  [[nodiscard]] const Vertex& vertex(Slot v) const noexcept { return mesh_.vertices[v]; }
  /// There is nothing to do at a vertex before something changes around it.
  void has_nothing(Slot v) noexcept { mesh_.vertices[v].active &= static_cast<std::uint8_t>(~wanted(activity_)); }

  Tets& mesh_;
  const Sizes& sizes_;
  const Limits& limits_;

 private:
  Activity activity_;
};

/// The tetrahedra of a vertex, with what operators need of its neighbours side by side.
struct Star {
  std::vector<Slot> tets;
  std::vector<Slot> neighbours;
  std::vector<Point> at;                           ///< of neighbours
  std::vector<double> length;                      ///< of the edge to each neighbour, in the wanted size
  std::vector<std::array<std::int16_t, 3>> faces;  ///< of each tetrahedron: (centre, face) is positive; neighbours
  float worst = 0.0F;                              ///< quality

  void gather(Tets& mesh, Slot v);
  /// The same where the tetrahedra are known. @param cavity  those of the vertex
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

/// Take a vertex away: one end of a short edge goes to the other.
class Collapse final : public StarOperator {
 public:
  using StarOperator::StarOperator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  [[nodiscard]] bool is_along(Slot v, Slot to) const;
  [[nodiscard]] bool keeps_planes(Slot v, Slot to) const;
  [[nodiscard]] double worst_made(std::size_t target, double at_least) const;
  [[nodiscard]] bool makes_long_edge(std::size_t target) const;
};

/// Move a vertex to where its tetrahedra are better.
class Smooth final : public StarOperator {
 public:
  using StarOperator::StarOperator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  [[nodiscard]] Point best_move(const Vertex& centre) const;
  [[nodiscard]] bool project(Slot v, Point& move) const;
  /// @return sum of 1 / mean ratio in a fixed-point number, whose sum no order changes; none if one is too bad
  [[nodiscard]] std::optional<std::int64_t> badness(const Point& at, double least) const;
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

  Star star_;
  Ring ring_;
};

/// Take an edge out of the tetrahedra around it, or a face from between two, if the worst of them becomes better.
class Swap final : public Operator {
 public:
  using Operator::Operator;
  void propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) override;
  bool find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) override;
  bool decide(const Candidate& candidate, std::uint32_t round, Change& out) override;

 private:
  void propose_edge(Slot t, Slot a, Slot b, std::uint32_t round, std::vector<Candidate>& out);
  void propose_face(Slot t, std::size_t f, std::uint32_t round, std::vector<Candidate>& out);
  void add(std::uint64_t hash, double now, const Candidate& candidate, std::vector<Candidate>& out) const;
  [[nodiscard]] bool may_take_out(const Ring& ring, Slot a, Slot b) const;
  [[nodiscard]] float worst_of(std::span<const Slot> tets) const;
  double without_edge(Slot a, Slot b, std::vector<NewTet>& made);
  double without_face(Slot t, std::size_t f, std::vector<NewTet>& made) const;
  [[nodiscard]] bool makes_long_edge(std::span<const NewTet> made) const;

  std::vector<Slot> star_;
  Ring ring_;
  Change tried_;
};

}  // namespace barrio::adapt::detail
