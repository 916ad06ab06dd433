#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/exchange/rounds/round_model.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::test {

inline std::string describe(const Script& script) {
  return fmt::format("neighbours {}, strangers {}", script.neighbours, script.strangers);
}

/// Expect that RoundState is right in every state that these scripts can reach. Prints the number of states.
inline void expect_every_state_right(const std::vector<Script>& scripts, const std::string& family) {
  std::uint64_t n_states = 0;
  std::uint64_t n_steps = 0;
  for (const Script& script : scripts) {
    const Verdict verdict = Model<exchange::detail::RoundState>(script).search(50'000'000);
    ASSERT_EQ(verdict.fault, "") << describe(script) << "\n" << fmt::format("{}", fmt::join(verdict.steps, ", "));
    n_states += verdict.n_states;
    n_steps += verdict.n_steps;
  }
  EXPECT_GT(n_states, scripts.size());
  fmt::print("{}: {} systems, {} states, {} steps\n", family, scripts.size(), n_states, n_steps);
}

/// Expect that RoundState is right in random orders of random graphs of 5 to 12 ranks. Graphs differ between ranks.
inline void expect_random_orders_right(int n_scripts, int n_orders) {
  std::mt19937_64 random(number({40, word(world().rank())}));
  std::uint64_t n_steps = 0;
  for (int repeat = 0; repeat < n_scripts; ++repeat) {
    const Script script = random_script(random, 5 + static_cast<int>(random() % 8), 2 + static_cast<int>(random() % 3));
    Model<exchange::detail::RoundState> model(script);
    for (int order = 0; order < n_orders; ++order) {
      const Verdict verdict = model.walk(random);
      ASSERT_EQ(verdict.fault, "") << describe(script) << "\n" << fmt::format("{}", fmt::join(verdict.steps, ", "));
      n_steps += verdict.n_steps;
    }
  }
  if (world().is_root())
    fmt::print("{} orders of {} graphs on each rank, {} steps on this\n", n_scripts * n_orders, n_scripts, n_steps);
}

}  // namespace barrio::test
