// Objects that are saved, and made again on any number of ranks; files that are damaged or of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mobile/common.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile {
namespace {

using test::seed;
using test::world;
using test_support::error_of_all;

/// Object that knows others, and mixes what they send into its state.
struct Kept {
  std::int64_t number = 0;
  std::uint64_t state = 0;
  std::vector<MobilePtr<Kept>> others;
  std::vector<std::int64_t> ballast;

  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("state", state);
    visit("others", others);
    visit("ballast", ballast);
  }
};
/// The same name with other fields, as in a program that has changed.
struct Changed {
  std::int64_t number = 0;
  std::vector<std::int32_t> ballast;
  template <class Visit>
  void fields(Visit& visit) {
    visit("number", number);
    visit("ballast", ballast);
  }
};
struct Pulse {
  std::uint64_t value;
  std::int64_t n_left;
};

constexpr std::int64_t n_kept = 60;

void add_types(Runtime& runtime) {
  runtime.add_type<Kept>("kept");
  runtime.on<Kept, Pulse>([](Turn& turn, Kept& kept, const Pulse& pulse) {
    kept.state += mix64(pulse.value);  // in any order
    if (pulse.n_left == 0) return;
    for (const MobilePtr<Kept> other : kept.others)
      turn.send(other, Pulse{mix64(pulse.value + static_cast<std::uint64_t>(kept.number)), pulse.n_left - 1});
    if (mix64(pulse.value) % 4 == 0 && kept.number % 2 == 1)
      turn.migrate(static_cast<Rank>(pulse.value % static_cast<std::uint64_t>(turn.runtime().context().size())));
  });
}

void make_all(Runtime& runtime) {
  mpi::Context& context = runtime.context();
  std::vector<std::uint64_t> words(n_kept, 0);
  for (std::int64_t i = 0; i < n_kept; ++i) {
    if (i % context.size() != context.rank()) continue;
    Kept kept;
    kept.number = i;
    kept.ballast.assign(static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(i)) % 3000), i);
    words[static_cast<std::size_t>(i)] =
        runtime.make_on(static_cast<Rank>((i / 3) % context.size()), std::move(kept)).id().word();
  }
  runtime.run();
  mpi::all_reduce(context, std::span<std::uint64_t>(words), MPI_SUM);
  for (const auto one : runtime.objects<Kept>())
    runtime.change(one, [&](Kept& kept) {
      for (const std::int64_t step : {1, 7, 23})
        kept.others.emplace_back(ObjectId::of_word(words[static_cast<std::size_t>((kept.number + step) % n_kept)]));
    });
}

/// Let some objects send, and run until all is quiet.
void pulse(Runtime& runtime, std::uint64_t value) {
  for (const auto one : runtime.objects<Kept>())
    runtime.visit(one, [&](const Kept& kept) {
      if (kept.number % 10 == 0) runtime.send(one, Pulse{value + static_cast<std::uint64_t>(kept.number), 4});
    });
  runtime.run();
}

std::uint64_t sum_of(Runtime& runtime) {
  std::uint64_t sum = 0;
  std::int64_t n = 0;
  for (const auto one : runtime.objects<Kept>())
    runtime.visit(one, [&](const Kept& kept) {
      EXPECT_EQ(kept.ballast.size(), static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(kept.number)) % 3000));
      EXPECT_TRUE(std::ranges::all_of(kept.ballast, [&](std::int64_t item) { return item == kept.number; }));
      sum += mix64(kept.state ^ static_cast<std::uint64_t>(kept.number));
      n += 1;
    });
  EXPECT_EQ(mpi::sum(runtime.context(), n), n_kept);
  return mpi::sum(runtime.context(), sum);
}

std::string file(const std::string& name) { return (test::scratch() / name).string(); }

/// Run on the first ranks only. @param act  called there with a context of them
template <class Act>
void on_first_ranks(int n, Act&& act) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(world().comm(), world().rank() < n ? 0 : MPI_UNDEFINED, world().rank(), &part);
  if (part != MPI_COMM_NULL) {
    {
      mpi::Context context(part);
      act(context);
    }
    MPI_Comm_free(&part);
  }
  mpi::barrier(world());
}

TEST(Saved, ObjectsGoOnAfterARestartOnAnyRanks) {
  const std::string first = file("first.state");
  const std::string second = file("second.state");
  std::uint64_t expected = 0;
  {
    Runtime runtime(world(), {.migration = true});
    add_types(runtime);
    make_all(runtime);
    pulse(runtime, 1);
    runtime.save(first);
    pulse(runtime, 2);
    expected = sum_of(runtime);
  }
  for (int n = 1; n <= world().size(); ++n) {
    on_first_ranks(n, [&](mpi::Context& context) {
      Runtime runtime(context, {.migration = true});
      add_types(runtime);
      runtime.restore(first);
      pulse(runtime, 2);
      EXPECT_EQ(sum_of(runtime), expected) << n << " ranks";
      // names that were given are not given again
      const MobilePtr<Kept> made = runtime.make(Kept{});
      const auto all = runtime.objects<Kept>();
      EXPECT_EQ(std::ranges::count(all, made), 1);
      runtime.destroy(made);
      if (n == 1) runtime.save(second);
    });
  }
  // from one rank to all, and once more
  Runtime runtime(world(), {.migration = true});
  add_types(runtime);
  runtime.restore(second);
  EXPECT_EQ(sum_of(runtime), expected);
  std::uint64_t most = 0;
  for (const auto one : runtime.objects<Kept>()) {
    runtime.visit(one, [&](const Kept& kept) { most += kept.ballast.size(); });
    EXPECT_EQ(runtime.last_known_rank(one), world().rank());
  }
  const auto all = mpi::sum(world(), most);
  EXPECT_LE(mpi::max(world(), most), all / static_cast<std::uint64_t>(world().size()) + 2 * 3000);
  runtime.save(second);
  pulse(runtime, 3);
  expected = sum_of(runtime);
  Runtime again(world(), {.migration = true});
  add_types(again);
  again.restore(second);
  pulse(again, 3);
  EXPECT_EQ(sum_of(again), expected);
}

TEST(Saved, WithoutMigrationOnAsManyRanks) {
  const std::string path = file("still.state");
  const auto add = [](Runtime& runtime) {
    runtime.add_type<Kept>("kept");
    runtime.on<Kept, Pulse>([](Turn&, Kept& kept, const Pulse& pulse) { kept.state += pulse.value; });
  };
  Runtime runtime(world());
  add(runtime);
  make_all(runtime);
  pulse(runtime, 5);
  runtime.save(path);
  const std::uint64_t expected = sum_of(runtime);
  Runtime again(world());
  add(again);
  again.restore(path);
  EXPECT_EQ(sum_of(again), expected);
  EXPECT_EQ(again.objects<Kept>(), runtime.objects<Kept>());
  EXPECT_NE(error_of_all([&] { again.restore(path); }).find("cannot be restored beside others"), std::string::npos);
  if (world().size() > 1)
    on_first_ranks(world().size() - 1, [&](mpi::Context& context) {
      Runtime fewer(context);
      add(fewer);
      EXPECT_NE(error_of_all([&] { fewer.restore(path); }).find("migration = true"), std::string::npos);
    });
}

TEST(Saved, MessagesThatWaitAreRefused) {
  Runtime runtime(world());
  add_types(runtime);
  const MobilePtr<Kept> mine = runtime.make(Kept{});
  runtime.send(mine, Pulse{1, 0});
  EXPECT_NE(error_of_all([&] { runtime.save(file("waits.state")); }).find("while messages to them wait"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("waits.state")));
  runtime.run();
  runtime.save(file("waits.state"));
  EXPECT_TRUE(std::filesystem::exists(file("waits.state")));
}

TEST(Saved, DamageIsFound) {
  const std::string good = file("good.state");
  const std::string bad = file("bad.state");
  {
    Runtime runtime(world(), {.migration = true});
    add_types(runtime);
    make_all(runtime);
    runtime.save(good);
  }
  const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(good));
  const auto restored = [&](const std::string& path) {
    return error_of_all([&] {
      Runtime runtime(world(), {.migration = true});
      add_types(runtime);
      runtime.restore(path);
    });
  };
  EXPECT_EQ(restored(good), "no error");
  // one byte changed, anywhere; half of them in the lists at the end
  for (std::uint64_t i = 0; i < 40; ++i) {
    if (world().is_root()) {
      std::filesystem::copy_file(good, bad, std::filesystem::copy_options::overwrite_existing);
      std::fstream stream(bad, std::ios::in | std::ios::out | std::ios::binary);
      const auto random = static_cast<std::int64_t>(mix64(seed() + i) >> 1U);
      const std::int64_t at = i % 2 == 0 ? random % n_bytes : n_bytes - 1 - random % 4000;
      stream.seekg(at);
      const char byte = static_cast<char>(stream.get());
      stream.seekp(at);
      stream.put(static_cast<char>(byte ^ (1 << (i % 8))));
    }
    mpi::barrier(world());
    EXPECT_NE(restored(bad), "no error") << i;
    mpi::barrier(world());
  }
  if (world().is_root()) {
    std::filesystem::copy_file(good, bad, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(bad, static_cast<std::uintmax_t>(n_bytes / 2));
  }
  mpi::barrier(world());
  EXPECT_NE(restored(bad).find("is not a file of saved objects"), std::string::npos);
  EXPECT_NE(restored(file("none.state")).find("does not exist"), std::string::npos);
  EXPECT_NE(error_of_all([&] {
              Runtime runtime(world(), {.migration = true});
              runtime.add_type<Changed>("kept");
              runtime.restore(good);
            }).find("type kept with other fields"),
            std::string::npos);
  EXPECT_NE(error_of_all([&] {
              Runtime runtime(world(), {.migration = true});
              runtime.add_type<Kept>("other");
              runtime.restore(good);
            }).find("of a type that this program does not have"),
            std::string::npos);
  // nothing of a file that failed is left
  Runtime runtime(world(), {.migration = true});
  add_types(runtime);
  EXPECT_NE(error_of_all([&] { runtime.restore(bad); }), "no error");
  EXPECT_TRUE(runtime.objects<Kept>().empty());
  runtime.restore(good);
  EXPECT_EQ(mpi::sum(world(), static_cast<std::int64_t>(runtime.objects<Kept>().size())), n_kept);
}

}  // namespace
}  // namespace barrio::mobile
