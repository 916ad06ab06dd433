#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/round.hpp"
#include "barrio/mesh/rank_sets.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mesh::detail {

/// Writes arrays straight into the send buffers of a round, one message per array. Local.
class ColumnWriter {
 public:
  ColumnWriter(exchange::ByteRound& round, Rank to) : round_(round), to_(to) {}
  /// Allocate room for an array.
  /// @return valid until the next call on the round
  template <mpi::Trivial T>
  [[nodiscard]] std::span<T> room(std::size_t n) {
    const std::span<std::byte> bytes = round_.allocate(to_, n * sizeof(T));
    return {reinterpret_cast<T*>(bytes.data()), n};
  }
  template <mpi::Trivial T>
  void put(std::span<const T> items) {
    std::ranges::copy(items, room<T>(items.size()).begin());
  }
  template <mpi::Trivial T>
  void put(const std::vector<T>& items) {
    put(std::span<const T>(items));
  }

 private:
  exchange::ByteRound& round_;
  Rank to_;
};

/// Reads the arrays in the same order with the same types: all of one rank, then those of the next. Local.
class ColumnReader {
 public:
  /// @param round  closed; delivers by ascending sender
  explicit ColumnReader(exchange::ByteRound& round) : messages_(round.received()) {}
  /// Move on to the next rank.
  /// @pre all columns of the last one were read
  /// @return nothing at the end of the round
  [[nodiscard]] std::optional<Rank> next_rank() {
    advance();
    is_read_ = false;
    return *at_ == std::default_sentinel ? std::nullopt : std::optional((**at_).from);
  }
  /// Read the next array.
  /// @return valid until the next call
  template <mpi::Trivial T>
  [[nodiscard]] std::span<const T> get() {
    if (is_read_) advance();
    is_read_ = true;
    const std::span<const std::byte> bytes = (**at_).message;
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  void advance() {
    if (at_) {
      ++*at_;
    } else {
      at_.emplace(messages_.begin());
    }
  }
  using Messages = exchange::ByteRound::Messages;
  Messages messages_;
  std::optional<Messages::Iterator> at_;
  bool is_read_ = false;
};

/// A set of ranks for each of some entities, with each set sent once. Local.
class SetColumns {
 public:
  /// Add the set of an entity.
  /// @param set  number in `sets`, the same ones in each call; -1: no set
  void add(const RankSets& sets, std::int32_t set) {
    if (set < 0) {
      numbers_.push_back(-1);
      return;
    }
    number_.resize(sets.size(), -1);
    if (number_[set] < 0) {
      number_[set] = static_cast<std::int32_t>(sizes_.size());
      sizes_.push_back(static_cast<std::int32_t>(sets[set].size()));
      ranks_.insert(ranks_.end(), sets[set].begin(), sets[set].end());
    }
    numbers_.push_back(number_[set]);
  }
  void put_into(ColumnWriter& out) const {
    out.put(sizes_);
    out.put(ranks_);
    out.put(numbers_);
  }
  /// Read the sets of entities.
  /// @return sets, and for each entity a number in them
  static std::pair<RankSets, std::span<const std::int32_t>> read(ColumnReader& in) {
    const auto sizes = in.get<std::int32_t>();
    const std::vector<std::int32_t> of_sets(sizes.begin(), sizes.end());
    RankSets sets;
    const auto ranks = in.get<Rank>();
    std::size_t first = 0;
    for (const std::int32_t size : of_sets) {
      sets.add(ranks.subspan(first, size));
      first += size;
    }
    return {std::move(sets), in.get<std::int32_t>()};
  }

 private:
  std::vector<std::int32_t> number_;  // by set: its number in the message
  std::vector<std::int32_t> sizes_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace barrio::mesh::detail
