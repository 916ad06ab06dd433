#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/delaunay/kernel/interfaces.hpp"
#include "barrio/delaunay/kernel/refinement.hpp"
#include "barrio/delaunay/parallel/decomposition.hpp"
#include "barrio/delaunay/parallel/part_bytes.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace detail {
namespace {

constexpr RegionName decompose_region{"delaunay.decompose"};
constexpr RegionName part_region{"delaunay.part"};
constexpr RegionName exchange_region{"delaunay.exchange"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A split of an interface, as it travels to the part on the other side.
struct SplitMessage {
  std::int32_t part = 0;
  std::int32_t interface = 0;
  Point at{};
};

/// Refinement of the parts of this rank.
class PartedRefinement {
 public:
  PartedRefinement(mpi::Context& context, const RefineOptions& options, const PartOptions& part_options,
                   PartReport& report)
      : context_(context), options_(options), part_options_(part_options), report_(report) {}

  PartedTriangulation run(Triangulation mesh) {
    auto start = std::chrono::steady_clock::now();
    {
      const barrio::Region region(context_.trace(), decompose_region);
      decompose_and_deal(std::move(mesh));
    }
    report_.seconds_of_decomposition = mpi::max(context_, seconds_since(start));
    start = std::chrono::steady_clock::now();
    refine_first();
    report_.seconds_of_first_step = mpi::max(context_, seconds_since(start));
    start = std::chrono::steady_clock::now();
    exchange_splits();
    report_.seconds_of_other_steps = mpi::max(context_, seconds_since(start));
    finish();
    return std::move(result_);
  }

 private:
  void decompose_and_deal(Triangulation mesh);
  void deal(Decomposition& made);
  void share_names(const Triangulation& mesh);
  void refine_first();
  void exchange_splits();
  [[nodiscard]] std::vector<SplitMessage> swap_messages(exchange::Neighborhood& hood);
  void take(std::span<const SplitMessage> messages);
  void finish();
  void sum_report();

  [[nodiscard]] PartSetting setting_of(std::size_t i) {
    return {.angles = &result_.parts[i].angles, .areas = areas_ ? &*areas_ : nullptr, .interfaces = &interfaces_[i]};
  }
  void count(const RefineReport& one);

  mpi::Context& context_;
  RefineOptions options_;
  const PartOptions& part_options_;
  PartReport& report_;
  PartedTriangulation result_;
  std::optional<AreaBound> areas_;
  std::vector<Interfaces> interfaces_;  // of each part of this rank
  std::vector<SplitMessage> outgoing_;
  std::vector<Rank> to_;  // of each outgoing message
  std::vector<char> was_told_;
  std::int64_t n_done_ = 0;  // triangles of the parts that are refined
};

/// Region of the whole domain, as all ranks know it, without its name.
struct SharedRegion {
  double attribute = 0.0;
  double max_area = 0.0;
  std::int64_t number = 0;
};

/// Broadcast names, which contain no zero. Collective.
void broadcast_names(mpi::Context& context, std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += name;
    text.push_back('\0');
  }
  mpi::broadcast(context, text);
  names.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

/// Give all ranks what they need of the whole domain to write it: regions, markers, attributes.
void PartedRefinement::share_names(const Triangulation& mesh) {
  std::vector<SharedRegion> regions;
  std::vector<std::string> region_names;
  std::vector<std::int32_t> named_markers;
  std::vector<std::string> marker_names;
  std::vector<std::int32_t> n_components;
  std::vector<std::string> attribute_names;
  if (context_.is_root()) {
    for (const delaunay::Region& region : mesh.regions) {
      regions.push_back({region.attribute, region.max_area, region.number});
      region_names.push_back(region.name);
    }
    for (const MarkerName& name : mesh.marker_names) {
      named_markers.push_back(name.marker);
      marker_names.push_back(name.name);
    }
    for (const Attribute& one : mesh.attributes) {
      n_components.push_back(one.n_components);
      attribute_names.push_back(one.name);
    }
    for (const Segment& segment : mesh.segments)
      if (segment.marker != 0) result_.markers.push_back(segment.marker);
    sort_unique(result_.markers);
  }
  mpi::broadcast(context_, regions);
  mpi::broadcast(context_, named_markers);
  mpi::broadcast(context_, n_components);
  mpi::broadcast(context_, result_.markers);
  broadcast_names(context_, region_names);
  broadcast_names(context_, marker_names);
  broadcast_names(context_, attribute_names);
  for (std::size_t r = 0; r < regions.size(); ++r)
    result_.regions.push_back({.attribute = regions[r].attribute,
                               .max_area = regions[r].max_area,
                               .number = static_cast<std::int32_t>(regions[r].number),
                               .name = region_names[r]});
  for (std::size_t m = 0; m < named_markers.size(); ++m)
    result_.marker_names.push_back({named_markers[m], marker_names[m]});
  for (std::size_t a = 0; a < n_components.size(); ++a)
    result_.attributes.push_back({attribute_names[a], n_components[a]});
}

void PartedRefinement::decompose_and_deal(Triangulation mesh) {
  mpi::agree_after(context_, [&] {
    if (options_.moves_points)
      refuse(ErrorCode::usage, "moving points", "is not possible in parts", "leave out one of the two");
    if (options_.max_triangles > 0)
      refuse(ErrorCode::usage, "a limit of triangles", "is not possible in parts", "leave out one of the two");
    if (part_options_.n_parts < 0)
      refuse(ErrorCode::usage, fmt::format("{} parts", part_options_.n_parts), "must be at least 1, or 0 to choose");
  });
  share_names(mesh);
  Rectangle domain = context_.is_root() ? rectangle_of(mesh) : Rectangle{};
  mpi::broadcast<double>(context_, domain.low);
  mpi::broadcast<double>(context_, domain.high);
  Decomposition made;
  mpi::agree_after(context_, [&] {
    if (options_.area_at || options_.size) areas_.emplace(options_.area_at, options_.size, domain, options_.resolution);
    if (context_.is_root())
      made = decompose(std::move(mesh), options_, areas_ ? &*areas_ : nullptr, part_options_.n_parts);
  });
  deal(made);
}

/// Deal the parts to the ranks, along their numbers, so that expected work is even.
void PartedRefinement::deal(Decomposition& made) {
  exchange::Parcels<std::byte> parcels;
  std::vector<Part> mine;
  if (context_.is_root()) {
    std::int64_t total = 0;
    for (const std::int64_t work : made.work) total += work;
    std::vector<Rank> rank_of(made.parts.size());
    std::int64_t before = 0;
    for (std::size_t p = 0; p < rank_of.size(); ++p) {
      // by the middle of its work
      const double middle = (static_cast<double>(before) + 0.5 * static_cast<double>(made.work[p])) /
                            static_cast<double>(std::max<std::int64_t>(total, 1));
      rank_of[p] = std::min(static_cast<Rank>(middle * context_.size()), context_.size() - 1);
      before += made.work[p];
    }
    for (std::size_t p = 0; p < rank_of.size(); ++p) {
      Part& part = made.parts[p];
      for (Interface& interface : part.interfaces) interface.rank = rank_of[interface.neighbour];
      if (rank_of[p] == context_.rank()) {
        mine.push_back(std::move(part));
        continue;
      }
      const std::vector<std::byte> bytes = pack(part);
      part = {};
      const std::uint64_t n = bytes.size();
      const bool is_next = parcels.peers.empty() || parcels.peers.back() != rank_of[p];
      const auto length = std::as_bytes(std::span(&n, 1));
      if (is_next) {
        parcels.peers.push_back(rank_of[p]);
        parcels.offsets.push_back(parcels.items.size());
      }
      parcels.items.insert(parcels.items.end(), length.begin(), length.end());
      parcels.items.insert(parcels.items.end(), bytes.begin(), bytes.end());
      parcels.offsets.back() = parcels.items.size();
    }
  }
  const exchange::Parcels<std::byte> received =
      exchange::route(context_, std::move(parcels), exchange::Route::automatic);
  mpi::agree_after(context_, [&] {
    for (std::span<const std::byte> rest(received.items); !rest.empty();) {
      std::uint64_t n = 0;
      std::memcpy(&n, rest.data(), sizeof(n));
      mine.push_back(unpack(rest.subspan(sizeof(n), n)));
      rest = rest.subspan(sizeof(n) + n);
    }
  });
  result_.parts = std::move(mine);
  struct Numbers {
    std::int64_t n_parts, n_shared, n_coarse, n_corridor, n_interfaces;
    double min_corner;
  };
  Numbers numbers{std::ssize(made.work),  made.n_shared,     made.n_coarse_triangles,
                  made.n_corridor_points, made.n_interfaces, made.min_corner};
  mpi::broadcast<Numbers>(context_, std::span(&numbers, 1));
  result_.n_parts = static_cast<std::int32_t>(numbers.n_parts);
  result_.n_shared = static_cast<std::int32_t>(numbers.n_shared);
  report_.n_parts = result_.n_parts;
  report_.n_coarse_triangles = numbers.n_coarse;
  report_.n_corridor_points = numbers.n_corridor;
  report_.n_interfaces = numbers.n_interfaces;
  report_.min_corner = numbers.min_corner;
}

void PartedRefinement::count(const RefineReport& one) {
  RefineReport& all = report_.refinement;
  all.n_free_points += one.n_free_points;
  all.n_segment_points += one.n_segment_points;
  all.n_removed_points += one.n_removed_points;
  all.n_left_at_segments += one.n_left_at_segments;
  all.n_left_by_rounding += one.n_left_by_rounding;
  all.is_complete = all.is_complete && one.is_complete;
  all.max_triangles = std::max(all.max_triangles, one.max_triangles);
}

void PartedRefinement::refine_first() {
  const barrio::Region region(context_.trace(), part_region);
  interfaces_.resize(result_.parts.size());
  was_told_.assign(result_.parts.size(), 0);
  options_.progress = [this](std::int64_t n) {
    if (part_options_.progress) part_options_.progress(n_done_ + n);
  };
  mpi::agree_after(context_, [&] {
    for (std::size_t i = 0; i < result_.parts.size(); ++i) {
      Part& part = result_.parts[i];
      for (const Interface& one : part.interfaces) interfaces_[i].add(part.mesh, one.ends, one.segment);
      Refinement refinement(part.mesh, options_, setting_of(i));
      refinement.run();
      count(refinement.report());
      n_done_ += part.mesh.n_triangles();
    }
  });
}

/// Tell adjacent parts the splits of interfaces, and follow theirs, until there are no new ones.
void PartedRefinement::exchange_splits() {
  std::vector<Rank> ranks;
  for (const Part& part : result_.parts)
    for (const Interface& one : part.interfaces)
      if (one.rank != context_.rank()) ranks.push_back(one.rank);
  sort_unique(ranks);
  exchange::Neighborhood hood(context_, ranks);
  for (;;) {
    outgoing_.clear();
    to_.clear();
    for (std::size_t i = 0; i < result_.parts.size(); ++i) {
      const Part& part = result_.parts[i];
      for (const InterfaceSplit& split : interfaces_[i].take_splits()) {
        const Interface& one = part.interfaces[split.interface];
        outgoing_.push_back({one.neighbour, one.place, part.mesh.point(split.vertex)});
        to_.push_back(one.rank);
      }
    }
    if (mpi::sum(context_, std::ssize(outgoing_)) == 0) break;
    ++report_.n_exchanges;
    std::vector<SplitMessage> received = swap_messages(hood);
    const barrio::Region region(context_.trace(), part_region);
    mpi::agree_after(context_, [&] { take(received); });
  }
  report_.n_parts_told = std::ranges::count(was_told_, 1);
}

std::vector<SplitMessage> PartedRefinement::swap_messages(exchange::Neighborhood& hood) {
  const barrio::Region region(context_.trace(), exchange_region);
  auto round = hood.begin_round<SplitMessage>();
  for (std::size_t i = 0; i < outgoing_.size(); ++i) round.send(to_[i], outgoing_[i]);
  round.close();
  std::vector<SplitMessage> received;
  for (const auto& [from, message] : round.received()) received.push_back(message);
  return received;
}

/// Split what adjacent parts have split. The order of messages does not matter: positions on an interface are sorted.
void PartedRefinement::take(std::span<const SplitMessage> messages) {
  std::vector<SplitMessage> sorted(messages.begin(), messages.end());
  std::ranges::sort(sorted, {}, [](const SplitMessage& one) { return std::tuple(one.part, one.interface, one.at); });
  const std::int32_t first_part = result_.parts.empty() ? 0 : result_.parts[0].number;
  std::vector<Point> positions;
  for (std::size_t begin = 0; begin < sorted.size();) {
    const auto i = static_cast<std::size_t>(sorted[begin].part - first_part);
    Part& part = result_.parts.at(i);
    while (begin < sorted.size() && sorted[begin].part == part.number) {
      const std::int32_t interface = sorted[begin].interface;
      positions.clear();
      for (; begin < sorted.size() && sorted[begin].part == part.number && sorted[begin].interface == interface;
           ++begin)
        positions.push_back(sorted[begin].at);
      interfaces_[i].want(part.mesh, interface, positions);
    }
    if (!interfaces_[i].has_wanted()) continue;
    interfaces_[i].sort_wanted();
    const std::size_t n_before = interfaces_[i].n_splits();
    Refinement refinement(part.mesh, options_, setting_of(i));
    refinement.follow_interfaces();
    count(refinement.report());
    interfaces_[i].clear_wanted();
    if (interfaces_[i].n_splits() > n_before) was_told_[i] = 1;
  }
}

/// Drop what refinement alone needs, and list the vertices of interfaces.
void PartedRefinement::finish() {
  for (std::size_t i = 0; i < result_.parts.size(); ++i) {
    Part& part = result_.parts[i];
    for (std::int32_t f = 0; f < interfaces_[i].size(); ++f) {
      const std::vector<std::int32_t> chain = interfaces_[i].chain(part.mesh, f);
      part.chains.insert(part.chains.end(), chain.begin(), chain.end());
      part.chain_end.push_back(static_cast<std::int32_t>(part.chains.size()));
    }
    interfaces_[i] = {};
    part.angles = {};
    // `compact` keeps the order of the vertices that have triangles
    std::vector<std::int32_t> place(part.mesh.points.size(), 0);
    for (const Triangle& t : part.mesh.triangles.items())
      for (std::size_t k = 0; t.is_used() && k < 3; ++k) place[t.vertices[k]] = 1;
    std::int32_t n = 0;
    for (std::int32_t& one : place) one = one == 0 ? -1 : n++;
    compact(part.mesh);
    for (Interface& one : part.interfaces)
      for (std::int32_t& end : one.ends) end = place[end];
    for (std::int32_t& v : part.chains) v = place[v];
    for (SharedVertex& one : part.shared) one.vertex = place[one.vertex];
  }
  sum_report();
}

void PartedRefinement::sum_report() {
  std::int64_t n_triangles = 0;
  std::int64_t most = 0;
  std::int64_t n_on_interfaces = 0;
  for (const Part& part : result_.parts) {
    n_triangles += part.mesh.n_triangles();
    most = std::max(most, part.mesh.n_triangles());
    for (std::size_t f = 0; f < part.interfaces.size(); ++f)
      if (part.number < part.interfaces[f].neighbour)
        n_on_interfaces += part.chain_end[f] - (f > 0 ? part.chain_end[f - 1] : 0);
  }
  RefineReport& all = report_.refinement;
  std::array<std::int64_t, 9> sums{
      all.n_free_points,      all.n_segment_points,    all.n_removed_points, all.n_left_at_segments,
      all.n_left_by_rounding, all.is_complete ? 0 : 1, n_triangles,          n_on_interfaces,
      report_.n_parts_told};
  mpi::all_reduce(context_, std::span<std::int64_t>(sums), MPI_SUM);
  std::array<std::int64_t, 3> maxima{most, n_triangles, all.max_triangles};
  mpi::all_reduce(context_, std::span<std::int64_t>(maxima), MPI_MAX);
  all.n_free_points = sums[0];
  all.n_segment_points = sums[1] - sums[7];  // both sides of an interface have counted
  all.n_removed_points = sums[2];
  all.n_left_at_segments = sums[3];
  all.n_left_by_rounding = sums[4];
  all.is_complete = sums[5] == 0;
  all.max_triangles = maxima[2];
  report_.n_interface_points = sums[7];
  report_.n_parts_told = sums[8];
  const auto n = static_cast<double>(std::max<std::int64_t>(sums[6], 1));
  report_.part_imbalance = static_cast<double>(maxima[0]) * result_.n_parts / n;
  report_.rank_imbalance = static_cast<double>(maxima[1]) * context_.size() / n;
}

}  // namespace
}  // namespace detail

PartedTriangulation refine_in_parts(mpi::Context& context, Triangulation mesh, const RefineOptions& options,
                                    const PartOptions& part_options, PartReport& report) {
  mpi::agree_after(context, [&] { detail::check(options); });
  return detail::PartedRefinement(context, options, part_options, report).run(std::move(mesh));
}

}  // namespace barrio::delaunay
