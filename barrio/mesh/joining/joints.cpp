#include "barrio/mesh/joining/joints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/joining/lowest_ids.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

constexpr RegionName match_region{"join.match"};
constexpr RegionName merge_region{"join.merge"};

/// A vertex, in one of the cells of space that its tolerance reaches.
struct Candidate {
  std::uint64_t cell;
  std::int64_t id;
  std::array<double, 3> x;
  std::int32_t piece;
  std::int32_t is_inside;  // the vertex itself lies in this cell
};

/// Drop candidates in cells of space that only one piece reaches. These are nearly all: where boxes of pieces overlap,
/// the pieces themselves seldom do. Cells are identified by a hash, so some candidates stay that could go.
void keep_mixed(std::vector<Candidate>& candidates) {
  constexpr std::int32_t none = -1;
  constexpr std::int32_t several = -2;
  const std::size_t n_slots = std::bit_ceil(2 * candidates.size() + 2);
  std::vector<std::int32_t> piece_at(n_slots, none);
  // Hashes of cells here are equal modulo the number of ranks, so low bits may be equal: multiply and take the high
  // ones.
  const int shift = 64 - std::countr_zero(n_slots);
  const auto at = [&](const Candidate& c) -> std::int32_t& { return piece_at[c.cell * 0x9e3779b97f4a7c15U >> shift]; };
  for (const Candidate& c : candidates) {
    std::int32_t& piece = at(c);
    if (piece == none) piece = c.piece;
    if (piece != c.piece) piece = several;
  }
  std::erase_if(candidates, [&](const Candidate& c) { return at(c) != several; });
}

// Limits that a sound tolerance never reaches: it is shorter than the edges of cells, so few vertices lie in a cube of
// eight tolerances, and few merge into one. Beyond these limits work would grow faster than the mesh.
constexpr std::int64_t max_in_a_cell = 8192;
constexpr std::int64_t max_in_a_chain = 4096;

[[noreturn]] void refuse_tolerance(double tolerance, std::string cause) {
  throw AgreedError(ErrorCode::differs,
                    {.subject = fmt::format("tolerance {:g}", tolerance),
                     .cause = "is too wide: " + std::move(cause),
                     .remedy = "choose one below the shortest edge of the cells where pieces meet"});
}

[[noreturn]] void refuse_chain(double tolerance, std::int64_t n) {
  refuse_tolerance(tolerance, fmt::format("{} vertices that are farther apart would become one", n));
}

double distance(const double* a, const double* b) {
  return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

}  // namespace

PieceIds::PieceIds(const std::vector<MeshTables>& pieces) : first{0} {
  for (const MeshTables& piece : pieces) first.push_back(first.back() + piece.vertices.n_rows);
}

int PieceIds::piece_of(std::int64_t id) const noexcept {
  return static_cast<int>(std::ranges::upper_bound(first, id) - first.begin()) - 1;
}

Joints::Joints(mpi::Context& context, const std::vector<MeshTables>& pieces, const JoinOptions& options)
    : context_(context), pieces_(pieces), ids_(pieces) {
  find_joints(options);
  {
    const Region region(context_.trace(), match_region);
    send_home(find_matches());
  }
  const Region region(context_.trace(), merge_region);
  judge();
  do {
    merge();
    count_chains();
  } while (options.require_conforming && open_faulty());
  for (Joint& joint : joints_) joint.is_joined = joint.is_joined && joint.n_matched > 0;
}

Rank Joints::home_of(std::int64_t id) const {
  const int piece = ids_.piece_of(id);
  return pieces_[piece].vertices.rank_of(id - ids_.first[piece]);
}

std::int64_t& Joints::becomes(std::int64_t id) {
  const std::size_t piece = ids_.piece_of(id);
  return becomes_[piece][id - ids_.first[piece] - pieces_[piece].vertices.first(context_.rank())];
}

const double* Joints::position(std::int64_t id) const {
  const std::size_t piece = ids_.piece_of(id);
  const std::int64_t row = id - ids_.first[piece] - pieces_[piece].vertices.first(context_.rank());
  return &pieces_[piece].coordinates[3 * row];
}

std::int32_t Joints::joint_of(int a, int b) const noexcept {
  const auto key = std::tuple(std::min(a, b), std::max(a, b));
  const auto at = std::ranges::lower_bound(joints_, key, {}, [](const Joint& j) { return std::tuple(j.a, j.b); });
  return at != joints_.end() && std::tuple(at->a, at->b) == key ? static_cast<std::int32_t>(at - joints_.begin()) : -1;
}

void Joints::find_joints(const JoinOptions& options) {
  const std::size_t n = pieces_.size();
  constexpr double far = std::numeric_limits<double>::infinity();
  std::vector<double> extremes(6 * n, far);  // low, and negated high
  for (std::size_t p = 0; p < n; ++p) {
    const std::vector<double>& x = pieces_[p].coordinates;
    for (std::size_t k = 0; k < 3; ++k) {
      double low = far;
      double high = far;
      for (std::size_t i = k; i < x.size(); i += 3) {
        low = std::min(low, x[i]);
        high = std::min(high, -x[i]);
      }
      extremes[6 * p + k] = low;
      extremes[6 * p + 3 + k] = high;
    }
  }
  mpi::all_reduce(context_, std::span<double>(extremes), MPI_MIN);
  std::array<double, 6> all{far, far, far, -far, -far, -far};
  for (std::size_t p = 0; p < n; ++p) {
    std::array<double, 6> box{};
    for (std::size_t k = 0; k < 3; ++k) {
      box[k] = extremes[6 * p + k];
      box[3 + k] = -extremes[6 * p + 3 + k];
      all[k] = std::min(all[k], box[k]);
      all[3 + k] = std::max(all[3 + k], box[3 + k]);
    }
    boxes_.push_back(box);
  }
  const double diagonal = distance(all.data(), all.data() + 3);
  const double tolerance = options.tolerance >= 0.0 ? options.tolerance : 1e-8 * diagonal;
  joints_of_.resize(n);
  for (int a = 0; a < std::ssize(pieces_); ++a) {
    for (int b = options.within_pieces ? a : a + 1; b < std::ssize(pieces_); ++b) {
      Joint joint{.a = a, .b = b, .tolerance = tolerance, .is_joined = true};
      for (const JointOptions& special : options.joints)
        if (std::minmax(special.a, special.b) == std::minmax(a, b)) joint.tolerance = special.tolerance;
      const auto& box_a = boxes_[a];
      const auto& box_b = boxes_[b];
      bool meet = true;
      for (std::size_t k = 0; k < 3; ++k)
        meet = meet &&
               std::max(box_a[k], box_b[k]) - joint.tolerance <= std::min(box_a[3 + k], box_b[3 + k]) + joint.tolerance;
      if (!meet) continue;
      const auto number = static_cast<std::int32_t>(joints_.size());
      joints_of_[a].push_back(number);
      if (a != b) joints_of_[b].push_back(number);
      joints_.push_back(joint);
      widest_tolerance_ = std::max(widest_tolerance_, joint.tolerance);
    }
  }
  // Cells of space are so wide that few vertices reach into others, and that their indices do not overflow.
  grid_ = diagonal > 0.0 ? std::max(8.0 * widest_tolerance_, 1e-12 * diagonal) : 1.0 + widest_tolerance_;
  for (std::size_t k = 0; k < 3; ++k) corner_[k] = std::isfinite(all[k]) ? all[k] : 0.0;
}

std::vector<Joints::Match> Joints::find_matches() {
  std::vector<Rank> to;
  std::vector<Candidate> candidates;
  const auto cell_at = [&](double x) { return static_cast<std::int64_t>(std::floor(x / grid_)); };
  for (std::int32_t p = 0; p < std::ssize(pieces_); ++p) {
    const MeshTables& piece = pieces_[p];
    const std::int64_t first = ids_.first[p] + piece.vertices.first(context_.rank());
    // Overlaps of the boxes of the two pieces of each joint, both grown by twice the tolerance.
    std::vector<std::array<double, 6>> regions;
    for (const std::int32_t j : joints_of_[p]) {
      const Joint& joint = joints_[j];
      const auto& a = boxes_[joint.a];
      const auto& b = boxes_[joint.b];
      std::array<double, 6> region{};
      for (std::size_t k = 0; k < 3; ++k) {
        region[k] = std::max(a[k], b[k]) - 2.0 * joint.tolerance;
        region[3 + k] = std::min(a[3 + k], b[3 + k]) + 2.0 * joint.tolerance;
      }
      regions.push_back(region);
    }
    const std::int64_t n_here = piece.vertices.size(context_.rank());
    for (std::int64_t i = 0; i < n_here; ++i) {
      const double* x = &piece.coordinates[3 * i];
      bool is_near = false;
      for (std::size_t r = 0; r < regions.size(); ++r) {
        const auto& region = regions[r];
        if (x[0] < region[0] || x[0] > region[3] || x[1] < region[1] || x[1] > region[4] || x[2] < region[2] ||
            x[2] > region[5])
          continue;
        is_near = true;
        joints_[joints_of_[p][r]].n_near += 1;
      }
      if (!is_near) continue;
      // All cells within twice the tolerance: near misses are counted too.
      std::array<std::int64_t, 3> low{};
      std::array<std::int64_t, 3> high{};
      std::array<std::int64_t, 3> inside{};
      for (std::size_t k = 0; k < 3; ++k) {
        const double at = x[k] - corner_[k];  // relative: far from the origin, cell indices would overflow
        low[k] = cell_at(at - 2.0 * widest_tolerance_);
        high[k] = cell_at(at + 2.0 * widest_tolerance_);
        inside[k] = cell_at(at);
      }
      for (std::int64_t a = low[0]; a <= high[0]; ++a) {
        for (std::int64_t b = low[1]; b <= high[1]; ++b) {
          for (std::int64_t c = low[2]; c <= high[2]; ++c) {
            const std::uint64_t cell = Hash64().add(a).add(b).add(c).value();
            const bool is_inside = std::array{a, b, c} == inside;
            candidates.push_back({cell, first + i, {x[0], x[1], x[2]}, p, is_inside ? 1 : 0});
            to.push_back(static_cast<Rank>(cell % context_.size()));
          }
        }
      }
    }
  }
  candidates =
      exchange::route(context_, exchange::pack_by_rank<Candidate>(to, candidates), exchange::Route::automatic).items;
  if (std::ranges::none_of(joints_, [](const Joint& joint) { return joint.a == joint.b; })) keep_mixed(candidates);
  std::ranges::sort(candidates, {}, [](const Candidate& c) { return std::tuple(c.cell, c.id, -c.is_inside); });
  const auto end_of_cell = [&](std::size_t begin) {
    std::size_t end = begin;
    while (end < candidates.size() && candidates[end].cell == candidates[begin].cell) ++end;
    return end;
  };
  std::int64_t most = 0;
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    end = end_of_cell(begin);
    most = std::max<std::int64_t>(most, end - begin);
  }
  most = mpi::max(context_, most);
  if (most > max_in_a_cell)
    refuse_tolerance(widest_tolerance_, fmt::format("{} vertices lie within about eight times that distance", most));
  std::vector<Match> matches;
  for (std::size_t begin = 0; begin < candidates.size();) {
    const std::size_t end = end_of_cell(begin);
    for (std::size_t i = begin; i < end; ++i) {
      const Candidate& lower = candidates[i];
      if (lower.is_inside == 0) continue;  // a pair is found in the cell of its lower vertex
      for (std::size_t j = i + 1; j < end; ++j) {
        const Candidate& higher = candidates[j];
        if (higher.id == candidates[j - 1].id) continue;
        const std::int32_t joint = joint_of(lower.piece, higher.piece);
        if (joint < 0) continue;
        Joint& here = joints_[joint];
        const double gap = distance(lower.x.data(), higher.x.data());
        if (gap <= here.tolerance) {
          matches.push_back({lower.id, higher.id, joint, gap});
        } else if (gap <= 2.0 * here.tolerance) {
          here.nearest_miss = std::min(here.nearest_miss, gap);
        }
      }
    }
    begin = end;
  }
  return matches;
}

void Joints::send_home(const std::vector<Match>& matches) {
  std::vector<Rank> to;
  std::vector<Partner> partners;
  for (const Match& match : matches) {
    to.push_back(home_of(match.lower));
    partners.push_back({match.lower, match.higher, match.joint, 0, match.distance});
    to.push_back(home_of(match.higher));
    partners.push_back({match.higher, match.lower, match.joint, 0, match.distance});
  }
  partners_ =
      exchange::route(context_, exchange::pack_by_rank<Partner>(to, partners), exchange::Route::automatic).items;
  const auto key = [](const Partner& p) { return std::tuple(p.vertex, p.joint, p.other); };
  std::ranges::sort(partners_, {}, key);
  partners_.erase(std::unique(partners_.begin(), partners_.end(),
                              [&](const Partner& a, const Partner& b) { return key(a) == key(b); }),
                  partners_.end());
}

void Joints::judge() {
  for (std::size_t i = 0; i < partners_.size();) {
    std::size_t end = i;
    while (end < partners_.size() && partners_[end].vertex == partners_[i].vertex &&
           partners_[end].joint == partners_[i].joint)
      ++end;
    Joint& joint = joints_[partners_[i].joint];
    joint.n_matched += 1;
    joint.n_ambiguous += end - i > 1 ? 1 : 0;
    for (; i < end; ++i) joint.max_gap = std::max(joint.max_gap, partners_[i].distance);
  }
  sum_over_ranks();
}

void Joints::sum_over_ranks() {
  std::vector<std::int64_t> counts;
  std::vector<double> gaps;
  for (const Joint& joint : joints_) {
    counts.insert(counts.end(), {joint.n_near, joint.n_matched, joint.n_ambiguous});
    gaps.insert(gaps.end(), {joint.max_gap, -joint.nearest_miss});
  }
  mpi::all_reduce(context_, std::span<std::int64_t>(counts), MPI_SUM);
  mpi::all_reduce(context_, std::span<double>(gaps), MPI_MAX);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    joints_[j].n_near = counts[3 * j];
    joints_[j].n_matched = counts[3 * j + 1];
    joints_[j].n_ambiguous = counts[3 * j + 2];
    joints_[j].max_gap = gaps[2 * j];
    joints_[j].nearest_miss = -gaps[2 * j + 1];
  }
}

void Joints::merge() {
  becomes_.assign(pieces_.size(), {});
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const std::int64_t first = ids_.first[p] + pieces_[p].vertices.first(context_.rank());
    for (std::size_t i = 0; i < pieces_[p].vertices.size(context_.rank()); ++i) becomes_[p].push_back(first + i);
  }
  std::vector<IdLink> links;
  for (const Partner& partner : partners_)
    if (partner.is_open == 0) links.push_back({partner.vertex, partner.other});
  sort_unique(links);
  std::map<std::int64_t, std::int64_t> n_merged;  // by the id that stays
  for (const LowestId& one : lowest_ids(context_, links, [&](std::int64_t id) { return home_of(id); })) {
    becomes(one.id) = one.lowest;
    n_merged[one.lowest] += 1;
  }
  refuse_crowds(n_merged);
}

void Joints::refuse_crowds(const std::map<std::int64_t, std::int64_t>& n_merged) {
  struct Crowd {
    std::int64_t lowest;
    std::int64_t n;
  };
  std::vector<Rank> to;
  std::vector<Crowd> crowds;
  for (const auto& [lowest, n] : n_merged) {
    to.push_back(home_of(lowest));
    crowds.push_back({lowest, n});
  }
  std::map<std::int64_t, std::int64_t> n_all;
  std::int64_t most = 0;
  for (const Crowd& crowd : exchange::route(context_, exchange::pack_by_rank<Crowd>(to, crowds)).items)
    most = std::max(most, n_all[crowd.lowest] += crowd.n);
  most = mpi::max(context_, most);
  if (most > max_in_a_cell) refuse_chain(widest_tolerance_, most);
}

bool Joints::is_tight(std::span<const Member> members) const {
  std::array<double, 3> low = members.front().x;
  std::array<double, 3> high = low;
  std::vector<int> pieces;
  for (const Member& member : members) {
    pieces.push_back(ids_.piece_of(member.id));
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], member.x[k]);
      high[k] = std::max(high[k], member.x[k]);
    }
  }
  std::ranges::sort(pieces);
  double tolerance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool is_first = i == 0 || pieces[i - 1] != pieces[i];
    const bool is_second = !is_first && (i == 1 || pieces[i - 2] != pieces[i]);
    if (!is_first && !is_second) continue;  // each pair of pieces once, and a piece with itself if it comes twice
    for (std::size_t j = 0; j < i; ++j) {
      if (j > 0 && pieces[j - 1] == pieces[j]) continue;
      if (is_second && pieces[j] != pieces[i]) continue;
      const std::int32_t joint = joint_of(pieces[j], pieces[i]);
      if (joint < 0) return false;
      tolerance = std::min(tolerance, joints_[joint].tolerance);
    }
  }
  return distance(low.data(), high.data()) <= tolerance;
}

void Joints::count_chained(std::span<const Member> members, std::vector<std::int64_t>& n_chained) const {
  for (const Member& member : members) {
    const int piece = ids_.piece_of(member.id);
    std::vector<std::int32_t> found;  // joints at which this one is chained
    bool is_led_there = false;
    for (const Member& other : members) {
      if (other.id == member.id) continue;
      const std::int32_t joint = joint_of(piece, ids_.piece_of(other.id));
      if (joint < 0) {
        is_led_there = true;  // of one piece, or of pieces that do not meet
      } else if (distance(member.x.data(), other.x.data()) > joints_[joint].tolerance) {
        found.push_back(joint);
      }
    }
    for (const Member& other : members)  // then count each joint that led there
      if (const std::int32_t way =
              is_led_there && other.id != member.id ? joint_of(piece, ids_.piece_of(other.id)) : -1;
          way >= 0)
        found.push_back(way);
    sort_unique(found);
    for (const std::int32_t joint : found) n_chained[joint] += 1;
  }
}

void Joints::count_chains() {
  // All vertices that become one meet at its home, where each pair is compared with its tolerance.
  std::vector<Rank> to;
  std::vector<Member> members;
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    const std::int64_t vertex = partners_[i].vertex;
    if (i > 0 && partners_[i - 1].vertex == vertex) continue;
    const double* x = position(vertex);
    members.push_back({becomes(vertex), vertex, {x[0], x[1], x[2]}});
    to.push_back(home_of(members.back().lowest));
  }
  members = exchange::route(context_, exchange::pack_by_rank<Member>(to, members)).items;
  std::ranges::sort(members, {}, [](const Member& m) { return std::tuple(m.lowest, m.id); });
  std::vector<std::span<const Member>> loose;
  std::int64_t most = 0;
  for (std::size_t begin = 0; begin < members.size();) {
    std::size_t end = begin;
    while (end < members.size() && members[end].lowest == members[begin].lowest) ++end;
    const auto merged = std::span<const Member>(members).subspan(begin, end - begin);
    if (!is_tight(merged)) {
      loose.push_back(merged);
      most = std::max(most, std::int64_t{std::ssize(merged)});
    }
    begin = end;
  }
  most = mpi::max(context_, most);
  if (most > max_in_a_chain) refuse_chain(widest_tolerance_, most);
  std::vector<std::int64_t> n_chained(joints_.size(), 0);
  for (const auto& merged : loose) count_chained(merged, n_chained);
  mpi::all_reduce(context_, std::span<std::int64_t>(n_chained), MPI_SUM);
  for (std::size_t j = 0; j < joints_.size(); ++j)
    if (joints_[j].is_joined) joints_[j].n_chained = n_chained[j];
}

bool Joints::open_faulty() {
  bool changed = false;
  for (Joint& joint : joints_) {
    const bool is_perfect = joint.n_unmatched() == 0 && joint.n_ambiguous == 0 && joint.n_chained == 0;
    if (is_perfect || !joint.is_joined) continue;
    joint.is_joined = false;
    changed = true;
  }
  for (Partner& partner : partners_)
    if (!joints_[partner.joint].is_joined) partner.is_open = 1;
  return changed;
}

}  // namespace barrio::mesh::detail
