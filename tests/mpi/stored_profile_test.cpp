#include "barrio/mpi/stored_profile.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

/// Sets BARRIO_PROFILE during a test.
class ProfilePath {
 public:
  explicit ProfilePath(const std::string& value) { ::setenv("BARRIO_PROFILE", value.c_str(), 1); }
  ProfilePath(const ProfilePath&) = delete;
  ProfilePath& operator=(const ProfilePath&) = delete;
  ~ProfilePath() { ::unsetenv("BARRIO_PROFILE"); }
};

Profile some_profile() {
  Profile profile;
  profile.packet_bytes = 12'345;
  profile.eager_bytes = 777;
  profile.test_seconds = 1.5e-7;
  profile.is_measured = true;
  for (std::size_t i = 0; i < Profile::n_sizes; ++i)
    profile.times[i] = {1e-6 * static_cast<double>(i + 1), 2e-6, 3e-7, 4e-8};
  return profile;
}

std::string file_of_root(const std::string& name) { return (test::scratch() / name).string(); }

TEST(Profile, NamesTheNearestOfItsSizes) {
  EXPECT_EQ(Profile::nearest_size(0), 0U);
  EXPECT_EQ(Profile::nearest_size(2048), 0U);
  EXPECT_EQ(Profile::nearest_size(2049), 1U);
  EXPECT_EQ(Profile::nearest_size(std::uint64_t{1} << 40U), Profile::n_sizes - 1);
  EXPECT_EQ(Profile::size_bytes(Profile::n_sizes - 1), std::uint64_t{4} << 20U);
}

TEST(StoredProfile, IsUsedOnItsPlatformByAllRanks) {
  const std::string path = file_of_root("profiles-used.json");
  const ProfilePath chosen(path);
  Context context(test::world().comm());
  const Platform here = find_platform(context);
  EXPECT_FALSE(here.mpi.empty());
  EXPECT_FALSE(here.host_kind.empty());
  if (context.is_root()) {
    Platform other = here;
    other.mpi = "another MPI";
    store_profile(path, other, Profile{});
    store_profile(path, here, Profile{});
    store_profile(path, here, some_profile());  // replaces the previous one
    EXPECT_EQ(read_json_document(path, "barrio.profiles", 1)["profiles"].size(), 2U);
  }
  barrier(context);
  use_stored_profile(context);
  EXPECT_TRUE(context.profile().is_measured);
  EXPECT_EQ(context.profile().packet_bytes, 12'345U);
  EXPECT_EQ(context.profile().eager_bytes, 777U);
  EXPECT_EQ(context.profile().times[2].alone, 3e-6);
}

TEST(StoredProfile, OfAnotherPlatformIsNamedAndIgnored) {
  for (int what = 0; what < 4; ++what) {
    const std::string path = file_of_root("profiles-other-" + std::to_string(what) + ".json");
    const ProfilePath chosen(path);
    Context context(test::world().comm());
    Platform other = find_platform(context);
    std::string& changed = what == 0   ? other.mpi
                           : what == 1 ? other.transport
                           : what == 2 ? other.settings
                                       : other.host_kind;
    changed += " of another kind";
    testing::internal::CaptureStderr();
    if (context.is_root()) store_profile(path, other, some_profile());
    use_stored_profile(context);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(context.profile().is_measured);
    EXPECT_EQ(said.find("of another kind") != std::string::npos, context.is_root()) << said;
  }
}

TEST(StoredProfile, ThatCannotBeUnderstoodIsNamedAndIgnored) {
  const std::string path = file_of_root("profiles-broken.json");
  const ProfilePath chosen(path);
  for (const char* text : {"", "{", "[]", "{\"schema\": \"barrio.profiles\", \"schema_version\": 1, \"profiles\": 7}",
                           "{\"schema\": \"barrio.mesh\", \"schema_version\": 1}", "\xff\xfe"}) {
    Context context(test::world().comm());
    if (context.is_root()) std::ofstream(path) << text;
    testing::internal::CaptureStderr();
    use_stored_profile(context);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(context.profile().is_measured) << text;
    if (context.is_root()) {
      EXPECT_NE(said.find("profiles-broken.json"), std::string::npos) << text;
    }
  }
}

TEST(StoredProfile, LeavesFilesOfOthersAlone) {
  if (!test::world().is_root()) return;
  const std::string path = file_of_root("profiles-foreign.json");
  for (const std::string text : {R"({"schema": "barrio.mesh", "schema_version": 1})", "notes of mine",
                                 R"({"schema": "barrio.profiles", "schema_version": 1000, "profiles": []})"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(store_profile(path, {}, {}), Error) << text;
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
  // A damaged entry does not affect the others.
  std::ofstream(path) << R"({"schema": "barrio.profiles", "schema_version": 1, "profiles": [7]})";
  store_profile(path, {"one", "shm", "", ""}, {});
  store_profile(path, {"other", "shm", "", ""}, {});
  EXPECT_EQ(read_json_document(path, "barrio.profiles", 1)["profiles"].size(), 2U);
}

TEST(StoredProfile, IsNotLookedForWhereThatIsSwitchedOff) {
  const ProfilePath off("off");
  EXPECT_EQ(stored_profiles_path(), "");
  Context context(test::world().comm());
  const auto before = context.counters().collectives;
  use_stored_profile(context);
  EXPECT_FALSE(context.profile().is_measured);
  EXPECT_LE(context.counters().collectives - before, 1U);
}

TEST(StoredProfile, RefusesNumbersThatCannotBe) {
  Json json = to_json(some_profile());
  EXPECT_NO_THROW(profile_from_json(json));
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"packet_bytes", 0}, {"packet_bytes", "many"}, {"ring_depth", -3}, {"test_seconds", -1.0}, {"times", 1}}) {
    Json wrong = json;
    wrong[name] = value;
    EXPECT_THROW(profile_from_json(wrong), Error) << name;
  }
  json["times"][3].erase("alone");
  EXPECT_THROW(profile_from_json(json), Error);
}

}  // namespace
}  // namespace barrio::mpi
