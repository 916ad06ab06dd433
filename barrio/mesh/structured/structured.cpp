#include "barrio/mesh/structured.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/box_halo.hpp"
#include "barrio/mesh/structured/grid_numbers.hpp"
#include "barrio/mesh/tables/drawn_owner.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using Place = std::array<std::int64_t, 3>;

constexpr RegionName structured_region{"mesh.structured"};
constexpr std::array<std::string_view, 5> decomposition_names{"alljorkori", "alljkbal", "sqij", "sqjk", "sqijk"};

std::int64_t cut_at(std::int64_t n, std::int64_t piece, std::int64_t n_pieces) { return n * piece / n_pieces; }

/// Tell whether every box gets a cell.
bool fits(const std::array<int, 3>& grid, const Place& n) {
  for (std::size_t k = 0; k < 3; ++k)
    if (grid[k] > n[k]) return false;
  return true;
}

/// Find the cheapest grid with one box per rank or, if there is none, with the largest possible number of boxes.
/// @param cost  of a grid; infinity if it is not allowed
template <class Cost>
std::array<int, 3> best_grid(int n_ranks, const Place& n, Cost&& cost) {
  // There are no more boxes than cells; each step tries the divisors of one number.
  const double n_cells = detail::product_of(n);
  for (int boxes = static_cast<int>(std::min<double>(n_ranks, n_cells)); boxes > 1; --boxes) {
    std::array<int, 3> best{1, 1, 1};
    double least = std::numeric_limits<double>::infinity();
    for (int a = 1; a <= boxes; ++a) {
      if (boxes % a != 0) continue;
      for (int b = 1; b <= boxes / a && a <= n[0]; ++b) {
        if (boxes / a % b != 0) continue;
        const std::array<int, 3> grid{a, b, boxes / a / b};
        if (!fits(grid, n)) continue;
        if (const double here = cost(grid); here < least) {
          least = here;
          best = grid;
        }
      }
    }
    if (std::isfinite(least)) return best;
  }
  return {1, 1, 1};
}

std::array<int, 3> make_grid(Decomposition decomposition, int n_ranks, const Place& n) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const auto square = [](int a, int b) -> double { return std::abs(a - b); };
  switch (decomposition) {
    case Decomposition::alljorkori:
      for (const std::size_t axis : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
        std::array<int, 3> grid{1, 1, 1};
        grid[axis] = n_ranks;
        if (fits(grid, n)) return grid;
      }
      {
        std::array<int, 3> grid{1, 1, 1};
        const std::size_t longest = std::ranges::max_element(n) - n.begin();
        grid[longest] = static_cast<int>(n[longest]);
        return grid;
      }
    case Decomposition::alljkbal:
      return best_grid(n_ranks, n, [&](const std::array<int, 3>& g) {
        return g[0] > 1 ? never
                        : std::abs(std::log(detail::ratio_of(g[1], g[2])) - std::log(detail::ratio_of(n[1], n[2])));
      });
    case Decomposition::sqij:
      return best_grid(n_ranks, n, [&](const auto& g) { return g[2] > 1 ? never : square(g[0], g[1]); });
    case Decomposition::sqjk:
      return best_grid(n_ranks, n, [&](const auto& g) { return g[0] > 1 ? never : square(g[1], g[2]); });
    case Decomposition::sqijk: break;
  }
  return best_grid(n_ranks, n, [&](const std::array<int, 3>& g) {
    double surface = 0.0;
    for (std::size_t k = 0; k < 3; ++k) surface += detail::ratio_of(g[k], n[k]);
    return surface;
  });
}

}  // namespace

std::string_view name(Decomposition decomposition) noexcept {
  return decomposition_names[static_cast<std::size_t>(decomposition)];
}

Decomposition decomposition_of(std::string_view wanted) {
  const auto at = std::ranges::find(decomposition_names, wanted);
  if (at != decomposition_names.end()) return static_cast<Decomposition>(at - decomposition_names.begin());
  const std::vector<std::string> known(decomposition_names.begin(), decomposition_names.end());
  throw Error(ErrorCode::usage, {.subject = fmt::format("decomposition '{}'", wanted),
                                 .cause = "is not known." + did_you_mean(wanted, known),
                                 .remedy = fmt::format("use {}", fmt::join(known, ", "))});
}

StructuredMesh::StructuredMesh(mpi::Context& context, StructuredOptions options)
    : context_(&context), options_(std::move(options)) {
  const Region region(context.trace(), structured_region);
  const auto& n = options_.n;
  const std::string box = fmt::format("box of {} x {} x {} cells", n[0], n[1], n[2]);
  if (n[0] < 1 || n[1] < 1 || n[2] < 1)
    refuse_together(ErrorCode::usage, box, "needs at least one cell along each axis");
  if (detail::product_of({n[0] + 1, n[1] + 1, n[2] + 1}) > 1e17)
    refuse_together(ErrorCode::usage, box, "has more vertices than can be numbered");
  for (std::size_t k = 0; k < 3; ++k) check_axis(k);
  if (options_.ghost_layers < 0)
    refuse_together(ErrorCode::usage, fmt::format("{} ghost layers", options_.ghost_layers), "must be at least 0");
  grid_ = make_grid(options_.decomposition, context.size(), n);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::int64_t thinnest = n[k] / grid_[k];
    if ((grid_[k] > 1 || options_.is_periodic[k]) && options_.ghost_layers > thinnest)
      refuse_together(ErrorCode::usage, fmt::format("{} ghost layers", options_.ghost_layers),
                      fmt::format("must not exceed the {} cells of the thinnest box along axis {}", thinnest, k),
                      "ask for fewer layers or ranks, or another decomposition");
  }
  if (context.rank() < grid_[0] * grid_[1] * grid_[2]) {
    own_ = box_of(place_of(context.rank()));
    local_ = own_;
    for (std::size_t k = 0; k < 3; ++k) {
      if (own_.low[k] > 0 || options_.is_periodic[k]) local_.low[k] -= options_.ghost_layers;
      if (own_.high[k] < n[k] || options_.is_periodic[k]) local_.high[k] += options_.ghost_layers;
    }
  }
  find_neighbours();
}

IndexBox StructuredMesh::box_of(const std::array<int, 3>& at) const noexcept {
  IndexBox box;
  for (std::size_t k = 0; k < 3; ++k) {
    box.low[k] = cut_at(options_.n[k], at[k], grid_[k]);
    box.high[k] = cut_at(options_.n[k], at[k] + 1, grid_[k]);
  }
  return box;
}

std::array<int, 3> StructuredMesh::place_of(Rank rank) const noexcept {
  return {rank % grid_[0], rank / grid_[0] % grid_[1], rank / grid_[0] / grid_[1]};
}

Rank StructuredMesh::rank_at(const std::array<int, 3>& at) const noexcept {
  return (at[2] * grid_[1] + at[1]) * grid_[0] + at[0];
}

IndexBox StructuredMesh::all_vertices() const noexcept {
  IndexBox box = all_cells();
  for (std::size_t k = 0; k < 3; ++k) box.high[k] += options_.is_periodic[k] ? 0 : 1;
  return box;
}

IndexBox StructuredMesh::own_vertices() const noexcept {
  IndexBox box = own_;
  if (!own_.empty())
    for (std::size_t k = 0; k < 3; ++k) box.high[k] += 1;
  return box;
}

GlobalId StructuredMesh::cell_id(const Place& at) const noexcept {
  Place wrapped = at;
  for (std::size_t k = 0; k < 3; ++k) wrapped[k] = (at[k] + options_.n[k]) % options_.n[k];
  return GlobalId{all_cells().place(wrapped)};
}

GlobalId StructuredMesh::vertex_id(const Place& at) const noexcept {
  Place wrapped = at;
  for (std::size_t k = 0; k < 3; ++k)
    if (options_.is_periodic[k]) wrapped[k] = at[k] % options_.n[k];
  return GlobalId{all_vertices().place(wrapped)};
}

std::array<std::int64_t, 8> StructuredMesh::corners(const Place& cell) const noexcept {
  const IndexBox box = own_vertices();
  const auto [i, j, k] = cell;
  return {box.place({i, j, k}),
          box.place({i + 1, j, k}),
          box.place({i + 1, j + 1, k}),
          box.place({i, j + 1, k}),
          box.place({i, j, k + 1}),
          box.place({i + 1, j, k + 1}),
          box.place({i + 1, j + 1, k + 1}),
          box.place({i, j + 1, k + 1})};
}

Rank StructuredMesh::rank_of_cell(Place cell) const noexcept {
  std::array<int, 3> at{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::int64_t n = options_.n[k];
    const std::int64_t i = (cell[k] + n) % n;
    at[k] = static_cast<int>(i * grid_[k] / n);
    while (i >= cut_at(n, at[k] + 1, grid_[k])) ++at[k];
  }
  return rank_at(at);
}

int StructuredMesh::sharers(const Place& vertex, std::array<Rank, 8>& ranks) const noexcept {
  int n = 0;
  for (int corner = 0; corner < 8; ++corner) {
    Place cell{};
    bool exists = true;
    for (std::size_t k = 0; k < 3; ++k) {
      cell[k] = vertex[k] - (corner >> k & 1);
      exists = exists && (options_.is_periodic[k] || (cell[k] >= 0 && cell[k] < options_.n[k]));
    }
    if (!exists) continue;
    const Rank rank = rank_of_cell(cell);
    if (std::find(ranks.begin(), ranks.begin() + n, rank) == ranks.begin() + n) ranks[n++] = rank;
  }
  std::sort(ranks.begin(), ranks.begin() + n);
  return n;
}

Rank StructuredMesh::owner(const Place& vertex) const noexcept {
  std::array<Rank, 8> ranks{};
  const int n = sharers(vertex, ranks);
  if (n == 1) return ranks[0];
  return ranks[detail::drawn_owner(Dim::vertex, vertex_id(vertex), n)];
}

void StructuredMesh::find_neighbours() {
  std::vector<BoxLayout<3>::Neighbour> near;
  if (!own_.empty()) {
    const std::array<int, 3> here = place_of(context_->rank());
    const int reach = 1;  // no box is thinner than the ghost layers
    for (int dk = -reach; dk <= reach; ++dk) {
      for (int dj = -reach; dj <= reach; ++dj) {
        for (int di = -reach; di <= reach; ++di) {
          const std::array<int, 3> step{di, dj, dk};
          std::array<int, 3> at{};
          Place shift{};
          bool exists = di != 0 || dj != 0 || dk != 0;
          for (std::size_t k = 0; k < 3; ++k) {
            at[k] = here[k] + step[k];
            if (at[k] >= 0 && at[k] < grid_[k]) continue;
            exists = exists && options_.is_periodic[k];
            shift[k] = at[k] < 0 ? -options_.n[k] : options_.n[k];
            at[k] = (at[k] + grid_[k]) % grid_[k];
          }
          if (!exists) continue;
          const IndexBox theirs = box_of(at).shifted(shift);
          IndexBox their_vertices = theirs;
          for (std::int64_t& high : their_vertices.high) high += 1;
          neighbours_.push_back({rank_at(at), shift, own_vertices().intersected(their_vertices)});
          near.push_back({.box = 0, .rank = rank_at(at), .other = 0, .shift = shift, .cells = theirs});
        }
      }
    }
    std::ranges::sort(neighbours_, {}, [](const Neighbour& one) { return std::tuple(one.rank, one.shift); });
  }
  // Within the thickness of the thinnest box there are no boxes but the adjacent ones.
  std::int64_t reach = options_.ghost_layers + 1;
  for (std::size_t k = 0; k < 3; ++k)
    if (grid_[k] > 1 || options_.is_periodic[k]) reach = std::min(reach, options_.n[k] / grid_[k]);
  layout_ = std::make_shared<const BoxLayout<3>>(
      *context_, all_cells(), own_.empty() ? std::vector<IndexBox>{} : std::vector{own_}, std::move(near),
      BoxLayoutOptions<3>{.is_periodic = options_.is_periodic, .reach = static_cast<int>(reach)});
  // The handshake: each rank sends its neighbours the boxes it computed for them; nothing else needs a message.
  std::vector<Rank> ranks;
  for (const Neighbour& neighbour : neighbours_)
    if (neighbour.rank != context_->rank() && (ranks.empty() || ranks.back() != neighbour.rank))
      ranks.push_back(neighbour.rank);
  struct Claim {
    IndexBox yours;
    IndexBox mine;
  };
  exchange::Neighborhood hood(*context_, ranks);
  auto round = hood.begin_round<Claim>();
  for (const Rank rank : ranks) round.allocate(rank) = {box_of(place_of(rank)), own_};
  round.close();
  bool agrees = true;
  for (const auto& [from, claim] : round.received())
    agrees = agrees && claim.yours == own_ && claim.mine == box_of(place_of(from));
  BARRIO_ASSERT(cheap, agrees && "ranks were given different boxes", context_->rank());
}

void StructuredMesh::exchange_bytes(std::span<std::byte> values, const barrio::exchange::ValueType& type,
                                    int n_components) const {
  const BoxField field(Centering::cell, type, n_components, false,
                       std::vector<std::span<std::byte>>(layout_->boxes().size(), values));
  auto at = std::ranges::find_if(halos_, [&](const auto& halo) { return halo->fits(std::span(&field, 1)); });
  if (at == halos_.end()) {
    at = halos_.insert(
        at, std::make_shared<BoxHalo<3>>(layout_, std::vector{field},
                                         BoxHaloOptions{.ghosts = options_.ghost_layers, .has_outside = false}));
  } else {
    (*at)->set_fields({field});
  }
  (*at)->exchange();
}

std::int64_t StructuredMesh::n_shared_vertices() const noexcept {
  // All own vertices minus the inner ones: shared vertices lie on the sides that neighbours touch.
  IndexBox inside = own_vertices();
  for (std::size_t k = 0; k < 3; ++k) {
    if (own_.empty()) break;
    const bool is_cut = grid_[k] > 1;
    if (is_cut && (own_.low[k] > 0 || options_.is_periodic[k])) inside.low[k] += 1;
    if (is_cut && (own_.high[k] < options_.n[k] || options_.is_periodic[k])) inside.high[k] -= 1;
  }
  return own_vertices().size() - inside.size();
}

void StructuredMesh::validate() const {
  // Each pair compares digests of its shared vertices; ghosts get the ids of their owners' cells.
  std::vector<std::int64_t> ids(local_.size(), -1);
  for (std::int64_t c = 0; c < own_.size(); ++c) ids[local_.place(own_.at(c))] = value(cell_id(own_.at(c)));
  exchange(std::span<std::int64_t>(ids));
  std::vector<Rank> ranks;
  for (const Neighbour& neighbour : neighbours_)
    if (neighbour.rank != context_->rank() && (ranks.empty() || ranks.back() != neighbour.rank))
      ranks.push_back(neighbour.rank);
  const auto digest_with = [&](Rank other) {
    std::uint64_t digest = 0;
    const IndexBox box = own_vertices();
    std::array<Rank, 8> sharers_of{};
    for (const Neighbour& neighbour : neighbours_) {
      if (neighbour.rank != other) continue;
      for (std::int64_t v = 0; v < neighbour.shared_vertices.size(); ++v) {
        const Place at = neighbour.shared_vertices.at(v);
        const int n = sharers(at, sharers_of);
        Hash64 hash;
        hash.add(value(vertex_id(at))).add(static_cast<std::int64_t>(owner(at)));
        for (int s = 0; s < n; ++s) hash.add(std::int64_t{sharers_of[s]});
        digest +=
            box.contains(at) && std::find(sharers_of.begin(), sharers_of.begin() + n, other) != sharers_of.begin() + n
                ? hash.value()
                : 1;
      }
    }
    return digest;
  };
  exchange::Neighborhood hood(*context_, ranks);
  auto round = hood.begin_round<std::uint64_t>();
  for (const Rank rank : ranks) round.allocate(rank) = digest_with(rank);
  round.close();
  std::string fault;
  for (const auto& [from, digest] : round.received())
    if (digest != digest_with(from)) fault = fmt::format("shared vertices differ from those of rank {}", from);
  agree_after(*context_, [&] {
    for (std::int64_t c = 0; c < local_.size() && fault.empty(); ++c)
      if (ids[c] != value(cell_id(local_.at(c)))) fault = fmt::format("local cell {} differs from its owner's", c);
    if (!fault.empty())
      throw Error(
          ErrorCode::internal,
          {.subject = "structured mesh", .cause = fault, .remedy = "this is a bug in barrio, please report it"});
  });
}

std::uint64_t StructuredMesh::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof *this + barrio::memory_bytes(neighbours_) + layout_->memory_bytes();
  for (const std::vector<double>& places : options_.along) bytes += barrio::memory_bytes(places);
  return bytes;
}

}  // namespace barrio::mesh
