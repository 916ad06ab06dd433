#include "benchmarks/exchange/contender.hpp"

#include "barrio/base/hash.hpp"

namespace barrio::bench {

std::uint64_t number_of_pair(Rank from, Rank to) {
  return mix64(static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint64_t>(to));
}

Tally expected(const Work& work, std::span<const Rank> from, Rank me) {
  Tally tally;
  for (const Rank rank : from)
    tally += {work.n, work.n * (number_of_pair(rank, me) + work.salt) + work.n * (work.n - 1) / 2};
  return tally;
}

}  // namespace barrio::bench
