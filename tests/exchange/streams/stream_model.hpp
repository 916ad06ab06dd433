#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/exchange/detail/quiescence_state.hpp"
#include "barrio/exchange/streams/pair_state.hpp"

namespace barrio::test {

/// Message of a model stream: a rank that reads it passes it on, `n_hops` more times, to the ranks that follow it.
struct StreamMessage {
  int from;
  int to;
  int n_hops;
  bool is_long;
  int n_copies = 1;  ///< ranks that each hop goes to
};

/// System to search through: what each rank sends on its own account before each drain.
struct StreamScript {
  int n_ranks;
  std::uint32_t window;
  std::vector<std::vector<StreamMessage>> drains;
  bool counts_arrivals = false;  ///< a fault: messages count as processed before they are read
  bool knows_drains = true;      ///< false: a fault: what a rank sends after a drain is read by slower ones in it
};

/// All ranks of a script, and the messages under way. StreamCore's handling of packets with model messages instead of
/// MPI calls; each message fills a packet. `Pair` and `Quiet` are the states under test, or broken variants.
/// MPI's order: packets between two ranks keep their order, and so do long messages; all others may overtake.
template <class Pair, class Quiet>
class StreamModel {
 public:
  explicit StreamModel(const StreamScript& script) : script_(&script), n_(script.n_ranks), ranks_(n_), ways_(n_ * n_) {
    for (Node& node : ranks_)
      for (std::size_t to = 0; to < n_; ++to) node.pairs.emplace_back(script.window);
  }

  /// One thing that may happen next.
  struct Step {
    enum class Kind : std::uint8_t { send, take, take_long, read, contribute, learn };
    Kind kind;
    std::uint8_t rank;
    std::uint8_t from = 0;
    [[nodiscard]] std::string text() const {
      constexpr std::array names{"sends", "takes from", "takes a long message from", "reads", "contributes", "learns"};
      return fmt::format("{} {} {}", rank, names.at(static_cast<std::size_t>(kind)), from);
    }
  };

  void list_steps(std::vector<Step>& steps) const {
    for (std::size_t r = 0; r < n_; ++r) {
      const Node& node = ranks_[r];
      const auto rank = static_cast<std::uint8_t>(r);
      for (std::size_t from = 0; from < n_; ++from) {
        const auto other = static_cast<std::uint8_t>(from);
        if (!way(from, r).packets.empty()) steps.push_back({Step::Kind::take, rank, other});
        if (!way(from, r).long_messages.empty() && !node.awaited(from).empty())
          steps.push_back({Step::Kind::take_long, rank, other});
      }
      if (is_done(node)) continue;
      if (!node.is_draining) {
        steps.push_back({Step::Kind::send, rank});
      } else if (!node.readable.empty()) {
        steps.push_back({Step::Kind::read, rank});
      } else if (!node.quiet.is_under_way()) {
        steps.push_back({Step::Kind::contribute, rank});
      } else if (wave_of(node).n_ranks == n_) {
        steps.push_back({Step::Kind::learn, rank});
      }
    }
  }

  /// Take a step. @return the fault that it reveals
  std::string take(const Step& step) {
    Node& node = ranks_[step.rank];
    switch (step.kind) {
      case Step::Kind::send: return send_next(node, step.rank);
      case Step::Kind::take: return take_packet(node, step.rank, step.from);
      case Step::Kind::take_long: {
        Way& from = way(step.from, step.rank);
        from.long_messages.pop_front();
        node.pairs[step.from].arrive_late(node.awaited(step.from).front());
        node.awaited(step.from).pop_front();
        put_readable(node, step.from);
        return {};
      }
      case Step::Kind::read: return read(node, step.rank);
      case Step::Kind::contribute: {
        Wave& wave = wave_of(node);
        const auto counts = node.quiet.contribute(node.n_created, node.n_processed, false);
        for (std::size_t i = 0; i < counts.size(); ++i) wave.sums.at(i) += counts.at(i);
        return ++wave.n_ranks == n_ ? fault_of_wave(node) : std::string();
      }
      case Step::Kind::learn: {
        node.quiet.take(wave_of(node).sums);
        node.n_waves += 1;
        if (node.quiet.is_over()) {
          node.is_draining = false;
          node.n_drains += 1;
          node.n_sent = 0;
          node.readable.assign(node.later.begin(), node.later.end());
          node.later.clear();
        }
        return {};
      }
    }
    return "an unknown step";
  }

  [[nodiscard]] std::string fault_at_end() const {
    return std::ranges::all_of(ranks_, [&](const Node& node) { return is_done(node); }) ? "" : "deadlock";
  }

  /// Encode all that decides what happens next.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> key() const {
    std::vector<std::uint64_t> words;
    std::uint64_t min_waves = std::numeric_limits<std::uint64_t>::max();
    for (const Node& node : ranks_) min_waves = std::min(min_waves, node.n_waves);
    for (const Node& node : ranks_) {
      words.insert(words.end(), {node.n_drains, node.n_sent, node.is_draining ? 1U : 0U, node.n_waves - min_waves,
                                 node.n_created, node.n_processed, node.readable.size()});
      for (const auto& [from, ticket] : node.readable) words.insert(words.end(), {from, ticket});
      for (const auto& [from, ticket] : node.later) words.insert(words.end(), {from, ticket});
      for (const Pair& pair : node.pairs) pair.encode(words);
      node.quiet.encode(words);
      for (const auto& [to, waiting] : node.waiting) {
        words.insert(words.end(), {to, waiting.size()});
        for (const Packet& packet : waiting) encode(packet, words);
      }
      for (const auto& [ticket, message] : node.messages) {
        words.push_back(ticket);
        encode(message, words);
      }
      words.insert(words.end(), node.n_read.begin(), node.n_read.end());
    }
    for (const Way& one : ways_) {
      words.insert(words.end(), {one.packets.size(), one.long_messages.size(), one.n_written});
      for (const Packet& packet : one.packets) encode(packet, words);
    }
    for (std::uint64_t w = min_waves; waves_.contains(w); ++w) {
      const Wave& wave = waves_.at(w);
      words.insert(words.end(), {wave.n_ranks, wave.sums[0], wave.sums[1]});
    }
    Hash64 first(1);
    Hash64 second(2);
    for (const std::uint64_t word : words) {
      first.add(word);
      second.add(word ^ 0x5555);
    }
    return {first.value(), second.value()};
  }

 private:
  struct Packet {
    StreamMessage message;
    bool is_acknowledgement;
    std::uint64_t n_read;     // by its sender
    std::uint64_t i_of_pair;  // messages of one rank to another are numbered
    std::uint64_t n_drains;   // that its sender had ended
  };
  struct Node {
    std::vector<Pair> pairs;
    std::map<std::size_t, std::deque<Packet>> waiting;
    std::map<std::uint32_t, Packet> messages;  // by ticket
    std::deque<std::pair<std::size_t, std::uint32_t>> readable;
    std::vector<std::pair<std::size_t, std::uint32_t>> later;    // from ranks that have ended this drain
    std::map<std::size_t, std::deque<std::uint32_t>> announced;  // tickets of long messages, by rank
    std::vector<std::uint64_t> n_read = std::vector<std::uint64_t>(8, 0);
    Quiet quiet;
    std::uint64_t n_created = 0;
    std::uint64_t n_processed = 0;
    std::uint64_t n_drains = 0;
    std::uint64_t n_sent = 0;  // of the script, before this drain
    std::uint64_t n_waves = 0;
    bool is_draining = false;
    std::deque<std::uint32_t>& awaited(std::size_t from) { return announced[from]; }
    [[nodiscard]] std::deque<std::uint32_t> awaited(std::size_t from) const {
      const auto found = announced.find(from);
      return found == announced.end() ? std::deque<std::uint32_t>() : found->second;
    }
  };
  struct Way {
    std::deque<Packet> packets;
    std::deque<int> long_messages;
    std::uint64_t n_written = 0;
  };
  struct Wave {
    std::size_t n_ranks = 0;
    exchange::detail::QuiescenceState::Counts sums{};
  };

  static void encode(const Packet& packet, std::vector<std::uint64_t>& words) {
    words.insert(words.end(),
                 {static_cast<std::uint64_t>(packet.message.n_hops), packet.n_read, packet.i_of_pair, packet.n_drains,
                  (packet.is_acknowledgement ? 1U : 0U) + (packet.message.is_long ? 2U : 0U)});
  }
  [[nodiscard]] const Way& way(std::size_t from, std::size_t to) const { return ways_[from * n_ + to]; }
  [[nodiscard]] Way& way(std::size_t from, std::size_t to) { return ways_[from * n_ + to]; }
  [[nodiscard]] bool is_done(const Node& node) const { return node.n_drains == script_->drains.size(); }
  [[nodiscard]] Wave& wave_of(const Node& node) { return waves_[node.n_waves]; }
  [[nodiscard]] Wave wave_of(const Node& node) const {
    const auto found = waves_.find(node.n_waves);
    return found == waves_.end() ? Wave() : found->second;
  }

  std::string send_next(Node& node, std::size_t rank) {
    std::uint64_t i = 0;
    for (const StreamMessage& message : script_->drains[node.n_drains]) {
      if (static_cast<std::size_t>(message.from) != rank || i++ < node.n_sent) continue;
      node.n_sent += 1;
      return write(node, rank, message);
    }
    node.is_draining = true;
    node.quiet.begin();
    return {};
  }

  std::string write(Node& node, std::size_t rank, const StreamMessage& message) {
    const auto to = static_cast<std::size_t>(message.to);
    node.n_created += 1;
    Packet packet{message, false, 0, way(rank, to).n_written++, node.n_drains};
    if (node.waiting[to].empty() && node.pairs[to].may_send()) return transmit(node, rank, packet);
    node.waiting[to].push_back(packet);
    return {};
  }

  std::string transmit(Node& node, std::size_t rank, Packet packet) {
    const auto to = static_cast<std::size_t>(packet.message.to);
    node.pairs[to].send();
    packet.n_read = node.pairs[to].acknowledge();
    way(rank, to).packets.push_back(packet);
    if (packet.message.is_long) way(rank, to).long_messages.push_back(0);
    return packet.i_of_pair - ranks_[to].n_read[rank] >= script_->window ? "more packets than the window" : "";
  }

  std::string take_packet(Node& node, std::size_t rank, std::size_t from) {
    const Packet packet = way(from, rank).packets.front();
    way(from, rank).packets.pop_front();
    Pair& pair = node.pairs[from];
    pair.take_acknowledged(packet.n_read);
    std::string fault;
    while (!node.waiting[from].empty() && pair.may_send() && fault.empty()) {
      fault = transmit(node, rank, node.waiting[from].front());
      node.waiting[from].pop_front();
    }
    if (packet.is_acknowledgement || !fault.empty()) return fault;
    std::uint32_t ticket = 0;
    while (node.messages.contains(ticket)) ++ticket;
    node.messages.emplace(ticket, packet);
    if (script_->counts_arrivals) node.n_processed += 1;
    pair.arrive(ticket, !packet.message.is_long);
    if (packet.message.is_long) node.awaited(from).push_back(ticket);
    put_readable(node, from);
    return {};
  }

  void put_readable(Node& node, std::size_t from) {
    while (const auto ticket = node.pairs[from].next()) {
      const bool is_later = script_->knows_drains && node.messages.at(*ticket).n_drains != node.n_drains;
      if (is_later) {
        node.later.emplace_back(from, *ticket);
      } else {
        node.readable.emplace_back(from, *ticket);
      }
    }
  }

  std::string read(Node& node, std::size_t rank) {
    const auto [from, ticket] = node.readable.front();
    node.readable.pop_front();
    const Packet packet = node.messages.at(ticket);
    node.messages.erase(ticket);
    if (packet.i_of_pair != node.n_read[from]) return "messages of one rank came in another order";
    if (packet.n_drains != node.n_drains) return "a message was read in another drain than the one it was sent for";
    node.n_read[from] += 1;
    std::string fault;
    for (int copy = 1; copy <= packet.message.n_copies && packet.message.n_hops > 0 && fault.empty(); ++copy) {
      StreamMessage next = packet.message;
      next.from = static_cast<int>(rank);
      next.to = (next.from + copy) % script_->n_ranks;
      next.n_hops -= 1;
      fault = write(node, rank, next);
    }
    if (!script_->counts_arrivals) node.n_processed += 1;
    node.pairs[from].finish();
    if (node.pairs[from].must_acknowledge())
      way(rank, from).packets.push_back({packet.message, true, node.pairs[from].acknowledge(), 0, 0});
    return fault;
  }

  /// Check, when the last rank has contributed, what ranks will conclude.
  [[nodiscard]] std::string fault_of_wave(const Node& last) const {
    Quiet quiet = last.quiet;
    quiet.take(wave_of(last).sums);
    if (!quiet.is_over()) return {};
    for (const Node& node : ranks_) {
      const bool has_waiting = std::ranges::any_of(node.waiting, [](const auto& one) { return !one.second.empty(); });
      if (!node.is_draining || has_waiting || !node.messages.empty()) return "it was over too early";
    }
    for (const Way& one : ways_)
      for (const Packet& packet : one.packets)
        if (!packet.is_acknowledgement) return "it was over too early";
    return {};
  }

  const StreamScript* script_;
  std::size_t n_;
  std::vector<Node> ranks_;
  std::vector<Way> ways_;
  std::map<std::uint64_t, Wave> waves_;
};

struct StreamVerdict {
  std::string fault;
  std::uint64_t n_states = 0;
  std::vector<std::string> steps;  ///< that lead to the fault, the fewest
};

/// Visit every state that a script can reach, nearest first, until one is wrong; then check that the end can be reached
/// from each of them.
template <class Pair, class Quiet>
StreamVerdict search_streams(const StreamScript& script, std::uint64_t limit) {
  using Model = StreamModel<Pair, Quiet>;
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.first; }
  };
  struct Known {
    std::uint32_t parent;
    typename Model::Step step;
  };
  StreamVerdict verdict;
  std::unordered_map<Key, std::uint32_t, Hash> numbers;
  std::vector<Known> known{{0, {}}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> after_before;  // pairs of states
  std::vector<std::uint32_t> ends;
  std::deque<std::pair<Model, std::uint32_t>> open;
  open.emplace_back(Model(script), 0);
  numbers.emplace(open.front().first.key(), 0);
  const auto tell = [&](std::uint32_t at) {
    for (; at != 0; at = known[at].parent) verdict.steps.push_back(known[at].step.text());
    std::ranges::reverse(verdict.steps);
  };
  std::vector<typename Model::Step> steps;
  while (!open.empty()) {
    const auto [model, number] = std::move(open.front());
    open.pop_front();
    steps.clear();
    model.list_steps(steps);
    if (steps.empty()) {
      verdict.fault = model.fault_at_end();
      ends.push_back(number);
      if (!verdict.fault.empty()) tell(number);
    }
    for (const auto& step : steps) {
      Model after = model;
      verdict.fault = after.take(step);
      if (!verdict.fault.empty()) {
        tell(number);
        verdict.steps.push_back(step.text());
        break;
      }
      const auto [found, is_new] = numbers.emplace(after.key(), static_cast<std::uint32_t>(known.size()));
      after_before.emplace_back(found->second, number);
      if (!is_new) continue;
      known.push_back({number, step});
      open.emplace_back(std::move(after), found->second);
    }
    verdict.n_states = known.size();
    if (known.size() > limit) verdict.fault = "there are more states than the limit";
    if (!verdict.fault.empty()) return verdict;
  }
  std::ranges::sort(after_before);
  std::vector<char> may_end(known.size(), 0);
  while (!ends.empty()) {
    const std::uint32_t state = ends.back();
    ends.pop_back();
    if (std::exchange(may_end[state], 1) != 0) continue;
    const auto first = std::ranges::lower_bound(after_before, std::pair(state, 0U));
    for (auto edge = first; edge != after_before.end() && edge->first == state; ++edge) ends.push_back(edge->second);
  }
  const auto lost = std::ranges::find(may_end, 0);
  if (lost == may_end.end()) return verdict;
  verdict.fault = "the end is out of reach";
  tell(static_cast<std::uint32_t>(lost - may_end.begin()));
  return verdict;
}

/// Follow one random path from the start to the end. @return the fault
template <class Pair, class Quiet>
std::string walk_streams(const StreamScript& script, std::mt19937_64& random, int max_steps) {
  StreamModel<Pair, Quiet> model(script);
  std::vector<typename StreamModel<Pair, Quiet>::Step> steps;
  for (int i = 0; i < max_steps; ++i) {
    steps.clear();
    model.list_steps(steps);
    if (steps.empty()) return model.fault_at_end();
    if (std::string fault = model.take(steps[random() % steps.size()]); !fault.empty()) return fault;
  }
  return "no end after the limit of steps";
}

}  // namespace barrio::test
