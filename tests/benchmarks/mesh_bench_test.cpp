#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/base/error.hpp"
#include "benchmarks/mesh/load.hpp"
#include "benchmarks/mesh/result.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::bench {
namespace {

using test::world;

/// Make options for 10 x 10 x 10 hexes in two halves, or 6 x 6 x 6 x 6 tets.
MeshOptions small(bool is_unordered = false) {
  MeshOptions options;
  options.millions = 0.001;
  options.n_parts = 2;
  options.n_repeats = 2;
  options.folder = test::scratch().string();
  options.is_unordered = is_unordered;
  for (const PeerKind& kind : all_peers())
    if (kind.make) options.peers.push_back(kind.name);
  return options;
}

LoadFigures load(const MeshOptions& options, const std::string& name) {
  return measure_load(world(), options, provide_mesh(world(), options, name));
}

std::string fault_of(const LoadFigures& figures) {
  try {
    check_peers(figures);
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::differs);
    return error.subject() + " " + error.cause();
  }
  return {};
}

TEST(MeshPeers, MakeTheMeshThatBarrioMakes) {
  const std::int64_t n_cut = world().size() > 1 ? 1 : 0;
  for (const std::string name : {"hexes", "tets"}) {
    const LoadFigures figures = load(small(), name);
    const std::int64_t n = name == "tets" ? 6 : 10;
    EXPECT_EQ(figures.file.n_cells, n * n * n * (name == "tets" ? 6 : 1));
    EXPECT_EQ(figures.n_shared_vertices, n_cut * (n + 1) * (n + 1));
    // In Kuhn's division, all six tets of a hex have a vertex on each of its sides.
    EXPECT_EQ(figures.n_ghosts, n_cut * 2 * n * n * (name == "tets" ? 6 : 1));
    ASSERT_EQ(figures.peers.size(), small().peers.size());
    for (const PeerFigures& peer : figures.peers) {
      EXPECT_EQ(peer.counts.n_shared_vertices, figures.n_shared_vertices) << peer.name;
      EXPECT_GT(peer.seconds, 0.0);
      if (peer.name == "probe") continue;
      EXPECT_EQ(peer.counts.n_ghosts, figures.n_ghosts) << peer.name;
      EXPECT_EQ(peer.counts.ghost_hash, figures.ghost_hash) << peer.name;
      EXPECT_EQ(peer.cell_exchange_seconds > 0.0, n_cut == 1) << peer.name;
    }
  }
}

TEST(MeshPeers, WhoeverMakesAnotherMeshIsNamed) {
  LoadFigures figures = load(small(), "hexes");
  EXPECT_EQ(fault_of(figures), "");
  for (PeerFigures& peer : figures.peers) {
    const PeerCounts right = peer.counts;
    *peer.counts.n_shared_vertices += 1;
    EXPECT_EQ(fault_of(figures),
              fmt::format("peer '{}' {}: {} shared vertices, barrio has {}", peer.name, figures.file.path,
                          figures.n_shared_vertices + 1, figures.n_shared_vertices));
    peer.counts = right;
    if (!peer.counts.ghost_hash) continue;
    *peer.counts.ghost_hash += 1;
    EXPECT_NE(fault_of(figures).find("is the hash of its ghosts"), std::string::npos);
    peer.counts = right;
    if (!peer.counts.n_edges) continue;
    *peer.counts.n_edges -= 1;
    EXPECT_NE(fault_of(figures).find(fmt::format(" edges, barrio has {}", figures.n_edges)), std::string::npos);
    peer.counts = right;
  }
}

TEST(MeshPeers, TakeNoPartWhereTheFileIsNotInTheOrderOfItsParts) {
  EXPECT_TRUE(load(small(true), "hexes").peers.empty());
  EXPECT_TRUE(load(small(), "random-tets").peers.empty());
}

TEST(MeshPeers, AreReportedAsRatios) {
  MeshOptions options = small();
  options.is_load_only = true;
  options.max_seconds = 0.0;  // once each
  MeshFigures figures;
  figures.loads.push_back(load(options, "hexes"));
  const Json document = make_document(world(), options, figures);
  const Json& mesh = document["meshes"][0];
  EXPECT_FALSE(mesh.contains("faces"));
  EXPECT_GT(mesh["file_bytes"], 1000 * 8 * 8);
  ASSERT_EQ(mesh["peers"].size(), options.peers.size());
  EXPECT_EQ(mesh["peers"][0]["name"], "probe");
  EXPECT_DOUBLE_EQ(mesh["peers"][0]["over_barrio"].get<double>(),
                   mesh["peers"][0]["seconds"].get<double>() / mesh["load_seconds"].get<double>());
  EXPECT_EQ(document["not_built"].size() + options.peers.size(), all_peers().size());
  EXPECT_NE(to_text(document).find("  probe: "), std::string::npos);
}

TEST(MeshPeers, UnknownOnesAreRefused) {
  try {
    static_cast<void>(find_peer("prob"));
    FAIL() << "was found";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.subject(), "peer 'prob'");
    EXPECT_NE(error.cause().find("is not known"), std::string::npos) << error.cause();
    EXPECT_NE(error.cause().find("probe"), std::string::npos) << error.cause();
  }
  for (const PeerKind& kind : all_peers()) {
    if (kind.make) continue;
    EXPECT_THROW(static_cast<void>(find_peer(kind.name)), AgreedError) << kind.name;
    EXPECT_FALSE(kind.lacking.empty());
  }
}

}  // namespace
}  // namespace barrio::bench
