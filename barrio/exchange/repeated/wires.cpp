#include <algorithm>
#include <climits>
#include <cstring>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/repeated/wires.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::size_t unit = sizeof(std::max_align_t);  // every message begins at a multiple of it

std::size_t whole_units(std::size_t n_bytes) { return (n_bytes + unit - 1) / unit * unit; }

/// Group messages by peer: places in the caller's list, in its order within a group and among groups.
template <class Message, class Peer, class Bytes>
std::vector<std::vector<std::size_t>> group(std::span<const Message> messages, const Coalescing& coalescing,
                                            const Peer& peer, const Bytes& n_bytes) {
  std::vector<std::size_t> order(messages.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return peer(messages[i]); });
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::uint64_t total = 0;
    std::uint64_t smallest = n_bytes(messages[order[begin]]);
    for (; end < order.size() && peer(messages[order[end]]) == peer(messages[order[begin]]); ++end) {
      total += whole_units(n_bytes(messages[order[end]]));
      smallest = std::min<std::uint64_t>(smallest, n_bytes(messages[order[end]]));
    }
    const auto first = order.begin() + begin;
    const auto last = order.begin() + end;
    if (coalescing.pays(end - begin, total, smallest)) {
      groups.emplace_back(first, last);
    } else {
      for (auto one = first; one != last; ++one) groups.push_back({*one});
    }
    begin = end;
  }
  std::ranges::stable_sort(groups, {}, [](const std::vector<std::size_t>& one) { return one.front(); });
  return groups;
}

std::byte* start_of(std::vector<std::max_align_t>& memory) { return reinterpret_cast<std::byte*>(memory.data()); }

}  // namespace

bool Coalescing::pays(std::uint64_t n, std::uint64_t total, std::uint64_t smallest) const noexcept {
  if (total > INT_MAX) return false;  // more than one message can hold
  if (is_always) return true;
  if (!is_on || n == 1) return false;
  // An eager message costs one start and a short copy. Eager messages whose sum is not eager stay apart.
  if (total <= eager_bytes) return true;
  if (smallest <= eager_bytes) return false;
  // Joined messages need one handshake instead of one each. Handshakes partly overlap: half of their time was seen to
  // be saved. The price is one more copy, from the cache while the data fits there.
  constexpr std::uint64_t cached_bytes = 1U << 20U;
  const double bytes_per_second = total <= cached_bytes ? 20e9 : 8e9;
  return static_cast<double>(n - 1) * handshake_seconds / 2 > static_cast<double>(total) / bytes_per_second;
}

Wires::Wires(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming, const Coalescing& coalescing) {
  const auto out_groups = group(
      outgoing, coalescing, [](const Outgoing& one) { return one.to; },
      [](const Outgoing& one) { return one.n_bytes; });
  std::size_t n_units = 0;
  for (const Outgoing& one : outgoing) n_units += whole_units(one.n_bytes) / unit;
  memory_.resize(n_units);
  outgoing_.resize(outgoing.size());
  std::byte* at = start_of(memory_);
  for (const std::vector<std::size_t>& messages : out_groups) {
    std::byte* const first = at;
    std::size_t n_bytes = 0;
    for (const std::size_t i : messages) {
      outgoing_[i] = {at, outgoing[i].n_bytes};
      n_bytes = static_cast<std::size_t>(at - first) + outgoing[i].n_bytes;
      at += whole_units(outgoing[i].n_bytes);
    }
    out.push_back({outgoing[messages.front()].to, first, mpi::as_count(n_bytes), messages});
  }

  const auto in_groups = group(
      incoming, coalescing, [](const Incoming& one) { return one.from; },
      [](const Incoming& one) { return one.bytes.size(); });
  n_units = 0;
  for (const std::vector<std::size_t>& messages : in_groups)
    for (const std::size_t i : messages)
      if (messages.size() > 1) n_units += whole_units(incoming[i].bytes.size()) / unit;
  arriving_.resize(n_units);
  for (const Incoming& one : incoming) incoming_.push_back(one.bytes);
  at = start_of(arriving_);
  for (const std::vector<std::size_t>& messages : in_groups) {
    const Incoming& front = incoming[messages.front()];
    if (messages.size() == 1) {
      in.push_back({front.from, front.bytes.data(), mpi::as_count(front.bytes.size()), messages});
      continue;
    }
    std::byte* const first = at;
    std::size_t n_bytes = 0;
    for (const std::size_t i : messages) {
      n_bytes = static_cast<std::size_t>(at - first) + incoming[i].bytes.size();
      at += whole_units(incoming[i].bytes.size());
    }
    in.push_back({front.from, first, mpi::as_count(n_bytes), messages});
  }
  for (const Wire& wire : out) n_bytes_out_ += wire.n_bytes;
  for (const Wire& wire : in) n_bytes_in_ += wire.n_bytes;
}

void Wires::hand_out(const Wire& wire) const {
  if (wire.messages.size() == 1) return;
  const std::byte* at = wire.data;
  for (const std::size_t i : wire.messages) {
    if (!incoming_[i].empty()) std::memcpy(incoming_[i].data(), at, incoming_[i].size());
    at += whole_units(incoming_[i].size());
  }
}

std::uint64_t Wires::memory_bytes() const noexcept {
  return barrio::memory_bytes(memory_) + barrio::memory_bytes(arriving_) + barrio::memory_bytes(outgoing_) +
         barrio::memory_bytes(incoming_) + barrio::memory_bytes(out) + barrio::memory_bytes(in) +
         (outgoing_.size() + incoming_.size()) * sizeof(std::size_t);
}

}  // namespace barrio::exchange::detail
