#include "barrio/exchange/rounds/round_state.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "barrio/base/assert.hpp"

namespace barrio::exchange::detail {

void RoundState::begin(std::span<const Rank> neighbours, bool introduces) {
  neighbours_ = neighbours;
  introduces_ = introduces;
  is_closed_ = false;
  has_passed_ = false;
  n_last_ = 0;
  n_passes_ = 0;
  n_parcels_ = 0;
  has_last_.assign(neighbours.size(), 0);
  heard_.clear();
  strangers_.clear();
  writers_.clear();
}

void RoundState::close(std::span<const Introduction> strangers) {
  BARRIO_ASSERT(cheap, !is_closed_ && (introduces_ || strangers.empty()), strangers.size());
  is_closed_ = true;
  for (const Introduction& line : strangers) strangers_.push_back({line.rank, false});
  std::ranges::sort(strangers_, {}, &Stranger::rank);
}

void RoundState::take_last(std::size_t channel, std::span<const Introduction> introductions) {
  BARRIO_ASSERT(cheap, has_last_[channel] == 0 && "two last packets in one round", neighbours_[channel]);
  has_last_[channel] = 1;
  n_last_ += 1;
  for (const Introduction& line : introductions)
    if (std::ranges::binary_search(neighbours_, line.rank)) heard_.push_back({channel, line});
}

bool RoundState::wants_pass() noexcept {
  if (!introduces_ || has_passed_ || !is_closed_ || n_last_ < neighbours_.size()) return false;
  return has_passed_ = true;
}

std::vector<Introduction> RoundState::pass_to(std::size_t channel) const {
  const Rank reader = neighbours_[channel];
  std::vector<Introduction> lines;
  for (const Heard& heard : heard_) {
    if (heard.line.rank == reader) {
      lines.push_back(heard.line);
      lines.back().rank = neighbours_[heard.channel];
    }
    if (heard.channel == channel) lines.push_back({heard.line.rank, 1, 0, 0});
  }
  return lines;
}

std::vector<Introduction> RoundState::take_pass(std::size_t channel, std::span<const Introduction> lines) {
  BARRIO_ASSERT(cheap, introduces_ && has_last_[channel] != 0 && n_passes_ < neighbours_.size(), neighbours_[channel]);
  n_passes_ += 1;
  std::vector<Introduction> news;
  for (const Introduction& line : lines) {
    if (line.is_receipt != 0) {
      const auto at = std::ranges::lower_bound(strangers_, line.rank, {}, &Stranger::rank);
      BARRIO_ASSERT(cheap, at != strangers_.end() && at->rank == line.rank, line.rank);
      at->is_passed_on = true;
      continue;
    }
    // Several common neighbours may report the same stranger.
    const auto at = std::ranges::lower_bound(writers_, line.rank);
    if (at != writers_.end() && *at == line.rank) continue;
    writers_.insert(at, line.rank);
    news.push_back(line);
  }
  return news;
}

void RoundState::take_parcel() {
  n_parcels_ += 1;
  BARRIO_ASSERT(cheap, n_parcels_ <= writers_.size(), n_parcels_);
}

bool RoundState::is_over() const noexcept {
  if (!is_closed_ || n_last_ < neighbours_.size()) return false;
  return !introduces_ || (has_passed_ && n_passes_ == neighbours_.size() && n_parcels_ == writers_.size());
}

std::vector<Rank> RoundState::discovered() const {
  std::vector<Rank> passed_on;
  for (const Stranger& stranger : strangers_)
    if (stranger.is_passed_on) passed_on.push_back(stranger.rank);
  std::vector<Rank> all;
  std::ranges::set_union(passed_on, writers_, std::back_inserter(all));
  return all;
}

std::vector<Rank> RoundState::unreachable() const {
  std::vector<Rank> lost;
  for (const Stranger& stranger : strangers_)
    if (!stranger.is_passed_on) lost.push_back(stranger.rank);
  return lost;
}

std::vector<std::uint64_t> RoundState::encoded() const {
  std::vector<std::uint64_t> words{
      introduces_ ? 1U : 0U, is_closed_ ? 1U : 0U, has_passed_ ? 1U : 0U, n_last_, n_passes_, n_parcels_};
  words.insert(words.end(), has_last_.begin(), has_last_.end());
  // The order in which lines were heard affects only their order in the second wave.
  std::vector<std::array<std::uint64_t, 3>> heard;
  for (const Heard& one : heard_)
    heard.push_back({one.channel, static_cast<std::uint64_t>(one.line.rank), one.line.n_bytes});
  std::ranges::sort(heard);
  words.push_back(heard.size());
  for (const auto& one : heard) words.insert(words.end(), one.begin(), one.end());
  words.push_back(strangers_.size());
  for (const Stranger& stranger : strangers_) {
    words.push_back(stranger.rank);
    words.push_back(stranger.is_passed_on ? 1 : 0);
  }
  for (const Rank writer : writers_) words.push_back(writer);
  return words;
}

}  // namespace barrio::exchange::detail
