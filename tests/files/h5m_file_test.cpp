#include "barrio/files/h5m_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::files {
namespace {

using test::world;
namespace fs = std::filesystem;
using Words = std::vector<std::int64_t>;
using Type = H5mValues::Of;

/// A bar of hexes, `n_each` per rank, with the quads at its ends, a polygon and a triangle. Each rank puts its hexes
/// one by one, the last first; the last rank puts the other tables.
constexpr std::int64_t n_each = 3;

std::vector<std::byte> bytes_of(const auto& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

TEST(H5mFile, TablesTagsAndSets) {
  const fs::path path = test::scratch() / "arrays.h5m";
  const std::int64_t n = n_each * world().size();
  const bool is_last = world().rank() == world().size() - 1;
  H5mFile file(world(), path.string(),
               {.n_vertices = 4 * (n + 1),
                .elements = {{.type = "Quad", .n_nodes = 4, .n = 2},
                             {.type = "Hex", .n_nodes = 8, .n = n},
                             {.type = "Polygon", .n = 2, .n_entries = 7},
                             {.type = "Quad", .n_nodes = 4, .n = 0}},
                .n_sets = 2});
  EXPECT_EQ(file.first_id(H5mFile::vertices), 1);
  EXPECT_EQ(file.first_id(0), 4 * n + 5);
  EXPECT_EQ(file.first_id(1), 4 * n + 7);
  EXPECT_EQ(file.first_set(), 5 * n + 9);
  const std::vector<std::int32_t> none{-1, -1};
  const auto pairs = file.make_tag({.name = "a/pair",
                                    .values = {Type::int32, 2},
                                    .storage = H5mNewTag::Storage::dense,
                                    .default_value = std::as_bytes(std::span(none))});
  const auto on_hexes = file.make_dense(pairs, 1);
  const auto on_vertices = file.make_dense(pairs, H5mFile::vertices);
  const auto names = file.make_tag({.name = "name", .values = {Type::opaque, 1}, .is_variable = true});
  const auto some = file.make_sparse(names, 2, 5);
  const auto links = file.make_tag({.name = "next", .values = {Type::id, 1}});
  const auto one = file.make_sparse(links, 1);
  H5mSetList sets;
  sets.contents_end = {2, 4};
  sets.flags = {H5mSetList::unique | H5mSetList::ranged, H5mSetList::ordered};
  sets.children_end = {1, 1};
  sets.parents_end = {0, 1};
  sets.children = {file.first_set() + 1};
  sets.parents = {file.first_set()};
  file.make_sets(sets);

  for (std::int64_t k = n_each; k-- > 0;) {
    const std::int64_t at = n_each * world().rank() + k;
    for (std::int64_t plane = at; plane <= (at == n - 1 ? n : at); ++plane) {
      const double x = static_cast<double>(plane);
      const std::vector<double> corners{x, 0, 0, x, 1, 0, x, 1, 1, x, 0, 1};
      file.put_vertices(4 * plane, corners);
      const std::vector<std::int32_t> numbers{7, 8, 9, 10, 11, 12, 13, static_cast<std::int32_t>(plane)};
      file.put_values(on_vertices, 4 * plane, 4, bytes_of(numbers));
    }
    Words hex(8);
    for (std::int64_t i = 0; i < 8; ++i) hex[i] = 1 + 4 * at + i;
    file.put_elements(1, at, hex);
    file.put_values(on_hexes, at, 1, bytes_of(std::vector<std::int32_t>{static_cast<std::int32_t>(at), 5}));
  }
  if (is_last) {
    file.put_elements(0, 0, Words{1, 2, 3, 4, 4 * n + 1, 4 * n + 2, 4 * n + 3, 4 * n + 4});
    file.put_elements(2, 1, Words{7}, 4, Words{1, 2, 3});
    file.put_elements(2, 0, Words{4}, 0, Words{1, 2, 3, 4});
    file.put_ids(some, 0, Words{1, 2});
    file.put_ends(some, 0, Words{2, 5});
    file.put_values(some.values, 0, 5, bytes_of(std::string("abcde")));
    file.put_ids(one, 0, Words{3});
    file.put_values(one.values, 0, 1, bytes_of(Words{file.first_set()}));
    file.put_contents(2, Words{2, 1});
    file.put_contents(0, Words{1, 4});
  }
  file.close();
  if (!world().is_root()) return;

  const Handle hdf = open_to_read(path.string());
  const H5mCatalog catalog = read_h5m_catalog(hdf.get(), path.string());
  EXPECT_EQ(catalog.n_vertices, 4 * (n + 1));
  ASSERT_EQ(catalog.groups.size(), 4U);
  std::vector<std::string> groups;
  for (const H5mGroup& group : catalog.groups) groups.push_back(group.name);
  std::ranges::sort(groups);
  EXPECT_EQ(groups, (std::vector<std::string>{"Hex8", "Polygon", "Quad4", "Quad4_2"}));
  EXPECT_EQ(catalog.n_sets, 2);
  EXPECT_EQ(catalog.first_set, 5 * n + 9);
  EXPECT_EQ(read_attribute(hdf.get(), "/tstt", "max_id"), Words{5 * n + 10});
  const auto hexes = read_integers(hdf.get(), "/tstt/elements/Hex8/connectivity");
  for (std::int64_t c = 0; c < n; ++c) EXPECT_EQ(hexes[8 * c + 5], 6 + 4 * c);
  EXPECT_EQ(read_integers(hdf.get(), "/tstt/elements/Polygon/poly_indices"), (Words{3, 6}));
  EXPECT_EQ(read_integers(hdf.get(), "/tstt/elements/Polygon/connectivity"), (Words{1, 2, 3, 4, 1, 2, 3}));
  const auto x = read_reals(hdf.get(), "/tstt/nodes/coordinates");
  EXPECT_EQ(x[12 * n], static_cast<double>(n));
  const H5mSetList found = read_h5m_set_list(hdf.get(), catalog, path.string());
  EXPECT_EQ(found.contents_end, sets.contents_end);
  EXPECT_EQ(found.flags, sets.flags);
  EXPECT_EQ(found.children, sets.children);
  EXPECT_EQ(found.parents_end, sets.parents_end);
  EXPECT_EQ(read_integers(hdf.get(), "/tstt/sets/contents"), (Words{1, 4, 2, 1}));
  ASSERT_EQ(catalog.tags.size(), 3U);
  EXPECT_EQ(catalog.tags[0].name, "a\\2Fpair");
  EXPECT_EQ(h5m_unescaped(catalog.tags[0].name), "a/pair");
  EXPECT_EQ(catalog.tags[0].type, "int32[2]");
  EXPECT_EQ(catalog.tags[0].dense_on, (std::vector<std::string>{"nodes", "Hex8"}));
  EXPECT_TRUE(catalog.tags[1].is_variable);
  EXPECT_EQ(catalog.tags[2].type, "id");
  const auto on_hex = read_native(hdf.get(), "/tstt/elements/Hex8/tags/a\\2Fpair").bytes;
  EXPECT_EQ(std::vector(on_hex.end() - 8, on_hex.end()),
            bytes_of(std::vector<std::int32_t>{static_cast<std::int32_t>(n - 1), 5}));
  EXPECT_EQ(read_integers(hdf.get(), "/tstt/tags/name/var_indices"), (Words{1, 4}));
  EXPECT_EQ(read_integers(hdf.get(), "/tstt/tags/next/values"), Words{5 * n + 9});
}

/// Return the message of a failure, the same on all ranks. Checks that no file exists afterwards.
std::string cause_of(const H5mTables& tables, const std::function<void(H5mFile&)>& put) {
  const fs::path path = test::scratch() / "refused.h5m";
  std::string said = "nothing";
  try {
    H5mFile file(world(), path.string(), tables);
    put(file);
    file.close();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    said = error.cause();
  }
  mpi::barrier(world());
  EXPECT_FALSE(fs::exists(path));
  return said;
}

TEST(H5mFile, WhatDoesNotFitIsRefusedOnAllRanks) {
  const bool is_last = world().rank() == world().size() - 1;
  const std::vector<double> x(9);
  EXPECT_EQ(cause_of({.elements = {{.type = "Tetra", .n_nodes = 4, .n = 1}}}, [](H5mFile&) {}),
            "do not exist in the .h5m format");
  EXPECT_EQ(cause_of({.n_vertices = 3}, [](H5mFile&) {}), "0 rows were put, but there are 3");
  EXPECT_EQ(cause_of({.n_vertices = 3},
                     [&](H5mFile& file) {
                       if (is_last) file.put_vertices(1, x);
                     }),
            "rows 1 to 3 are put, but there are 3");
  EXPECT_EQ(cause_of({.n_vertices = 3, .elements = {{.type = "Tri", .n_nodes = 3, .n = 1}}},
                     [&](H5mFile& file) {
                       if (!is_last) return;
                       file.put_vertices(0, x);
                       file.put_elements(0, 0, Words{1, 2});
                     }),
            "2 numbers are put that are not rows of 3 of the dataset's type");
  EXPECT_EQ(cause_of({.n_vertices = 3},
                     [&](H5mFile& file) {
                       if (is_last) file.put_vertices(0, x);
                       if (is_last) file.put_elements(0, 0, Words{1, 2, 3});
                     }),
            "does not exist: the file has 0");
  EXPECT_EQ(cause_of({.n_sets = 1}, [](H5mFile&) {}), "must all have 1 rows, one per set");
}

}  // namespace
}  // namespace barrio::files
