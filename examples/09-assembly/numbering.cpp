// Numbering for a linear solver: shared unknowns get one owner, and all are numbered without gaps, rank by rank, as
// PETSc, hypre and Trilinos expect their rows. Ranks know only labels of their unknowns, which may be any integers.
//
//   mpiexec -n 4 numbering 16
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/shared_ids.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

using barrio::GlobalId, barrio::Rank;
using barrio::exchange::Neighborhood, barrio::exchange::Sharer, barrio::exchange::SharedIds;

namespace {

/// Return labels of the vertices of this rank's layers of n^3 elements. Both ranks have the layer between them. Labels
/// are far apart.
std::vector<GlobalId> labels(const barrio::Context& context, std::int64_t n) {
  std::vector<GlobalId> all;
  const std::int64_t begin = n * context.rank() / context.size();
  const std::int64_t end = n * (context.rank() + 1) / context.size();
  for (std::int64_t v = begin * (n + 1) * (n + 1); v < (end + 1) * (n + 1) * (n + 1); ++v)
    all.push_back(GlobalId{v * 1'000'003});
  return all;
}

/// Message of an owner to another rank: the position of an unknown in that rank's list, and its number.
struct Numbered {
  barrio::LocalId place;
  std::int64_t number;
};

/// Number the unknowns from 0 to n_global - 1, the same on all ranks that have them. Collective.
std::vector<std::int64_t> number(barrio::Context& context, const std::vector<GlobalId>& unknowns) {
  const SharedIds shared = barrio::exchange::find_shared_ids(context, unknowns);
  const auto is_owned = [&](std::size_t i) {  // the lowest rank is the owner
    return shared.of(i).empty() || context.rank() < shared.of(i).front().rank;
  };
  std::int64_t n_owned = 0;
  for (std::size_t i = 0; i < unknowns.size(); ++i) n_owned += is_owned(i) ? 1 : 0;
  std::int64_t next = barrio::mpi::exclusive_sum(context, n_owned);

  std::vector<std::int64_t> numbers(unknowns.size());
  Neighborhood hood(context, shared.neighbours);
  auto round = hood.begin_round<Numbered>();
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    if (!is_owned(i)) continue;
    numbers[i] = next++;
    for (const Sharer& sharer : shared.of(i)) round.allocate(sharer.rank) = {sharer.index, numbers[i]};
  }
  round.close();
  for (const auto& [from, told] : round.received()) numbers[barrio::index(told.place)] = told.number;
  return numbers;
}

void run(barrio::Context& context, int argc, char** argv) {
  const int n = argc == 2 ? std::atoi(argv[1]) : 0;
  if (n < 1 || n > 256 || n < context.size())
    throw barrio::AgreedError(
        barrio::ErrorCode::usage,
        {"numbering", "needs 1 to 256 elements along an axis, at least one per rank", "numbering 16"});
  const std::vector<GlobalId> unknowns = labels(context, n);
  const std::vector<std::int64_t> numbers = number(context, unknowns);
  std::int64_t highest = 0;
  std::uint64_t n_wrong = 0;  // layers are numbered in their order, on any ranks
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    highest = std::max(highest, numbers[i]);
    if (barrio::value(unknowns[i]) != numbers[i] * 1'000'003) n_wrong += 1;
  }
  highest = barrio::mpi::max(context, highest);
  n_wrong = barrio::mpi::sum(context, n_wrong);
  if (context.is_root())
    std::printf("%d^3 elements, unknowns 0 to %" PRId64 ", %" PRIu64 " out of order\n", n, highest, n_wrong);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) { run(context, argc, argv); });
}
