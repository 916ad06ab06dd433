#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// What a rank writes in one round: the numbers `number_of_pair(me, to) + salt + i`, i < n, to each rank it writes to.
struct Work {
  std::uint64_t n = 0;                   ///< numbers to each rank
  std::uint64_t salt = 0;                ///< other in each round, so that what a round before left behind is not taken
  std::span<const Rank> strangers = {};  ///< ranks to write to beside the neighbours; those do not expect it
};

/// What arrived in a round, to be compared with what was sent.
struct Tally {
  std::uint64_t n = 0;
  std::uint64_t sum = 0;
  bool operator==(const Tally&) const = default;
  Tally& operator+=(const Tally& other) {
    n += other.n;
    sum += other.sum;
    return *this;
  }
};

std::uint64_t number_of_pair(Rank from, Rank to);
/// What must arrive at a rank in a round that these ranks write to it in.
Tally expected(const Work& work, std::span<const Rank> from, Rank me);

/// One way to send numbers of 8 bytes to neighbours, and perhaps to strangers, and to read what they send.
class Contender {
 public:
  virtual ~Contender() = default;
  /// Make ready for rounds of so many numbers to each rank; not timed. Collective.
  virtual void prepare(std::uint64_t /*n*/) {}
  /// One round. All ranks take part. @return what arrived here
  virtual Tally round(const Work& work) = 0;
};

/// What a contender is made from.
struct Setup {
  mpi::Context& context;
  std::span<const Rank> neighbours;  ///< mutual, ascending
  std::uint32_t packet_bytes = 0;    ///< of barrio; 0: its own choice
  std::optional<int> node = {};      ///< of this rank, if it is to be another than the machine's
  bool keeps_discovered = true;      ///< barrio: ranks met in a round stay neighbours
};

/// A way there is, or one that this build lacks.
struct Kind {
  std::string name;
  std::string about;  ///< in a few words, for --help
  bool takes_strangers = false;
  std::function<std::unique_ptr<Contender>(const Setup&)> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                                           ///< what this build lacks it for
};

template <class C>
std::unique_ptr<Contender> make_contender(const Setup& setup) {
  return std::make_unique<C>(setup);
}

}  // namespace barrio::bench
