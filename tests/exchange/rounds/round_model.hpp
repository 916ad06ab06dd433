#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/rounds/round_state.hpp"
#include "tests/exchange/rounds/round_script.hpp"

namespace barrio::test {

/// Message between ranks of the model. A packet carries data; the last packet also carries introductions.
struct ModelMessage {
  enum class Kind : std::uint8_t { packet, last, pass, parcel };
  int epoch;
  Kind kind;
  std::vector<exchange::detail::Introduction> lines;
};

/// One rank of a script: PacketCore's handling of a round, with model messages instead of MPI calls. `State` decides
/// when it is over: it is RoundState or a broken variant.
template <class State>
class ModelRank {
 public:
  struct Sent {
    Rank to;
    ModelMessage message;
  };
  /// Effects of a step other than the new state.
  struct Effects {
    std::vector<Sent> sent;
    std::string fault;
  };

  ModelRank(const Script& script, Rank me) : script_(&script), me_(me) { begin(); }

  [[nodiscard]] int epoch() const { return epoch_; }
  [[nodiscard]] bool is_done() const { return epoch_ == script_->n_epochs(); }
  [[nodiscard]] bool may_close() const { return !is_done() && !is_closed_; }
  /// Tell whether a message of that rank could be received now. A second wave waits while this rank is still closing.
  [[nodiscard]] bool is_open_to(Rank from) const {
    if (posted_[at(from)] == 0) return false;
    if (is_closed_ || script_->takes_passes_while_closing) return true;
    const auto found = std::ranges::lower_bound(neighbours(), from);
    return !state_.has_last(found - neighbours().begin());
  }

  /// Continue to close the round: send the packets to one more neighbour. They may wait for room in the send ring, so
  /// messages may be received between neighbours, but not after the last one.
  Effects close() {
    Effects effects;
    const auto& strangers = script_->strangers[at(epoch_)][at(me_)];
    std::vector<exchange::detail::Introduction> lines;
    for (const Rank to : strangers) lines.push_back({to, 0, 0, n_bytes_to(to)});
    if (n_told_ < neighbours().size()) {
      const Rank to = neighbours()[n_told_];
      for (int k = 1; k < script_->n_packets; ++k) send(effects, to, ModelMessage::Kind::packet, {});
      send(effects, to, ModelMessage::Kind::last, lines);
      n_told_ += 1;
    }
    if (n_told_ < neighbours().size()) return effects;
    for (const Rank to : strangers) send(effects, to, ModelMessage::Kind::parcel, {});
    is_closed_ = true;
    state_.close(lines);
    go_on(effects);
    return effects;
  }

  /// Take a message for which a receive was posted.
  Effects take(Rank from, const ModelMessage& message) {
    using Kind = ModelMessage::Kind;
    Effects effects;
    const auto found = std::ranges::find(neighbours(), from);
    const auto channel = static_cast<std::size_t>(found - neighbours().begin());
    if (message.epoch != epoch_) {
      effects.fault = "a message of another round was taken in";
    } else if (found == neighbours().end()) {
      posted_[at(from)] = 0;
      taken_[at(from)] += 1;
      if (message.kind != Kind::parcel) effects.fault = "a stranger sent something else than a parcel";
      state_.take_parcel();
    } else if (!state_.has_last(channel)) {
      taken_[at(from)] += 1;
      if (message.kind == Kind::last) {
        state_.take_last(channel, message.lines);
        posted_[at(from)] = state_.introduces() ? 1 : 0;
      } else if (message.kind != Kind::packet) {
        effects.fault = "a second wave came before the last packet";
      }
    } else {
      posted_[at(from)] = 0;
      if (message.kind != Kind::pass) {
        effects.fault = "a packet came after the last packet";
        return effects;
      }
      if (!is_closed_ && !message.lines.empty()) {
        effects.fault = "a second wave with content came before the round was closed";
        return effects;
      }
      for (const exchange::detail::Introduction& line : state_.take_pass(channel, message.lines)) {
        posted_[at(line.rank)] = 1;
        if (line.n_bytes != n_bytes_to(me_)) effects.fault = "a parcel has another size than announced";
      }
    }
    if (effects.fault.empty()) go_on(effects);
    return effects;
  }

  [[nodiscard]] std::vector<std::uint64_t> encoded() const {
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(epoch_), n_told_, is_closed_ ? 1U : 0U};
    if (is_done()) return words;
    words.insert(words.end(), posted_.begin(), posted_.end());
    words.insert(words.end(), taken_.begin(), taken_.end());
    words.insert(words.end(), sent_.begin(), sent_.end());
    const std::vector<std::uint64_t> more = state_.encoded();
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

 private:
  static std::size_t at(int i) { return i; }
  static std::uint64_t n_bytes_to(Rank to) { return 8 * static_cast<std::uint64_t>(to) + 8; }
  [[nodiscard]] const std::vector<Rank>& neighbours() const { return script_->neighbours[at(epoch_)][at(me_)]; }
  [[nodiscard]] bool writes(Rank from, Rank to) const {
    return std::ranges::binary_search(script_->strangers[at(epoch_)][at(from)], to);
  }

  void begin() {
    n_told_ = 0;
    is_closed_ = false;
    const std::size_t n = at(script_->n_ranks());
    posted_.assign(n, 0);
    taken_.assign(n, 0);
    sent_.assign(n, 0);
    if (is_done()) return;
    for (const Rank rank : neighbours()) posted_[at(rank)] = 1;
    state_.begin(neighbours(), script_->introduces);
  }
  void send(Effects& effects, Rank to, ModelMessage::Kind kind, std::vector<exchange::detail::Introduction> lines) {
    sent_[at(to)] += 1;
    effects.sent.push_back({to, {epoch_, kind, std::move(lines)}});
  }
  void go_on(Effects& effects) {
    if (state_.wants_pass())
      for (std::size_t c = 0; c < neighbours().size(); ++c)
        send(effects, neighbours()[c], ModelMessage::Kind::pass, state_.pass_to(c));
    if (!state_.is_over()) return;
    effects.fault = fault_at_end();
    epoch_ += 1;
    begin();
  }
  [[nodiscard]] std::string fault_at_end() const {
    std::vector<Rank> met;
    for (Rank rank = 0; rank < script_->n_ranks(); ++rank) {
      const bool is_neighbour = std::ranges::binary_search(neighbours(), rank);
      const int n_packets = is_neighbour ? script_->n_packets : 0;
      const int n_passes = is_neighbour && script_->introduces ? 1 : 0;
      const int n_from = n_packets + (writes(rank, me_) ? 1 : 0);
      const int n_to = n_packets + n_passes + (writes(me_, rank) ? 1 : 0);
      if (taken_[at(rank)] < n_from) return "the round ended before all messages had come";
      if (taken_[at(rank)] > n_from) return "a message was delivered twice";
      if (sent_[at(rank)] != n_to) return "an edge carried a wrong number of messages";
      if (writes(rank, me_) || writes(me_, rank)) met.push_back(rank);
    }
    if (!state_.unreachable().empty()) return "a delivered parcel counts as lost";
    if (state_.discovered() != met) return "the new neighbours are not those that have written to each other";
    return {};
  }

  const Script* script_;
  Rank me_;
  int epoch_ = 0;
  std::size_t n_told_ = 0;  // neighbours that got their last packet
  bool is_closed_ = false;
  State state_;
  // By rank, in this round: receives posted, packets and parcels received, messages sent.
  std::vector<std::uint8_t> posted_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::uint8_t> sent_;
};

/// Result of a search. Without a fault, all visited states are right.
struct Verdict {
  std::uint64_t n_states = 0;
  std::uint64_t n_steps = 0;
  std::string fault;
  std::vector<std::string> steps;  ///< that lead to the fault; a search finds the fewest
};

/// All ranks of a script and the messages in flight, in MPI's order: messages between two ranks with one tag keep their
/// order, all others may overtake; the tag is the parity of the round.
/// States of a rank, messages and queues are numbered when first met. The state machine itself runs each step of each
/// rank once; afterwards, a step of the whole is a look-up.
template <class State>
class Model {
 public:
  explicit Model(const Script& script) : script_(script), n_(script.n_ranks()) { forget(); }

  /// Visit every reachable state, nearest first. @pre at most 5 ranks
  /// @param limit  on the number of states
  /// @param wanted  text of the fault to search for: other faults are skipped, and states after them not visited
  Verdict search(std::uint64_t limit, std::string_view wanted = {}) {
    Verdict verdict;
    Seen seen;
    std::vector<Origin> origins;
    const auto visit = [&](const Global& global, Origin origin) {
      if (seen.insert(key_of(global))) origins.push_back(origin);
    };
    visit(start(), {0, {0, 0}});
    std::vector<Step> steps;
    Global global;
    Global after;
    for (std::uint32_t i = 0; i < seen.size(); ++i) {
      if (i >= limit) {
        verdict.fault = "there are more states than the limit";
        break;
      }
      read(seen[i], global);
      steps.clear();
      for (std::size_t r = 0; r < n_; ++r) list_steps_of(r, global, steps);
      verdict.n_steps += steps.size();
      if (steps.empty()) verdict.fault = fault_at_end(global);
      for (const Step& step : steps) {
        after = global;
        verdict.fault = take(after, step);
        if (verdict.fault.empty()) {
          visit(after, {i, step});
        } else if (wanted.empty() || verdict.fault == wanted) {
          verdict.steps.push_back(describe(step));
          break;
        } else {
          verdict.fault.clear();
        }
      }
      if (verdict.fault.empty()) continue;
      for (std::uint32_t at = i; at != 0; at = origins[at].parent) verdict.steps.push_back(describe(origins[at].step));
      std::ranges::reverse(verdict.steps);
      break;
    }
    verdict.n_states = seen.size();
    return verdict;
  }

  /// Follow one random path from the start to the end.
  Verdict walk(std::mt19937_64& random) {
    // In a large system most states are met only once, and each costs a kilobyte.
    constexpr std::size_t most = 20'000;
    std::size_t n_known = queues_.size();
    for (const RankTable& table : ranks_) n_known += table.locals.size();
    if (n_known > most) forget();
    Verdict verdict;
    Global global = start();
    // One rank may run far ahead of the others, or stay behind.
    const std::uint64_t manner = random() % 3;
    const std::size_t singled_out = random() % n_;
    std::vector<Step> steps;
    std::vector<Step> taken;
    for (;;) {
      steps.clear();
      if (manner == 1) list_steps_of(singled_out, global, steps);
      const std::size_t first = random() % n_;
      for (std::size_t k = 0; k < n_ && steps.empty(); ++k) {
        const std::size_t r = first + k < n_ ? first + k : first + k - n_;
        if (manner != 2 || r != singled_out) list_steps_of(r, global, steps);
      }
      if (steps.empty()) list_steps_of(singled_out, global, steps);
      if (steps.empty()) {
        verdict.fault = fault_at_end(global);
        break;
      }
      taken.push_back(steps[random() % steps.size()]);
      verdict.fault = take(global, taken.back());
      if (!verdict.fault.empty()) break;
    }
    verdict.n_steps = taken.size();
    if (!verdict.fault.empty())
      for (const Step& step : taken) verdict.steps.push_back(describe(step));
    return verdict;
  }

 private:
  using Id = std::uint32_t;
  static constexpr Id no_message = std::numeric_limits<Id>::max();  // the step continues to close the round

  /// The state of each rank, then the queue of each directed pair of ranks.
  using Global = std::vector<Id>;
  struct Step {
    std::uint16_t rank;
    std::uint16_t from;  // the rank itself: it continues to close its round
  };
  struct Origin {
    std::uint32_t parent;
    Step step;
  };
  struct Transition {
    Rank from;
    Id message;
    Id after;
    std::vector<std::pair<Rank, Id>> sent;
    std::string fault;
  };
  struct Local {
    ModelRank<State> rank;
    std::vector<Transition> transitions;
  };
  struct RankTable {
    std::map<std::vector<std::uint64_t>, Id> ids;
    std::vector<Local> locals;
  };
  /// Queue of messages from one rank to another, oldest first.
  struct Queue {
    struct Taken {
      Id message = no_message;  // the one that MPI would match
      Id rest = 0;              // the queue without it
    };
    std::vector<Id> messages;
    std::array<Taken, 2> taken;                 // by the parity of the round
    std::vector<std::pair<Id, Id>> lengthened;  // by a message: the queue with it added
  };

  using Key = std::array<std::uint16_t, 28>;  // 5 ranks and 20 pairs, in whole words
  /// Hash table of the states met so far, in the order of visits; open addressing.
  class Seen {
   public:
    bool insert(const Key& key) {
      if (2 * (keys_.size() + 1) > slots_.size()) grow();
      const std::size_t slot = find(key);
      if (slots_[slot] != 0) return false;
      keys_.push_back(key);
      slots_[slot] = static_cast<std::uint32_t>(keys_.size());
      return true;
    }
    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    const Key& operator[](std::size_t i) const { return keys_[i]; }

   private:
    [[nodiscard]] std::size_t find(const Key& key) const {
      Hash64 hash;
      for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, 7>>(key)) hash.add(word);
      for (std::size_t slot = hash.value();; ++slot) {
        slot &= slots_.size() - 1;
        if (slots_[slot] == 0 || keys_[slots_[slot] - 1] == key) return slot;
      }
    }
    void grow() {
      slots_.assign(std::max<std::size_t>(1024, 4 * slots_.size()), 0);
      for (std::size_t i = 0; i < keys_.size(); ++i) slots_[find(keys_[i])] = static_cast<std::uint32_t>(i + 1);
    }
    std::vector<Key> keys_;
    std::vector<std::uint32_t> slots_;  // 1 + place in keys_, 0 if free
  };

  [[nodiscard]] std::size_t place_of_queue(std::size_t from, std::size_t to) const {
    return n_ + from * (n_ - 1) + to - (to > from ? 1 : 0);
  }
  [[nodiscard]] Key key_of(const Global& global) const {
    Key key{};
    for (std::size_t i = 0; i < global.size(); ++i) {
      BARRIO_ASSERT(cheap, global[i] <= std::numeric_limits<std::uint16_t>::max(), global[i]);
      key.at(i) = static_cast<std::uint16_t>(global[i]);
    }
    return key;
  }
  void read(const Key& key, Global& global) const { global.assign(key.begin(), key.begin() + n_ * n_); }

  void forget() {
    ranks_.assign(n_, {});
    messages_.clear();
    message_ids_.clear();
    queues_.clear();
    queue_ids_.clear();
    id_of_queue({});
  }
  Global start() {
    Global global(n_ * n_, 0);
    for (std::size_t r = 0; r < n_; ++r) global[r] = id_of(r, ModelRank<State>(script_, static_cast<Rank>(r)));
    return global;
  }
  Id id_of(std::size_t r, ModelRank<State> rank) {
    RankTable& table = ranks_[r];
    const auto [at, is_new] = table.ids.emplace(rank.encoded(), static_cast<Id>(table.locals.size()));
    if (is_new) table.locals.push_back({std::move(rank), {}});
    return at->second;
  }
  Id id_of(ModelMessage message) {
    // The order of lines affects only the order in which receives are posted.
    std::ranges::sort(message.lines, {}, [](const auto& line) { return std::tuple(line.rank, line.is_receipt); });
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(message.epoch),
                                     static_cast<std::uint64_t>(message.kind)};
    for (const auto& line : message.lines)
      words.insert(words.end(), {static_cast<std::uint64_t>(line.rank), line.is_receipt, line.n_bytes});
    const auto [at, is_new] = message_ids_.emplace(std::move(words), static_cast<Id>(messages_.size()));
    if (is_new) messages_.push_back(std::move(message));
    return at->second;
  }
  Id id_of_queue(std::vector<Id> messages) {
    if (const auto at = queue_ids_.find(messages); at != queue_ids_.end()) return at->second;
    Queue queue;
    for (std::size_t parity = 0; parity < 2; ++parity) {
      const auto first = std::ranges::find_if(
          messages, [&](Id message) { return static_cast<std::size_t>(messages_[message].epoch) % 2 == parity; });
      if (first == messages.end()) continue;
      std::vector<Id> rest(messages.begin(), first);
      rest.insert(rest.end(), first + 1, messages.end());
      queue.taken.at(parity) = {*first, id_of_queue(std::move(rest))};
    }
    queue.messages = messages;
    queues_.push_back(std::move(queue));
    return queue_ids_[std::move(messages)] = static_cast<Id>(queues_.size() - 1);
  }
  Id lengthened(Id queue, Id message) {
    for (const auto& [added, after] : queues_[queue].lengthened)
      if (added == message) return after;
    std::vector<Id> messages = queues_[queue].messages;
    messages.push_back(message);
    const Id after = id_of_queue(std::move(messages));
    queues_[queue].lengthened.emplace_back(message, after);
    return after;
  }

  [[nodiscard]] const typename Queue::Taken& next_in(Id queue, int epoch) const {
    return queues_[queue].taken.at(static_cast<std::size_t>(epoch) % 2);
  }
  void list_steps_of(std::size_t r, const Global& global, std::vector<Step>& steps) const {
    const ModelRank<State>& rank = ranks_[r].locals[global[r]].rank;
    if (rank.may_close()) steps.push_back({static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(r)});
    for (std::size_t from = 0; from < n_; ++from) {
      if (from == r || !rank.is_open_to(static_cast<Rank>(from))) continue;
      if (next_in(global[place_of_queue(from, r)], rank.epoch()).message != no_message)
        steps.push_back({static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(from)});
    }
  }
  const Transition& transition(std::size_t r, Id local, Rank from, Id message) {
    for (const Transition& known : ranks_[r].locals[local].transitions)
      if (known.from == from && known.message == message) return known;
    ModelRank<State> rank = ranks_[r].locals[local].rank;
    auto effects = message == no_message ? rank.close() : rank.take(from, messages_[message]);
    Transition made{from, message, id_of(r, std::move(rank)), {}, std::move(effects.fault)};
    for (auto& [to, what] : effects.sent) made.sent.emplace_back(to, id_of(std::move(what)));
    auto& transitions = ranks_[r].locals[local].transitions;
    transitions.push_back(std::move(made));
    return transitions.back();
  }

  /// Take a step. @return the fault, or ""
  std::string take(Global& global, Step step) {
    const std::size_t r = step.rank;
    Id message = no_message;
    if (step.from != step.rank) {
      Id& queue = global[place_of_queue(step.from, r)];
      const auto next = next_in(queue, ranks_[r].locals[global[r]].rank.epoch());
      message = next.message;
      queue = next.rest;
    }
    const Transition& done = transition(r, global[r], static_cast<Rank>(step.from), message);
    global[r] = done.after;
    for (const auto& [to, what] : done.sent) {
      Id& queue = global[place_of_queue(r, to)];
      queue = lengthened(queue, what);
    }
    return done.fault;
  }

  [[nodiscard]] std::string fault_at_end(const Global& global) const {
    for (std::size_t r = 0; r < n_; ++r)
      if (!ranks_[r].locals[global[r]].rank.is_done()) return "deadlock";
    for (std::size_t i = n_; i < global.size(); ++i)
      if (!queues_[global[i]].messages.empty()) return "a message was never taken in";
    return {};
  }
  [[nodiscard]] static std::string describe(Step step) {
    std::string text = "rank " + std::to_string(step.rank);
    if (step.from == step.rank) return text + " goes on closing";
    return text + " hears rank " + std::to_string(step.from);
  }

  const Script& script_;
  std::size_t n_;
  std::vector<RankTable> ranks_;
  std::vector<ModelMessage> messages_;
  std::map<std::vector<std::uint64_t>, Id> message_ids_;
  std::vector<Queue> queues_;  // the first is empty
  std::map<std::vector<Id>, Id> queue_ids_;
};

}  // namespace barrio::test
