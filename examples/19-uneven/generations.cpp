// Families that divide and die out, as objects: a computation that is saved after every few generations, and goes on
// after it was killed, on any number of ranks. generations FAMILIES GENERATIONS FILE
#include <barrio/base/hash.hpp>
#include <barrio/mobile/runtime.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

using barrio::mobile::MobilePtr, barrio::mobile::Turn;

namespace {

constexpr int generations_of_run = 5;  // between two files

/// Member of a family, which remembers its ancestors.
struct Member {
  std::uint64_t random = 0;
  std::vector<std::uint64_t> ancestors;

  template <class Visit>
  void fields(Visit& visit) {
    visit("random", random);
    visit("ancestors", ancestors);
  }
};
/// Time that has passed: one object, of the first rank.
struct Clock {
  int generation = 0;
};
struct Live {
  int n_generations;
};

void live(Turn& turn, Member& member, const Live& message) {
  for (int i = 0; i < 2000; ++i) member.random = barrio::mix64(member.random);
  member.ancestors.push_back(member.random);
  if (member.random % 8 == 0) return turn.destroy();
  const Live next{message.n_generations - 1};
  if (member.random % 8 == 1) {
    const auto child = turn.runtime().make(Member{member.random + 1, member.ancestors});
    if (next.n_generations > 0) turn.send(child, next);
  }
  if (next.n_generations > 0) turn.send(turn.self<Member>(), next);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const int n_families = argc > 1 ? std::atoi(argv[1]) : 100;
    const int n_generations = argc > 2 ? std::atoi(argv[2]) : 50;
    const std::string file = argc > 3 ? argv[3] : "generations.state";
    barrio::mobile::Runtime runtime(context, {.migration = true, .balancing = true});
    runtime.add_type<Clock>("clock");
    runtime.add_type<Member>("member");
    runtime.on<Member, Live>(live);

    const int is_there = context.is_root() && std::filesystem::exists(file) ? 1 : 0;
    if (barrio::mpi::max(context, is_there) == 1) {
      runtime.restore(file);
    } else if (context.is_root()) {
      (void)runtime.make(Clock{});
      for (int i = 0; i < n_families; ++i) (void)runtime.make(Member{barrio::mix64(static_cast<std::uint64_t>(i)), {}});
    }
    for (;;) {
      int generation = 0;
      for (const auto one : runtime.objects<Clock>())
        runtime.visit(one, [&](const Clock& clock) { generation = clock.generation; });
      generation = barrio::mpi::max(context, generation);
      if (generation >= n_generations) break;

      for (const auto one : runtime.objects<Member>()) runtime.send(one, Live{generations_of_run});
      runtime.run();
      for (const auto one : runtime.objects<Clock>())
        runtime.change(one, [&](Clock& clock) { clock.generation += generations_of_run; });
      runtime.save(file);
      if (context.is_root()) std::fprintf(stderr, "generation %d is saved\n", generation + generations_of_run);
    }

    std::uint64_t sum = 0;
    std::int64_t n = 0;
    for (const auto one : runtime.objects<Member>())
      runtime.visit(one, [&](const Member& member) {
        for (const std::uint64_t ancestor : member.ancestors) sum += barrio::mix64(ancestor);
        n += 1;
      });
    sum = barrio::mpi::sum(context, sum);
    n = barrio::mpi::sum(context, n);
    if (context.is_root())
      std::printf("%s members, checksum %016llx\n", std::to_string(n).c_str(), static_cast<unsigned long long>(sum));
  });
}
