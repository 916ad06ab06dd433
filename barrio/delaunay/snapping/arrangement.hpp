#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/snapping/segment_tree.hpp"

namespace barrio::delaunay::detail {

/// Segments as chains of links between sites. Sites are places of the input that are farther from each other than the
/// tolerance; they never move. Links are cut at near sites and at crossings, which become sites, until nothing is left
/// to cut.
///
/// This ends. Sites lie in the hull of the input and keep their distance, so they are finitely many. A link is only cut
/// into shorter ones, and links between finitely many sites have finitely many lengths. The site next to a crossing
/// always makes both links shorter, unless it is an end of one of them: it is no farther from the crossing than the
/// ends are.
///
/// Each decision depends on places alone, never on numbers of points or segments.
class Arrangement {
 public:
  /// Place of a site that is a crossing: two rows of `segments` that cross there.
  struct Crossing {
    std::array<std::int32_t, 2> segments{};
  };

  /// Merge points. @param segments  rows of points, both ends
  Arrangement(std::span<const Point> points, std::vector<std::array<std::int32_t, 2>> segments, double tolerance);

  /// Cut links until none crosses another or passes a site. @throws Error{bad_input} if rounding prevents it
  void cut();

  [[nodiscard]] const std::vector<Point>& sites() const noexcept { return sites_; }
  [[nodiscard]] std::int32_t site_of(std::int32_t point) const noexcept { return site_of_[point]; }
  /// Return the number of sites that are points of the input; crossings follow.
  [[nodiscard]] std::int32_t n_point_sites() const noexcept { return n_point_sites_; }
  [[nodiscard]] const std::vector<Crossing>& crossings() const noexcept { return crossings_; }
  /// Return the number of cuts at sites that were there.
  [[nodiscard]] std::int64_t n_taken_in() const noexcept { return n_taken_in_; }
  /// Find the sites along a segment, ends included; one site if the segment has vanished.
  void find_chain(std::int32_t segment, std::vector<std::int32_t>& chain) const;

 private:
  struct Link {
    std::array<std::int32_t, 2> ends{};       // sites, the lower one first
    std::vector<std::int32_t> way = {};       // sites between them, if it is cut
    std::vector<std::int32_t> segments = {};  // that it is a part of, ascending
    bool is_new = true;                       // crossings with others were not sought yet
  };
  struct Cut {
    std::int32_t link;
    std::vector<std::int32_t> way;
  };
  struct Meeting {  // of two links at a site
    std::int32_t link;
    std::int32_t site;
    auto operator<=>(const Meeting&) const = default;
  };
  struct Proposal {  // of a site
    Point place;
    std::array<std::int32_t, 2> links;
  };

  [[nodiscard]] std::array<Point, 2> places_of(const Link& link) const noexcept;
  std::int32_t find_or_make(std::int32_t u, std::int32_t v);
  void give(std::int32_t link, std::span<const std::int32_t> segments);
  void apply(std::vector<Cut>& cuts);
  void take_in(std::int32_t first_new);
  [[nodiscard]] std::vector<std::int32_t> way_by_near_sites(const Link& link, const SegmentTree& tree,
                                                            std::int32_t first) const;
  [[nodiscard]] bool is_shortened(const Link& link, std::int32_t site) const noexcept;
  [[nodiscard]] bool may_move_to(const Link& link, std::int32_t site) const;
  void find_crossings();
  void cut_crossings(const SegmentTree& tree);
  void add_sites(std::vector<Proposal>& proposals, std::vector<Meeting>& meetings);
  void cut_at(std::vector<Meeting>& meetings, std::vector<Cut>& cuts) const;
  std::int32_t nearest_site(const SegmentTree& tree, const Point& place) const;
  void sort_along(const Link& link, std::vector<std::int32_t>& sites) const;

  double tolerance_;
  std::vector<Point> points_;
  std::vector<std::array<std::int32_t, 2>> segments_;
  std::vector<Point> sites_;
  std::vector<std::int32_t> site_of_;
  std::int32_t n_point_sites_ = 0;
  std::vector<Crossing> crossings_;
  std::vector<Link> links_;
  std::unordered_map<std::uint64_t, std::int32_t> link_of_;
  std::vector<std::int32_t> leaves_;                  // links that are not cut
  std::vector<std::int32_t> fresh_;                   // of these: sites near them were not sought yet
  std::vector<std::array<std::int32_t, 2>> pending_;  // links that cross
  std::int64_t n_taken_in_ = 0;
  std::size_t n_new_sites_ = 0;  // of the last round
};

}  // namespace barrio::delaunay::detail
