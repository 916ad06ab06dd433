// Polyhedra in every dialect of VTK: a box of hexes, of which every third is spelt as a polyhedron, and every third cut
// into two prisms. tests/cli/test_vtk_files.py has the files of VTK itself.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/vtk/legacy_vtk.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/support/collect.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using test::expect_bad;
using test::Legacy;
using test::with;
using test::world;

using LoopedCell = test::WholeFile::Cell;
using Faces = std::vector<std::vector<int>>;

/// Cells as VTK has them, with the faces of polyhedra.
struct LoopedSample {
  std::vector<double> x;
  std::vector<std::vector<int>> nodes;  ///< corners, also of polyhedra
  std::vector<int> types;
  std::vector<Faces> faces;  ///< empty for other cells
};

LoopedSample mixed_box() {
  constexpr std::array<int, 3> n{4, 3, 5};
  LoopedSample sample;
  for (int k = 0; k <= n[2]; ++k)
    for (int j = 0; j <= n[1]; ++j)
      for (int i = 0; i <= n[0]; ++i) sample.x.insert(sample.x.end(), {1.0 * i, 0.5 * j, 2.0 * k});
  const auto add = [&](int type, std::vector<int> nodes, Faces faces = {}) {
    sample.nodes.push_back(std::move(nodes));
    sample.types.push_back(type);
    sample.faces.push_back(std::move(faces));
  };
  for (int c = 0; c < n[0] * n[1] * n[2]; ++c) {
    const auto at = [&](int i, int j, int k) {
      return ((c / (n[0] * n[1]) + k) * (n[1] + 1) + c / n[0] % n[1] + j) * (n[0] + 1) + c % n[0] + i;
    };
    const std::vector<int> v{at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 1, 0),
                             at(0, 0, 1), at(1, 0, 1), at(1, 1, 1), at(0, 1, 1)};
    if (c % 3 == 0) {
      Faces faces{{v[4], v[5], v[6], v[7]}};
      for (std::size_t i = 0; i < 4; ++i) faces.push_back({v[i], v[(i + 1) % 4], v[4 + (i + 1) % 4], v[4 + i]});
      faces.push_back({v[0], v[3], v[2], v[1]});
      add(42, v, faces);
    } else if (c % 3 == 1) {
      add(12, v);
    } else {
      add(13, {v[0], v[1], v[2], v[4], v[5], v[6]});
      add(13, {v[0], v[2], v[3], v[4], v[6], v[7]});
    }
  }
  return sample;
}

/// Return the stream of a polyhedron.
std::vector<int> stream_of(const Faces& faces) {
  std::vector<int> stream{static_cast<int>(faces.size())};
  for (const auto& face : faces) {
    stream.push_back(static_cast<int>(face.size()));
    stream.insert(stream.end(), face.begin(), face.end());
  }
  return stream;
}

std::vector<int> numbers_of_cells(const LoopedSample& sample) {
  std::vector<int> numbers;
  for (int c = 0; c < std::ssize(sample.types); ++c) numbers.push_back(100 + c);
  return numbers;
}

std::string legacy_file(const LoopedSample& sample, int version, bool is_binary) {
  std::vector<std::vector<int>> cells = sample.nodes;
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (sample.types[c] == 42) cells[c] = stream_of(sample.faces[c]);
  Legacy file(version, is_binary);
  file.line("DATASET UNSTRUCTURED_GRID").line(fmt::format("POINTS {} double", sample.x.size() / 3)).numbers(sample.x);
  file.cells("CELLS", cells).line(fmt::format("CELL_TYPES {}", cells.size())).numbers(sample.types);
  file.line(fmt::format("CELL_DATA {}\nSCALARS number int\nLOOKUP_TABLE default", cells.size()));
  return file.numbers(numbers_of_cells(sample)).text();
}

std::string vtu_array(const char* type, const char* name, const std::vector<int>& items) {
  return fmt::format("<DataArray type=\"{}\" Name=\"{}\" format=\"ascii\">{}</DataArray>\n", type, name,
                     fmt::join(items, " "));
}

/// Return the arrays of the faces of cells `first` to `end` of a sample.
using FacesWriter = std::string (*)(const LoopedSample&, std::size_t first, std::size_t end);

std::string as_streams(const LoopedSample& sample, std::size_t first, std::size_t end) {
  std::vector<int> streams;
  std::vector<int> ends;
  for (std::size_t c = first; c < end; ++c) {
    if (sample.types[c] == 42) {
      const std::vector<int> stream = stream_of(sample.faces[c]);
      streams.insert(streams.end(), stream.begin(), stream.end());
    }
    ends.push_back(sample.types[c] == 42 ? static_cast<int>(streams.size()) : -1);
  }
  return vtu_array("Int64", "faces", streams) + vtu_array("Int64", "faceoffsets", ends);
}

/// Faces apart from the cells, the last face first.
std::string apart(const LoopedSample& sample, std::size_t first, std::size_t end) {
  std::vector<std::vector<int>> faces;
  std::vector<int> of_cells;
  std::vector<int> cell_ends;
  int n = 0;
  for (std::size_t c = first; c < end; ++c) n += static_cast<int>(sample.faces[c].size());
  for (std::size_t c = first; c < end; ++c) {
    for (const auto& face : sample.faces[c]) {
      faces.insert(faces.begin(), face);
      of_cells.push_back(n - static_cast<int>(faces.size()));
    }
    cell_ends.push_back(static_cast<int>(of_cells.size()));
  }
  std::vector<int> points;
  std::vector<int> face_ends;
  for (const auto& face : faces) {
    points.insert(points.end(), face.begin(), face.end());
    face_ends.push_back(static_cast<int>(points.size()));
  }
  return vtu_array("Int64", "face_connectivity", points) + vtu_array("Int64", "face_offsets", face_ends) +
         vtu_array("Int64", "polyhedron_to_faces", of_cells) + vtu_array("Int64", "polyhedron_offsets", cell_ends);
}

std::string vtu_file(const LoopedSample& sample, FacesWriter write_faces, std::size_t n_pieces) {
  std::string text = "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid>\n";
  const std::size_t n_cells = sample.types.size();
  for (std::size_t p = 0; p < n_pieces; ++p) {
    const std::size_t first = n_cells * p / n_pieces;
    const std::size_t end = n_cells * (p + 1) / n_pieces;
    std::vector<int> nodes;
    std::vector<int> ends;
    for (std::size_t c = first; c < end; ++c) {
      nodes.insert(nodes.end(), sample.nodes[c].begin(), sample.nodes[c].end());
      ends.push_back(static_cast<int>(nodes.size()));
    }
    const auto piece_of = [&](const std::vector<int>& all) {
      return std::vector<int>(all.begin() + static_cast<std::ptrdiff_t>(first),
                              all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    text += fmt::format(
        "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\"><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points>\n<Cells>",
        sample.x.size() / 3, end - first, fmt::join(sample.x, " "));
    text += vtu_array("Int64", "connectivity", nodes) + vtu_array("Int64", "offsets", ends) +
            vtu_array("UInt8", "types", piece_of(sample.types)) + write_faces(sample, first, end);
    text += "</Cells><CellData>" + vtu_array("Int32", "number", piece_of(numbers_of_cells(sample))) +
            "</CellData></Piece>\n";
  }
  return text + "</UnstructuredGrid></VTKFile>\n";
}

/// Cells of barrio, and the numbers that the file gave them, in the order of tables. By another way than the reader's.
std::pair<std::vector<LoopedCell>, std::vector<int>> expected_of(const LoopedSample& sample) {
  std::pair<std::vector<LoopedCell>, std::vector<int>> expected;
  const std::vector<int> numbers = numbers_of_cells(sample);
  for (const auto& [type, known] :
       {std::pair(13, CellType::prism), std::pair(12, CellType::hex), std::pair(42, CellType::polyhedron)})
    for (std::size_t c = 0; c < sample.types.size(); ++c) {
      if (sample.types[c] != type) continue;
      LoopedCell cell{known, {sample.nodes[c].begin(), sample.nodes[c].end()}};
      if (type == 42) cell.second.clear();
      for (const auto& face : sample.faces[c]) {
        cell.second.insert(cell.second.end(), face.begin(), face.end());
        cell.second.push_back(face[0]);
      }
      expected.first.push_back(cell);
      expected.second.push_back(numbers[c]);
    }
  return expected;
}

/// Gather the integers of the only tag, block after block. Collective.
std::vector<int> values_of_tag(const mesh::MeshTables& tables) {
  std::vector<int> all;
  for (const mesh::TagColumn& column : tables.tags.at(0).columns) {
    std::vector<int> mine(column.items.bytes.size() / sizeof(int));
    if (!mine.empty()) std::memcpy(mine.data(), column.items.bytes.data(), column.items.bytes.size());
    const std::vector<int> of_block = test::collect(world(), mine);
    all.insert(all.end(), of_block.begin(), of_block.end());
  }
  return all;
}

/// As programs write hexes and prisms in a list of prisms over hexagons: points are repeated.
TEST(VtkPolyhedra, PrismsOverPolygonsMayHaveCollapsed) {
  const auto file = [](const std::string& name, int type, const std::string& nodes) {
    const auto n = std::count(nodes.begin(), nodes.end(), ' ') + 1;
    return test::write_text(name,
                            "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 9 float\n"
                            "0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1 .5 .5 3\nCELLS 1 " +
                                std::to_string(n + 1) + "\n" + std::to_string(n) + " " + nodes + "\nCELL_TYPES 1\n" +
                                std::to_string(type) + "\n");
  };
  const auto faces_of = [](const std::string& path) {
    const mesh::Mesh mesh = read(world(), path);
    mesh.validate();
    std::vector<int> n_corners;
    for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c)
      mesh::for_each_loop(mesh.cells().nodes_of(c),
                          [&](std::span<const LocalId> face) { n_corners.push_back(static_cast<int>(face.size())); });
    n_corners = test::collect(world(), n_corners);
    std::ranges::sort(n_corners);
    return n_corners;
  };
  EXPECT_EQ(faces_of(file("edge.vtk", 15, "0 1 2 3 3 4 5 6 7 7")), (std::vector<int>{4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(faces_of(file("apex.vtk", 15, "0 1 2 3 3 8 8 8 8 8")), (std::vector<int>{3, 3, 3, 3, 4}));
  EXPECT_EQ(faces_of(file("roof.vtk", 16, "0 1 2 3 3 3 4 5 6 7 7 8")), (std::vector<int>{3, 4, 4, 4, 4, 4, 5}));
}

TEST(VtkPolyhedra, EveryDialectHoldsTheSameMesh) {
  const LoopedSample sample = mixed_box();
  const auto [cells, numbers] = expected_of(sample);
  std::vector<std::string> paths;
  for (const int version : {4, 5})
    for (const bool is_binary : {false, true})
      paths.push_back(test::write_text(fmt::format("polyhedra{}{}.vtk", version, is_binary),
                                       legacy_file(sample, version, is_binary)));
  paths.push_back(test::write_text("streams.vtu", vtu_file(sample, as_streams, 1)));
  paths.push_back(test::write_text("apart.vtu", vtu_file(sample, apart, 1)));
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    mesh::MeshTables tables = read_tables(world(), path);
    const test::WholeFile found(world(), tables);
    EXPECT_EQ(found.coordinates, sample.x);
    EXPECT_EQ(found.cells, cells);
    EXPECT_EQ(values_of_tag(tables), numbers);
    mesh::partition_cells(world(), tables, 4);
    mesh::Mesh(world(), tables, {.ghost_layers = 1}).validate();
    if (world().rank() != 0) continue;
    const Json shown = inspect(path);
    EXPECT_EQ(shown["entities"]["polyhedra"], 20);
    EXPECT_EQ(shown["quality"]["inverted"], 0);
    EXPECT_FALSE(shown.contains("unsupported"));
  }
}

TEST(VtkPolyhedra, PiecesCountTheirFacesAndPointsAnew) {
  const LoopedSample sample = mixed_box();
  const auto [cells, numbers] = expected_of(sample);  // each piece has all points; equal ones are merged
  for (const FacesWriter write_faces : {as_streams, apart}) {
    const mesh::MeshTables tables =
        read_tables(world(), test::write_text("pieces.vtu", vtu_file(sample, write_faces, 3)));
    EXPECT_EQ(test::WholeFile(world(), tables).cells, cells);
    EXPECT_EQ(values_of_tag(tables), numbers);
  }
}

TEST(VtkPolyhedra, TheyGoToH5mAndBackWithSharedFaces) {
  const std::string path = test::write_text("source.vtk", legacy_file(mixed_box(), 4, false));
  const mesh::MeshTables tables = read_tables(world(), path);
  const std::string copy = (test::scratch() / "copy.h5m").string();
  write_h5m(world(), tables, copy);
  std::vector<LoopedCell> found = test::WholeFile(world(), read_tables(world(), copy)).cells;
  std::set<std::vector<std::int64_t>> faces;  // as sorted corners
  for (const auto& [type, nodes] : test::WholeFile(world(), tables).cells)
    if (type == CellType::polyhedron)
      for (std::vector<std::int64_t> face : test::faces_of_loops(nodes)) {
        std::ranges::sort(face);
        faces.insert(face);
      }
  EXPECT_EQ(std::erase_if(found, [](const LoopedCell& cell) { return cell.first == CellType::polygon; }), faces.size());
  EXPECT_LT(faces.size(), 20 * 6U) << "some faces are between two polyhedra";
  EXPECT_EQ(found.size(), 80U);
}

TEST(VtkPolyhedra, FacesThatTwoCellsListOnceAreRead) {
  // Two tets; the face 1 2 3 is in the arrays once, and a point that ends a face where it began is left out.
  const std::string text =
      R"(<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="5" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1 1 1 1</DataArray></Points>
<Cells>)" +
      vtu_array("Int32", "connectivity", {0, 1, 2, 3, 1, 2, 3, 4}) + vtu_array("Int32", "offsets", {4, 8}) +
      vtu_array("UInt8", "types", {42, 42}) +
      vtu_array("Int32", "face_connectivity", {1, 2, 3, 0, 1, 3, 0, 0, 2, 1, 0, 3, 2, 1, 4, 2, 2, 4, 3, 3, 4, 1}) +
      vtu_array("Int32", "face_offsets", {3, 7, 10, 13, 16, 19, 22}) +
      vtu_array("Int32", "polyhedron_to_faces", {0, 1, 2, 3, 0, 4, 5, 6}) +
      vtu_array("Int32", "polyhedron_offsets", {4, 8}) + "</Cells></Piece></UnstructuredGrid></VTKFile>";
  const test::WholeFile found(world(), read_tables(world(), test::write_text("shared.vtu", text)));
  EXPECT_EQ(found.cells, (std::vector<LoopedCell>{
                             {CellType::polyhedron, {1, 2, 3, 1, 0, 1, 3, 0, 0, 2, 1, 0, 0, 3, 2, 0}},
                             {CellType::polyhedron, {1, 2, 3, 1, 1, 4, 2, 1, 2, 4, 3, 2, 3, 4, 1, 3}},
                         }));
  expect_bad("thrice.vtu", with(text, ">0 1 2 3 0 4", ">0 0 0 3 0 4"), "has a face, 0, that belongs to more than two");
  expect_bad("face.vtu", with(text, ">0 1 2 3 0 4", ">0 1 2 9 0 4"), "ends early");
  expect_bad("below.vtu", with(text, ">0 1 2 3 0 4", ">0 1 2 -3 0 4"), "with a face of negative number");
  expect_bad("ends.vtu", with(text, ">3 7 10", ">3 17 10"), "has offsets of faces that do not ascend");
  expect_bad("cells.vtu", with(text, ">4 8</DataArray>\n</Cells>", ">4 3</DataArray>\n</Cells>"),
             "has offsets of polyhedra that do not ascend");
  expect_bad("point.vtu", with(text, "1 2 3 0 1 3", "1 2 3 0 1 5"), "has a cell with point 5 in a piece of 5 points");
  expect_bad("lacks.vtu", with(text, "polyhedron_to_faces", "faces_of_cells"), "has polyhedra, but not the array");
}

TEST(VtkPolyhedra, PrismsOverPentagonsAndHexagonsBecomePolyhedra) {
  Legacy file(3, false);
  file.line("DATASET UNSTRUCTURED_GRID\nPOINTS 22 double");
  std::vector<double> x;
  for (const int n : {5, 6})
    for (const double z : {0.0, 1.0})
      for (int i = 0; i < n; ++i) {
        const double angle = 6.283185307179586 * i / n;
        x.insert(x.end(), {3.0 * n + std::cos(angle), std::sin(angle), z});
      }
  file.numbers(x);
  std::vector<std::vector<int>> cells(2);
  for (int i = 0; i < 22; ++i) cells[i < 10 ? 0 : 1].push_back(i);
  file.cells("CELLS", cells).line("CELL_TYPES 2").numbers<int>({15, 16});
  const std::string path = file.write();
  const test::WholeFile found(world(), read_tables(world(), path));
  using List = std::vector<std::vector<std::int64_t>>;
  ASSERT_EQ(found.cells.size(), 2U);
  EXPECT_EQ(
      test::faces_of_loops(found.cells[0].second),
      (List{{4, 3, 2, 1, 0}, {5, 6, 7, 8, 9}, {0, 1, 6, 5}, {1, 2, 7, 6}, {2, 3, 8, 7}, {3, 4, 9, 8}, {4, 0, 5, 9}}));
  EXPECT_EQ(test::faces_of_loops(found.cells[1].second).size(), 8U);
  expect_bad("short.vtk", with(file.text(), "\n15 16 ", "\n16 16 "), "has a cell of VTK type 16 with 10 nodes");
}

TEST(VtkPolyhedra, FaultyStreamsAreNamed) {
  LoopedSample tet;
  tet.x = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  tet.nodes = {{0, 1, 2, 3}};
  tet.types = {42};
  tet.faces = {{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
  const std::string text = legacy_file(tet, 4, false);
  expect_bad("more.vtk", with(text, "CELLS 1 18\n17 4 3", "CELLS 1 18\n17 5 3"), "the 17 numbers that it takes");
  expect_bad("less.vtk", with(text, "17 4 3", "17 3 3"), "does not have the 17 numbers that it takes");
  expect_bad("minus.vtk", with(text, "17 4 3", "17 4 -3"), "does not have the 17 numbers that it takes");
  expect_bad("open.vtk", with(text, "17 4 3 0 2 1", "17 4 3 0 2 3"), "polyhedron 0 is not closed");
  expect_bad("beyond.vtk", with(text, "17 4 3 0 2 1", "17 4 3 0 2 9"), "polyhedron 0 has vertex 9");
  const std::string streams = vtu_file(tet, as_streams, 1);
  expect_bad("ends.vtu", with(streams, ">17<", ">16<"), "does not have the 16 numbers that it takes");
  expect_bad("short.vtu", with(streams, ">17<", ">18<"), "ends early");
}

}  // namespace
}  // namespace barrio::io
