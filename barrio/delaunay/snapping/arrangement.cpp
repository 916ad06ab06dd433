#include "barrio/delaunay/snapping/arrangement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/delaunay/snapping/crossings.hpp"
#include "barrio/delaunay/snapping/merged_places.hpp"
#include "barrio/geometry/predicates.hpp"

namespace barrio::delaunay::detail {
namespace {

std::uint64_t key_of(std::int32_t u, std::int32_t v) noexcept {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(std::min(u, v))) << 32U) |
         static_cast<std::uint32_t>(std::max(u, v));
}

SegmentTree tree_of(std::span<const Point> points) {
  std::vector<Box> boxes;
  boxes.reserve(points.size());
  for (const Point& p : points) boxes.push_back({p, p});
  return SegmentTree(boxes);
}

}  // namespace

Arrangement::Arrangement(std::span<const Point> points, std::vector<std::array<std::int32_t, 2>> segments,
                         double tolerance)
    : tolerance_(tolerance), points_(points.begin(), points.end()), segments_(std::move(segments)) {
  sites_ = merge_points(points_, tolerance_, site_of_);
  n_point_sites_ = static_cast<std::int32_t>(sites_.size());
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::int32_t u = site_of_[segments_[s][0]];
    const std::int32_t v = site_of_[segments_[s][1]];
    const auto segment = static_cast<std::int32_t>(s);
    if (u != v) give(find_or_make(u, v), std::span(&segment, 1));
  }
}

void Arrangement::find_chain(std::int32_t segment, std::vector<std::int32_t>& chain) const {
  std::int32_t u = site_of_[segments_[segment][0]];
  chain.assign(1, u);
  std::vector<std::int32_t> ahead;  // sites still to be reached, the next one last
  if (const std::int32_t v = site_of_[segments_[segment][1]]; v != u) ahead.push_back(v);
  while (!ahead.empty()) {
    const std::int32_t v = ahead.back();
    const std::vector<std::int32_t>& way = links_[link_of_.at(key_of(u, v))].way;
    if (way.empty()) {
      ahead.pop_back();
      chain.push_back(v);
      u = v;
    } else if (u < v) {
      ahead.insert(ahead.end(), way.rbegin(), way.rend());
    } else {
      ahead.insert(ahead.end(), way.begin(), way.end());
    }
  }
}

std::array<Point, 2> Arrangement::places_of(const Link& link) const noexcept {
  return {sites_[link.ends[0]], sites_[link.ends[1]]};
}

std::int32_t Arrangement::find_or_make(std::int32_t u, std::int32_t v) {
  const auto [at, is_new] = link_of_.try_emplace(key_of(u, v), static_cast<std::int32_t>(links_.size()));
  if (is_new) {
    links_.push_back({.ends = {std::min(u, v), std::max(u, v)}});
    fresh_.push_back(at->second);
  }
  return at->second;
}

/// Note that segments go along a link, and along the parts that it is cut into.
void Arrangement::give(std::int32_t link, std::span<const std::int32_t> segments) {
  const std::vector<std::int32_t> given(segments.begin(), segments.end());
  std::vector<std::int32_t> along{link};
  while (!along.empty()) {
    Link& one = links_[along.back()];
    along.pop_back();
    one.segments.insert(one.segments.end(), given.begin(), given.end());
    sort_unique(one.segments);
    std::int32_t from = one.ends[0];
    for (const std::int32_t site : one.way) along.push_back(link_of_.at(key_of(std::exchange(from, site), site)));
    if (!one.way.empty()) along.push_back(link_of_.at(key_of(from, one.ends[1])));
  }
}

/// Cut links at sites.
void Arrangement::apply(std::vector<Cut>& cuts) {
  for (Cut& cut : cuts) {
    links_[cut.link].way = std::move(cut.way);
    const std::vector<std::int32_t> way = links_[cut.link].way;
    const std::vector<std::int32_t> segments = links_[cut.link].segments;
    const auto [first, last] = links_[cut.link].ends;
    std::int32_t from = first;
    for (const std::int32_t site : way) give(find_or_make(std::exchange(from, site), site), segments);
    give(find_or_make(from, last), segments);
  }
  std::erase_if(leaves_, [&](std::int32_t link) { return !links_[link].way.empty(); });
  std::erase_if(fresh_, [&](std::int32_t link) { return !links_[link].way.empty(); });
}

/// Tell whether both parts are shorter than the link if it is cut at a site.
bool Arrangement::is_shortened(const Link& link, std::int32_t site) const noexcept {
  const auto [a, b] = places_of(link);
  const double length = squared_gap(a, b);
  return squared_gap(a, sites_[site]) < length && squared_gap(sites_[site], b) < length;
}

/// Tell whether a site is near enough to all segments of a link. Without this bound a row of points could pull a
/// segment ever farther away, point by point.
bool Arrangement::may_move_to(const Link& link, std::int32_t site) const {
  const double bound = 4 * tolerance_ * tolerance_;
  return std::ranges::all_of(link.segments, [&](std::int32_t s) {
    return squared_gap(sites_[site], points_[segments_[s][0]], points_[segments_[s][1]]) <= bound;
  });
}

void Arrangement::sort_along(const Link& link, std::vector<std::int32_t>& sites) const {
  const auto [a, b] = places_of(link);
  const auto along = [&, a = a, b = b](std::int32_t site) {
    return (sites_[site][0] - a[0]) * (b[0] - a[0]) + (sites_[site][1] - a[1]) * (b[1] - a[1]);
  };
  std::ranges::sort(sites, {}, [&](std::int32_t site) { return std::pair(along(site), site); });
}

/// Choose the sites at which a link is cut because they are near it: all that are very near, which lie far from each
/// other along the link; otherwise the nearest.
/// @param first  site of the tree's first row
std::vector<std::int32_t> Arrangement::way_by_near_sites(const Link& link, const SegmentTree& tree,
                                                         std::int32_t first) const {
  const auto [a, b] = places_of(link);
  std::vector<std::int32_t> very_near;
  std::int32_t nearest = -1;
  double best = tolerance_ * tolerance_;
  tree.near(a, b, tolerance_, [&, a = a, b = b](std::int32_t row) {
    const std::int32_t site = first + row;
    if (site == link.ends[0] || site == link.ends[1]) return;
    const double distance = squared_gap(sites_[site], a, b);
    if (distance > tolerance_ * tolerance_ || !is_shortened(link, site)) return;
    const bool is_on = distance <= best && geometry::orient2d(a, b, sites_[site]) == 0;
    if (!is_on && !may_move_to(link, site)) return;
    if (distance <= tolerance_ * tolerance_ / 16) very_near.push_back(site);
    if (distance > best || (distance == best && nearest >= 0 && site > nearest)) return;
    best = distance;
    nearest = site;
  });
  if (nearest < 0) return {};
  sort_along(link, very_near);
  const double length = squared_gap(a, b);
  Point from = a;
  bool is_shorter = !very_near.empty();
  for (const std::int32_t site : very_near)
    is_shorter = is_shorter && squared_gap(std::exchange(from, sites_[site]), sites_[site]) < length;
  return is_shorter ? very_near : std::vector{nearest};
}

/// Cut links at sites near them, until there are no more.
/// @param first_new  first site that leaves have not been compared with; fresh links are compared with all
void Arrangement::take_in(std::int32_t first_new) {
  std::vector<Cut> cuts;
  const auto look = [&](const std::vector<std::int32_t>& links, const SegmentTree& tree, std::int32_t first) {
    for (const std::int32_t link : links)
      if (std::vector<std::int32_t> way = way_by_near_sites(links_[link], tree, first); !way.empty()) {
        n_taken_in_ += std::ssize(way);
        cuts.push_back({link, std::move(way)});
      }
  };
  look(leaves_, tree_of(std::span(sites_).subspan(first_new)), first_new);
  const SegmentTree tree = tree_of(sites_);
  std::vector<std::int32_t> now = std::exchange(fresh_, {});
  for (;;) {
    look(now, tree, 0);
    leaves_.insert(leaves_.end(), now.begin(), now.end());
    apply(cuts);
    cuts.clear();
    if (fresh_.empty()) return;
    now = std::exchange(fresh_, {});
  }
}

std::int32_t Arrangement::nearest_site(const SegmentTree& tree, const Point& place) const {
  std::int32_t nearest = -1;
  double best = tolerance_ * tolerance_;
  tree.near(place, place, tolerance_, [&](std::int32_t site) {
    const double distance = squared_gap(sites_[site], place);
    if (distance > best || (distance == best && nearest >= 0 && site > nearest)) return;
    best = distance;
    nearest = site;
  });
  return nearest;
}

void Arrangement::find_crossings() {
  std::vector<std::array<Point, 2>> places;
  std::vector<char> is_new;
  for (const std::int32_t link : leaves_) {
    places.push_back(places_of(links_[link]));
    is_new.push_back(std::exchange(links_[link].is_new, false) ? 1 : 0);
  }
  std::erase_if(pending_, [&](const auto& pair) {
    return !links_[pair[0]].way.empty() || !links_[pair[1]].way.empty();  // then their parts are new
  });
  for (const auto& [first, second] : detail::find_crossings(places, is_new))
    pending_.push_back({leaves_[first], leaves_[second]});
}

/// Make sites of crossings in the order of their coordinates, but not within the tolerance of another.
void Arrangement::add_sites(std::vector<Proposal>& proposals, std::vector<Meeting>& meetings) {
  std::ranges::sort(proposals, {}, [&](const Proposal& one) {
    std::array<std::array<Point, 2>, 2> links{places_of(links_[one.links[0]]), places_of(links_[one.links[1]])};
    std::ranges::sort(links);
    return std::pair(one.place, links);
  });
  SparsePlaces added(tolerance_);
  for (const Proposal& one : proposals) {
    if (added.nearest(one.place) >= 0) continue;
    added.add(one.place);
    std::array<std::int32_t, 2> segments{};
    for (std::size_t k = 0; k < 2; ++k) {
      meetings.push_back({one.links[k], static_cast<std::int32_t>(sites_.size())});
      segments[k] = links_[one.links[k]].segments.front();
    }
    crossings_.push_back({segments});
    sites_.push_back(one.place);
  }
}

/// Choose for each link the sites at which it is cut: all crossings that are new sites, or the nearest other site.
void Arrangement::cut_at(std::vector<Meeting>& meetings, std::vector<Cut>& cuts) const {
  sort_unique(meetings);
  for (std::size_t i = 0; i < meetings.size();) {
    const Link& link = links_[meetings[i].link];
    const auto [a, b] = places_of(link);
    std::vector<std::int32_t> crossings;
    std::int32_t nearest = -1;
    double best = std::numeric_limits<double>::infinity();
    const std::int32_t first_new = static_cast<std::int32_t>(sites_.size() - n_new_sites_);
    const std::int32_t row = meetings[i].link;
    for (; i < meetings.size() && meetings[i].link == row; ++i) {
      const std::int32_t site = meetings[i].site;
      if (!is_shortened(link, site)) continue;
      if (site >= first_new) crossings.push_back(site);
      const double distance = squared_gap(sites_[site], a, b);
      if (distance >= best) continue;
      best = distance;
      nearest = site;
    }
    if (nearest < 0) continue;
    if (crossings.empty()) crossings.push_back(nearest);
    sort_along(link, crossings);
    cuts.push_back({row, std::move(crossings)});
  }
}

/// Cut links that cross at the site next to the crossing, if it lies within the tolerance, or at a new site.
void Arrangement::cut_crossings(const SegmentTree& tree) {
  std::vector<Proposal> proposals;
  std::vector<Meeting> meetings;
  for (const auto& pair : pending_) {
    const auto [a, b] = places_of(links_[pair[0]]);
    const auto [c, d] = places_of(links_[pair[1]]);
    const Point place = crossing_of(a, b, c, d);
    const std::int32_t site = nearest_site(tree, place);
    if (site < 0) {
      proposals.push_back({place, pair});
      continue;
    }
    for (const std::int32_t link : pair)
      if (links_[link].ends[0] != site && links_[link].ends[1] != site) meetings.push_back({link, site});
  }
  const std::size_t n_before = sites_.size();
  add_sites(proposals, meetings);
  n_new_sites_ = sites_.size() - n_before;
  std::vector<Cut> cuts;
  cut_at(meetings, cuts);
  if (cuts.empty()) {
    const auto [a, b] = places_of(links_[pending_.front()[0]]);
    refuse(ErrorCode::bad_input, "segments",
           fmt::format("from ({}, {}) to ({}, {}) and others cross in places that rounding cannot tell apart", a[0],
                       a[1], b[0], b[1]),
           "raise the tolerance");
  }
  apply(cuts);
}

void Arrangement::cut() {
  auto n_known = static_cast<std::int32_t>(sites_.size());
  for (;;) {
    take_in(n_known);
    n_known = static_cast<std::int32_t>(sites_.size());
    find_crossings();
    if (pending_.empty()) return;
    cut_crossings(tree_of(sites_));
  }
}

}  // namespace barrio::delaunay::detail
