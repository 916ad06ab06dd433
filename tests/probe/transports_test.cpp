#include "barrio/probe/transports.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::probe {
namespace {

TEST(Transports, AreNamedOnceAndBeginWithWhatAJobGets) {
  for (const char* flavour : {"openmpi", "mpich", "another"}) {
    const auto all = transports_of(flavour);
    ASSERT_FALSE(all.empty());
    EXPECT_TRUE(all.front().variables.empty());
    std::set<std::string> names;
    for (const Transport& transport : all) {
      EXPECT_TRUE(names.insert(transport.name).second);
      for (const std::string& variable : transport.variables) EXPECT_NE(variable.find('='), std::string::npos);
    }
    for (const Setting& setting : settings_of(flavour)) {
      EXPECT_TRUE(names.contains(setting.transport)) << name_of(setting);
      EXPECT_FALSE(setting.variables.empty());
    }
  }
}

TEST(Settings, TellTheMemoryOfARank) {
  const Setting setting{.transport = "tcp", .bytes_per_rank = 100, .bytes_per_peer = 10};
  const Json json = to_json(setting);
  EXPECT_EQ(json["memory_of_a_rank"][0]["bytes"], 100 + 16 * 10);
  EXPECT_EQ(json["memory_of_a_rank"][2]["bytes"], 100 + 4096 * 10);
}

TEST(Settings, SweepEachQuantityUpwards) {
  for (const char* flavour : {"openmpi", "mpich"}) {
    std::map<std::string, std::vector<std::uint64_t>> values;
    for (const Setting& setting : settings_of(flavour)) {
      if (setting.value == 0) continue;
      values[setting.transport + setting.quantity].push_back(setting.value);
      for (const std::string& variable : setting.variables)
        EXPECT_TRUE(variable.ends_with("=" + std::to_string(setting.value))) << variable;
    }
    EXPECT_EQ(values.size(), 3U) << flavour;
    for (const auto& [quantity, of_it] : values) {
      EXPECT_GE(of_it.size(), 3U) << quantity;
      EXPECT_TRUE(std::ranges::is_sorted(of_it)) << quantity;
    }
  }
}

TEST(Settings, SayWhatTheKernelGrants) {
  const std::string file = barrio::test::scratch() / fmt::format("wmem_max_{}", barrio::test::world().rank());
  std::ofstream(file) << "212992\n";
  const Setting modest{.transport = "tcp", .value = 65'536, .limited_by = file};
  EXPECT_FALSE(to_json(modest).contains("granted"));
  const Setting greedy{.transport = "tcp", .value = 4'194'304, .limited_by = file};
  EXPECT_EQ(to_json(greedy)["granted"], 212'992);
  EXPECT_FALSE(to_json({.transport = "tcp", .value = 4, .limited_by = file + "-none"}).contains("granted"));
}

}  // namespace
}  // namespace barrio::probe
