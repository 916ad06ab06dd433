// barrio itself, in each of its modes.
#include <numeric>
#include <span>

#include "barrio/exchange/neighborhood.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

using exchange::Routing;
using exchange::Termination;

template <Termination termination, Routing routing = Routing::direct>
class Barrio : public Contender {
 public:
  explicit Barrio(const Setup& setup)
      : context_(setup.context),
        neighbours_(setup.neighbours.begin(), setup.neighbours.end()),
        hood_(setup.context, setup.neighbours,
              {.packet_bytes = setup.packet_bytes,
               .termination = termination,
               .routing = routing,
               .node = setup.node,
               .keeps_discovered = setup.keeps_discovered}) {
    for (const Rank to : neighbours_) numbers_.push_back(number_of_pair(context_.rank(), to));
  }
  Tally round(const Work& work) override {
    auto round = hood_.template begin_round<std::uint64_t>();
    // What is written may be any number for all the compiler knows, so what is read in the loop is a copy.
    const std::uint64_t n = work.n;
    const std::uint64_t salt = work.salt;
    const std::span<const std::uint64_t> numbers(numbers_);
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < numbers.size(); ++j) round.channel(j).allocate() = numbers[j] + salt + i;
    if constexpr (termination != Termination::neighbourhood) {
      for (const Rank to : work.strangers) {
        const std::uint64_t first = number_of_pair(context_.rank(), to) + work.salt;
        for (std::uint64_t i = 0; i < work.n; ++i) round.allocate(to) = first + i;
      }
    }
    round.close();
    Tally tally;
    for (const auto& [from, run] : round.received_runs()) {
      tally.n += run.size();
      tally.sum = std::accumulate(run.begin(), run.end(), tally.sum);
    }
    return tally;
  }

 private:
  mpi::Context& context_;
  std::vector<Rank> neighbours_;
  std::vector<std::uint64_t> numbers_;
  exchange::Neighborhood hood_;
};

}  // namespace

std::vector<Kind> barrio_kinds() {
  return {
      {.name = "barrio",
       .about = "Neighborhood, neighbours known",
       .make = make_contender<Barrio<Termination::neighbourhood>>},
      {.name = "barrio-node",
       .about = "the same, by nodes: one message for a pair of them",
       .make = make_contender<Barrio<Termination::neighbourhood, Routing::by_node>>},
      {.name = "barrio-intro",
       .about = "the same, and to neighbours of neighbours",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::introductions>>},
      {.name = "barrio-allreduce",
       .about = "the same, and to any rank: reductions",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::allreduce>>},
      {.name = "barrio-consensus",
       .about = "the same, and to any rank: a barrier",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::consensus>>},
  };
}

}  // namespace barrio::bench
