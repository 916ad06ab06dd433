#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/cgns/cgns_nodes.hpp"

// Interfaces of zones, as the file lists them. Most files list each one twice, once from either side.

namespace barrio::io::detail {
namespace {

/// Reads the interfaces of one zone.
class Interfaces {
 public:
  Interfaces(hid_t file, const std::string& path, CgnsCatalog& catalog, int zone)
      : file_(file), path_(path), catalog_(catalog), zone_(zone) {}

  void add_all() {
    for (const std::string& group : children(file_, of(zone_).path, "ZoneGridConnectivity_t")) {
      const std::string node = of(zone_).path + "/" + group;
      for (const std::string& name : children(file_, node, "GridConnectivity1to1_t"))
        add(node + "/" + name, name, true);
      for (const std::string& name : children(file_, node, "GridConnectivity_t")) add(node + "/" + name, name, false);
      for (const std::string& name : children(file_, node, "OversetHoles_t")) leave_open(name, "", "overset holes");
    }
  }

 private:
  [[nodiscard]] const CgnsZone& of(int zone) const { return catalog_.zones[zone]; }

  [[noreturn]] void refuse_range(const std::string& name, const std::string& cause) const {
    refuse(ErrorCode::bad_input, path_, fmt::format("interface '{}' of zone '{}' {}", name, of(zone_).name, cause),
           damaged_remedy);
  }
  void leave_open(const std::string& name, const std::string& donor, const std::string& why) {
    catalog_.open_interfaces.push_back(fmt::format("interface '{}' of zone '{}'{}: {}", name, of(zone_).name,
                                                   donor.empty() ? "" : fmt::format(" with '{}'", donor), why));
  }
  [[nodiscard]] int find_zone(std::string name) const {
    const std::string base = of(zone_).path.substr(1, of(zone_).path.find('/', 1));  // with the slash behind it
    if (name.starts_with(base)) name.erase(0, base.size());
    const auto found = std::ranges::find(catalog_.zones, name, &CgnsZone::name);
    return found == catalog_.zones.end() ? -1 : static_cast<int>(found - catalog_.zones.begin());
  }
  /// Return why an interface is not joined; empty if it can be.
  [[nodiscard]] std::string obstacle(const std::string& node, bool is_one_to_one, int donor) const {
    for (const std::string& property : children(file_, node, "GridConnectivityProperty_t"))
      if (!children(file_, node + "/" + property, "Periodic_t").empty()) return "periodic";
    if (!is_one_to_one) {
      const std::string type = text_of(file_, node + "/GridConnectivityType");
      if (type != "Abutting1to1") return type.empty() ? "Overset" : type;
      const std::string location = text_of(file_, node + "/GridLocation");
      if (!location.empty() && location != "Vertex") return fmt::format("it is on {}", location);
      if (!files::has(file_, data_of(node + "/PointListDonor"))) return "it has no PointListDonor";
    }
    if (donor < 0) return "there is no such zone";
    if (is_one_to_one && of(donor).n_indices != of(zone_).n_indices) return "the zones are not of one kind";
    return "";
  }

  void add(const std::string& node, const std::string& name, bool is_one_to_one) {
    const std::string donor = text_of(file_, node);
    CgnsInterface found{.name = name, .zone = zone_, .donor = find_zone(donor)};
    if (const std::string why = obstacle(node, is_one_to_one, found.donor); !why.empty()) {
      leave_open(name, donor, why);
      return;
    }
    if (is_one_to_one) {
      take_range(node + "/PointRange", zone_, found.here, name);
      take_range(node + "/PointRangeDonor", found.donor, found.there, name);
      take_transform(node, found);
      found = seen_from_lower(std::move(found));
    } else {
      take_points(node, found);
    }
    const auto key = [](const CgnsInterface& one) {
      return std::tuple(one.zone, one.donor, one.here.path, one.there.path, one.here.begin, one.here.end,
                        one.there.begin, one.transform);
    };
    const bool is_known =
        std::ranges::any_of(catalog_.interfaces, [&](const CgnsInterface& other) { return key(other) == key(found); });
    if (!is_known) catalog_.interfaces.push_back(std::move(found));
  }

  void take_range(const std::string& node, int zone, CgnsPoints& points, const std::string& name) const {
    const std::size_t n = of(zone).n_indices;
    const auto ends =
        files::has(file_, data_of(node)) ? files::read_integers(file_, data_of(node)) : std::vector<std::int64_t>();
    if (ends.size() != 2 * n)
      refuse_range(name, fmt::format("must have two ends of {} indices in {}", n, node.substr(node.rfind('/') + 1)));
    for (std::size_t d = 0; d < n; ++d) {
      for (const std::int64_t at : {ends[d], ends[n + d]})
        if (at < 1 || at > of(zone).n[d])
          refuse_range(name, fmt::format("has index {} = {}, but zone '{}' has 1 to {}", "ijk"[d], at, of(zone).name,
                                         of(zone).n[d]));
      points.begin[d] = ends[d];
      points.end[d] = ends[n + d];
    }
  }

  /// Read the transform, and check that it takes one range to the other.
  void take_transform(const std::string& node, CgnsInterface& found) const {
    const int n = of(zone_).n_indices;
    std::vector<std::int64_t> given;
    if (files::has(file_, data_of(node + "/Transform")))
      given = files::read_integers(file_, data_of(node + "/Transform"));
    if (given.empty())
      for (int d = 0; d < n; ++d) given.push_back(d + 1);
    std::vector<std::int64_t> sorted;
    for (const std::int64_t to : given) sorted.push_back(to < 0 ? -to : to);
    std::ranges::sort(sorted);
    bool is_turn = std::ssize(given) == n;
    for (int d = 0; d < n && is_turn; ++d) is_turn = sorted[d] == d + 1;
    if (!is_turn) refuse_range(found.name, fmt::format("must have a transform that names each of {} indices once", n));
    int n_varying = 0;
    found.n = 1;
    for (int d = 0; d < n; ++d) {
      found.transform[d] = static_cast<int>(given[d]);
      const std::int64_t along = found.here.end[d] - found.here.begin[d];
      n_varying += along != 0 ? 1 : 0;
      found.n *= std::abs(along) + 1;
      const int to = std::abs(found.transform[d]) - 1;
      if (found.there.end[to] - found.there.begin[to] != (found.transform[d] < 0 ? -along : along))
        refuse_range(found.name,
                     fmt::format("has ranges that its transform does not take to each other, along {}", "ijk"[d]));
    }
    if (n > 1 && n_varying == n) refuse_range(found.name, "must be on a face of the zone, but no index is fixed");
  }

  /// Write an interface of two ranges as seen from the zone of lower place, from its lowest point, so that both
  /// listings of one interface are equal.
  [[nodiscard]] CgnsInterface seen_from_lower(CgnsInterface one) const {
    const auto n = static_cast<std::size_t>(of(one.zone).n_indices);
    const auto corner = [](const CgnsPoints& points) {
      std::array<std::int64_t, 3> low = points.begin;
      for (std::size_t d = 0; d < 3; ++d) low[d] = std::min(low[d], points.end[d]);
      return low;
    };
    if (std::tuple(one.donor, corner(one.there)) < std::tuple(one.zone, corner(one.here))) {
      std::swap(one.zone, one.donor);
      std::swap(one.here, one.there);
      const std::array<int, 3> forward = one.transform;
      for (std::size_t d = 0; d < n; ++d) {
        const int back = static_cast<int>(d) + 1;
        one.transform[std::abs(forward[d]) - 1] = forward[d] < 0 ? -back : back;
      }
    }
    for (std::size_t d = 0; d < n; ++d) {
      if (one.here.begin[d] > one.here.end[d]) {
        const auto to = static_cast<std::size_t>(std::abs(one.transform[d]) - 1);
        std::swap(one.here.begin[d], one.here.end[d]);
        std::swap(one.there.begin[to], one.there.end[to]);
      }
      // An index that does not vary runs nowhere, whatever its direction.
      if (one.here.begin[d] == one.here.end[d]) one.transform[d] = std::abs(one.transform[d]);
    }
    return one;
  }

  /// Take the points of an interface of lists, or of a range and a list.
  void take_points(const std::string& node, CgnsInterface& found) const {
    const auto length_of = [&](const std::string& list, int zone) {
      const auto shape = files::extents(file_, data_of(node + "/" + list));
      if (shape.size() != 2 || shape[1] != of(zone).n_indices)
        refuse_range(found.name, fmt::format("must have {} indices for each point in {}", of(zone).n_indices, list));
      files::check_size(file_, data_of(node + "/" + list));
      return shape[0];
    };
    found.there.path = data_of(node + "/PointListDonor");
    const std::int64_t n_there = length_of("PointListDonor", found.donor);
    if (files::has(file_, data_of(node + "/PointList"))) {
      found.here.path = data_of(node + "/PointList");
      found.n = length_of("PointList", zone_);
    } else {
      take_range(node + "/PointRange", zone_, found.here, found.name);
      found.n = 1;
      for (std::size_t d = 0; d < 3; ++d) found.n *= std::abs(found.here.end[d] - found.here.begin[d]) + 1;
    }
    if (found.n != n_there)
      refuse_range(found.name,
                   fmt::format("must have as many points as its donor, but has {} and {}", found.n, n_there));
  }

  hid_t file_;
  const std::string& path_;
  CgnsCatalog& catalog_;
  int zone_;
};

}  // namespace

void add_cgns_interfaces(hid_t file, const std::string& path, CgnsCatalog& catalog) {
  for (int zone = 0; zone < std::ssize(catalog.zones); ++zone) Interfaces(file, path, catalog, zone).add_all();
}

}  // namespace barrio::io::detail
