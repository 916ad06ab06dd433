#include "barrio/amr/advance/level_sync.hpp"

#include <algorithm>

#include "barrio/amr/advance/symmetric_sum.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"

namespace barrio::amr::detail {
namespace {

/// Return the direction of a face, by its kind.
template <std::size_t D>
int direction_of_face(std::int32_t kind) {
  int step = 1;
  for (std::int32_t axis = 0; axis < kind / 2; ++axis) step *= 3;
  return own_direction<D> + (kind % 2 == 1 ? step : -step);
}

/// Return the axes along a plane, in ascending order.
template <std::size_t D>
std::array<std::size_t, 2> axes_along(std::size_t axis) {
  std::array<std::size_t, 2> along{0, 0};
  std::size_t n = 0;
  for (std::size_t k = 0; k < D; ++k)
    if (k != axis) along[n++] = k;
  return along;
}

/// Visit each face of a row or rectangle of cells: its indices in the plane, and its number.
template <std::size_t D, class Visit>
void visit_faces(const geometry::IndexBox<D>& cells, std::size_t axis, Visit&& visit) {
  const auto [a, b] = axes_along<D>(axis);
  const std::int64_t n_b = D == 3 ? cells.extent(b) : 1;
  std::ptrdiff_t number = 0;
  for (std::int64_t j = 0; j < n_b; ++j)
    for (std::int64_t i = 0; i < cells.extent(a); ++i) visit(i, j, number++);
}

}  // namespace

template <std::size_t D>
FluxPlanes<D>::FluxPlanes(const BlockSpace<D>& space, int n_variables)
    : n_planes_(space.ratio() + 1),
      plane_size_(space.block_size() / space.block_cells() * n_variables),
      values_(D * n_planes_ * plane_size_) {}

template <std::size_t D>
LevelSync<D>::LevelSync(const Hierarchy<D>& hierarchy, int fine_level, const GhostPlan<D>& ghosts, int n_variables,
                        const exchange::RepeatedExchangeOptions& options)
    : hierarchy_(&hierarchy), fine_level_(fine_level), n_variables_(n_variables) {
  list_fine(ghosts);
  connect(options);
}

template <std::size_t D>
void LevelSync<D>::list_fine(const GhostPlan<D>& ghosts) {
  const BlockSpace<D>& space = hierarchy_->space();
  const auto blocks = hierarchy_->blocks(fine_level_);
  for (std::int32_t b = 0; b < std::ssize(blocks); ++b) {
    const Box under = space.footprint(blocks[b].at);
    items_.push_back({.kind = is_mean, .block = b, .cells = under});
    for (std::int32_t kind = 0; kind < n_face_kinds; ++kind) {
      const int direction = direction_of_face<D>(kind);
      if (ghosts.source(b, direction).from != GhostPlan<D>::From::coarse) continue;
      items_.push_back({.kind = kind, .block = b, .cells = cells_beyond<D>(under, direction, 1)});
    }
  }
}

template <std::size_t D>
void LevelSync<D>::connect(const exchange::RepeatedExchangeOptions& options) {
  const BlockSpace<D>& space = hierarchy_->space();
  mpi::Context& context = hierarchy_->context();
  const int coarse_level = fine_level_ - 1;
  std::vector<Rank> owner;
  std::vector<Notice> notices;
  for (Item& item : items_) {
    const Index there = space.blocks_of(item.cells).low;
    Index at = there;
    const bool is_inside = space.wrap(coarse_level, at);
    const auto found = is_inside ? hierarchy_->find(coarse_level, at) : std::nullopt;
    if (!found)
      refuse(ErrorCode::internal, "hierarchy", "has a block without coarser blocks under and around it",
             "this is a bug in barrio, please report it");
    Index shift{};
    for (std::size_t k = 0; k < D; ++k) shift[k] = (at[k] - there[k]) * space.block_cells();
    item.cells = item.cells.shifted(shift);
    item.other = found->number;
    owner.push_back(found->rank);
    notices.push_back({.at = at, .cells = item.cells, .kind = item.kind});
  }
  // For this rank first, then by rank.
  const std::vector<std::size_t> order = [&] {
    std::vector<std::size_t> all(items_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::ranges::stable_sort(all, {}, [&](std::size_t i) { return owner[i] == context.rank() ? -1 : owner[i]; });
    return all;
  }();
  std::vector<Item> items;
  exchange::Parcels<Notice> sent;
  std::vector<exchange::Outgoing> outgoing;
  of_fine_.resize(hierarchy_->blocks(fine_level_).size());
  mean_of_fine_.resize(hierarchy_->blocks(fine_level_).size());
  of_coarse_.resize(hierarchy_->blocks(coarse_level).size());
  covered_.resize(of_coarse_.size());
  std::ptrdiff_t n_registers = 0;
  for (const std::size_t i : order) {
    Item item = items_[i];
    const auto number = static_cast<std::int32_t>(items.size());
    if (item.kind != is_mean) {
      item.first = n_registers;
      n_registers += numbers_of(item.cells);
      of_fine_[item.block].push_back(number);
    } else {
      mean_of_fine_[item.block] = number;
    }
    if (owner[i] == context.rank()) {
      place_here_.push_back(static_cast<std::int32_t>(coarse_items_.size()));
      // Means for this rank go straight into the coarser block.
      if (item.kind == is_mean)
        covered_[item.other].push_back(item.cells);
      else
        add_coarse_item({.kind = item.kind, .block = item.other, .cells = item.cells, .first = 0, .arrived = 0});
    } else {
      if (sent.peers.empty() || sent.peers.back() != owner[i]) {
        sent.add(owner[i], {});
        outgoing.push_back({.to = owner[i], .n_bytes = 0});
      }
      item.message = static_cast<std::int32_t>(outgoing.size()) - 1;
      item.place = outgoing.back().n_bytes / sizeof(double);
      sent.items.push_back(notices[i]);
      sent.offsets.back() = sent.items.size();
      outgoing.back().n_bytes += numbers_of(item.cells) * sizeof(double);
    }
    items.push_back(item);
  }
  n_coarse_here_ = coarse_items_.size();
  items_ = std::move(items);
  fine_registers_.resize(n_registers);

  const exchange::Parcels<Notice> heard = exchange::route(context, sent);
  std::vector<std::size_t> first{arrived_.size()};
  for (std::size_t p = 0; p < heard.n_peers(); ++p) {
    for (const Notice& one : heard.of(p)) {
      const auto found = hierarchy_->find(coarse_level, one.at);
      if (!found || found->number < 0)
        refuse(ErrorCode::internal, "hierarchy", "has a block on the wrong rank",
               "this is a bug in barrio, please report it");
      add_coarse_item({.kind = one.kind, .block = found->number, .cells = one.cells, .first = 0, .arrived = 0});
    }
    first.push_back(arrived_.size());
  }
  std::vector<exchange::Incoming> incoming;
  for (std::size_t p = 0; p < heard.n_peers(); ++p)
    incoming.push_back(
        {.from = heard.peers[p],
         .bytes = std::as_writable_bytes(std::span(arrived_).subspan(first[p], first[p + 1] - first[p]))});
  exchange_.emplace(context, outgoing, incoming, context.take_tags(1).first, options);
}

template <std::size_t D>
void LevelSync<D>::add_coarse_item(const CoarseItem& item) {
  CoarseItem added = item;
  if (item.kind == is_mean) covered_[item.block].push_back(item.cells);
  added.arrived = std::ssize(arrived_);
  arrived_.resize(arrived_.size() + numbers_of(item.cells));
  if (item.kind != is_mean) {
    added.first = std::ssize(coarse_registers_);
    coarse_registers_.resize(coarse_registers_.size() + numbers_of(item.cells));
    of_coarse_[item.block].push_back(static_cast<std::int32_t>(coarse_items_.size()));
  }
  coarse_items_.push_back(added);
}

template <std::size_t D>
void LevelSync<D>::request_fine_fluxes(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept {
  for (const std::int32_t i : of_fine_[block]) {
    const std::size_t axis = items_[i].kind / 2;
    const int m = items_[i].kind % 2 == 1 ? hierarchy_->space().ratio() : 0;
    stage.planes[axis][m] = room.plane(axis, m);
  }
}

namespace {

/// Return the plane of faces of a coarser block that bounds its cells beside a finer block.
template <std::size_t D>
std::ptrdiff_t plane_of(const BlockSpace<D>& space, const geometry::IndexBox<D>& cells, std::int32_t kind) {
  const std::size_t axis = kind / 2;
  const std::int64_t face = kind % 2 == 1 ? cells.low[axis] : cells.high[axis];
  const std::int64_t begin = space.cells(space.blocks_of(cells).low).low[axis];
  return (face - begin) / space.footprint_cells();
}

}  // namespace

template <std::size_t D>
void LevelSync<D>::request_coarse_fluxes(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept {
  for (const std::int32_t i : of_coarse_[block]) {
    const CoarseItem& item = coarse_items_[i];
    const std::size_t axis = item.kind / 2;
    const std::ptrdiff_t m = plane_of(hierarchy_->space(), item.cells, item.kind);
    stage.planes[axis][m] = room.plane(axis, m);
  }
}

template <std::size_t D>
void LevelSync<D>::add_fine(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept {
  const BlockSpace<D>& space = hierarchy_->space();
  const std::ptrdiff_t n = space.block_cells();
  const std::ptrdiff_t ratio = space.ratio();
  const std::ptrdiff_t n_b = D == 3 ? ratio : 1;
  const std::ptrdiff_t plane_cells = D == 3 ? n * n : n;
  const double part = dt / static_cast<double>(ratio * n_b);
  std::array<std::ptrdiff_t, D - 1> strides{1};
  if constexpr (D == 3) strides[1] = n;
  for (const std::int32_t i : of_fine_[block]) {
    const Item& item = items_[i];
    const std::size_t axis = item.kind / 2;
    const double* const plane = fluxes.plane(axis, item.kind % 2 == 1 ? space.ratio() : 0);
    const std::ptrdiff_t n_faces = item.cells.size();
    for (int v = 0; v < n_variables_; ++v) {
      const double* const from = plane + v * plane_cells;
      double* const to = fine_registers_.data() + item.first + v * n_faces;
      visit_faces<D>(item.cells, axis, [&](std::int64_t a, std::int64_t b, std::ptrdiff_t number) {
        to[number] += part * symmetric_sum<D - 1>(from + b * n_b * n + a * ratio, strides, ratio);
      });
    }
  }
}

template <std::size_t D>
void LevelSync<D>::add_coarse(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept {
  const BlockSpace<D>& space = hierarchy_->space();
  const std::ptrdiff_t n = space.block_cells();
  const std::ptrdiff_t plane_cells = D == 3 ? n * n : n;
  for (const std::int32_t i : of_coarse_[block]) {
    const CoarseItem& item = coarse_items_[i];
    const std::size_t axis = item.kind / 2;
    const auto [along_a, along_b] = axes_along<D>(axis);
    const Box cells = space.cells(space.blocks_of(item.cells).low);
    const std::ptrdiff_t low_a = item.cells.low[along_a] - cells.low[along_a];
    const std::ptrdiff_t low_b = D == 3 ? item.cells.low[along_b] - cells.low[along_b] : 0;
    const double* const plane = fluxes.plane(axis, plane_of(space, item.cells, item.kind));
    const std::ptrdiff_t n_faces = item.cells.size();
    for (int v = 0; v < n_variables_; ++v) {
      double* const to = coarse_registers_.data() + item.first + v * n_faces;
      visit_faces<D>(item.cells, axis, [&](std::int64_t a, std::int64_t b, std::ptrdiff_t number) {
        to[number] += dt * plane[v * plane_cells + (low_b + b) * n + low_a + a];
      });
    }
  }
}

template <std::size_t D>
void LevelSync<D>::restrict_block(std::size_t fine_block, const CellView<D>& fine, const CellView<D>& coarse,
                                  const Box& cells) const {
  const BlockSpace<D>& space = hierarchy_->space();
  const std::ptrdiff_t ratio = space.ratio();
  const double part = 1.0 / static_cast<double>(ratio * ratio * (D == 3 ? ratio : 1));
  const Index low = space.cells(hierarchy_->blocks(fine_level_)[fine_block].at).low;
  const std::int64_t rows_k = D == 3 ? cells.extent(D - 1) : 1;
  for (int v = 0; v < n_variables_; ++v) {
    for (std::int64_t k = 0; k < rows_k; ++k) {
      for (std::int64_t j = 0; j < cells.extent(1); ++j) {
        Index at = cells.low;
        Index from = low;
        at[1] += j;
        from[1] += j * ratio;
        if constexpr (D == 3) {
          at[2] += k;
          from[2] += k * ratio;
        }
        double* const to = &coarse(v, at);
        const double* const first = &fine(v, from);
        for (std::int64_t i = 0; i < cells.extent(0); ++i)
          to[i] = part * symmetric_sum<D>(first + i * ratio, fine.strides, ratio);
      }
    }
  }
}

template <std::size_t D>
void LevelSync<D>::put_mean(std::size_t block, std::span<double* const> fine_blocks,
                            std::span<double* const> coarse_blocks) {
  const BlockSpace<D>& space = hierarchy_->space();
  const Item& item = items_[mean_of_fine_[block]];
  const CellView<D> fine = view_of<D>(fine_blocks[block], space.cells(hierarchy_->blocks(fine_level_)[block].at));
  if (item.message < 0) {
    const Box cells = space.cells(hierarchy_->blocks(fine_level_ - 1)[item.other].at);
    restrict_block(block, fine, view_of<D>(coarse_blocks[item.other], cells), item.cells);
  } else {
    auto* const message = reinterpret_cast<double*>(exchange_->outgoing(item.message).data());
    restrict_block(block, fine, view_of<D>(message + item.place, item.cells), item.cells);
  }
}

template <std::size_t D>
void LevelSync<D>::bring(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks,
                         const Content& content) {
  const BlockSpace<D>& space = hierarchy_->space();
  const auto coarse = hierarchy_->blocks(fine_level_ - 1);
  if (!content.has_means)
    for (std::size_t block = 0; block < mean_of_fine_.size(); ++block) put_mean(block, fine_blocks, coarse_blocks);
  if (content.has_fluxes) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.kind == is_mean) continue;
      double* const to = item.message < 0
                             ? arrived_.data() + coarse_items_[place_here_[i]].arrived
                             : reinterpret_cast<double*>(exchange_->outgoing(item.message).data()) + item.place;
      std::copy_n(fine_registers_.data() + item.first, numbers_of(item.cells), to);
    }
  }
  exchange_->begin();
  exchange_->end();
  for (std::size_t i = n_coarse_here_; i < coarse_items_.size(); ++i) {
    const CoarseItem& item = coarse_items_[i];
    if (item.kind != is_mean) continue;
    copy_cells<D>(view_of<D>(arrived_.data() + item.arrived, item.cells),
                  view_of<D>(coarse_blocks[item.block], space.cells(coarse[item.block].at)), item.cells, {},
                  n_variables_);
  }
}

/// Add the corrections of the faces across an axis to `to`, an array of one block.
template <std::size_t D>
void LevelSync<D>::correct(const CoarseItem& item, const CellView<D>& to) const {
  const std::size_t axis = item.kind / 2;
  const auto [along_a, along_b] = axes_along<D>(axis);
  const double part = (item.kind % 2 == 1 ? 1.0 : -1.0) / hierarchy_->space().cell_size(fine_level_ - 1)[axis];
  const std::ptrdiff_t n_faces = item.cells.size();
  for (int v = 0; v < n_variables_; ++v) {
    const double* const fine = arrived_.data() + item.arrived + v * n_faces;
    const double* const own = coarse_registers_.data() + item.first + v * n_faces;
    visit_faces<D>(item.cells, axis, [&](std::int64_t a, std::int64_t b, std::ptrdiff_t number) {
      Index at = item.cells.low;
      at[along_a] += a;
      if constexpr (D == 3) at[along_b] += b;
      to(v, at) += part * (fine[number] - own[number]);
    });
  }
}

template <std::size_t D>
void LevelSync<D>::apply(std::span<double* const> coarse_blocks) {
  const BlockSpace<D>& space = hierarchy_->space();
  const auto coarse = hierarchy_->blocks(fine_level_ - 1);
  for (std::size_t block = 0; block < of_coarse_.size(); ++block) {
    const std::vector<std::int32_t>& items = of_coarse_[block];
    if (items.empty()) continue;
    const Box cells = space.cells(coarse[block].at);
    const CellView<D> view = view_of<D>(coarse_blocks[block], cells);
    const std::int32_t kind = coarse_items_[items[0]].kind;
    if (std::ranges::all_of(items, [&](std::int32_t i) { return coarse_items_[i].kind == kind; })) {
      for (const std::int32_t i : items) correct(coarse_items_[i], view);
      continue;
    }
    // A cell in a corner gets several corrections. They are added up before they are added to it, those of opposite
    // faces first, so that neither ranks nor mirrors change a bit.
    const std::size_t n = cells.size() * n_variables_;
    corrections_.assign(D * n, 0.0);
    for (const std::int32_t i : items)
      correct(coarse_items_[i], view_of<D>(corrections_.data() + coarse_items_[i].kind / 2 * n, cells));
    for (std::size_t i = 0; i < n; ++i) {
      double sum = corrections_[i] + corrections_[n + i];
      if constexpr (D == 3) sum += corrections_[2 * n + i];
      view.first[i] += sum;
    }
  }
}

template <std::size_t D>
void LevelSync<D>::run(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks,
                       const Content& content) {
  bring(fine_blocks, coarse_blocks, content);
  if (!content.has_fluxes) return;
  apply(coarse_blocks);
  std::ranges::fill(fine_registers_, 0.0);
  std::ranges::fill(coarse_registers_, 0.0);
}

template <std::size_t D>
std::uint64_t LevelSync<D>::memory_bytes() const noexcept {
  std::uint64_t of_boxes = barrio::memory_bytes(covered_);
  for (const std::vector<Box>& boxes : covered_) of_boxes += barrio::memory_bytes(boxes);
  return sizeof *this + of_boxes + barrio::memory_bytes(items_) + barrio::memory_bytes(coarse_items_) +
         barrio::memory_bytes(fine_registers_) + barrio::memory_bytes(coarse_registers_) +
         barrio::memory_bytes(arrived_) + barrio::memory_bytes(corrections_) + exchange_->memory_bytes();
}

template class FluxPlanes<2>;
template class FluxPlanes<3>;
template class LevelSync<2>;
template class LevelSync<3>;

}  // namespace barrio::amr::detail
