#include "barrio/exchange/streams/pair_state.hpp"

#include <algorithm>

#include "barrio/base/assert.hpp"

namespace barrio::exchange::detail {

void PairState::arrive_late(Ticket ticket) {
  const auto found = std::ranges::find(arrived_, ticket, &Arrived::ticket);
  BARRIO_ASSERT(cheap, found != arrived_.end() && !found->is_here, ticket);
  found->is_here = true;
}

std::optional<PairState::Ticket> PairState::next() {
  if (arrived_.empty() || !arrived_.front().is_here) return {};
  const Ticket ticket = arrived_.front().ticket;
  arrived_.pop_front();
  return ticket;
}

void PairState::encode(std::vector<std::uint64_t>& words) const {
  words.push_back(n_sent_ - n_acknowledged_);
  words.push_back(n_read_ - n_told_);
  words.push_back(arrived_.size());
  for (const Arrived& one : arrived_) words.push_back(2 * std::uint64_t{one.ticket} + (one.is_here ? 1 : 0));
}

}  // namespace barrio::exchange::detail
