#include "barrio/base/ids.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "barrio/base/version.hpp"

namespace barrio {
namespace {

static_assert(!std::is_convertible_v<GlobalId, LocalId> && !std::is_convertible_v<int, LocalId>);
static_assert(sizeof(LocalId) == 4 && sizeof(GlobalId) == 8);

TEST(Ids, HoldMoreThan32BitsWhereTheyAreGlobal) {
  const std::size_t large = (std::size_t{1} << 40U) + 7;
  EXPECT_EQ(index(global_id(large)), large);
  EXPECT_EQ(value(global_id(large) + 3), (std::int64_t{1} << 40U) + 10);
  EXPECT_LT(GlobalId{2147483647}, GlobalId{2147483648});
}

TEST(Ids, LocalIdsGoThroughSubscripts) {
  EXPECT_EQ(index(local_id(2147483647)), 2147483647U);
  EXPECT_EQ(local_id(4) + 3, LocalId{7});
  EXPECT_EQ(value(no_local_id), -1);
  EXPECT_EQ(value(no_global_id), -1);
}

TEST(Version, NamesReleaseAndCommit) {
  EXPECT_NE(version().find('.'), std::string_view::npos);
  EXPECT_EQ(version().find('@'), std::string_view::npos) << "configured, not the template";
  EXPECT_FALSE(commit().empty());
  EXPECT_EQ(commit().find('@'), std::string_view::npos);
  EXPECT_FALSE(compiler().empty());
  EXPECT_EQ(build_type().find('@'), std::string_view::npos);
}

}  // namespace
}  // namespace barrio
