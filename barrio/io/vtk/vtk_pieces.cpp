#include "barrio/io/vtk/vtk_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "barrio/base/hash.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/mpi/collectives.hpp"

// Points that may be copies meet on the rank that the hash of their place or id names. Where a point goes is known at
// its home, the rank whose share has its row; the cells ask there for the new rows of their nodes.

namespace barrio::io::detail {
namespace {

using exchange::pack_by_rank;
using exchange::route;
using Copy = PointCopies::Copy;

/// Send rows of values to ranks. Collective. @return those received, by ascending sender, in the order of each
template <class T>
std::vector<T> deliver(mpi::Context& context, const std::vector<Rank>& to, const std::vector<T>& values,
                       std::size_t width) {
  std::vector<Rank> of_each;
  of_each.reserve(values.size());
  for (const Rank rank : to) of_each.insert(of_each.end(), width, rank);
  return route(context, pack_by_rank<T>(of_each, values)).items;
}

/// Reorder rows of values. @param order  the old place of each new row
template <class T>
std::vector<T> reordered(const std::vector<T>& values, std::size_t width, const std::vector<std::size_t>& order) {
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const std::size_t row : order)
    sorted.insert(sorted.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
  return sorted;
}

/// Return the places of numbers in ascending order.
std::vector<std::size_t> ascending(const std::vector<std::int64_t>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  return order;
}

/// Ids of points or cells, cut by their values into a range for each rank.
struct IdRange {
  std::int64_t lowest = 0;
  Slabs slabs;
  [[nodiscard]] Rank rank_of(std::int64_t id) const noexcept { return slabs.rank_of(id - lowest); }
};

/// Find the range of ids. Collective. @return nothing if they spread too far to be cut evenly
std::optional<IdRange> range_of(mpi::Context& context, const std::vector<std::int64_t>& ids) {
  constexpr std::int64_t widest = 16;  // times the number of ids
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t id : ids) {
    low = std::min(low, id);
    high = std::max(high, id);
  }
  low = mpi::min(context, low);
  high = mpi::max(context, high);
  const std::int64_t n = mpi::sum(context, std::int64_t{std::ssize(ids)});
  std::int64_t span = 0;
  if (n == 0 || __builtin_sub_overflow(high, low, &span) || span / widest > n) return std::nullopt;
  return IdRange{low, {span + 1, context.size()}};
}

class Uniter {
 public:
  Uniter(mpi::Context& context, VtkGrid& grid, const std::string& path)
      : context_(context),
        grid_(grid),
        path_(path),
        rows_{grid.n_points, context.size()},
        first_(rows_.first(context.rank())),
        stands_for_(rows_.size(context.rank())) {
    std::iota(stands_for_.begin(), stands_for_.end(), first_);
  }

  void run() {
    const bool drops = drop_ghosts();
    const bool has_pieces = grid_.first_points.size() > 1;
    if (!drops && !has_pieces) return;
    const VtkArray* ids = has_pieces ? find_id_array(grid_.on_points) : nullptr;
    if (ids != nullptr && !merge_by_ids(*ids)) ids = nullptr;
    if (has_pieces && ids == nullptr) merge_by_places();
    number_points(ids);
    move_points();
    if (has_pieces) order_cells();
    grid_.first_points.clear();
  }

 private:
  [[nodiscard]] std::size_t n_own() const { return stands_for_.size(); }
  /// Tell whether a point of this rank stays: it is neither dropped nor a copy of another.
  [[nodiscard]] bool stays(std::size_t p) const { return stands_for_[p] == first_ + static_cast<std::int64_t>(p); }
  [[nodiscard]] std::vector<Rank> homes_of(const std::vector<std::int64_t>& rows) const {
    std::vector<Rank> homes;
    for (const std::int64_t row : rows) homes.push_back(rows_.rank_of(row));
    return homes;
  }
  /// Return the points of the cells of this share that exist, each once, ascending.
  [[nodiscard]] std::vector<std::int64_t> used_points() const {
    std::vector<std::int64_t> used = grid_.nodes;
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    std::erase_if(used, [&](std::int64_t node) { return node < 0 || node >= grid_.n_points; });
    return used;
  }

  /// Drop ghost cells, and the points that only they use. @return whether there are such cells
  bool drop_ghosts() {
    std::vector<std::int64_t> points;
    const std::int64_t n = mpi::sum(context_, drop_ghost_cells(grid_, &points));
    if (n == 0) return false;
    context_.log().notice(fmt::format("{}: {} ghost cell(s), copies of cells of other pieces, are dropped", path_, n));
    std::erase_if(points, [&](std::int64_t node) { return node < 0 || node >= grid_.n_points; });
    const auto of_ghosts = route(context_, pack_by_rank(homes_of(points), points)).items;
    const std::vector<std::int64_t> used = used_points();
    std::vector<bool> is_used(n_own(), false);
    for (const std::int64_t row : route(context_, pack_by_rank(homes_of(used), used)).items)
      is_used[row - first_] = true;
    for (const std::int64_t row : of_ghosts)
      if (!is_used[row - first_]) stands_for_[row - first_] = dropped;
    return true;
  }

  /// Find copies among the points that are not dropped, by their places or ids. Collective.
  /// @param place_of  PlacedPoint(p) of a point of this rank
  /// @return those of this rank's points, and the number of ambiguous places on all ranks
  template <class PlaceOf>
  PointCopies find(PlaceOf&& place_of) {
    std::vector<Rank> to;
    std::vector<PlacedPoint> points;
    for (std::size_t p = 0; p < n_own(); ++p) {
      if (stands_for_[p] == dropped) continue;
      points.push_back(place_of(p));
      const std::uint64_t hash = Hash64().add_all(std::span<const std::uint64_t>(points.back().place)).value();
      to.push_back(static_cast<Rank>(hash % static_cast<std::uint64_t>(context_.size())));
    }
    PointCopies found = find_copies(route(context_, pack_by_rank(to, points)).items);
    std::vector<std::int64_t> rows;
    for (const Copy& copy : found.copies) rows.push_back(copy.row);
    found.copies = route(context_, pack_by_rank(homes_of(rows), found.copies)).items;
    found.n_ambiguous = mpi::sum(context_, found.n_ambiguous);
    return found;
  }

  [[nodiscard]] PlacedPoint placed(std::size_t p) const {
    return placed_point(&grid_.coordinates[3 * p], first_ + static_cast<std::int64_t>(p), grid_.first_points);
  }

  /// Merge the points of one id. Collective. @return false, with nothing merged, if they are not ids of the whole mesh
  bool merge_by_ids(const VtkArray& ids) {
    const PointCopies found = find([&](std::size_t p) {
      PlacedPoint point = placed(p);
      point.place = {static_cast<std::uint64_t>(std::get<0>(ids.values)[p]), 0, 0};
      return point;
    });
    const std::int64_t n_apart = count_apart(found.copies);
    if (found.n_ambiguous > 0 || n_apart > 0) {
      context_.log().notice(fmt::format(
          "{}: the array '{}' is marked as global ids of points, but {}: it is not used", path_, ids.name,
          n_apart > 0 ? "points of one id are at different places" : "a piece has several points of one id"));
      return false;
    }
    merge(found.copies, fmt::format("points of the same global id '{}'", ids.name));
    return true;
  }

  void merge_by_places() {
    const PointCopies found = find([&](std::size_t p) { return placed(p); });
    merge(found.copies, "points with the same coordinates");
    if (found.n_ambiguous > 0)
      context_.log().notice(fmt::format(
          "{}: at {} place(s) a piece has several points and other pieces have some, as along a crack: these were left "
          "apart; barrio join --within merges them all",
          path_, found.n_ambiguous));
  }

  /// Count the pieces that have points. @pre points were not moved
  [[nodiscard]] std::int64_t n_pieces() const {
    std::int64_t n = 0;
    for (std::size_t p = 0; p < grid_.first_points.size(); ++p) {
      const bool is_last = p + 1 == grid_.first_points.size();
      n += (is_last ? grid_.n_points : grid_.first_points[p + 1]) > grid_.first_points[p] ? 1 : 0;
    }
    return n;
  }

  void merge(const std::vector<Copy>& copies, const std::string& which) {
    for (const Copy& copy : copies) stands_for_[copy.row - first_] = copy.of;
    const std::int64_t n = mpi::sum(context_, std::int64_t{std::ssize(copies)});
    if (n_pieces() < 2) return;
    context_.log().notice(n > 0
                              ? fmt::format("{}: its {} pieces are one mesh: {} copies of points were merged, {}",
                                            path_, n_pieces(), n, which)
                              : fmt::format("{}: its {} pieces have no {}: they stay apart", path_, n_pieces(), which));
  }

  /// Count the copies that are not where their originals are, but for rounding. Collective.
  std::int64_t count_apart(const std::vector<Copy>& copies) {
    double size = 0.0;
    for (const double x : grid_.coordinates) size = std::max(size, std::abs(x));
    const double tolerance = point_tolerance * mpi::max(context_, size);
    std::vector<std::int64_t> originals;
    for (const Copy& copy : copies) originals.push_back(copy.of);
    using Place = std::array<double, 3>;
    const std::vector<Place> places = exchange::ask(context_, homes_of(originals), originals, [&](std::int64_t row) {
      Place place;
      std::copy_n(grid_.coordinates.begin() + 3 * (row - first_), 3, place.begin());
      return place;
    });
    std::int64_t n = 0;
    for (std::size_t i = 0; i < copies.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        if (std::abs(places[i][k] - grid_.coordinates[3 * (copies[i].row - first_) + k]) > tolerance) {
          n += 1;
          break;
        }
    return mpi::sum(context_, n);
  }

  /// Number the points that stay: by ids, or in their order in the file. Collective.
  void number_points(const VtkArray* ids) {
    std::vector<std::int64_t> of_staying;
    for (std::size_t p = 0; p < n_own() && ids != nullptr; ++p)
      if (stays(p)) of_staying.push_back(std::get<0>(ids->values)[p]);
    const auto range = ids == nullptr ? std::nullopt : range_of(context_, of_staying);
    std::int64_t n_staying = 0;
    for (std::size_t p = 0; p < n_own(); ++p) n_staying += stays(p) ? 1 : 0;
    n_new_ = mpi::sum(context_, n_staying);
    const std::int64_t before = mpi::exclusive_sum(context_, n_staying);
    const std::vector<std::int64_t> by_id = range ? places_of(*range, of_staying) : std::vector<std::int64_t>();
    new_row_.assign(n_own(), dropped);
    std::size_t next = 0;
    for (std::size_t p = 0; p < n_own(); ++p) {
      if (!stays(p)) continue;
      new_row_[p] = range ? by_id[next] : before + static_cast<std::int64_t>(next);
      ++next;
    }
    number_copies();
    if (range) forget_ids(grid_.on_points, ids->name, [&](std::size_t p) { return new_row_[p]; });
  }
  void number_copies() {
    std::vector<std::int64_t> originals;
    std::vector<std::size_t> copies;
    for (std::size_t p = 0; p < n_own(); ++p) {
      if (stays(p) || stands_for_[p] == dropped) continue;
      copies.push_back(p);
      originals.push_back(stands_for_[p]);
    }
    const auto rows = exchange::ask(context_, homes_of(originals), originals,
                                    [&](std::int64_t row) { return new_row_[row - first_]; });
    for (std::size_t i = 0; i < copies.size(); ++i) new_row_[copies[i]] = rows[i];
  }

  /// Return the place of each id among all, which differ. Collective.
  std::vector<std::int64_t> places_of(const IdRange& range, const std::vector<std::int64_t>& ids) {
    std::vector<Rank> to;
    for (const std::int64_t id : ids) to.push_back(range.rank_of(id));
    return exchange::ask_together(context_, to, ids, [&](const exchange::Parcels<std::int64_t>& asked) {
      std::vector<std::int64_t> places(asked.items.size());
      std::int64_t next = mpi::exclusive_sum(context_, std::int64_t{std::ssize(asked.items)});
      for (const std::size_t i : ascending(asked.items)) places[i] = next++;
      return places;
    });
  }

  /// Remove ids that say no more than the new rows. Collective.
  template <class NewRow>
  void forget_ids(std::vector<VtkArray>& arrays, const std::string& name, NewRow&& new_row) {
    const auto ids = std::ranges::find(arrays, name, &VtkArray::name);
    const auto& values = std::get<0>(ids->values);
    std::int32_t n_other = 0;
    for (std::size_t i = 0; i < values.size() && n_other == 0; ++i) n_other = values[i] != new_row(i) ? 1 : 0;
    if (mpi::max(context_, n_other) == 0) arrays.erase(ids);
  }

  /// Move the points that stay to the shares of their new rows, and let the cells name those.
  void move_points() {
    const std::vector<std::int64_t> used = used_points();
    const auto rows =
        exchange::ask(context_, homes_of(used), used, [&](std::int64_t row) { return new_row_[row - first_]; });
    for (std::int64_t& node : grid_.nodes)  // one that does not exist stays so
      if (node >= 0 && node < grid_.n_points) node = rows[std::ranges::lower_bound(used, node) - used.begin()];
    const Slabs slabs{n_new_, context_.size()};
    std::vector<Rank> to;
    std::vector<std::size_t> staying;
    std::vector<std::int64_t> their_rows;
    for (std::size_t p = 0; p < n_own(); ++p) {
      if (!stays(p)) continue;
      staying.push_back(p);
      their_rows.push_back(new_row_[p]);
      to.push_back(slabs.rank_of(new_row_[p]));
    }
    const std::vector<std::size_t> order = ascending(deliver(context_, to, their_rows, 1));
    const auto move = [&](auto& values, std::size_t width) {
      values = reordered(deliver(context_, to, reordered(values, width, staying), width), width, order);
    };
    move(grid_.coordinates, 3);
    for (VtkArray& array : grid_.on_points)
      std::visit([&](auto& values) { move(values, array.n_components); }, array.values);
    grid_.n_points = n_new_;
  }

  /// Give the cells the order of their ids, if these are marked and each is there once.
  void order_cells() {
    const VtkArray* ids = find_id_array(grid_.on_cells);
    if (ids == nullptr) return;
    const std::vector<std::int64_t>& own = std::get<0>(ids->values);
    const auto range = range_of(context_, own);
    if (!range) return;
    std::vector<Rank> to;
    for (const std::int64_t id : own) to.push_back(range->rank_of(id));
    const std::vector<std::int64_t> received = deliver(context_, to, own, 1);
    const std::vector<std::size_t> order = ascending(received);
    std::int32_t n_twice = 0;
    for (std::size_t i = 1; i < order.size(); ++i) n_twice += received[order[i]] == received[order[i - 1]] ? 1 : 0;
    if (mpi::max(context_, n_twice) > 0) {
      context_.log().notice(
          fmt::format("{}: the array '{}' is marked as global ids of cells, but cells have the same id: it is not used",
                      path_, ids->name));
      return;
    }
    const std::string name = ids->name;
    move_cells(to, order);
    const std::int64_t before = mpi::exclusive_sum(context_, std::int64_t{std::ssize(order)});
    // Cells of several types are numbered type by type, so their ids say more than their rows.
    std::array<std::int32_t, 2> types{255, 255};  // smallest; 255 - largest
    for (const std::uint8_t type : grid_.types) {
      types[0] = std::min<std::int32_t>(types[0], type);
      types[1] = std::min<std::int32_t>(types[1], 255 - type);
    }
    mpi::all_reduce(context_, std::span<std::int32_t>(types), MPI_MIN);
    if (types[0] + types[1] < 255) return;
    forget_ids(grid_.on_cells, name, [&](std::size_t c) { return before + static_cast<std::int64_t>(c); });
  }

  void move_cells(const std::vector<Rank>& to, const std::vector<std::size_t>& order) {
    std::vector<std::int64_t> lengths;
    std::vector<Rank> to_of_nodes;
    for (std::size_t c = 0; c < to.size(); ++c) {
      lengths.push_back(grid_.offsets[c + 1] - grid_.offsets[c]);
      to_of_nodes.insert(to_of_nodes.end(), lengths.back(), to[c]);
    }
    lengths = deliver(context_, to, lengths, 1);
    const std::vector<std::int64_t> nodes = deliver(context_, to_of_nodes, grid_.nodes, 1);
    const std::vector<std::uint8_t> types = deliver(context_, to, grid_.types, 1);
    std::vector<std::int64_t> begins{0};
    for (const std::int64_t n : lengths) begins.push_back(begins.back() + n);
    grid_.types.clear();
    grid_.offsets = {0};
    grid_.nodes.clear();
    for (const std::size_t c : order)
      grid_.add_cell(types[c], std::span<const std::int64_t>(nodes).subspan(begins[c], lengths[c]));
    for (VtkArray& array : grid_.on_cells)
      std::visit(
          [&](auto& values) {
            const std::size_t width = array.n_components;
            values = reordered(deliver(context_, to, values, width), width, order);
          },
          array.values);
  }

  static constexpr std::int64_t dropped = -1;
  mpi::Context& context_;
  VtkGrid& grid_;
  const std::string& path_;
  Slabs rows_;
  std::int64_t first_;
  std::vector<std::int64_t> stands_for_;  ///< of this rank's points: the row of the original; itself, or `dropped`
  std::vector<std::int64_t> new_row_;
  std::int64_t n_new_ = 0;
};

}  // namespace

void unite_pieces(mpi::Context& context, VtkGrid& grid, const std::string& path) { Uniter(context, grid, path).run(); }

}  // namespace barrio::io::detail
