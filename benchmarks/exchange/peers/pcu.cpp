// The message layer of SCOREC's meshes: any rank to any, packed by destination, ended by a non-blocking barrier.
// Ibanez et al. 2016, "PUMI: Parallel Unstructured Mesh Infrastructure".
#include <PCU.h>

#include "benchmarks/exchange/by_hand.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

class Phases : public ByHand {
 public:
  explicit Phases(const Setup& setup) : ByHand(setup), pcu_(comm_.get()) {}
  Tally round(const Work& work) override {
    pcu_.Begin();
    for (std::size_t i = 0; i < degree(); ++i) pack(neighbours_[i], numbers_[i] + work.salt, work.n);
    for (const Rank to : work.strangers) pack(to, number_of_pair(context_.rank(), to) + work.salt, work.n);
    pcu_.Send();
    Tally tally;
    while (pcu_.Listen()) {
      while (!pcu_.Unpacked()) {
        std::uint64_t number = 0;
        pcu_.Unpack(number);
        tally += {1, number};
      }
    }
    return tally;
  }

 private:
  void pack(Rank to, std::uint64_t first, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) pcu_.Pack(to, first + i);
  }
  pcu::PCU pcu_;
};

}  // namespace

std::vector<Kind> pcu_kinds() {
  return {{.name = "pcu",
           .about = "to any rank: PCU's Begin, Pack, Send, Listen, Unpack",
           .takes_strangers = true,
           .make = make_contender<Phases>}};
}

}  // namespace barrio::bench
