#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "benchmarks/mobile/parts.hpp"

namespace barrio::bench {
namespace {

/// Object whose messages cost a fixed amount of work.
struct Burden {
  std::int64_t n_steps = 0;  // of work for a message
  std::uint64_t state = 0;
  std::int64_t n_handled = 0;
  std::vector<double> ballast;

  template <class Visit>
  void fields(Visit& visit) {
    visit("n_steps", n_steps);
    visit("state", state);
    visit("n_handled", n_handled);
    visit("ballast", ballast);
  }
};
struct Work {
  std::int64_t n_left;
};

/// Object that sends messages to others at random, and migrates after some.
struct Wanderer {
  std::uint64_t random = 0;
  std::int64_t n_handled = 0;
};
struct Hop {
  std::int64_t n_left;
};

constexpr int n_burdens = 256;
constexpr std::int64_t n_rounds = 60;
constexpr double heaviest = 3e5;  // steps of work: about a millisecond

}  // namespace

Json measure_skewed(mpi::Context& context, const MobileOptions& options, Goals& goals) {
  const int n_ranks = context.size();
  double best_time = 0.0;
  double best_busy = 0.0;
  Json best;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    mobile::Runtime runtime(context, {.migration = true, .balancing = true});
    runtime.add_type<Burden>("burden");
    runtime.on<Burden, Work>([](mobile::Turn& turn, Burden& burden, const Work& work) {
      for (std::int64_t i = 0; i < burden.n_steps; ++i) burden.state = mix64(burden.state);
      burden.n_handled += 1;
      if (work.n_left > 1) turn.send(turn.self<Burden>(), Work{work.n_left - 1});
    });
    if (context.is_root()) {
      for (int i = 0; i < n_burdens; ++i) {
        Burden burden;
        burden.n_steps = static_cast<std::int64_t>(heaviest / (i + 1));
        burden.state = static_cast<std::uint64_t>(i);
        burden.ballast.assign(1024, 1.0);
        runtime.send(runtime.make(std::move(burden)), Work{n_rounds});
      }
    }
    mpi::barrier(context);
    const double start = MPI_Wtime();
    runtime.run();
    const double seconds = mpi::max(context, MPI_Wtime() - start);

    std::uint64_t sum = 0;
    std::int64_t n_handled = 0;
    for (const auto one : runtime.objects<Burden>())
      runtime.visit(one, [&](const Burden& burden) {
        sum += burden.state;
        n_handled += burden.n_handled;
      });
    // the states are those of the work, done in any order
    std::uint64_t expected = 0;
    if (repeat == 0 && context.is_root()) {
      for (int i = 0; i < n_burdens; ++i) {
        auto state = static_cast<std::uint64_t>(i);
        const auto n = static_cast<std::int64_t>(heaviest / (i + 1)) * n_rounds;
        for (std::int64_t step = 0; step < n; ++step) state = mix64(state);
        expected += state;
      }
    }
    sum = mpi::sum(context, sum);
    expected = mpi::sum(context, expected);
    check_sum(context, mpi::sum(context, n_handled) == n_burdens * n_rounds, "skewed objects");
    check_sum(context, repeat > 0 || sum == expected, "skewed objects");

    const mobile::RuntimeStatistics statistics = runtime.statistics();
    const double all = mpi::sum(context, statistics.handler_seconds);
    const double busiest = mpi::max(context, statistics.handler_seconds);
    double weight = 0.0;
    for (int i = 0; i < n_burdens; ++i) weight += 1.0 / (i + 1);
    const double least = std::max(all / n_ranks, all / weight);  // the first object is the largest
    const double of_time = least / seconds;
    const double of_busy = least / busiest;
    const int n_cores = std::min(n_ranks, mpi::usable_cores());
    if (of_time > best_time || best.is_null()) {
      best = {{"seconds", seconds},
              {"migrations", mpi::sum(context, statistics.migrations)},
              {"migrated_bytes", mpi::sum(context, statistics.migrated_bytes)},
              {"core_efficiency", all / n_cores / seconds},
              {"handler_seconds", {{"sum", all}, {"max", busiest}}}};
    }
    best_time = std::max(best_time, of_time);
    best_busy = std::max(best_busy, of_busy);
  }
  best["part"] = "skewed";
  best["efficiency"] = best_time;
  best["handler_efficiency"] = best_busy;
  if (n_ranks == 2) goals.add("skewed.time", best_time, "", 0.9, true);
  if (n_ranks > 2) goals.add("skewed.handlers", best_busy, "", 0.9, true);
  return best;
}

Json measure_directory(mpi::Context& context, const MobileOptions& options, Goals& goals) {
  constexpr std::array<const char*, 3> policies{"lazy", "eager", "home"};
  const auto n_ranks = static_cast<std::uint64_t>(context.size());
  Json part{{"part", "directory"}, {"objects", options.n_objects}, {"policies", Json::array()}};
  for (const mobile::PlaceUpdates updates :
       {mobile::PlaceUpdates::lazy, mobile::PlaceUpdates::eager, mobile::PlaceUpdates::home}) {
    mobile::Runtime runtime(context, {.migration = true, .updates = updates});
    runtime.add_type<Wanderer>("wanderer");
    std::vector<std::uint64_t> words(static_cast<std::size_t>(options.n_objects));
    std::vector<mobile::MobilePtr<Wanderer>> mine;
    for (std::size_t i = 0; i < words.size(); ++i) {
      mine.push_back(runtime.make(Wanderer{mix64(i * n_ranks + static_cast<std::uint64_t>(context.rank())), 0}));
      words[i] = mine.back().id().word();
    }
    std::vector<std::uint64_t> all(words.size() * n_ranks);
    mpi::check(MPI_Allgather(words.data(), options.n_objects, MPI_UINT64_T, all.data(), options.n_objects, MPI_UINT64_T,
                             context.comm()),
               "MPI_Allgather");
    constexpr std::int64_t turns_before_it_moves = 10;
    runtime.on<Wanderer, Hop>([&](mobile::Turn& turn, Wanderer& one, const Hop& hop) {
      one.n_handled += 1;
      one.random = mix64(one.random);
      if (hop.n_left > 1) {
        // near ones more often: an object knows few others
        const std::uint64_t to = (turn.self<Wanderer>().id().word() + one.random % 16) * 7 % all.size();
        turn.send(mobile::MobilePtr<Wanderer>(mobile::ObjectId::of_word(all[to])), Hop{hop.n_left - 1});
      }
      if (one.n_handled % turns_before_it_moves == 0) turn.migrate(static_cast<Rank>(mix64(one.random + 1) % n_ranks));
    });
    const std::int64_t n_each = std::max<std::int64_t>(options.n_messages / 10 / options.n_objects, 1);
    for (const auto& one : mine) runtime.send(one, Hop{n_each});
    mpi::barrier(context);
    const double start = MPI_Wtime();
    runtime.run();
    const double seconds = mpi::max(context, MPI_Wtime() - start);
    std::int64_t n_handled = 0;
    for (const auto one : runtime.objects<Wanderer>())
      runtime.visit(one, [&](const Wanderer& object) { n_handled += object.n_handled; });
    check_sum(context, mpi::sum(context, n_handled) == n_each * options.n_objects * context.size(), "moving objects");
    const mobile::RuntimeStatistics statistics = runtime.statistics();
    const auto n_remote = static_cast<double>(mpi::sum(context, statistics.remote_messages));
    const auto n_detours = static_cast<double>(mpi::sum(context, statistics.detours));
    const double hops = n_remote > 0 ? 1.0 + n_detours / n_remote : 0.0;
    const char* name = policies[static_cast<std::size_t>(updates)];
    part["policies"].push_back({{"updates", name},
                                {"seconds", seconds},
                                {"hops", hops},
                                {"max_hops", mpi::max(context, statistics.max_hops)},
                                {"migrations", mpi::sum(context, statistics.migrations)},
                                {"place_updates", mpi::sum(context, statistics.place_updates)},
                                {"places_of_rank", mpi::max(context, statistics.places)}});
    if (n_remote > 0) goals.add(std::string("directory.hops.") + name, hops, "", 1.2, false);
  }
  return part;
}

}  // namespace barrio::bench
