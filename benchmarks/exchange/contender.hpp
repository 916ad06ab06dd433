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

/// Work of a rank in one round: it writes the numbers `number_of_pair(me, to) + salt + i`, i < n, to each target rank.
struct Work {
  std::uint64_t n = 0;     ///< numbers to each rank
  std::uint64_t salt = 0;  ///< differs in each round, so that left-over data of an earlier round is detected
  std::span<const Rank> strangers = {};  ///< ranks to write to in addition to neighbours; they do not expect it
};

/// Summary of the numbers received in a round, to be compared with those sent.
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
/// Return the tally of a round in which these ranks write to a rank.
Tally expected(const Work& work, std::span<const Rank> from, Rank me);

/// A method to exchange numbers of 8 bytes with neighbours, and perhaps with strangers.
class Contender {
 public:
  virtual ~Contender() = default;
  /// Prepare for rounds of n numbers to each rank; not timed. Collective.
  virtual void prepare(std::uint64_t /*n*/) {}
  /// Run one round. All ranks take part. @return tally of this rank
  virtual Tally round(const Work& work) = 0;
};

/// Arguments to make a contender.
struct Setup {
  mpi::Context& context;
  std::span<const Rank> neighbours;  ///< mutual, ascending
  std::uint32_t packet_bytes = 0;    ///< of barrio; 0: automatic
  std::optional<int> node = {};      ///< of this rank, in place of the machine's
  bool keeps_discovered = true;      ///< barrio: ranks met in a round stay neighbours
};

/// A kind of contender, perhaps not in this build.
struct Kind {
  std::string name;
  std::string about;  ///< short description for --help
  bool takes_strangers = false;
  std::function<std::unique_ptr<Contender>(const Setup&)> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                                           ///< why this build lacks it
};

template <class C>
std::unique_ptr<Contender> make_contender(const Setup& setup) {
  return std::make_unique<C>(setup);
}

}  // namespace barrio::bench
