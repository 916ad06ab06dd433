// Delivery to objects that move, as a pure system: every order in which messages, objects and places can arrive on
// three ranks, with two objects, four messages and two migrations, is searched.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/moving/directory.hpp"
#include "barrio/mobile/moving/pair_order.hpp"
#include "barrio/mobile/runtime.hpp"

namespace barrio::mobile::detail {
namespace {

constexpr int n_ranks = 3;
constexpr int n_objects = 2;
constexpr int n_messages = 2;  // of each object to the other one
constexpr int n_migrations = 2;
constexpr std::uint32_t max_detours = 1 + n_migrations;

/// Parts that a system may lack, to see that the search finds what they are for.
enum class Lacks { nothing, numbers, epochs, places_left };

const std::array<ObjectId, n_objects> names{ObjectId(0, 0, 0), ObjectId(1, 1, 0)};

struct Object {
  std::uint32_t epoch = 0;
  PairOrder order;
  int n_sent = 0;
  int n_handled = 0;
};

struct Packet {
  enum Kind { message, object, place } kind = message;
  int of = 0;  // object that it is for, is, or tells about
  std::uint64_t number = 0;
  std::uint32_t epoch = 0;  // of the place it was sent to
  std::vector<Rank> route = {};
  Object moved = {};
  Location location = {};
};

struct System {
  std::array<std::map<int, Object>, n_ranks> here;
  std::vector<Directory> directories;
  std::array<std::vector<Packet>, n_ranks> parked;
  std::array<std::array<std::deque<Packet>, n_ranks>, n_ranks> links;  // from, to
  int n_moves = 0;

  System() {
    for (Rank rank = 0; rank < n_ranks; ++rank) directories.emplace_back(rank, n_ranks);
    for (int o = 0; o < n_objects; ++o) here[static_cast<std::size_t>(names[o].rank())][o] = {};
  }
};

void describe(std::string& text, const WordCounts& counts) {
  std::map<std::uint64_t, std::uint64_t> sorted;
  counts.each([&](std::uint64_t word, std::uint64_t n) {
    if (n > 0) sorted[word] = n;
  });
  for (const auto& [word, n] : sorted) text += std::to_string(word) + ":" + std::to_string(n) + ",";
  text += ";";
}

void describe(std::string& text, const Object& object) {
  text += "o" + std::to_string(object.epoch) + "," + std::to_string(object.n_sent) + "," +
          std::to_string(object.n_handled) + ",";
  describe(text, object.order.sent());
  describe(text, object.order.received());
  std::map<std::uint64_t, int> early;
  for (const PairOrder::Early& one : object.order.early()) early[one.number] += 1;
  for (const auto& [number, n] : early) text += "e" + std::to_string(number) + "," + std::to_string(n);
}

void describe(std::string& text, const Packet& packet) {
  text += "p" + std::to_string(packet.kind) + std::to_string(packet.of) + "n" + std::to_string(packet.number) + "," +
          std::to_string(packet.epoch);
  for (const Rank rank : packet.route) text += "r" + std::to_string(rank);
  if (packet.kind == Packet::object) describe(text, packet.moved);
  if (packet.kind == Packet::place)
    text += "l" + std::to_string(packet.location.rank) + "," + std::to_string(packet.location.epoch);
}

std::string describe(const System& system) {
  std::string text;
  for (std::size_t rank = 0; rank < n_ranks; ++rank) {
    for (const auto& [o, object] : system.here[rank]) {
      text += "#" + std::to_string(o);
      describe(text, object);
    }
    std::map<std::uint64_t, Location> places;
    system.directories[rank].each([&](ObjectId id, const Location& location) { places[id.word()] = location; });
    for (const auto& [word, location] : places)
      text += "d" + std::to_string(word) + ":" + std::to_string(location.rank) + "," + std::to_string(location.epoch);
    for (const Packet& packet : system.parked[rank]) describe(text += "k", packet);
    for (const auto& link : system.links[rank]) {
      text += "|";
      for (const Packet& packet : link) describe(text, packet);
    }
  }
  return text + std::to_string(system.n_moves);
}

template <class List>
auto& at(List& list, Rank rank) {
  return list[static_cast<std::size_t>(rank)];
}
std::deque<Packet>& link(System& system, Rank from, Rank to) { return at(at(system.links, from), to); }

/// Search of all states of a system.
class Search {
 public:
  Search(PlaceUpdates updates, Lacks lacks) : updates_(updates), lacks_(lacks) {}

  /// Return the first fault; empty if there is none.
  std::string run() {
    std::vector<System> open{System()};
    seen_.insert(describe(open.front()));
    while (!open.empty() && fault_.empty()) {
      const System state = std::move(open.back());
      open.pop_back();
      bool is_at_end = true;  // but for further migrations
      const auto go_on = [&](auto&& act) {
        System next = state;
        act(next);
        if (seen_.insert(describe(next)).second) open.push_back(std::move(next));
      };
      for (Rank from = 0; from < n_ranks; ++from) {
        for (Rank to = 0; to < n_ranks; ++to) {
          if (at(at(state.links, from), to).empty()) continue;
          is_at_end = false;
          go_on([&](System& next) {
            const Packet packet = link(next, from, to).front();
            link(next, from, to).pop_front();
            deliver(next, to, packet);
          });
        }
        for (const auto& [o, object] : at(state.here, from)) {
          if (object.n_sent < n_messages) {
            is_at_end = false;
            go_on([&, o = o](System& next) { send(next, from, o); });
          }
          for (Rank to = 0; to < n_ranks && state.n_moves < n_migrations; ++to)
            if (to != from) go_on([&, o = o](System& next) { migrate(next, from, o, to); });
        }
      }
      if (is_at_end) check_end(state);
    }
    return fault_;
  }
  [[nodiscard]] std::size_t n_states() const { return seen_.size(); }

 private:
  void send(System& system, Rank here, int o) {
    Object& sender = at(system.here, here).at(o);
    const int to = 1 - o;
    sender.n_sent += 1;
    Packet packet{.of = to, .number = sender.order.next_to(names[to].word())};
    if (at(system.here, here).contains(to)) return take(system, here, packet);
    const Location there = at(system.directories, here).guess(names[to]);
    packet.epoch = there.epoch;
    packet.route = {here};
    if (there.rank == here) {
      at(system.parked, here).push_back(packet);
    } else {
      link(system, here, there.rank).push_back(packet);
    }
  }

  void migrate(System& system, Rank here, int o, Rank to) {
    system.n_moves += 1;
    Object object = at(system.here, here).at(o);
    at(system.here, here).erase(o);
    object.epoch += 1;
    const Location next{to, object.epoch};
    link(system, here, to).push_back({.kind = Packet::object, .of = o, .moved = object});
    if (lacks_ != Lacks::places_left) at(system.directories, here).left(names[o], next);
    const Rank home = names[o].rank();
    if (home != here && home != to)
      link(system, here, home).push_back({.kind = Packet::place, .of = o, .location = next});
  }

  void deliver(System& system, Rank here, const Packet& packet) {
    switch (packet.kind) {
      case Packet::message: return accept(system, here, packet);
      case Packet::object:
        at(system.here, here)[packet.of] = packet.moved;
        at(system.directories, here).arrived(names[packet.of]);
        break;
      case Packet::place:
        if (at(system.here, here).contains(packet.of)) return;
        if (!at(system.directories, here).learn(names[packet.of], packet.location)) return;
    }
    std::vector<Packet> parked;
    parked.swap(at(system.parked, here));
    for (const Packet& one : parked) accept(system, here, one);
  }

  void accept(System& system, Rank here, Packet packet) {
    const auto found = at(system.here, here).find(packet.of);
    if (found != at(system.here, here).end()) {
      if (packet.route.size() > 1 && updates_ == PlaceUpdates::lazy)
        for (const Rank rank : packet.route)
          if (rank != here)
            link(system, here, rank)
                .push_back({.kind = Packet::place, .of = packet.of, .location = {here, found->second.epoch}});
      return take(system, here, packet);
    }
    Location to;
    const bool was_made = names[packet.of].rank() == here;
    const std::uint32_t epoch = packet.epoch;
    Directory& directory = at(system.directories, here);
    Directory::Way way = directory.route(names[packet.of], epoch, was_made, to);
    if (lacks_ == Lacks::epochs) {  // goes wherever it was seen last
      to = directory.guess(names[packet.of]);
      way = to.rank == here ? Directory::Way::stays : Directory::Way::goes_on;
    }
    if (way == Directory::Way::has_no_object) return fail("an object is taken for one that was destroyed");
    if (way == Directory::Way::stays) return at(system.parked, here).push_back(packet);
    packet.epoch = to.epoch;
    packet.route.push_back(here);
    if (packet.route.size() > 1 + max_detours) return fail("a message does not come to its object");
    link(system, here, to.rank).push_back(packet);
  }

  void take(System& system, Rank here, const Packet& packet) {
    Object& object = at(system.here, here).at(packet.of);
    const std::uint64_t from = names[1 - packet.of].word();
    const auto handle = [&](std::uint64_t number) {
      if (number != static_cast<std::uint64_t>(object.n_handled++)) fail("messages are handled in another order");
    };
    if (lacks_ == Lacks::numbers) return handle(packet.number);
    if (!object.order.is_next(from, packet.number)) {
      if (packet.number < object.order.expected(from)) return fail("a message comes twice");
      (void)object.order.keep(from, packet.number, 0, 0);
      return;
    }
    handle(packet.number);
    object.order.release(from, [&](const PairOrder::Early& early) { handle(early.number); });
  }

  void check_end(const System& state) {
    int n = 0;
    for (std::size_t rank = 0; rank < n_ranks; ++rank) {
      if (!state.parked[rank].empty()) return fail("a message waits for ever");
      for (const auto& [o, object] : state.here[rank]) {
        n += 1;
        if (object.n_handled != n_messages || !object.order.early().empty()) return fail("a message is missing");
      }
    }
    if (n != n_objects) fail("an object is missing");
  }
  void fail(const char* what) {
    if (fault_.empty()) fault_ = what;
  }

  PlaceUpdates updates_;
  Lacks lacks_;
  std::unordered_set<std::string> seen_;
  std::string fault_;
};

TEST(MovingSearch, EveryOrderEndsWithAllMessagesHandledInOrder) {
  for (const PlaceUpdates updates : {PlaceUpdates::lazy, PlaceUpdates::home}) {
    Search search(updates, Lacks::nothing);
    EXPECT_EQ(search.run(), "");
    EXPECT_GT(search.n_states(), 5000U);
    RecordProperty("states", static_cast<int>(search.n_states()));
  }
}

TEST(MovingSearch, FindsWhatIsLacking) {
  for (const Lacks lacks : {Lacks::numbers, Lacks::epochs, Lacks::places_left})
    EXPECT_NE(Search(PlaceUpdates::lazy, lacks).run(), "") << static_cast<int>(lacks);
}

TEST(WordCounts, CountManyWords) {
  WordCounts counts;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t word = 1 + mix64(i) % 700;
    EXPECT_EQ(counts.next(word), expected[word]++);
  }
  EXPECT_EQ(counts.size(), expected.size());
  counts.each([&](std::uint64_t word, std::uint64_t n) { EXPECT_EQ(n, expected.at(word)); });
  counts.clear();
  EXPECT_EQ(counts.next(5), 0U);
}

}  // namespace
}  // namespace barrio::mobile::detail
