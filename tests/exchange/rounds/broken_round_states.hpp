#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/rounds/round_state.hpp"

// Variants of RoundState with one fault each, for tests of its checkers.
namespace barrio::test {

/// Counts for the variants, because RoundState's own are private.
class CountingState : public exchange::detail::RoundState {
 public:
  using Introduction = exchange::detail::Introduction;

  void begin(std::span<const Rank> neighbours, bool introduces) {
    *this = {};
    RoundState::begin(neighbours, introduces);
    n_neighbours_ = neighbours.size();
  }
  void close(std::span<const Introduction> strangers) {
    is_closed_ = true;
    RoundState::close(strangers);
  }
  void take_last(std::size_t channel, std::span<const Introduction> introductions) {
    n_last_ += 1;
    RoundState::take_last(channel, introductions);
  }
  std::vector<Introduction> take_pass(std::size_t channel, std::span<const Introduction> lines) {
    n_passes_ += 1;
    for (const Introduction& line : lines) n_lines_ += line.is_receipt == 0 ? 1 : 0;
    return RoundState::take_pass(channel, lines);
  }
  void take_parcel() {
    n_parcels_ += 1;
    RoundState::take_parcel();
  }
  [[nodiscard]] bool wants_pass() {
    const bool wants = RoundState::wants_pass();
    n_passed_ += wants ? 1 : 0;
    return wants;
  }
  [[nodiscard]] std::vector<std::uint64_t> encoded() const {
    std::vector<std::uint64_t> words = RoundState::encoded();
    words.insert(words.end(), {n_last_, n_passes_, n_lines_, n_parcels_, n_passed_, is_closed_ ? 1U : 0U});
    return words;
  }

 protected:
  std::size_t n_neighbours_ = 0;
  std::size_t n_last_ = 0;
  std::size_t n_passes_ = 0;
  std::size_t n_lines_ = 0;
  std::size_t n_parcels_ = 0;
  std::size_t n_passed_ = 0;
  bool is_closed_ = false;
};

/// Does not wait for the second wave of its neighbours.
struct EndsWithoutSecondWave : CountingState {
  [[nodiscard]] bool is_over() const { return n_passed_ == 1 && n_lines_ == n_parcels_; }
};

/// Does not wait for the parcels it has heard of.
struct EndsWithoutParcels : CountingState {
  [[nodiscard]] bool is_over() const { return n_passed_ == 1 && n_passes_ == n_neighbours_; }
};

/// Ends after the last packets of all neighbours except one.
struct DoesNotCountLastPackets : CountingState {
  [[nodiscard]] bool is_over() const { return is_closed_ && n_last_ + 1 >= n_neighbours_; }
};

/// Sends its second wave before it has the last packets of all its neighbours.
struct PassesOnTooEarly : CountingState {
  [[nodiscard]] bool wants_pass() {
    const bool is_due = CountingState::wants_pass();
    if (!is_closed_ || has_passed_early_ || n_last_ + 1 < n_neighbours_) return is_due && !has_passed_early_;
    return has_passed_early_ = true;
  }
  [[nodiscard]] std::vector<std::uint64_t> encoded() const {
    std::vector<std::uint64_t> words = CountingState::encoded();
    words.push_back(has_passed_early_ ? 1 : 0);
    return words;
  }

 private:
  bool has_passed_early_ = false;
};

/// Does not acknowledge to the writer that its parcel was announced.
struct KeepsReceiptsBack : CountingState {
  [[nodiscard]] std::vector<Introduction> pass_to(std::size_t channel) const {
    std::vector<Introduction> lines = CountingState::pass_to(channel);
    std::erase_if(lines, [](const Introduction& line) { return line.is_receipt != 0; });
    return lines;
  }
};

/// Sends its second wave again when it has those of its neighbours.
struct SendsSecondWaveTwice : CountingState {
  [[nodiscard]] bool wants_pass() {
    if (CountingState::wants_pass()) return true;
    if (n_passed_ != 1 || n_passes_ != n_neighbours_) return false;
    n_passed_ = 2;
    return true;
  }
};

/// Counts a parcel twice if two common neighbours announce it.
struct CountsLinesTwice : CountingState {
  [[nodiscard]] bool is_over() const { return CountingState::is_over() && n_parcels_ == n_lines_; }
};

/// Waits until somebody has written to it.
struct WaitsForSilentRanks : CountingState {
  [[nodiscard]] bool is_over() const { return CountingState::is_over() && n_parcels_ > 0; }
};

}  // namespace barrio::test
