#include "barrio/mesh/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/graph.hpp"
#include "tests/mesh/filled_mesh.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::parted_box;
using test::world;

/// List the methods of this build.
std::vector<std::string> methods() {
  std::vector<std::string> all{"rcb", "hilbert"};
  for (const std::string& name : partition::available_graph_methods())
    if (name != "hypergraph") all.push_back(name);
  return all;
}

/// Return weights: cells of the lower half have three times the weight.
std::vector<std::int64_t> weights_of(const Mesh& mesh) {
  std::vector<std::int64_t> weights;
  for (std::size_t c = 0; c < mesh.n_owned(mesh.cell_dim()); ++c)
    weights.push_back(2 * value(mesh.cells().global_ids[c]) < mesh.n_global(mesh.cell_dim()) ? 3 : 1);
  return weights;
}

double imbalance(const std::vector<std::int64_t>& weights) {
  std::int64_t mine = 0;
  for (const std::int64_t weight : weights) mine += weight;
  return static_cast<double>(mpi::max(world(), mine)) * world().size() / static_cast<double>(mpi::sum(world(), mine));
}

TEST(BalancedRanks, ByEachMethod) {
  for (const std::string& method : methods()) {
    for (const bool keep : {true, false}) {
      for (const int n_parts : {1, 5}) {
        SCOPED_TRACE(method);
        Mesh mesh(world(), parted_box(world(), {8, 8, 9}, false, n_parts), {.ghost_layers = 1});
        const std::uint64_t before = mesh.checksum();
        const std::vector<std::int64_t> weights = weights_of(mesh);
        mesh.migrate(balanced_ranks(mesh, {.weights = weights, .method = method, .keep = keep}));
        mesh.validate();
        EXPECT_EQ(mesh.checksum(), before);
        EXPECT_LT(imbalance(weights_of(mesh)), 1.11);
      }
    }
  }
}

TEST(BalancedRanks, GraphsGetAllRanksWeightsWhereSomeHaveNone) {
  for (const std::string& method : methods()) {
    Mesh mesh(world(), parted_box(world(), {8, 8, 9}, true, world().size()));
    const std::vector<std::int64_t> ones(world().rank() % 2 == 0 ? mesh.n_owned(Dim::volume) : 0, 1);
    mesh.migrate(balanced_ranks(mesh, {.weights = ones, .method = method}));
    EXPECT_LT(imbalance(std::vector<std::int64_t>(mesh.n_owned(Dim::volume), 1)), 1.08) << method;
  }
}

TEST(BalancedRanks, OfSurfaces) {
  for (const std::string& method : methods()) {
    Mesh mesh(world(), test::mixed_plane(16), {.ghost_layers = 1});
    mesh.migrate(balanced_ranks(mesh, {.method = method}));
    mesh.validate();
    EXPECT_LT(imbalance(std::vector<std::int64_t>(mesh.n_owned(Dim::face), 1)), 1.08) << method;
  }
}

TEST(BalancedRanks, KeepLetsCellsStay) {
  for (const char* method : {"rcb", "hilbert"}) {
    Mesh mesh(world(), parted_box(world(), {6, 6, 8}, true, 1));
    mesh.migrate(balanced_ranks(mesh, {.method = method, .keep = false}));
    const Rank next = (world().rank() + 1) % world().size();
    mesh.migrate(std::vector<Rank>(mesh.n_owned(Dim::volume), next));
    const std::vector<Rank> stay(mesh.n_owned(Dim::volume), world().rank());
    const Rank former = (world().rank() + world().size() - 1) % world().size();
    EXPECT_EQ(balanced_ranks(mesh, {.method = method}), stay);
    EXPECT_EQ(balanced_ranks(mesh, {.method = method, .keep = false}), std::vector<Rank>(stay.size(), former));
  }
}

TEST(BalancedRanks, RefusesByName) {
  const Mesh mesh(world(), parted_box(world(), {3, 3, 3}, false, world().size()));
  const bool is_last = world().rank() == world().size() - 1;
  const auto refusal = [&](const BalanceOptions& options) -> std::string {
    try {
      (void)balanced_ranks(mesh, options);
    } catch (const AgreedError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(
      refusal({.method = "hilbrt"}).find("partitioner 'hilbrt': is not known for a mesh. Did you mean 'hilbert'?"),
      std::string::npos)
      << refusal({.method = "hilbrt"});
  EXPECT_NE(refusal({.method = "hypergraph"}).find("use one of rcb, hilbert, metis, ptscotch"), std::string::npos);
  std::vector<std::int64_t> weights(mesh.n_owned(Dim::volume), 1);
  if (is_last && !weights.empty()) weights.back() = -4;
  EXPECT_NE(refusal({.weights = weights}).find("is -4, but must be at least 0"), std::string::npos)
      << refusal({.weights = weights});
  if (is_last) weights.push_back(1);
  EXPECT_NE(refusal({.weights = weights}).find("must be one for each of the"), std::string::npos);
}

}  // namespace
}  // namespace barrio::mesh
