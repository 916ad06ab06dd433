#include "barrio/mesh/reduce_field.hpp"

#include <gtest/gtest.h>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using exchange::Reduction;
using test::world;

Mesh box_with_ghosts(int n_parts) {
  MeshTables tables = make_box(world(), {.n = {4, 4, 4}});
  partition_cells(world(), tables, n_parts);
  return {world(), tables, {.ghost_layers = 2}};
}

TEST(ReduceField, ContributionsOfOwnCellsAddUp) {
  for (const int n_parts : {1, 9}) {  // with one part, other ranks are empty
    Mesh mesh = box_with_ghosts(n_parts);
    auto sum = mesh.add_field<double>("sum", Dim::vertex, 2);
    for (double& value : sum.values()) value = -1000.0;  // values of ghosts do not count
    for (std::size_t c = 0; c < mesh.cells().n_owned; ++c)
      for (const LocalId v : mesh.cells().nodes_of(c))
        sum.values()[2 * index(v)] = sum.values()[2 * index(v) + 1] = 0.0;
    for (std::size_t c = 0; c < mesh.cells().n_owned; ++c)
      for (const LocalId v : mesh.cells().nodes_of(c)) {
        sum.values()[2 * index(v)] += 1.0;
        sum.values()[2 * index(v) + 1] += static_cast<double>(value(mesh.cells().global_ids[c]));
      }
    auto halo = mesh.plan(sum);
    reduce_over_sharers(mesh, sum, halo, Reduction::sum);
    for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
      double n_cells = 1.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double x = mesh.vertices().coordinates[3 * v + k];
        n_cells *= x > 0.0 && x < 1.0 ? 2.0 : 1.0;
      }
      ASSERT_EQ(sum.values()[2 * v], n_cells);
    }
  }
}

TEST(ReduceField, ExtremesAreThoseOfTheSharers) {
  Mesh mesh = box_with_ghosts(9);
  auto low = mesh.add_field<std::int32_t>("low", Dim::vertex);
  auto high = mesh.add_field<float>("high", Dim::vertex);
  auto n = mesh.add_field<std::int64_t>("n", Dim::vertex);
  std::ranges::fill(low.values(), world().rank());
  std::ranges::fill(high.values(), world().rank());
  std::ranges::fill(n.values(), 1);
  auto of_low = mesh.plan(low);
  auto of_high = mesh.plan(high);
  auto of_n = mesh.plan(n);
  reduce_over_sharers(mesh, low, of_low, Reduction::min);
  reduce_over_sharers(mesh, high, of_high, Reduction::max);
  reduce_over_sharers(mesh, n, of_n, Reduction::sum);
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
    const EntityStatus status = mesh.status(Dim::vertex, local_id(v));
    if (status.is_shared()) {
      ASSERT_EQ(low.values()[v], status.sharers.front());
      ASSERT_EQ(high.values()[v], static_cast<float>(status.sharers.back()));
      ASSERT_EQ(n.values()[v], std::ssize(status.sharers));
    } else if (!status.is_ghost) {
      ASSERT_EQ(low.values()[v], world().rank());
      ASSERT_EQ(n.values()[v], 1);
    }
    ASSERT_LE(low.values()[v], status.owner);
    ASSERT_GE(high.values()[v], static_cast<float>(status.owner));
  }
}

}  // namespace
}  // namespace barrio::mesh
