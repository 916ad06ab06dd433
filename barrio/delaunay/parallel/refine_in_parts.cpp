#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
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
#include "barrio/delaunay/parallel/part_shelf.hpp"
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

}  // namespace

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
    check_complete();
    report_.seconds_of_other_steps = mpi::max(context_, seconds_since(start));
    sum_report();
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
  void follow_early(std::size_t i);
  void follow(std::size_t i);
  [[nodiscard]] std::size_t place_of(std::int32_t part) const noexcept {
    return static_cast<std::size_t>(part - result_.first_part);
  }
  /// Refine a part. The refinement ends here: what it borrows of the part may go to the disk afterwards.
  template <class Run>
  [[nodiscard]] RefineReport refined(Part& part, std::size_t i, Run&& run) {
    Refinement refinement(part.mesh, options_, setting_of(part, i));
    run(refinement);
    return refinement.report();
  }
  void end_step(Part& part, std::size_t i, const RefineReport& report);
  void check_complete();
  void sum_report();

  [[nodiscard]] PartSetting setting_of(const Part& part, std::size_t i) {
    return {.angles = &part.angles, .areas = areas_ ? &*areas_ : nullptr, .interfaces = &interfaces_[i]};
  }
  [[nodiscard]] PartShelf& shelf() noexcept { return *result_.shelf_; }
  void count(const RefineReport& one);

  mpi::Context& context_;
  RefineOptions options_;
  const PartOptions& part_options_;
  PartReport& report_;
  PartedTriangulation result_;
  std::optional<AreaBound> areas_;
  std::vector<Interfaces> interfaces_;                     // of each part of this rank
  std::vector<std::vector<Interface>> lists_;              // their neighbours
  std::vector<std::vector<InterfaceSplit>> first_splits_;  // of the first step, by interface
  std::vector<char> is_refined_;                           // once
  std::vector<char> has_followed_;                         // the splits of the first step
  std::vector<std::int64_t> n_triangles_;
  std::vector<SplitMessage> outgoing_;
  std::vector<Rank> to_;  // of each outgoing message
  std::vector<char> was_told_;
  std::int64_t n_done_ = 0;  // triangles of the parts that are refined
};

namespace {

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

}  // namespace

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
  mpi::agree_after(context_, [&] {
    result_.shelf_ = part_options_.max_memory_bytes > 0
                         ? std::make_unique<PartShelf>(part_options_.max_memory_bytes, part_options_.scratch)
                         : std::make_unique<PartShelf>();
    if (!context_.is_root()) return;
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
        shelf().add(std::move(part));
        continue;
      }
      const std::uint64_t n = pack(part, nullptr);
      const bool is_next = parcels.peers.empty() || parcels.peers.back() != rank_of[p];
      const auto length = std::as_bytes(std::span(&n, 1));
      if (is_next) {
        parcels.peers.push_back(rank_of[p]);
        parcels.offsets.push_back(parcels.items.size());
      }
      parcels.items.insert(parcels.items.end(), length.begin(), length.end());
      const std::size_t at = parcels.items.size();
      parcels.items.resize(at + n);
      pack(part, &parcels.items[at]);
      part = {};
      parcels.offsets.back() = parcels.items.size();
    }
  });
  const exchange::Parcels<std::byte> received =
      exchange::route(context_, std::move(parcels), exchange::Route::automatic);
  mpi::agree_after(context_, [&] {
    for (std::span<const std::byte> rest(received.items); !rest.empty();) {
      std::uint64_t n = 0;
      std::memcpy(&n, rest.data(), sizeof(n));
      shelf().add(unpack(rest.subspan(sizeof(n), n)));
      rest = rest.subspan(sizeof(n) + n);
    }
  });
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
  constexpr std::uint64_t bytes_a_triangle = 50;  // with half a vertex and links of the queue
  const std::size_t n = shelf().size();
  interfaces_.resize(n);
  lists_.resize(n);
  n_triangles_.assign(n, 0);
  first_splits_.resize(n);
  is_refined_.assign(n, 0);
  has_followed_.assign(n, 0);
  was_told_.assign(n, 0);
  options_.progress = [this](std::int64_t n_now) {
    if (part_options_.progress) part_options_.progress(n_done_ + n_now);
  };
  mpi::agree_after(context_, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      Part& part = shelf().take(i);
      static_cast<void>(shelf().take(i, bytes_a_triangle * static_cast<std::uint64_t>(part.n_expected)));
      if (i == 0) result_.first_part = part.number;
      lists_[i] = part.interfaces;
      for (const Interface& one : part.interfaces) interfaces_[i].add(part.mesh, one.ends, one.segment);
      end_step(part, i, refined(part, i, [](Refinement& refinement) { refinement.run(); }));
      n_done_ += n_triangles_[i];
      first_splits_[i] = interfaces_[i].take_splits();
      std::ranges::stable_sort(first_splits_[i], {}, &InterfaceSplit::interface);
      is_refined_[i] = 1;
      follow_early(i);
    }
  });
}

/// Let the parts beside one follow their interfaces, if all parts beside them are refined and on this rank: most are
/// still in memory now. It makes no difference to the result, since the first step of a part takes no splits of others.
void PartedRefinement::follow_early(std::size_t i) {
  std::vector<std::size_t> around{i};
  for (const Interface& one : lists_[i])
    if (one.rank == context_.rank()) around.push_back(place_of(one.neighbour));
  sort_unique(around);
  for (const std::size_t j : around) {
    if (is_refined_[j] == 0 || has_followed_[j] != 0) continue;
    const auto is_there = [&](const Interface& one) {
      return one.rank == context_.rank() && is_refined_[place_of(one.neighbour)] != 0;
    };
    if (!std::ranges::all_of(lists_[j], is_there)) continue;
    has_followed_[j] = 1;
    std::vector<Point> positions;
    for (std::int32_t f = 0; f < std::ssize(lists_[j]); ++f) {
      positions.clear();
      for (const InterfaceSplit& split : std::ranges::equal_range(first_splits_[place_of(lists_[j][f].neighbour)],
                                                                  lists_[j][f].place, {}, &InterfaceSplit::interface))
        positions.push_back(split.at);
      interfaces_[j].want(f, positions);
    }
    if (interfaces_[j].has_wanted()) follow(j);
  }
}

/// Split the pieces of a part that are wanted, and refine from there on.
void PartedRefinement::follow(std::size_t i) {
  Part& part = shelf().take(i);
  interfaces_[i].sort_wanted();
  const std::size_t n_before = interfaces_[i].n_splits();
  const RefineReport report = refined(part, i, [](Refinement& refinement) { refinement.follow_interfaces(); });
  if (report.is_complete && !interfaces_[i].rows_to_split(part.mesh).empty())
    refuse(ErrorCode::internal, fmt::format("part {}", part.number), "has not followed all splits of its interfaces");
  interfaces_[i].clear_wanted();
  if (interfaces_[i].n_splits() > n_before) was_told_[i] = 1;
  end_step(part, i, report);
}

/// Note what a step has done to a part, and let it go to the disk.
void PartedRefinement::end_step(Part& part, std::size_t i, const RefineReport& report) {
  count(report);
  n_triangles_[i] = part.mesh.n_triangles();
  part.chains.clear();
  part.chain_end.clear();
  for (std::int32_t f = 0; f < interfaces_[i].size(); ++f) {
    const std::vector<std::int32_t> chain = interfaces_[i].chain(f);
    part.chains.insert(part.chains.end(), chain.begin(), chain.end());
    part.chain_end.push_back(static_cast<std::int32_t>(part.chains.size()));
  }
  shelf().give_back(i, true);
}

/// Tell adjacent parts the splits of interfaces, and follow theirs, until there are no new ones.
void PartedRefinement::exchange_splits() {
  for (const std::vector<Interface>& list : lists_)
    for (const Interface& one : list)
      if (one.rank != context_.rank()) result_.neighbours.push_back(one.rank);
  sort_unique(result_.neighbours);
  exchange::Neighborhood hood(context_, result_.neighbours);
  for (;;) {
    outgoing_.clear();
    to_.clear();
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      for (const InterfaceSplit& split :
           report_.n_exchanges == 0 ? std::exchange(first_splits_[i], {}) : interfaces_[i].take_splits()) {
        const Interface& one = lists_[i][split.interface];
        outgoing_.push_back({one.neighbour, one.place, split.at});
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
  std::vector<Point> positions;
  std::vector<std::size_t> changing;  // parts, ascending
  for (std::size_t begin = 0; begin < sorted.size();) {
    const std::int32_t number = sorted[begin].part;
    const std::int32_t interface = sorted[begin].interface;
    const std::size_t i = place_of(number);
    positions.clear();
    for (; begin < sorted.size() && sorted[begin].part == number && sorted[begin].interface == interface; ++begin)
      positions.push_back(sorted[begin].at);
    interfaces_.at(i).want(interface, positions);
    if (interfaces_[i].has_wanted() && (changing.empty() || changing.back() != i)) changing.push_back(i);
  }
  std::ranges::reverse(changing);  // the last ones were in use last, so they are in memory
  for (std::size_t k = 0; k < changing.size(); ++k) {
    if (k + 1 < changing.size()) shelf().prefetch(changing[k + 1]);
    follow(changing[k]);
  }
}

/// Refuse parts that ended early: they may lack vertices that the other sides of their interfaces have.
void PartedRefinement::check_complete() {
  mpi::agree_after(context_, [&] {
    const RefineReport& all = report_.refinement;
    if (all.is_complete) return;
    refuse(ErrorCode::failed, fmt::format("a min angle of {:g} degrees", options_.min_angle),
           "is not reached in some part",
           "use a smaller one, or refine the domain as a whole, which keeps what was reached");
  });
}

void PartedRefinement::sum_report() {
  RefineReport& all = report_.refinement;
  const std::int64_t n_triangles = std::accumulate(n_triangles_.begin(), n_triangles_.end(), std::int64_t{0});
  const std::int64_t most = n_triangles_.empty() ? 0 : std::ranges::max(n_triangles_);
  std::int64_t n_on_interfaces = 0;
  for (std::size_t i = 0; i < lists_.size(); ++i)
    for (std::int32_t f = 0; f < interfaces_[i].size(); ++f)
      if (result_.first_part + static_cast<std::int32_t>(i) < lists_[i][f].neighbour)
        n_on_interfaces += interfaces_[i].n_vertices(f);
  const mobile::StoreStatistics disk = shelf().statistics();
  std::array<std::int64_t, 11> sums{all.n_free_points,
                                    all.n_segment_points,
                                    all.n_removed_points,
                                    all.n_left_at_segments,
                                    all.n_left_by_rounding,
                                    all.is_complete ? 0 : 1,
                                    n_triangles,
                                    n_on_interfaces,
                                    report_.n_parts_told,
                                    static_cast<std::int64_t>(disk.bytes_written),
                                    static_cast<std::int64_t>(disk.bytes_read)};
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
  report_.bytes_written = static_cast<std::uint64_t>(sums[9]);
  report_.bytes_read = static_cast<std::uint64_t>(sums[10]);
  const auto n = static_cast<double>(std::max<std::int64_t>(sums[6], 1));
  report_.part_imbalance = static_cast<double>(maxima[0]) * result_.n_parts / n;
  report_.rank_imbalance = static_cast<double>(maxima[1]) * context_.size() / n;
}

}  // namespace detail

PartedTriangulation refine_in_parts(mpi::Context& context, Triangulation mesh, const RefineOptions& options,
                                    const PartOptions& part_options, PartReport& report) {
  mpi::agree_after(context, [&] { detail::check(options); });
  return detail::PartedRefinement(context, options, part_options, report).run(std::move(mesh));
}

}  // namespace barrio::delaunay
