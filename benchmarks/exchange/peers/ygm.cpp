// The message layer of LLNL's graph codes: remote function calls, packed by destination, ended by non-blocking sums.
// Steil et al. 2023, "Embracing Irregular Parallelism in HPC with YGM".
#include <ygm/comm.hpp>

#include <array>
#include <utility>

#include "benchmarks/exchange/by_hand.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

class Calls : public ByHand {
 public:
  explicit Calls(const Setup& setup) : ByHand(setup), ygm_(comm_.get()) {
    for (std::size_t i = 0; i < tallies_.size(); ++i) places_[i] = ygm_.make_ygm_ptr(tallies_[i]);
  }
  Tally round(const Work& work) override {
    // A rank that has left the barrier may call one that is still in it: such calls belong to the next round.
    const std::size_t now = n_rounds_++ % tallies_.size();
    for (std::size_t i = 0; i < degree(); ++i) call(neighbours_[i], places_[now], numbers_[i] + work.salt, work.n);
    for (const Rank to : work.strangers)
      call(to, places_[now], number_of_pair(context_.rank(), to) + work.salt, work.n);
    ygm_.barrier();
    return std::exchange(tallies_[now], {});
  }

 private:
  using Place = ygm::ygm_ptr<Tally>;
  void call(Rank to, Place tally, std::uint64_t first, std::uint64_t n) {
    const auto take = [](Place place, std::uint64_t number) { *place += {1, number}; };
    for (std::uint64_t i = 0; i < n; ++i) ygm_.async(to, take, tally, first + i);
  }
  std::uint64_t n_rounds_ = 0;
  std::array<Tally, 2> tallies_;
  ygm::comm ygm_;
  std::array<Place, 2> places_;
};

}  // namespace

std::vector<Kind> ygm_kinds() {
  return {{.name = "ygm",
           .about = "to any rank: YGM's async and barrier",
           .takes_strangers = true,
           .make = make_contender<Calls>}};
}

}  // namespace barrio::bench
