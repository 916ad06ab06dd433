#include "barrio/adapt/size_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/adapt/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::adapt {
namespace {

using mesh::Dim;
using mesh::Mesh;

double distance(const Mesh& mesh, LocalId a, LocalId b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double d = mesh.vertices().coordinates[3 * index(a) + k] - mesh.vertices().coordinates[3 * index(b) + k];
    sum += d * d;
  }
  return std::sqrt(sum);
}

/// Gather the sizes of all vertices by id, on every rank.
std::vector<double> all_by_id(const Mesh& mesh, std::span<const double> sizes) {
  std::vector<double> all(mesh.n_global(Dim::vertex), -1.0);
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) all[value(mesh.vertices().global_ids[v])] = sizes[v];
  mpi::all_reduce(mesh.context(), std::span<double>(all), MPI_MAX);
  return all;
}

std::vector<double> random_sizes(const Mesh& mesh) {
  std::vector<double> sizes(mesh.n_local(Dim::vertex));
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) {
    const std::uint64_t hash = Hash64(11).add(value(mesh.vertices().global_ids[v])).value();
    sizes[v] = hash % 17 == 0 ? 0.01 + 1e-3 * static_cast<double>(hash % 23) : 5.0;
  }
  return sizes;
}

/// The reference relaxes all edges of a mesh on one rank until nothing changes.
TEST(SizeFields, GrowthIsLimitedAsByAllPaths) {
  const SizeLimits limits{.min_size = 0.015, .max_size = 0.4, .growth = 0.3};
  mpi::Context alone(MPI_COMM_SELF);
  const Mesh whole = test::tet_cube(alone, 7);
  std::vector<double> wanted = random_sizes(whole);
  for (double& size : wanted) size = std::clamp(size, limits.min_size, limits.max_size);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t c = 0; c < whole.cells().size(); ++c) {
      for (const LocalId a : whole.cells().nodes_of(c)) {
        for (const LocalId b : whole.cells().nodes_of(c)) {
          const double most = wanted[index(a)] + limits.growth * distance(whole, a, b);
          has_changed = has_changed || most < wanted[index(b)];
          wanted[index(b)] = std::min(wanted[index(b)], most);
        }
      }
    }
  }
  for (const test::Start start : {test::Start::boxes, test::Start::scattered}) {
    const Mesh mesh = test::tet_cube(test::world(), 7, start);
    std::vector<double> sizes = random_sizes(mesh);
    limit_sizes(mesh, sizes, limits);
    EXPECT_EQ(all_by_id(mesh, sizes), all_by_id(whole, wanted));
  }
}

TEST(SizeFields, ErrorsSayHowLargeCellsAreToBe) {
  const Mesh mesh = test::tet_cube(test::world(), 4);
  const double now = std::cbrt(6 * std::sqrt(2.0) / 384);
  std::vector<double> errors(mesh.n_owned(Dim::volume), 0.16);
  const auto expect = [&](const ErrorTarget& target, double size) {
    for (const double one : sizes_from_errors(mesh, errors, target)) EXPECT_NEAR(one, size, 1e-14);
  };
  expect({.error = 0.16, .order = 2}, now);
  expect({.error = 0.04, .order = 2}, now / 2);
  expect({.error = 1e-9, .order = 2}, now / 4);
  expect({.error = 16, .order = 1, .max_change = 3}, 3 * now);
  std::ranges::fill(errors, 0.0);
  expect({.error = 1.0, .order = 2}, 4 * now);
  std::ranges::fill(errors, std::nan(""));
  EXPECT_THROW((void)sizes_from_errors(mesh, errors, {.error = 1}), AgreedError);
}

/// A solver's loop: the error of a cell is a curvature times the square of the cell's size.
TEST(SizeFields, AFewStepsMakeErrorsEqual) {
  Mesh mesh = test::tet_cube(test::world(), 6);
  constexpr double target = 0.02;
  const auto errors_of = [&] {
    std::vector<double> errors;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
      double x = 0.0;
      double longest = 0.0;
      for (const LocalId a : mesh.cells().nodes_of(c)) {
        x += mesh.vertices().coordinates[3 * index(a)] / 4;
        for (const LocalId b : mesh.cells().nodes_of(c)) longest = std::max(longest, distance(mesh, a, b));
      }
      errors.push_back((0.5 + 5 * std::exp(-30 * (x - 0.5) * (x - 0.5))) * longest * longest);
    }
    return errors;
  };
  const auto spread = [&] {  // share of cells whose error is within a factor of 4
    double n = 0.0;
    for (const double error : errors_of()) n += error < 4 * target && error > target / 4 ? 1 : 0;
    return mpi::sum(test::world(), n) / static_cast<double>(mesh.n_global(Dim::volume));
  };
  const double before = spread();
  for (int step = 0; step < 3; ++step) {
    const std::vector<double> sizes = sizes_from_errors(mesh, errors_of(), {.error = target, .order = 2});
    const std::string name = "size " + std::to_string(step);
    std::ranges::copy(sizes, mesh.add_field<double>(name, Dim::vertex).values().begin());
    adapt(mesh, name, {.limits = {.min_size = 0.01, .max_size = 0.5, .growth = 0.5}});
    mesh.validate();
  }
  EXPECT_LT(before, 0.6);
  EXPECT_GT(spread(), 0.9);
}

TEST(SizeFields, LimitsThatAreNone) {
  Mesh mesh = test::tet_cube(test::world(), 3);
  const SizeFunction size = uniform_size(0.3);
  EXPECT_THROW(adapt(mesh, size, {.limits = {.min_size = 1, .max_size = 0.5}}), AgreedError);
  EXPECT_THROW(adapt(mesh, size, {.limits = {.growth = 0}}), AgreedError);
  EXPECT_THROW(adapt(mesh, size, {.limits = {.growth = 0.3}}), AgreedError);
  adapt(mesh, size, {.limits = {.max_size = 0.2}});
  Mesh same = test::tet_cube(test::world(), 3);
  adapt(same, uniform_size(0.2));
  EXPECT_EQ(mesh.checksum(), same.checksum());
}

}  // namespace
}  // namespace barrio::adapt
