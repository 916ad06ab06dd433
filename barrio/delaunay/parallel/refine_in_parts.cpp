#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory_account.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/delaunay/kernel/interfaces.hpp"
#include "barrio/delaunay/kernel/refinement.hpp"
#include "barrio/delaunay/parallel/decomposition.hpp"
#include "barrio/delaunay/parallel/part_objects.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace detail {
namespace {

constexpr RegionName decompose_region{"delaunay.decompose"};
constexpr RegionName part_region{"delaunay.part"};
constexpr RegionName follow_region{"delaunay.follow"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

/// Names of the parts beside one, by its interfaces.
struct Neighbours {
  std::vector<mobile::MobilePtr<Part>> names;

  template <class Visit>
  void fields(Visit& visit) {
    visit("names", names);
  }
};

/// Order to refine a part for the first time.
struct FirstStep {};

/// Split of an interface: its place in the list of the part that is told.
struct Split {
  std::int32_t interface = 0;
  Point at{};
};

/// Splits of the interfaces with a part, for the part on the other side.
struct Splits {
  std::vector<Split> splits;

  template <class Visit>
  void fields(Visit& visit) {
    visit("splits", splits);
  }
};

/// Refinement of the parts of this rank: handlers of messages to them, and what they share.
class PartedRefinement {
 public:
  PartedRefinement(mpi::Context& context, const RefineOptions& options, const PartOptions& part_options,
                   PartReport& report)
      : context_(context), options_(options), part_options_(part_options), report_(report) {}

  PartedTriangulation run(Triangulation mesh) {
    const auto start = std::chrono::steady_clock::now();
    {
      const barrio::Region region(context_.trace(), decompose_region);
      decompose_and_deal(std::move(mesh));
    }
    report_.seconds_of_decomposition = mpi::max(context_, seconds_since(start));
    refine();
    check_complete();
    sum_report();
    return std::move(result_);
  }

 private:
  using Name = mobile::MobilePtr<Part>;

  /// State of a part that stays on its rank while the part may lie on the disk.
  struct Kept {
    std::int32_t number = 0;
    Name name;
    Interfaces interfaces;
    std::vector<Interface> list;
    std::vector<Name> neighbours;        // by interface
    std::vector<InterfaceSplit> untold;  // splits that the parts beside this one do not know
    std::vector<Split> heard;            // splits that this part has not followed
    std::int32_t n_neighbours = 0;       // parts
    std::int32_t n_heard = 0;            // of them, in the first step
    std::int64_t n_triangles = 0;
    bool is_refined = false;
    bool was_told = false;
  };

  void decompose_and_deal(Triangulation mesh);
  void deal(Decomposition& made);
  void share_names(const Triangulation& mesh);
  void add_handlers();
  void refine();
  /// Report times and memory of all ranks. Collective.
  void report_times(double seconds);
  void take_first_step(mobile::Turn& turn, Part& part);
  void take_splits(mobile::Turn& turn, Part& part, const Splits& message);
  void follow(mobile::Turn& turn, Part& part, Kept& kept);
  /// Send the splits that adjacent parts do not know. @param to_all  also where there are none
  template <class Sender>
  void tell(Kept& kept, bool to_all, Sender&& send);
  /// Tell whether a part follows others only when all of them have spoken, and tells what follows later.
  [[nodiscard]] bool waits_for_all() const noexcept {
    return is_first_step_ && part_options_.order == PartOrder::supersteps;
  }
  [[nodiscard]] Kept& kept_of(const Part& part) noexcept { return kept_[part.number - result_.first_part]; }
  /// Refine a part. The refinement ends here: what it borrows of the part may go to the disk afterwards.
  template <class Run>
  [[nodiscard]] RefineReport refined(Part& part, Kept& kept, Run&& run) {
    Refinement refinement(
        part.mesh, options_,
        {.angles = &part.angles, .areas = areas_ ? &*areas_ : nullptr, .interfaces = &kept.interfaces});
    run(refinement);
    return refinement.report();
  }
  void end_turn(Part& part, Kept& kept, const RefineReport& report);
  /// Time of computing: an object in use that grows may wait for others to leave memory, which is time of the disk.
  class Stopwatch {
   public:
    explicit Stopwatch(mobile::Runtime& runtime) : runtime_(runtime), waited_(waited()) {}
    [[nodiscard]] double seconds() const { return seconds_since(start_) - (waited() - waited_); }

   private:
    [[nodiscard]] double waited() const { return runtime_.statistics().store.seconds_waiting; }
    mobile::Runtime& runtime_;
    double waited_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };
  void check_complete();
  void sum_report();
  void count(const RefineReport& one);
  [[nodiscard]] mobile::Runtime& runtime() noexcept { return result_.parts_->runtime; }

  mpi::Context& context_;
  RefineOptions options_;
  const PartOptions& part_options_;
  PartReport& report_;
  PartedTriangulation result_;
  std::optional<AreaBound> areas_;
  std::vector<Kept> kept_;        // of each part of this rank, by ascending number
  mobile::Turn* turn_ = nullptr;  // during a refinement
  bool is_first_step_ = true;
  double seconds_of_first_step_ = 0.0;
  double seconds_of_other_steps_ = 0.0;
  std::int64_t n_messages_ = 0;
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
  result_.parts_ = std::make_unique<PartObjects>(context_, part_options_.max_memory_bytes, part_options_.scratch);
  add_handlers();
  mpi::agree_after(context_, [&] {
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
    std::vector<Name> names;
    std::vector<std::vector<std::int32_t>> beside;
    for (std::size_t p = 0; p < rank_of.size(); ++p) {
      Part& part = made.parts[p];
      std::vector<std::int32_t>& list = beside.emplace_back();
      for (Interface& interface : part.interfaces) {
        interface.rank = rank_of[interface.neighbour];
        list.push_back(interface.neighbour);
      }
      names.push_back(runtime().make_on(rank_of[p], std::exchange(part, {})));
    }
    for (std::size_t p = 0; p < names.size(); ++p) {
      Neighbours neighbours;
      for (const std::int32_t other : beside[p]) neighbours.names.push_back(names[other]);
      runtime().send(names[p], neighbours);
    }
  });
  runtime().run();
  std::ranges::sort(kept_, {}, &Kept::number);
  if (!kept_.empty()) result_.first_part = kept_.front().number;
  for (const Kept& kept : kept_) {
    result_.parts_->names.push_back(kept.name);
    for (const Interface& one : kept.list)
      if (one.rank != context_.rank()) result_.neighbours.push_back(one.rank);
  }
  sort_unique(result_.neighbours);
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

void PartedRefinement::add_handlers() {
  using mobile::Turn;
  runtime().on<Part, Neighbours>([this](Turn& turn, Part& part, const Neighbours& message) {
    Kept& kept = kept_.emplace_back();
    kept.number = part.number;
    kept.name = turn.self<Part>();
    kept.list = part.interfaces;
    kept.neighbours = message.names;
    for (const Interface& one : part.interfaces) kept.interfaces.add(part.mesh, one.ends, one.segment);
    std::vector<Name> parts = message.names;
    sort_unique(parts);
    kept.n_neighbours = static_cast<std::int32_t>(parts.size());
    turn.set_unchanged();
  });
  runtime().on<Part, FirstStep>([this](Turn& turn, Part& part, const FirstStep&) { take_first_step(turn, part); });
  runtime().on<Part, Splits>(
      [this](Turn& turn, Part& part, const Splits& message) { take_splits(turn, part, message); });
}

void PartedRefinement::refine() {
  const auto start = std::chrono::steady_clock::now();
  options_.progress = [this](std::int64_t n_now) {
    turn_->serve();
    if (part_options_.progress) part_options_.progress(n_done_ + n_now);
  };
  std::vector<std::size_t> order(kept_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (const std::uint64_t seed = part_options_.shuffle_seed; seed > 0)
    std::ranges::sort(order, {}, [&](std::size_t i) { return mix64(seed + i); });
  for (const std::size_t i : order) runtime().send(kept_[i].name, FirstStep{});
  runtime().run();
  report_.n_exchanges = mpi::max(context_, n_messages_ > 0 ? 1 : 0);
  if (part_options_.order == PartOrder::supersteps) {
    is_first_step_ = false;
    for (Kept& kept : kept_) tell(kept, false, [&](Name to, const Splits& splits) { runtime().send(to, splits); });
    const std::uint64_t n_steps = runtime().statistics().steps;
    runtime().run({.supersteps = true});
    report_.n_exchanges += static_cast<int>(runtime().statistics().steps - n_steps);
  }
  report_times(seconds_since(start));
  runtime().close();
}

void PartedRefinement::report_times(double seconds) {
  const mobile::StoreStatistics disk = runtime().statistics().store;
  std::array<double, 3> maxima{seconds_of_first_step_, seconds_of_other_steps_, seconds};
  mpi::all_reduce(context_, std::span<double>(maxima), MPI_MAX);
  report_.seconds_of_first_step = maxima[0];
  report_.seconds_of_other_steps = maxima[1];
  report_.seconds_of_run = maxima[2];
  std::array<double, 3> means{seconds_of_first_step_ + seconds_of_other_steps_, disk.seconds_busy,
                              disk.seconds_waiting};
  mpi::all_reduce(context_, std::span<double>(means), MPI_SUM);
  for (double& one : means) one /= context_.size();
  report_.seconds_computing = means[0];
  report_.seconds_of_disk = means[1];
  report_.seconds_waiting_for_disk = means[2];
  if (const MemoryAccount& memory = runtime().memory(); memory.has_limit()) {
    report_.max_memory = {{"all", memory.max_bytes()}};
    for (const MemoryAccount::Owner& owner : memory.owners())
      report_.max_memory.emplace_back(owner.name(), owner.max_bytes());
    std::vector<std::uint64_t> bytes;
    for (const auto& one : report_.max_memory) bytes.push_back(one.second);
    mpi::all_reduce(context_, std::span<std::uint64_t>(bytes), MPI_MAX);
    for (std::size_t i = 0; i < bytes.size(); ++i) report_.max_memory[i].second = bytes[i];
  }
}

void PartedRefinement::take_first_step(mobile::Turn& turn, Part& part) {
  const barrio::Region region(context_.trace(), part_region);
  const Stopwatch watch(runtime());
  Kept& kept = kept_of(part);
  turn_ = &turn;
  end_turn(part, kept, refined(part, kept, [](Refinement& refinement) { refinement.run(); }));
  n_done_ += kept.n_triangles;
  kept.is_refined = true;
  kept.untold = kept.interfaces.take_splits();
  seconds_of_first_step_ += watch.seconds();
  tell(kept, waits_for_all(), [&](Name to, const Splits& splits) { turn.send(to, splits); });
  const bool has_all = !waits_for_all() || kept.n_heard == kept.n_neighbours;
  if (!has_all) return;
  follow(turn, part, kept);
  if (waits_for_all()) turn.set_finished();
}

void PartedRefinement::take_splits(mobile::Turn& turn, Part& part, const Splits& message) {
  Kept& kept = kept_of(part);
  kept.heard.insert(kept.heard.end(), message.splits.begin(), message.splits.end());
  kept.n_heard += 1;
  // the first step of a part takes no splits of others, so it makes no difference when those come
  const bool may_follow =
      waits_for_all() ? kept.is_refined && kept.n_heard == kept.n_neighbours : kept.is_refined && turn.n_waiting() == 0;
  if (may_follow && waits_for_all()) turn.set_finished();
  if (may_follow && !kept.heard.empty()) return follow(turn, part, kept);
  turn.set_unchanged();
}

/// Split the pieces of a part that others have split, and refine from there on.
void PartedRefinement::follow(mobile::Turn& turn, Part& part, Kept& kept) {
  const Stopwatch watch(runtime());
  // The order of messages does not matter: positions on an interface are sorted.
  std::vector<Split> heard = std::exchange(kept.heard, {});
  std::ranges::sort(heard, {}, [](const Split& one) { return std::tuple(one.interface, one.at); });
  std::vector<Point> positions;
  for (std::size_t begin = 0; begin < heard.size();) {
    const std::int32_t interface = heard[begin].interface;
    positions.clear();
    for (; begin < heard.size() && heard[begin].interface == interface; ++begin) positions.push_back(heard[begin].at);
    kept.interfaces.want(interface, positions);
  }
  if (!kept.interfaces.has_wanted()) return;
  const barrio::Region region(context_.trace(), follow_region);
  kept.interfaces.sort_wanted();
  turn_ = &turn;
  const RefineReport report = refined(part, kept, [](Refinement& refinement) { refinement.follow_interfaces(); });
  if (report.is_complete && !kept.interfaces.rows_to_split().empty())
    refuse(ErrorCode::internal, fmt::format("part {}", part.number), "has not followed all splits of its interfaces");
  kept.interfaces.clear_wanted();
  end_turn(part, kept, report);
  kept.untold = kept.interfaces.take_splits();
  if (!kept.untold.empty()) kept.was_told = true;
  seconds_of_other_steps_ += watch.seconds();
  if (!waits_for_all()) tell(kept, false, [&](Name to, const Splits& splits) { turn.send(to, splits); });
}

template <class Sender>
void PartedRefinement::tell(Kept& kept, bool to_all, Sender&& send) {
  struct Told {
    Name to;
    Split split;
  };
  std::vector<Told> told;
  for (const InterfaceSplit& split : std::exchange(kept.untold, {}))
    told.push_back({kept.neighbours[split.interface], {kept.list[split.interface].place, split.at}});
  std::vector<Name> parts;
  if (to_all) parts = kept.neighbours;
  for (const Told& one : told) parts.push_back(one.to);
  sort_unique(parts);
  std::ranges::stable_sort(told, {}, &Told::to);
  auto next = told.begin();
  Splits message;
  for (const Name& part : parts) {
    message.splits.clear();
    for (; next != told.end() && next->to == part; ++next) message.splits.push_back(next->split);
    n_messages_ += 1;
    send(part, std::as_const(message));
  }
}

/// Note what a turn has done to a part, before it may go to the disk.
void PartedRefinement::end_turn(Part& part, Kept& kept, const RefineReport& report) {
  turn_ = nullptr;
  count(report);
  kept.n_triangles = part.mesh.n_triangles();
  part.chains.clear();
  part.chain_end.clear();
  for (std::int32_t f = 0; f < kept.interfaces.size(); ++f) {
    kept.interfaces.append_chain(f, part.chains);
    part.chain_end.push_back(static_cast<std::int32_t>(part.chains.size()));
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
  std::int64_t n_triangles = 0;
  std::int64_t most = 0;
  std::int64_t n_on_interfaces = 0;
  std::int64_t n_told = 0;
  for (const Kept& kept : kept_) {
    n_triangles += kept.n_triangles;
    most = std::max(most, kept.n_triangles);
    n_told += kept.was_told ? 1 : 0;
    for (std::int32_t f = 0; f < kept.interfaces.size(); ++f)
      if (kept.number < kept.list[f].neighbour) n_on_interfaces += kept.interfaces.n_vertices(f);
  }
  const mobile::RuntimeStatistics done = runtime().statistics();
  std::array<std::int64_t, 14> sums{all.n_free_points,
                                    all.n_segment_points,
                                    all.n_removed_points,
                                    all.n_left_at_segments,
                                    all.n_left_by_rounding,
                                    all.is_complete ? 0 : 1,
                                    n_triangles,
                                    n_on_interfaces,
                                    n_told,
                                    static_cast<std::int64_t>(done.store.bytes_written),
                                    static_cast<std::int64_t>(done.store.bytes_read),
                                    n_messages_,
                                    static_cast<std::int64_t>(done.turns),
                                    static_cast<std::int64_t>(done.finished_bytes)};
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
  report_.bytes_written = sums[9];
  report_.bytes_read = sums[10];
  report_.n_messages = sums[11];
  report_.n_turns = sums[12];
  report_.bytes_finished = sums[13];
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
