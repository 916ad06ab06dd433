#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "barrio/mpi/agree.hpp"
#include "benchmarks/exchange/by_hand.hpp"
#include "benchmarks/exchange/contenders.hpp"
#include "benchmarks/exchange/measure.hpp"
#include "benchmarks/exchange/result.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::bench {
namespace {

using test::world;

Pattern pattern_of(const std::string& name) { return {name, world().rank(), world().size(), 7}; }

/// Return the names of all contenders of a pattern in this build.
std::vector<std::string> contenders_of(const std::string& pattern) {
  std::vector<std::string> names;
  for (const Kind& kind : all_kinds())
    if (kind.make && (pattern != "meet" || kind.takes_strangers || kind.name == "meet-fixed"))
      names.push_back(kind.name);
  return names;
}

const Row& row_of(const Case& one, const std::string& name) {
  const auto found = std::ranges::find(one.rows, name, &Row::name);
  if (found == one.rows.end()) throw Error(ErrorCode::internal, {.subject = name, .cause = "has no row"});
  return *found;
}

#ifdef BARRIO_MPI_SMPI
constexpr std::uint64_t many = 40;  // more messages take minutes on the simulator
#else
constexpr std::uint64_t many = 1000;
#endif

TEST(Contenders, BringAllNumbersOfEachRound) {
  for (const std::string pattern_name : {"ring", "meet"}) {
    const Pattern pattern = pattern_of(pattern_name);
    const Options options{.pattern = pattern_name, .contenders = contenders_of(pattern_name), .n_repeats = 3};
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{7}, many}) {
      const Case one = compare(world(), options, pattern, n);
      ASSERT_EQ(one.rows.size(), options.contenders.size());
      const double from_neighbours = static_cast<double>(pattern.neighbours().size() * n);
      for (const Row& row : one.rows) {
        EXPECT_TRUE(std::isfinite(row.seconds)) << row.name;
        // On a ring of four, one rank is at distance two, and each rank writes to it in every round.
        const bool meets = pattern_name == "meet" && row.name != "meet-fixed" && world().size() == 4;
        EXPECT_EQ(row.numbers, from_neighbours + (meets ? static_cast<double>(n) : 0.0)) << row.name;
      }
    }
  }
}

TEST(Contenders, TakePacketsOfTheSizeBehindTheName) {
  if (!counts_mpi_calls()) GTEST_SKIP() << "this MPI has no profiling interface that counts";
  const Pattern pattern = pattern_of("ring");
  const Options options{.contenders = {"barrio@32", "barrio@1024"}, .n_repeats = 2};
  const Case one = compare(world(), options, pattern, 125);
  const auto degree = static_cast<double>(pattern.neighbours().size());
  EXPECT_EQ(row_of(one, "barrio@32").messages, 125 * degree);  // one number after the header of 24 bytes
  EXPECT_EQ(row_of(one, "barrio@1024").messages, degree);      // 125 of them fill it
}

TEST(Contenders, AreCountedInCallsOfMpi) {
  if (!counts_mpi_calls()) GTEST_SKIP() << "this MPI has no profiling interface that counts";
  const Pattern pattern = pattern_of("ring");
  const Options options{.contenders = contenders_of("ring"), .n_repeats = 4};
  const Case one = compare(world(), options, pattern, 50);
  const auto degree = static_cast<double>(pattern.neighbours().size());
  const auto expect = [&](const std::string& name, double collectives, double messages) {
    EXPECT_EQ(row_of(one, name).collectives, collectives) << name;
    EXPECT_EQ(row_of(one, name).messages, messages) << name;
  };
  expect("raw", 0, 50 * degree);
  expect("packed", 0, degree);
  expect("persistent", 0, degree);
  expect("neighbor", 1, 0);
  expect("consensus", 1, degree);
  expect("barrio", 0, degree);
  expect("barrio-intro", 0, 2 * degree);
  expect("barrio-consensus", 1, degree);
  EXPECT_GE(row_of(one, "barrio-allreduce").collectives, 1.0);
#ifdef BARRIO_BENCH_ZOLTAN
  EXPECT_GE(row_of(one, "zoltan").collectives, 1.0);  // counted, although the library makes the call
  EXPECT_EQ(row_of(one, "zoltan-do").messages, degree);
#endif
#ifdef BARRIO_BENCH_PETSC
  expect("petsc-sf", 0, degree);
  EXPECT_GE(row_of(one, "petsc-twosided").collectives, 1.0);
#endif
}

/// Packed messages with one kind of fault, on the highest rank.
class Wrong : public Packing {
 public:
  enum class Fault { none, loses_one, sends_one_twice, changes_one, repeats_the_last_round };
  Wrong(const Setup& setup, Fault fault) : Packing(setup), fault_(fault) {}
  Tally round(const Work& work) override {
    for (std::size_t j = 0; j < degree(); ++j) receive(in_from(j), n_, neighbours_[j], requests_[j]);
    const bool is_faulty = context_.rank() == context_.size() - 1;
    if (!is_faulty || fault_ != Fault::repeats_the_last_round || n_rounds_++ == 0) pack(work);
    for (std::size_t j = 0; j < degree(); ++j) send(out_to(j), n_, neighbours_[j], requests_[degree() + j]);
    wait(requests_);
    if (is_faulty && fault_ == Fault::loses_one) in_.pop_back();
    if (is_faulty && fault_ == Fault::sends_one_twice) in_.front() = in_.back();
    if (is_faulty && fault_ == Fault::changes_one) in_.front() ^= 1U << 20U;
    const Tally tally = read(in_);
    in_.resize(n_ * degree());
    return tally;
  }

 private:
  Fault fault_;
  int n_rounds_ = 0;
};

/// Run two rounds. Return the text of the error that all ranks throw, or "".
std::string two_rounds(Wrong::Fault fault) {
  const Pattern pattern = pattern_of("ring");
  Wrong wrong({.context = world(), .neighbours = pattern.neighbours()}, fault);
  wrong.prepare(5);
  try {
    for (std::uint64_t round = 0; round < 2; ++round) {
      const Work work{.n = 5, .salt = 1000 * round};
      time_round(world(), wrong, "wrong", work, expected(work, pattern.neighbours(), world().rank()));
    }
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::differs);
    return error.what();
  }
  return "";
}

TEST(Contenders, ThatAreWrongAreCaughtOnAllRanks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank has no neighbours";
  EXPECT_EQ(two_rounds(Wrong::Fault::none), "");
  EXPECT_NE(two_rounds(Wrong::Fault::loses_one).find("numbers, or wrong ones"), std::string::npos);
  for (const Wrong::Fault fault :
       {Wrong::Fault::sends_one_twice, Wrong::Fault::changes_one, Wrong::Fault::repeats_the_last_round})
    EXPECT_NE(two_rounds(fault).find("wrong: delivered"), std::string::npos);
}

TEST(Contenders, AreRefusedByName) {
  const auto text_of = [](const std::string& name) {
    try {
      find_kind(name);
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text_of("barrio@4096"), "");
  EXPECT_NE(text_of("pack").find("Did you mean 'packed'?"), std::string::npos);
  EXPECT_NE(text_of("packed@64").find("only barrio takes a packet size"), std::string::npos);
  EXPECT_NE(text_of("barrio@many").find("only barrio takes a packet size"), std::string::npos);
  for (const Kind& kind : all_kinds()) {
    if (kind.make) continue;
    EXPECT_NE(text_of(kind.name).find(kind.lacking), std::string::npos);
  }
}

/// Build the patterns of all ranks of a job, on one rank.
std::vector<Pattern> patterns_of_all(const std::string& name, int n_ranks) {
  std::vector<Pattern> all;
  for (Rank rank = 0; rank < n_ranks; ++rank) all.emplace_back(name, rank, n_ranks, test::seed());
  return all;
}

TEST(Meet, BothSidesKnowWhoWritesToWhom) {
  for (const int n_ranks : {1, 2, 3, 4, 9, 16, 64, 70}) {
    const std::vector<Pattern> all = patterns_of_all("meet", n_ranks);
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<std::vector<Rank>> writers(all.size());
      for (std::size_t r = 0; r < all.size(); ++r)
        for (const Rank to : all[r].strangers_to(round)) writers[to].push_back(static_cast<Rank>(r));
      for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r].strangers_from(round), writers[r]);
    }
  }
}

TEST(Meet, StrangersAreNeighboursOfNeighboursAndChange) {
  const std::vector<Pattern> all = patterns_of_all("meet", 64);
  std::size_t n_changed = 0;
  for (const Pattern& mine : all) {
    const std::vector<Rank> first = mine.strangers_to(0);
    EXPECT_GE(first.size(), 1U);
    EXPECT_LE(first.size(), 2U);
    for (const Rank stranger : first) {
      EXPECT_FALSE(std::ranges::binary_search(mine.neighbours(), stranger));
      EXPECT_TRUE(std::ranges::any_of(mine.neighbours(), [&](Rank middle) {
        return std::ranges::binary_search(all[middle].neighbours(), stranger);
      }));
    }
    if (first != mine.strangers_to(1)) n_changed += 1;
  }
  EXPECT_GT(n_changed, 32U);
}

TEST(Tile, NeedsATile) {
  EXPECT_THROW(Pattern("tile", 0, 15), AgreedError);
  EXPECT_FALSE(Pattern("tile", 15, 16).neighbours().empty());
}

TEST(Documents, CompareWithTheRightReference) {
  const auto goal_of = [](const Options& options, std::vector<Row> rows) {
    const Pattern pattern = pattern_of(options.pattern);
    const Json document = make_document(world(), options, pattern, {{.n = 64, .rows = std::move(rows)}});
    EXPECT_FALSE(to_text(document).empty());
    return document["goals"];
  };
  const auto row = [](const std::string& name, double seconds) {
    Row made;
    made.name = name;
    made.seconds = seconds;
    return made;
  };
  const Json meet = goal_of({.pattern = "meet"}, {row("meet-fixed", 2.0), row("barrio-intro", 3.0)});
  ASSERT_EQ(meet.size(), 1U);
  EXPECT_EQ(meet[0]["id"], "meet.64.introductions_of_fixed");
  EXPECT_EQ(meet[0]["value"], 1.5);
  EXPECT_EQ(meet[0]["goal"], 1.5);
  EXPECT_EQ(meet[0]["met"], true);
  const Json sweep = goal_of({.is_sweep = true}, {row("barrio@32", 9.0), row("barrio@64", 2.0), row("barrio", 3.0)});
  ASSERT_EQ(sweep.size(), 1U);
  EXPECT_EQ(sweep[0]["value"], 1.5);
  EXPECT_EQ(sweep[0]["met"], false);
}

}  // namespace
}  // namespace barrio::bench
