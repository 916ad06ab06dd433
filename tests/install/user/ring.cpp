// One room alone: each rank sends its number to the next.
#include <cstdio>
#include <vector>

#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [](barrio::Context& context) {
    const barrio::Rank next = (context.rank() + 1) % context.size();
    const auto got = barrio::exchange::route(
        context, barrio::exchange::pack_by_rank<int>(std::vector{next}, std::vector{context.rank()}));
    const bool is_right = got.items == std::vector{(context.rank() + context.size() - 1) % context.size()};
    if (barrio::mpi::min(context, is_right ? 1 : 0) == 0)
      throw barrio::AgreedError(barrio::ErrorCode::differs, {.subject = "ring", .cause = "is broken"});
    if (context.is_root()) std::printf("ring of %d\n", context.size());
  });
}
