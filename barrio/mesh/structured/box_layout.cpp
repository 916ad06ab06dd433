#include "barrio/mesh/box_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/structured/box_directory.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName layout_region{"mesh.boxes"};
constexpr int n_tags = 256;  // the halos of a layout take one each

template <std::size_t D>
std::string text_of(const geometry::IndexBox<D>& box) {
  return fmt::format("box from {} to {}", fmt::join(box.low, ", "), fmt::join(box.high, ", "));
}

/// Make bins of the mean size of the boxes. Collective.
template <std::size_t D>
detail::BoxBins<D> make_bins(mpi::Context& context, const geometry::IndexBox<D>& domain,
                             std::span<const geometry::IndexBox<D>> boxes) {
  std::array<std::int64_t, D + 1> sums{};
  for (const geometry::IndexBox<D>& box : boxes) {
    for (std::size_t k = 0; k < D; ++k) sums[k] += box.extent(k);
    sums[D] += 1;
  }
  mpi::all_reduce(context, std::span<std::int64_t>(sums), MPI_SUM);
  detail::BoxBins<D> bins{.domain = domain, .size = {}, .grid = {}};
  for (std::size_t k = 0; k < D; ++k) {
    bins.size[k] = sums[D] == 0 ? domain.extent(k) : (sums[k] + sums[D] - 1) / sums[D];
    bins.grid.high[k] = (domain.extent(k) + bins.size[k] - 1) / bins.size[k];
  }
  return bins;
}

/// Answer the queries of a bin with its boxes. A pair that intersects in several bins is answered in one only: the bin
/// of the first common cell.
template <std::size_t D>
void answer(std::span<const std::pair<Rank, const detail::BoxEntry<D>*>> entries, const detail::BoxBins<D>& bins,
            std::vector<Rank>& to, std::vector<detail::BoxAnswer<D>>& answers) {
  for (const auto& [asking, question] : entries) {
    if (question->is_question == 0) continue;
    for (const auto& [rank, entry] : entries) {
      if (entry->is_question != 0) continue;
      if (asking == rank && question->number == entry->number && question->shift == decltype(question->shift){})
        continue;
      const geometry::IndexBox<D> both = question->box.intersected(entry->box);
      if (both.empty() || bins.grid.place(bins.of(both.low)) != question->bin) continue;
      to.push_back(asking);
      answers.push_back({.box = entry->box.shifted(question->shift),
                         .shift = question->shift,
                         .asking = question->number,
                         .number = entry->number,
                         .rank = rank});
    }
  }
}

}  // namespace

template <std::size_t D>
geometry::IndexBox<D> places(geometry::IndexBox<D> cells, Centering centering) noexcept {
  for (std::size_t k = 0; k < D; ++k)
    if (is_between_cells(centering, k)) cells.high[k] += 1;
  return cells;
}
template geometry::IndexBox<2> places(geometry::IndexBox<2>, Centering) noexcept;
template geometry::IndexBox<3> places(geometry::IndexBox<3>, Centering) noexcept;

template <std::size_t D>
BoxLayout<D>::BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes,
                        const BoxLayoutOptions<D>& options)
    : context_(&context),
      domain_(domain),
      options_(options),
      boxes_(std::move(boxes)),
      tags_(context.take_tags(n_tags)) {
  const Region region(context.trace(), layout_region);
  check();
  find_neighbours();
  sort_neighbours();
  agree_after(context, [&] {
    for (const Neighbour& one : neighbours_)
      if (const Box both = one.cells.intersected(boxes_[one.box]); !both.empty())
        refuse(ErrorCode::usage, text_of(boxes_[one.box]),
               fmt::format("has cells in common with the {} of rank {}", text_of(one.cells), one.rank));
  });
}

template <std::size_t D>
BoxLayout<D>::BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes,
                        std::vector<Neighbour> neighbours, const BoxLayoutOptions<D>& options)
    : context_(&context),
      domain_(domain),
      options_(options),
      boxes_(std::move(boxes)),
      neighbours_(std::move(neighbours)),
      tags_(context.take_tags(n_tags)) {
  sort_neighbours();
}

template <std::size_t D>
void BoxLayout<D>::check() const {
  if (domain_.empty())
    refuse_together(ErrorCode::usage, text_of(domain_), "is the domain and must have at least one cell");
  if (options_.reach < 0)
    refuse_together(ErrorCode::usage, fmt::format("a reach of {} cells", options_.reach), "must be at least 0");
  for (std::size_t k = 0; k < D; ++k)
    if (options_.is_periodic[k] && options_.reach > domain_.extent(k))
      refuse_together(ErrorCode::usage, fmt::format("a reach of {} cells", options_.reach),
                      fmt::format("exceeds the {} cells of periodic axis {}", domain_.extent(k), k));
  agree_after(*context_, [&] {
    for (const Box& box : boxes_) {
      if (box.empty()) refuse(ErrorCode::usage, text_of(box), "must have at least one cell");
      if (!domain_.contains(box))
        refuse(ErrorCode::usage, text_of(box), fmt::format("extends beyond the domain, a {}", text_of(domain_)));
    }
  });
}

template <std::size_t D>
void BoxLayout<D>::find_neighbours() {
  const detail::BoxBins<D> bins = make_bins<D>(*context_, domain_, boxes_);
  std::vector<Rank> to;
  std::vector<detail::BoxEntry<D>> entries;
  const auto enter = [&](detail::BoxEntry<D> entry) {
    const Box touched = bins.touched_by(entry.box);
    for (std::int64_t at = 0; at < touched.size(); ++at) {
      entry.bin = bins.grid.place(touched.at(at));
      entries.push_back(entry);
      to.push_back(static_cast<Rank>(mix64(entry.bin) % context_->size()));
    }
  };
  for (std::int32_t b = 0; b < std::ssize(boxes_); ++b) {
    enter({.box = boxes_[b], .shift = {}, .bin = 0, .number = b, .is_question = 0});
    // Query the cells within reach in each periodic image of the domain.
    Box images{{}, {}};
    for (std::size_t k = 0; k < D; ++k) {
      images.low[k] = options_.is_periodic[k] ? -1 : 0;
      images.high[k] = options_.is_periodic[k] ? 2 : 1;
    }
    for (std::int64_t image = 0; image < images.size(); ++image) {
      Index shift = images.at(image);
      Index back{};
      for (std::size_t k = 0; k < D; ++k) {
        shift[k] *= domain_.extent(k);
        back[k] = -shift[k];
      }
      const Box reached = boxes_[b].grown(options_.reach).shifted(back).intersected(domain_);
      if (!reached.empty()) enter({.box = reached, .shift = shift, .bin = 0, .number = b, .is_question = 1});
    }
  }
  const exchange::Parcels<detail::BoxEntry<D>> directory = exchange::route(
      *context_, exchange::pack_by_rank<detail::BoxEntry<D>>(to, std::span<const detail::BoxEntry<D>>(entries)));
  std::vector<std::pair<Rank, const detail::BoxEntry<D>*>> by_bin;
  by_bin.reserve(directory.items.size());
  for (std::size_t p = 0; p < directory.n_peers(); ++p)
    for (const detail::BoxEntry<D>& entry : directory.of(p)) by_bin.emplace_back(directory.peers[p], &entry);
  std::ranges::stable_sort(by_bin, {}, [](const auto& one) { return one.second->bin; });
  std::vector<detail::BoxAnswer<D>> answers;
  to.clear();
  for (auto begin = by_bin.begin(); begin != by_bin.end();) {
    const auto end =
        std::find_if(begin, by_bin.end(), [&](const auto& one) { return one.second->bin != begin->second->bin; });
    answer<D>({begin, end}, bins, to, answers);
    begin = end;
  }
  const exchange::Parcels<detail::BoxAnswer<D>> found = exchange::route(
      *context_, exchange::pack_by_rank<detail::BoxAnswer<D>>(to, std::span<const detail::BoxAnswer<D>>(answers)));
  for (const detail::BoxAnswer<D>& one : found.items)
    neighbours_.push_back(
        {.box = one.asking, .rank = one.rank, .other = one.number, .shift = one.shift, .cells = one.box});
}

template <std::size_t D>
void BoxLayout<D>::sort_neighbours() {
  std::ranges::sort(neighbours_, {},
                    [](const Neighbour& one) { return std::tuple(one.box, one.rank, one.other, one.shift); });
  first_.assign(boxes_.size() + 1, 0);
  for (const Neighbour& one : neighbours_) first_[one.box + 1] += 1;
  for (std::size_t b = 0; b < boxes_.size(); ++b) first_[b + 1] += first_[b];
}

template <std::size_t D>
void BoxLayout<D>::validate() const {
  struct Claim {
    Box asking;
    Box other;
    Index shift;
    std::int32_t box;
  };
  std::vector<Rank> to;
  std::vector<Claim> claims;
  for (const Neighbour& one : neighbours_) {
    to.push_back(one.rank);
    claims.push_back({.asking = boxes_[one.box], .other = one.cells, .shift = one.shift, .box = one.other});
  }
  const auto heard = exchange::route(*context_, exchange::pack_by_rank<Claim>(to, std::span<const Claim>(claims)));
  agree_after(*context_, [&] {
    std::size_t n_known = 0;
    for (std::size_t p = 0; p < heard.n_peers(); ++p) {
      for (const Claim& claim : heard.of(p)) {
        Index back{};
        for (std::size_t k = 0; k < D; ++k) back[k] = -claim.shift[k];
        const bool is_mine =
            claim.box >= 0 && claim.box < std::ssize(boxes_) && boxes_[claim.box].shifted(claim.shift) == claim.other;
        const bool is_known =
            is_mine && std::ranges::any_of(neighbours_of(claim.box), [&](const Neighbour& one) {
              return one.rank == heard.peers[p] && one.shift == back && one.cells == claim.asking.shifted(back);
            });
        if (!is_known)
          refuse(ErrorCode::internal, "layout of boxes",
                 fmt::format("rank {} lists a neighbour here that does not list it", heard.peers[p]),
                 "this is a bug in barrio, please report it");
        n_known += 1;
      }
    }
    if (n_known != neighbours_.size())
      refuse(ErrorCode::internal, "layout of boxes", "the ranks disagree about their neighbours",
             "this is a bug in barrio, please report it");
  });
}

template <std::size_t D>
std::uint64_t BoxLayout<D>::memory_bytes() const noexcept {
  return sizeof *this + barrio::memory_bytes(boxes_) + barrio::memory_bytes(neighbours_) + barrio::memory_bytes(first_);
}

template class BoxLayout<2>;
template class BoxLayout<3>;

}  // namespace barrio::mesh
