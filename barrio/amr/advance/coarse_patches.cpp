#include "barrio/amr/advance/coarse_patches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"

namespace barrio::amr::detail {

template <std::size_t D>
CoarsePatches<D>::CoarsePatches(const Hierarchy<D>& hierarchy, int coarse_level, std::vector<Patch> patches,
                                int n_variables, int n_sections, const exchange::RepeatedExchangeOptions& options)
    : hierarchy_(&hierarchy),
      coarse_level_(coarse_level),
      n_variables_(n_variables),
      n_sections_(n_sections),
      patches_(std::move(patches)) {
  for (Patch& patch : patches_) {
    patch.first = section_size_;
    section_size_ += patch.cells.size() * n_variables;
  }
  values_.resize(section_size_ * n_sections);
  find_pieces();
  ask(options);
}

template <std::size_t D>
void CoarsePatches<D>::find_pieces() {
  const BlockSpace<D>& space = hierarchy_->space();
  for (std::int32_t p = 0; p < std::ssize(patches_); ++p) {
    const Box blocks = space.blocks_of(patches_[p].cells);
    for (std::int64_t i = 0; i < blocks.size(); ++i) {
      const Index there = blocks.at(i);
      Index at = there;
      if (!space.wrap(coarse_level_, at)) continue;
      const auto found = hierarchy_->find(coarse_level_, at);
      if (!found)
        refuse(ErrorCode::internal, fmt::format("level {}", coarse_level_),
               "lacks a block that a finer one needs around it", "this is a bug in barrio, please report it");
      Piece piece{.patch = p,
                  .block = found->number,
                  .from = found->rank,
                  .cells = space.cells(there).intersected(patches_[p].cells),
                  .shift = {}};
      for (std::size_t k = 0; k < D; ++k) piece.shift[k] = (at[k] - there[k]) * space.block_cells();
      pieces_.push_back(piece);
    }
  }
  const Rank here = hierarchy_->context().rank();
  std::ranges::stable_sort(pieces_, {}, [&](const Piece& one) { return one.from == here ? -1 : one.from; });
  while (n_here_ < pieces_.size() && pieces_[n_here_].from == here) ++n_here_;
  comes_from_others_.assign(patches_.size(), 0);
  for (std::size_t i = n_here_; i < pieces_.size(); ++i) comes_from_others_[pieces_[i].patch] = 1;
}

template <std::size_t D>
void CoarsePatches<D>::ask(const exchange::RepeatedExchangeOptions& options) {
  const BlockSpace<D>& space = hierarchy_->space();
  mpi::Context& context = hierarchy_->context();
  exchange::Parcels<Request> requests;
  std::vector<std::size_t> numbers;  // of each message received
  for (std::size_t i = n_here_; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (requests.peers.empty() || requests.peers.back() != piece.from) {
      requests.add(piece.from, {});
      first_piece_.push_back(i);
      numbers.push_back(0);
    }
    const Box cells = piece.cells.shifted(piece.shift);
    requests.items.push_back({.at = space.blocks_of(cells).low, .cells = cells});
    requests.offsets.back() = requests.items.size();
    numbers.back() += cells.size() * n_variables_ * n_sections_;
  }
  first_piece_.push_back(pieces_.size());
  const exchange::Parcels<Request> heard = exchange::route(context, requests);

  std::vector<exchange::Outgoing> outgoing;
  for (std::size_t p = 0; p < heard.n_peers(); ++p) {
    first_asked_.push_back(asked_.size());
    std::size_t n = 0;
    for (const Request& one : heard.of(p)) {
      const auto found = hierarchy_->find(coarse_level_, one.at);
      if (!found || found->number < 0)
        refuse(ErrorCode::internal, fmt::format("level {}", coarse_level_),
               fmt::format("lacks a block that rank {} needs", heard.peers[p]),
               "this is a bug in barrio, please report it");
      asked_.push_back({.block = found->number, .cells = one.cells});
      n += one.cells.size() * n_variables_;
    }
    asked_numbers_.push_back(n);
    outgoing.push_back({.to = heard.peers[p], .n_bytes = n * n_sections_ * sizeof(double)});
  }
  first_asked_.push_back(asked_.size());

  first_received_.assign(1, 0);
  for (const std::size_t n : numbers) first_received_.push_back(first_received_.back() + n);
  received_.resize(first_received_.back());
  std::vector<exchange::Incoming> incoming;
  for (std::size_t p = 0; p < numbers.size(); ++p)
    incoming.push_back({.from = requests.peers[p],
                        .bytes = std::as_writable_bytes(std::span(received_).subspan(first_received_[p], numbers[p]))});
  exchange_.emplace(context, outgoing, incoming, context.take_tags(1).first, options);
}

template <std::size_t D>
void CoarsePatches<D>::take(int section, std::span<double* const> blocks) {
  const BlockSpace<D>& space = hierarchy_->space();
  const auto coarse = hierarchy_->blocks(coarse_level_);
  const auto view_of_block = [&](std::int32_t block) {
    return view_of<D>(blocks[block], space.cells(coarse[block].at));
  };
  for (std::size_t i = 0; i < n_here_; ++i) {
    const Piece& piece = pieces_[i];
    copy_cells<D>(view_of_block(piece.block), view(patches_[piece.patch], section), piece.cells, piece.shift,
                  n_variables_);
  }
  for (std::size_t p = 0; p + 1 < first_asked_.size(); ++p) {
    auto* to = reinterpret_cast<double*>(exchange_->outgoing(p).data()) + section * asked_numbers_[p];
    for (std::size_t i = first_asked_[p]; i < first_asked_[p + 1]; ++i) {
      copy_cells<D>(view_of_block(asked_[i].block), view_of<D>(to, asked_[i].cells), asked_[i].cells, {}, n_variables_);
      to += asked_[i].cells.size() * n_variables_;
    }
  }
}

template <std::size_t D>
void CoarsePatches<D>::begin() {
  exchange_->begin();
  is_open_ = true;
}

template <std::size_t D>
void CoarsePatches<D>::finish() {
  if (!is_open_) return;
  is_open_ = false;
  exchange_->end([&](std::size_t p) {
    double* from = received_.data() + first_received_[p];
    for (int section = 0; section < n_sections_; ++section) {
      for (std::size_t i = first_piece_[p]; i < first_piece_[p + 1]; ++i) {
        const Piece& piece = pieces_[i];
        copy_cells<D>(view_of<D>(from, piece.cells), view(patches_[piece.patch], section), piece.cells, {},
                      n_variables_);
        from += piece.cells.size() * n_variables_;
      }
    }
  });
}

template <std::size_t D>
std::uint64_t CoarsePatches<D>::memory_bytes() const noexcept {
  return sizeof *this + barrio::memory_bytes(patches_) + barrio::memory_bytes(values_) + barrio::memory_bytes(pieces_) +
         barrio::memory_bytes(asked_) + barrio::memory_bytes(received_) + exchange_->memory_bytes();
}

template class CoarsePatches<2>;
template class CoarsePatches<3>;

}  // namespace barrio::amr::detail
