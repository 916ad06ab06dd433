#include "barrio/adapt/kernel/tets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/kernel/operator.hpp"

namespace barrio::adapt::detail {
namespace {

/// Make six tetrahedra around the axis of a hexagonal bipyramid: vertices 0 and 1 are its apexes.
Tets wheel() {
  Tets mesh;
  const auto add = [&](double x, double y, double z) {
    Vertex vertex;
    vertex.at = {x, y, z};
    vertex.inverse_size = 1.0F;
    vertex.key = {1, mesh.vertices.size()};
    mesh.add_vertex(vertex);
  };
  add(0, 0, -1);
  add(0, 0, 1);
  for (int i = 0; i < 6; ++i) add(std::cos(i * M_PI / 3), std::sin(i * M_PI / 3), 0);
  for (Slot i = 0; i < 6; ++i) {
    NewTet tet{{0, 1, 2 + i, 2 + (i + 1) % 6}, {1, 1, 0, 0}, 0, 0};
    mesh.add_tet(tet);
  }
  mesh.link_all();
  return mesh;
}

void expect_linked(const Tets& mesh) {
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const Tet& tet = mesh.tets[t];
    if (tet.is_free()) continue;
    EXPECT_FLOAT_EQ(tet.quality, static_cast<float>(mesh.quality_of(tet.v)));
    for (std::size_t f = 0; f < 4; ++f) {
      const Slot other = tet.across[f];
      if (other < 0) {
        EXPECT_NE(tet.face_membership[f], 0);
        continue;
      }
      const Tet& next = mesh.tets[other >> 2];
      EXPECT_EQ(next.across[other & 3], static_cast<Slot>(4 * t + f));
      EXPECT_EQ(face_key(next, other & 3), face_key(tet, f));
    }
    for (const Slot v : tet.v) EXPECT_TRUE(mesh.tets[mesh.vertices[v].tet].has(v));
  }
}

TEST(Measure, ARegularTetrahedronHasQualityOne) {
  const Point a{0, 0, 0};
  const Point b{1, 1, 0};
  const Point c{1, 0, 1};
  const Point d{0, 1, 1};
  EXPECT_NEAR(std::abs(cubed_mean_ratio(a, b, c, d)), 1.0, 1e-14);
  EXPECT_NEAR(cubed_mean_ratio(a, b, c, d), -cubed_mean_ratio(b, a, c, d), 1e-14);
  EXPECT_EQ(cubed_mean_ratio(a, b, c, {2, 1, 1}), 0.0);
}

TEST(Measure, ALengthIsTheIntegralOfTheInverseSize) {
  Vertex a;
  Vertex b;
  a.inverse_size = 1.0F;
  b.at = {3, 0, 0};
  for (const double h : {0.5, 0.9, 1.0, 1.1, 2.0}) {
    b.inverse_size = static_cast<float>(1 / h);
    constexpr int n = 100'000;  // midpoint rule
    double integral = 0;
    for (int i = 0; i < n; ++i) integral += 3.0 / n / std::pow(h, (i + 0.5) / n);
    EXPECT_NEAR(metric_length(a, b), integral, 2e-4 * integral) << h;
  }
}

TEST(Tets, StarAndRingGoAllTheWayRound) {
  Tets mesh = wheel();
  expect_linked(mesh);
  std::vector<Slot> star;
  mesh.star(0, star);
  EXPECT_EQ(star.size(), 6);
  mesh.star(3, star);
  EXPECT_EQ(star.size(), 2);
  Ring ring;
  for (Slot first = 0; first < 6; ++first) {
    mesh.ring(first, 0, 1, ring);
    EXPECT_TRUE(ring.is_closed);
    ASSERT_EQ(ring.link.size(), 6);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_GT(mesh.quality_of({0, 1, ring.link[i], ring.link[(i + 1) % 6]}), 0);
  }
  mesh.ring(2, 0, 4, ring);
  EXPECT_FALSE(ring.is_closed);
  EXPECT_EQ(ring.tets.size(), 2);
  EXPECT_EQ(ring.link.size(), 3);
}

TEST(Tets, WhatReplacesACavityIsLinkedWithWhatIsAround) {
  Tets mesh = wheel();
  // Three around a new edge replace two of the six, as in a swap of a face.
  const std::vector<Slot> old{0, 1};
  const std::vector<NewTet> made{
      {{0, 2, 3, 4}, {0, 0, 0, 1}, 0, 0}, {{1, 2, 4, 3}, {0, 0, 1, 0}, 0, 0}, {{0, 1, 2, 4}, {}, 0, 0}};
  mesh.replace(old, made, 1);
  EXPECT_EQ(mesh.n_tets(), 7);
  expect_linked(mesh);
  EXPECT_EQ(mesh.tets[0].changed, 1);
  EXPECT_EQ(std::ranges::count_if(mesh.tets, [](const Tet& tet) { return tet.changed == 0; }), 4);
}

TEST(Tets, SlotsAreUsedAgain) {
  Tets mesh = wheel();
  const std::size_t n = mesh.tets.size();
  const std::vector<Slot> all{0, 1, 2, 3, 4, 5};
  std::vector<NewTet> same;
  for (const Slot t : all) same.push_back({mesh.tets[t].v, mesh.tets[t].face_membership, 0, 0});
  for (std::uint32_t round = 1; round < 10; ++round) {
    std::vector<Slot> old;
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
      if (!mesh.tets[t].is_free()) old.push_back(static_cast<Slot>(t));
    mesh.replace(old, same, round);
    expect_linked(mesh);
  }
  EXPECT_EQ(mesh.tets.size(), n);
}

}  // namespace
}  // namespace barrio::adapt::detail
