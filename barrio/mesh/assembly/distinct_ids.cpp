#include "barrio/mesh/assembly/distinct_ids.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "barrio/exchange/router.hpp"

namespace barrio::mesh::detail {
namespace {

constexpr std::int64_t n_bits = 64;

constexpr std::int64_t word_of(std::int64_t id) noexcept { return id - id % n_bits; }

/// Return the bits first .. first + n - 1 of a word, as far as it has them. @pre 0 <= first < 64
constexpr std::uint64_t bits_of(std::int64_t first, std::int64_t n) noexcept {
  if (n <= 0) return 0;
  const std::uint64_t below = n >= n_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(n)) - 1;
  return below << static_cast<unsigned>(first);
}

}  // namespace

DistinctIds::DistinctIds(mpi::Context& context, const std::array<std::int64_t, 4>& highest) : context_(context) {
  for (std::size_t d = 0; d < 4; ++d) homes_[d] = {highest[d] / n_bits + 1, context.size()};
}

bool DistinctIds::Piece::has(std::int64_t id) const noexcept {
  if (id < first) return false;
  const auto place = static_cast<std::uint64_t>(id - first);
  return is_mask != 0 ? place < n_bits && (n_or_bits >> place & 1U) != 0 : place < n_or_bits;
}

void DistinctIds::start_run(Dim dim, std::int64_t first) {
  if (n_ >= n_bits) {
    add_run(first_, n_);
  } else if (n_ > 0) {
    add_bits(first_, n_);
  }
  dim_ = dim;
  first_ = first;
  n_ = 0;
}

void DistinctIds::add_run(std::int64_t first, std::int64_t n) {
  const Slabs& homes = homes_[index(dim_)];
  for (const std::int64_t end = first + n; first < end;) {
    const Rank home = homes.rank_of(first / n_bits);
    const std::int64_t here = std::min(end, n_bits * homes.first(home + 1)) - first;
    add_piece({first, static_cast<std::uint64_t>(here), context_.rank(), static_cast<std::int16_t>(value(dim_)), 0});
    first += here;
  }
}

void DistinctIds::add_bits(std::int64_t first, std::int64_t n) {
  for (const std::int64_t end = first + n; first < end; first = word_of(first) + n_bits) {
    const std::int64_t word = word_of(first);
    const std::uint64_t bits = bits_of(first - word, end - first);
    const bool goes_on = !pieces_.empty() && pieces_.back().is_mask != 0 && pieces_.back().first == word &&
                         pieces_.back().dim == value(dim_);
    if (goes_on) {
      pieces_.back().n_or_bits |= bits;
    } else {
      add_piece({word, bits, context_.rank(), static_cast<std::int16_t>(value(dim_)), 1});
    }
  }
}

void DistinctIds::add_piece(const Piece& piece) {
  pieces_.push_back(piece);
  to_.push_back(homes_[piece.dim].rank_of(piece.first / n_bits));
}

/// Find a piece that overlaps one before it, and set `id` to an id of both; null without one.
const DistinctIds::Piece* DistinctIds::find_overlap(std::span<const Piece> sorted, std::int64_t& id) {
  std::int16_t dim = -1;
  std::int64_t run_end = 0;     // of the runs so far
  std::int64_t word = -n_bits;  // of the last mask
  std::uint64_t taken = 0;      // by masks of that word
  for (const Piece& piece : sorted) {
    if (piece.dim != dim) {
      dim = piece.dim;
      run_end = 0;
      word = -n_bits;
    }
    if (piece.is_mask != 0) {
      if (piece.first != word) taken = 0;
      word = piece.first;
      // A run that is known begins at the word or before it.
      if (const std::uint64_t both = piece.n_or_bits & (taken | bits_of(0, run_end - word)); both != 0) {
        id = word + std::countr_zero(both);
        return &piece;
      }
      taken |= piece.n_or_bits;
      continue;
    }
    const auto n = static_cast<std::int64_t>(piece.n_or_bits);
    const std::uint64_t in_word = piece.first < word + n_bits ? bits_of(piece.first - word, n) & taken : 0;
    if (piece.first < run_end || in_word != 0) {
      id = piece.first < run_end ? piece.first : word + std::countr_zero(in_word);
      return &piece;
    }
    run_end = piece.first + n;
  }
  return nullptr;
}

std::optional<GivenTwice> DistinctIds::find() {
  start_run(dim_, 0);
  std::vector<Piece> met = exchange::route(context_, exchange::pack_by_rank<Piece>(to_, pieces_)).items;
  std::ranges::sort(met, {}, [](const Piece& piece) { return std::tuple(piece.dim, piece.first, piece.rank); });
  std::int64_t id = 0;
  const Piece* const second = find_overlap(met, id);
  if (second == nullptr) return {};
  const auto first = std::ranges::find_if(
      met, [&](const Piece& one) { return one.dim == second->dim && one.rank != second->rank && one.has(id); });
  const auto [low, high] = std::minmax(first->rank, second->rank);
  return GivenTwice{Dim{second->dim}, id, low, high};
}

}  // namespace barrio::mesh::detail
