#include "barrio/adapt/sizes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "barrio/base/error.hpp"

namespace barrio::adapt {
namespace {

TEST(Sizes, TextsMeanWhatTheySay) {
  EXPECT_EQ(parse_size("0.25")({1, 2, 3}), 0.25);
  const SizeFunction plane = parse_size("plane,y=0.5,min_size=0.01,width=0.1,growth=0.5,max_size=0.2");
  EXPECT_EQ(plane({7, 0.45, 0}), 0.01);
  EXPECT_NEAR(plane({7, 0.3, 0}), 0.01 + 0.5 * 0.1, 1e-15);
  EXPECT_EQ(plane({7, 9, 0}), 0.2);
  const SizeFunction sphere = parse_size("sphere,x=1,y=0,z=0,radius=2,min_size=0.1,max_size=1");
  EXPECT_EQ(sphere({1, 0, 2}), 0.1);
  EXPECT_NEAR(sphere({1, 0, 0.5}), 0.1 + 0.4 * 1.5, 1e-15);
  const SizeFunction both = smallest_size(std::array{plane, sphere});
  for (const std::array<double, 3>& x : {std::array{0.0, 0.5, 0.0}, std::array{3.0, 0.0, 0.0}})
    EXPECT_EQ(both(x), std::min(plane(x), sphere(x)));
}

TEST(Sizes, WhatIsNotUnderstoodIsNamed) {
  const auto expect_refused = [](const std::string& text, const std::string& part) {
    try {
      (void)parse_size(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_refused("0", "must be above 0");
  expect_refused("-1", "must be above 0");
  expect_refused("", "is unknown");
  expect_refused("spher,x=1", "Did you mean 'sphere'");
  expect_refused("plane,x=0,min_size=1", "must give 'max_size'");
  expect_refused("plane,x=0,min_sise=1,max_size=2", "Did you mean 'min_size'");
  expect_refused("plane,x=0,y=1,min_size=1,max_size=2", "more than one");
  expect_refused("plane,min_size=1,max_size=2", "must give one of x, y, z");
  expect_refused("plane,x=zero,min_size=1,max_size=2", "must give a number");
  expect_refused("plane,x=0,x=1,min_size=1,max_size=2", "twice");
  expect_refused("plane,x=0,min_size=3,max_size=2", "at least min_size");
  expect_refused("plane,x=0,min_size=nan,max_size=2", "must give a number");
  expect_refused("sphere,x=0,y=0,z=0,radius=-1,min_size=1,max_size=2", "radius of at least 0");
}

}  // namespace
}  // namespace barrio::adapt
