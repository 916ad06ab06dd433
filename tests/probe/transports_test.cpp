#include "barrio/probe/transports.hpp"

#include <gtest/gtest.h>

#include <set>

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
    for (const Setting& setting : settings_of(flavour)) EXPECT_TRUE(names.contains(setting.transport)) << setting.name;
  }
}

TEST(Settings, TellTheMemoryOfARank) {
  const Setting setting{.transport = "tcp", .bytes_per_rank = 100, .bytes_per_peer = 10};
  const Json json = to_json(setting);
  EXPECT_EQ(json["memory_of_a_rank"][0]["bytes"], 100 + 16 * 10);
  EXPECT_EQ(json["memory_of_a_rank"][2]["bytes"], 100 + 4096 * 10);
}

}  // namespace
}  // namespace barrio::probe
