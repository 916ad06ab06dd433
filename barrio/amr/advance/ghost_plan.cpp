#include "barrio/amr/advance/ghost_plan.hpp"

#include <algorithm>
#include <tuple>

#include "barrio/base/memory.hpp"

namespace barrio::amr::detail {

template <std::size_t D>
GhostPlan<D>::GhostPlan(const Hierarchy<D>& hierarchy, int level, int n_ghosts, bool has_corners, int n_variables,
                        const exchange::RepeatedExchangeOptions& options)
    : hierarchy_(&hierarchy), level_(level), n_ghosts_(n_ghosts), n_variables_(n_variables) {
  std::vector<Sent> sent;
  std::vector<Needed> needed;
  find_sources(has_corners, sent, needed);
  make_messages(std::move(sent), std::move(needed), options);
}

template <std::size_t D>
void GhostPlan<D>::find_sources(bool has_corners, std::vector<Sent>& sent, std::vector<Needed>& needed) {
  const BlockSpace<D>& space = hierarchy_->space();
  const auto blocks = hierarchy_->blocks(level_);
  sources_.resize(blocks.size());
  has_coarse_.assign(blocks.size(), false);
  n_messages_.assign(blocks.size(), 0);
  for (std::int32_t b = 0; b < std::ssize(blocks); ++b) {
    for (int direction = 0; direction < n_directions<D>; ++direction) {
      Source& source = sources_[b][direction];
      if (direction == own_direction<D>) {
        source = {.from = From::block, .block = b, .offset = 0, .shift = {}};
        continue;
      }
      if (!has_corners && !is_face<D>(direction)) {
        source.from = From::unused;
        continue;
      }
      const std::array<int, D> along = direction_of<D>(direction);
      Index near = blocks[b].at;
      for (std::size_t k = 0; k < D; ++k) near[k] += along[k];
      const Index there = near;
      if (!space.wrap(level_, near)) continue;
      const auto found = hierarchy_->find(level_, near);
      if (!found) {
        source.from = From::coarse;
        has_coarse_[b] = true;
      } else if (found->number >= 0) {
        source = {.from = From::block, .block = found->number, .offset = 0, .shift = {}};
        for (std::size_t k = 0; k < D; ++k) source.shift[k] = (near[k] - there[k]) * space.block_cells();
      } else {
        source.from = From::message;
        needed.push_back({.key = blocks[b].key, .direction = direction, .block = b, .from = found->rank});
        sent.push_back(
            {.key = space.place(level_, near).key, .direction = opposite<D>(direction), .block = b, .to = found->rank});
      }
    }
  }
}

template <std::size_t D>
std::ptrdiff_t GhostPlan<D>::numbers_of(int direction) const noexcept {
  return cells_beyond<D>(hierarchy_->space().cells({}), direction, n_ghosts_).size() * n_variables_;
}

/// Lay out messages. Both sides order the contents by the block that needs them and its direction, without asking.
template <std::size_t D>
void GhostPlan<D>::make_messages(std::vector<Sent> sent, std::vector<Needed> needed,
                                 const exchange::RepeatedExchangeOptions& options) {
  sent_ = std::move(sent);
  std::ranges::sort(sent_, {}, [](const Sent& one) { return std::tuple(one.to, one.key, one.direction); });
  std::ranges::sort(needed, {}, [](const Needed& one) { return std::tuple(one.from, one.key, one.direction); });
  std::vector<exchange::Outgoing> outgoing;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (i == 0 || sent_[i].to != sent_[i - 1].to) {
      outgoing.push_back({.to = sent_[i].to, .n_bytes = 0});
      first_sent_.push_back(i);
    }
    outgoing.back().n_bytes += numbers_of(sent_[i].direction) * sizeof(double);
  }
  first_sent_.push_back(sent_.size());

  std::vector<Rank> from;
  std::vector<std::size_t> first{0};
  std::ptrdiff_t offset = 0;
  for (const Needed& one : needed) {
    if (from.empty() || from.back() != one.from) {
      from.push_back(one.from);
      first.push_back(0);
      wait_.emplace_back();
    }
    sources_[one.block][one.direction].offset = offset;
    offset += numbers_of(one.direction);
    first.back() = offset;
    if (wait_.back().empty() || wait_.back().back() != one.block) {
      wait_.back().push_back(one.block);
      n_messages_[one.block] += 1;
    }
  }
  received_.resize(offset);
  std::vector<exchange::Incoming> incoming;
  const std::span<double> all(received_);
  for (std::size_t p = 0; p < from.size(); ++p)
    incoming.push_back(
        {.from = from[p], .bytes = std::as_writable_bytes(all.subspan(first[p], first[p + 1] - first[p]))});
  for (std::int32_t b = 0; b < std::ssize(n_messages_); ++b)
    if (n_messages_[b] == 0) interior_.push_back(b);
  mpi::Context& context = hierarchy_->context();
  exchange_.emplace(context, outgoing, incoming, context.take_tags(1).first, options);
}

template <std::size_t D>
void GhostPlan<D>::begin(std::span<double* const> blocks) {
  const BlockSpace<D>& space = hierarchy_->space();
  const Box block = space.cells({});
  n_open_ = n_messages_;
  ready_.clear();
  exchange_->begin([&](std::size_t i) {
    auto* to = reinterpret_cast<double*>(exchange_->outgoing(i).data());
    for (std::size_t s = first_sent_[i]; s < first_sent_[i + 1]; ++s) {
      // Ghosts of the receiving block, as cells of this one.
      const int direction = sent_[s].direction;
      const std::array<int, D> along = direction_of<D>(direction);
      Box ghosts = cells_beyond<D>(block, direction, n_ghosts_);
      Index shift{};
      for (std::size_t k = 0; k < D; ++k) shift[k] = -along[k] * space.block_cells();
      copy_cells<D>(view_of<D>(blocks[sent_[s].block], block), view_of<D>(to, ghosts), ghosts, shift, n_variables_);
      to += ghosts.size() * n_variables_;
    }
  });
}

template <std::size_t D>
std::optional<std::int32_t> GhostPlan<D>::wait_for_ready() {
  while (ready_.empty()) {
    const auto arrived = exchange_->wait_for_arrived();
    if (!arrived) return {};
    for (const std::int32_t block : wait_[*arrived])
      if (--n_open_[block] == 0) ready_.push_back(block);
  }
  const std::int32_t block = ready_.back();
  ready_.pop_back();
  return block;
}

template <std::size_t D>
void GhostPlan<D>::end() {
  exchange_->end();
}

template <std::size_t D>
void GhostPlan<D>::fill(std::size_t block, int direction, const Box& ghosts, std::span<double* const> blocks,
                        const CellView<D>& tile) const {
  const Source& source = sources_[block][direction];
  if (source.from == From::block) {
    const Box cells = hierarchy_->space().cells(hierarchy_->blocks(level_)[source.block].at);
    copy_cells<D>(view_of<D>(blocks[source.block], cells), tile, ghosts, source.shift, n_variables_);
  } else if (source.from == From::message) {
    // Only read, although a view can write.
    auto* const from = const_cast<double*>(received_.data() + source.offset);
    copy_cells<D>(view_of<D>(from, ghosts), tile, ghosts, {}, n_variables_);
  }
}

template <std::size_t D>
std::uint64_t GhostPlan<D>::memory_bytes() const noexcept {
  return sizeof *this + barrio::memory_bytes(sources_) + barrio::memory_bytes(sent_) + barrio::memory_bytes(received_) +
         exchange_->memory_bytes();
}

template class GhostPlan<2>;
template class GhostPlan<3>;

}  // namespace barrio::amr::detail
