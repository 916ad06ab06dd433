#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mobile/parts.hpp"

namespace barrio::bench {
namespace {

/// Object that passes messages on.
struct Post {
  std::int64_t number = 0;
  std::int64_t n_handled = 0;
  mobile::MobilePtr<Post> next;

  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("n_handled", n_handled);
    visit("next", next);
  }
};

struct Parcel {
  std::int64_t n_left;
  std::int64_t payload;
};

}  // namespace

Json measure_objects(mpi::Context& context, const MobileOptions& options, bool is_remote, Goals& /*goals*/) {
  mobile::Runtime runtime(context, {.migration = options.migration});
  runtime.add_type<Post>("post");
  runtime.on<Post, Parcel>([](mobile::Turn& turn, Post& post, const Parcel& parcel) {
    post.n_handled += 1;
    if (parcel.n_left > 1) turn.send(post.next, Parcel{parcel.n_left - 1, parcel.payload});
  });
  std::vector<mobile::MobilePtr<Post>> mine;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(options.n_objects));
  for (int i = 0; i < options.n_objects; ++i) {
    mine.push_back(runtime.make(Post{i, 0, {}}));
    words[static_cast<std::size_t>(i)] = mine.back().id().word();
  }
  // each object knows one of this rank, or of the next rank
  const Rank to = (context.rank() + 1) % context.size();
  const Rank from = (context.rank() + context.size() - 1) % context.size();
  std::vector<std::uint64_t> of_next(words.size());
  mpi::check(MPI_Sendrecv(words.data(), options.n_objects, MPI_UINT64_T, from, 0, of_next.data(), options.n_objects,
                          MPI_UINT64_T, to, 0, context.comm(), MPI_STATUS_IGNORE),
             "MPI_Sendrecv");
  for (std::size_t i = 0; i < mine.size(); ++i)
    runtime.change(mine[i], [&](Post& post) {
      const std::size_t next = (i * 7 + 1) % mine.size();
      post.next = mobile::MobilePtr<Post>(mobile::ObjectId::of_word(is_remote ? of_next[next] : words[next]));
    });
  const std::int64_t n_chains = std::int64_t{options.n_objects} * options.n_chains;
  const std::int64_t n_each = std::max<std::int64_t>(options.n_messages / n_chains, 1);
  double least = std::numeric_limits<double>::infinity();
  std::uint64_t waves = 0;
  for (int i = 0; i < options.repeats; ++i) {
    for (int chain = 0; chain < options.n_chains; ++chain)
      for (const auto& one : mine) runtime.send(one, Parcel{n_each, 0});
    waves = runtime.statistics().waves;
    mpi::barrier(context);
    const double start = MPI_Wtime();
    runtime.run();
    least = std::min(least, mpi::max(context, MPI_Wtime() - start));
    waves = runtime.statistics().waves - waves;
  }
  std::int64_t n_handled = 0;
  for (const auto& one : mine) runtime.visit(one, [&](const Post& post) { n_handled += post.n_handled; });
  const std::int64_t expected = n_each * n_chains * options.repeats;
  check_sum(context, mpi::sum(context, n_handled) == expected * context.size(), "messages to objects");
  return {{"part", is_remote ? "remote" : "local"},
          {"objects", options.n_objects},
          {"chains", options.n_chains},
          {"messages", n_each * n_chains},
          {"seconds", least},
          {"messages_per_second", static_cast<double>(n_each * n_chains) / least},
          {"waves", waves}};
}

}  // namespace barrio::bench
