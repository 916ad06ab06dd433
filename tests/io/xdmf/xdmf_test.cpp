// XDMF files with numbers in XML, in HDF5 and raw.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using test::expect_bad;
using test::WholeFile;
using test::with;
using test::world;
using test::write_text;
using XdmfCell = WholeFile::Cell;
using Reals = std::vector<double>;
using XdmfNumbers = std::vector<std::int64_t>;

std::string within(const std::string& grids) {
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n<Xdmf Version=\"3.0\" "
         "xmlns:xi=\"http://www.w3.org/2001/XInclude\"><Domain>" +
         grids + "</Domain></Xdmf>\n";
}
std::string item(const std::string& dimensions, const std::string& type, const std::string& rest) {
  return "<DataItem Dimensions=\"" + dimensions + "\" NumberType=\"" + type + "\" Precision=\"8\" " + rest +
         "</DataItem>";
}
std::string xdmf_grid(const std::string& name, const std::string& contents) {
  return "<Grid Name=\"" + name + "\" GridType=\"Uniform\">" + contents + "</Grid>";
}

const Reals xdmf_points{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0, 0, 2, 1, 0, 0, 0, 1};
/// A quad, two triangles, an edge of a poly-line of two nodes, a tet.
const XdmfNumbers mixed{5, 0, 1, 2, 3, 4, 1, 4, 5, 4, 1, 5, 2, 2, 2, 0, 1, 6, 0, 1, 3, 6};
const Reals heat{0, 1, 2, 3, 4, 5, 6};
const Reals load{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

template <class T>
std::string words(const std::vector<T>& numbers) {
  std::string text;
  for (const T one : numbers) text += std::to_string(one) + " ";
  return text;
}

std::string sample(const std::string& x, const std::string& nodes, const std::string& of_points,
                   const std::string& of_cells) {
  return within(xdmf_grid("mesh", "<Topology TopologyType=\"Mixed\" NumberOfElements=\"5\">" + nodes +
                                      "</Topology><Geometry GeometryType=\"XYZ\">" + x +
                                      "</Geometry><Attribute Name=\"heat\" AttributeType=\"Scalar\" Center=\"Node\">" +
                                      of_points +
                                      "</Attribute><Attribute Name=\"load\" AttributeType=\"Vector\" Center=\"Cell\">" +
                                      of_cells + "</Attribute><Attribute Name=\"flux\" Center=\"Face\">" +
                                      item("1", "Float", "Format=\"XML\">1") + "</Attribute>"));
}
std::string sample_in_xml() {
  const std::string xml = "Format=\"XML\">";
  return sample(item("7 3", "Float", xml + words(xdmf_points)), item("22", "Int", xml + words(mixed)),
                item("7", "Float", xml + words(heat)), item("5 2", "Float", xml + words(load)));
}

void expect_xdmf_sample(const std::string& path) {
  testing::internal::CaptureStderr();
  const mesh::MeshTables tables = read_tables(world(), path);
  const std::string said = testing::internal::GetCapturedStderr();
  const WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, xdmf_points);
  EXPECT_EQ(found.cells, (std::vector<XdmfCell>{{CellType::edge, {0, 1}},
                                                {CellType::triangle, {1, 4, 5}},
                                                {CellType::triangle, {1, 5, 2}},
                                                {CellType::quad, {0, 1, 2, 3}},
                                                {CellType::tet, {0, 1, 3, 6}}}));
  ASSERT_EQ(tables.tags.size(), 2U);
  EXPECT_EQ(tables.tags[0].info.name, "heat");
  EXPECT_EQ(tables.tags[1].info.n_components, 2);
  if (world().rank() != 0) return;
  EXPECT_NE(said.find("left out: attribute 'flux'"), std::string::npos) << said;
  const Json shown = inspect(path);
  EXPECT_EQ(shown["vertices"], 7);
  EXPECT_EQ(shown["entities"]["triangles"], 2);
  EXPECT_EQ(shown["format"], "XDMF");
}

TEST(Xdmf, NumbersInXml) { expect_xdmf_sample(write_text("words.xdmf", sample_in_xml())); }
TEST(Xdmf, TextThatLooksLikeMarkupIsPassedOver) {
  expect_xdmf_sample(
      write_text("cdata.xdmf", with(sample_in_xml(), "<Domain>", "<Domain><![CDATA[<main/>]]><!-- <a> -->")));
}

TEST(Xdmf, NumbersInHdf5) {
  files::FileWriter file(world(), (test::scratch() / "numbers.h5").string(), 1 << 12);
  file.make_group("/mesh");
  file.write_small<double>("/mesh/x", xdmf_points, 3);
  file.write_small<std::int64_t>("/mesh/nodes", mixed);
  file.write_small<double>("/mesh/heat", heat, 1);
  file.write_small<double>("/mesh/load", load, 2);
  file.close();
  const auto in = [](const std::string& name) { return "Format=\"HDF\">\n numbers.h5:/mesh/" + name + "\n"; };
  expect_xdmf_sample(write_text("hdf.xdmf", sample(item("7 3", "Float", in("x")), item("22", "Int", in("nodes")),
                                                   item("7", "Float", in("heat")), item("5 2", "Float", in("load")))));
}

/// As version 3 of the XDMF library writes series: the later steps include cells and points by paths of numbers, all
/// arrays are parts of datasets of all steps, and a mixed list states its length, not the number of cells.
TEST(Xdmf, SeriesInPartsOfDatasets) {
  files::FileWriter file(world(), (test::scratch() / "parts.h5").string(), 1 << 12);
  file.make_group("/mesh");
  Reals x(21, -1.0);
  x.insert(x.end(), xdmf_points.begin(), xdmf_points.end());
  file.write_small<double>("/mesh/x", x, 3);  // two steps below each other
  XdmfNumbers nodes{99};
  nodes.insert(nodes.end(), mixed.begin(), mixed.end());
  file.write_small<std::int64_t>("/mesh/nodes", nodes);
  const Reals in_columns{0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24, 5, 15, 25, 6, 16, 26};
  file.write_small<double>("/mesh/heat", in_columns, 3);  // of a vertex in each row, of a step in each column
  file.write_small<double>("/mesh/load", load, 2);
  file.close();
  const auto part = [](const std::string& name, const std::string& selection) {
    return "Format=\"HDF\">parts.h5:/mesh/" + name + "|" + selection;
  };
  const auto attributes = [&](int step) {
    return "<Attribute Name=\"heat\" Center=\"Node\">" +
           item("7", "Float", part("heat", "0 " + std::to_string(step) + ":1 1:7 1:7 3")) +
           "</Attribute><Attribute Name=\"load\" Center=\"Cell\">" +
           item("5", "Float", part("load", "0 1:1 1:5 1:5 2")) + "</Attribute>";
  };
  const auto whole = [&](const std::string& topology) {
    return within("<Information Name=\"a\"/><!-- a --><Grid GridType=\"Collection\" CollectionType=\"Temporal\">" +
                  xdmf_grid("0", "<Time Value=\"1\"/><Geometry Type=\"XYZ\">" +
                                     item("7 3", "Float", part("x", "7 0:1 1:7 3:14 3")) + "</Geometry>" + topology +
                                     attributes(0)) +
                  xdmf_grid("1",
                            "<xi:include xpointer=\"element(/1/1/2/1/2)\"/>"
                            "<xi:include xpointer=\"element(/1/1/2/1/3)\"/>" +
                                attributes(1)) +
                  xdmf_grid("2",
                            "<xi:include xpointer=\"element(/1/1/2/2/1)\"/>"
                            "<xi:include xpointer=\"element(/1/1/2/1/3)\"/>" +
                                attributes(2)) +
                  "</Grid>");
  };
  const std::string topology =
      "<Topology Dimensions=\"22\" Type=\"Mixed\">" + item("22", "Int", part("nodes", "1:1:22:23")) + "</Topology>";
  const std::string path = write_text("parts.xdmf", whole(topology));
  const mesh::MeshTables tables = read_tables(world(), path);
  const WholeFile found(world(), tables);
  EXPECT_EQ(found.coordinates, xdmf_points);
  EXPECT_EQ(found.cells.size(), 5U);
  const mesh::Mesh mesh = read(world(), path);
  double heat_sum = 0.0;
  double load_sum = 0.0;
  for (const mesh::TagTable& tag : tables.tags)
    for (const mesh::TagColumn& column : tag.columns)
      for (std::size_t i = 0; i < column.items.bytes.size() / sizeof(double); ++i) {
        double value = 0.0;
        std::memcpy(&value, column.items.bytes.data() + i * sizeof(double), sizeof(double));
        (tag.info.name == "heat" ? heat_sum : load_sum) += value;
      }
  EXPECT_EQ(mpi::sum(world(), heat_sum), 7 * 20 + 21);
  EXPECT_EQ(mpi::sum(world(), load_sum), 2 + 4 + 6 + 8 + 10);
  if (world().rank() == 0) {
    const Json shown = inspect(path);
    EXPECT_EQ(shown["time_steps"], 3);
    EXPECT_EQ(shown["entities"]["triangles"], 2);
  }
  const auto expect = [&](const std::string& name, const std::string& old, const std::string& by,
                          const std::string& cause) { expect_bad(name, with(whole(topology), old, by), cause); };
  expect("stride.xdmf", "1:1:22:23", "1:2:22:60", "selects every 2. number of the dataset '/mesh/nodes'");
  expect("beyond.xdmf", "1:1:22:23", "2:1:22:23", "selects numbers 2 to 23 along a dimension of length 23");
  expect("fewer.xdmf", "1:1:22:23", "1:1:21:23", "selects 21 numbers of the dataset '/mesh/nodes' for an array of 22");
  expect("words.xdmf", "1:1:22:23", "1:1:22", "selects '1:1:22' of the dataset '/mesh/nodes', but must give");
  expect("joined.xdmf", "1:1:22:23", "1:1:22:23|a.h5:/b|1:1:1:1", "but must give start:stride:count:dimensions");
  expect("sizes.xdmf", "1:1:22:23", "30:1:22:60", "has a dataset '/mesh/nodes' of other dimensions");
  expect("no_element.xdmf", "(/1/1/2/1/2)", "(/1/1/9)", "includes the element '/1/1/9', which does not exist");
  expect("no_path.xdmf", "(/1/1/2/1/2)", "(/1/a)", "includes the element '/1/a', which is not a path of numbers");
  expect("itself.xdmf", "(/1/1/2/1/2)", "(/1/1/2/2/1)", "includes itself");
}

TEST(Xdmf, EntitiesStandForTheirTexts) {
  std::string text = sample_in_xml();
  text = with(text, "\"Xdmf.dtd\" []>", "\"Xdmf.dtd\" [\n<!ENTITY Heat \"heat\">\n<!ENTITY seven '7'> ]>");
  text = with(text, "Name=\"heat\"", "Name=\"&Heat;\"");
  expect_xdmf_sample(write_text("entities.xdmf", with(text, "Dimensions=\"7 3\"", "Dimensions=\"&seven; 3\"")));
  expect_bad("lack.xdmf", with(sample_in_xml(), "Dimensions=\"7 3\"", "Dimensions=\"&seven; 3\""),
             "has the dimensions '&seven; 3', which make no sense");
  expect_bad("early.xdmf", with(sample_in_xml(), "\"Xdmf.dtd\" []>", "\"Xdmf.dtd\" [<!ENTITY a \"b\">"),
             "has markup that ends early");
  std::string vast = with(sample_in_xml(), "[]>", "[<!ENTITY x \"" + std::string(1000, 'x') + "\">]>");
  std::string references;
  for (int i = 0; i < 70000; ++i) references += "&x;";
  vast = with(vast, "</Domain>", "<Information Value=\"" + references + "\"/></Domain>");
  expect_bad("vast.xdmf", vast, "has entities that stand for more than 64 MiB of text");
}

TEST(Xdmf, NumbersInRawFiles) {
  for (const bool is_big : {false, true}) {
    if (world().rank() == 0) {
      std::ofstream file(test::scratch() / "numbers.bin", std::ios::binary);
      const auto put = [&](auto numbers) {
        for (auto& one : numbers) {
          auto bytes = std::bit_cast<std::array<char, 8>>(one);
          if (is_big == (std::endian::native == std::endian::little)) std::ranges::reverse(bytes);
          file.write(bytes.data(), 8);
        }
      };
      put(xdmf_points);
      put(mixed);
      put(heat);
      put(load);
    }
    mpi::barrier(world());
    std::size_t at = 0;
    const auto next = [&](std::size_t n) {
      const std::size_t seek = 8 * std::exchange(at, at + n);
      return std::string("Format=\"Binary\" Endian=\"") + (is_big ? "Big" : "Little") + "\" Seek=\"" +
             std::to_string(seek) + "\">numbers.bin";
    };
    const std::string x = item("7 3", "Float", next(xdmf_points.size()));
    const std::string nodes = item("22", "Int", next(mixed.size()));
    const std::string of_points = item("7", "Float", next(heat.size()));
    expect_xdmf_sample(write_text("raw.xdmf", sample(x, nodes, of_points, item("5 2", "Float", next(load.size())))));
  }
}

/// A mesh as DOLFINx writes it: the grid, then series on it, which include its topology and geometry.
std::string of_dolfinx() {
  const std::string xml = "Format=\"XML\">";
  std::string steps;
  for (const std::string value : {"1 ", "2 ", "3 "})
    steps +=
        "<Grid Name=\"u\"><xi:include xpointer=\"xpointer(/Xdmf/Domain/Grid[@GridType='Uniform'][1]/*[self::Topology "
        "or "
        "self::Geometry])\" /><Time Value=\"" +
        value + "\" /><Attribute Name=\"u\" Center=\"Node\">" +
        item("4 1", "Float", xml + value + value + value + value) + "</Attribute></Grid>";
  return within(
      xdmf_grid("mesh", "<Topology TopologyType=\"Triangle\" NumberOfElements=\"2\" NodesPerElement=\"3\">" +
                            item("2 3", "Int", xml + "0 1 2 0 2 3") + "</Topology><Geometry GeometryType=\"XY\">" +
                            item("4 2", "Float", xml + "0 0 1 0 1 1 0 1") + "</Geometry>") +
      "<Grid Name=\"u\" GridType=\"Collection\" CollectionType=\"Temporal\">" + steps + "</Grid>" +
      xdmf_grid("facets", "<Topology TopologyType=\"PolyLine\" NumberOfElements=\"1\" NodesPerElement=\"2\">" +
                              item("1 2", "Int", xml + "0 1") +
                              "</Topology><Geometry Reference=\"XML\">/Xdmf/Domain/Grid[1]/Geometry</Geometry>"));
}

TEST(Xdmf, SeriesOnAMeshThatTheyInclude) {
  const std::string path = write_text("dolfinx.xdmf", of_dolfinx());
  for (const int step : {0, 1, 2}) {
    testing::internal::CaptureStderr();
    const mesh::MeshTables tables = read_tables(world(), path, {.step = step});
    const std::string said = testing::internal::GetCapturedStderr();
    const WholeFile found(world(), tables);
    EXPECT_EQ(found.coordinates, (Reals{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}));
    EXPECT_EQ(found.cells.size(), 2U);
    ASSERT_EQ(tables.tags.size(), 1U);
    double value = 0;
    const auto& bytes = tables.tags[0].columns[0].items.bytes;
    if (!bytes.empty()) std::memcpy(&value, bytes.data() + bytes.size() - 8, 8);
    EXPECT_EQ(value, bytes.empty() ? 0 : step == 0 ? 3 : step);
    EXPECT_EQ(
        said.find("grid 'facets', whose cells are not listed by the arrays of the first one") != std::string::npos,
        world().rank() == 0)
        << said;
  }
  if (world().rank() != 0) return;
  EXPECT_EQ(inspect(path)["time_steps"], 3);
  EXPECT_EQ(inspect(path)["times"], Json({1.0, 2.0, 3.0}));
}

TEST(Xdmf, PiecesInSpaceAreOneMesh) {
  const std::string xml = "Format=\"XML\">";
  const auto piece = [&](const std::string& x) {
    return xdmf_grid("piece", "<Topology TopologyType=\"Quadrilateral\" NumberOfElements=\"1\">" +
                                  item("1 4", "Int", xml + "0 1 2 3") + "</Topology><Geometry GeometryType=\"X_Y_Z\">" +
                                  item("4", "Float", xml + x) + item("4", "Float", xml + "0 0 1 1") +
                                  item("4", "Float", xml + "0 0 0 0") + "</Geometry>");
  };
  const std::string path =
      write_text("pieces.xdmf", within("<Grid GridType=\"Collection\" CollectionType=\"Spatial\">" + piece("0 1 1 0") +
                                       piece("1 2 2 1") + "</Grid>"));
  const WholeFile found(world(), read_tables(world(), path));
  EXPECT_EQ(found.coordinates, (Reals{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0, 0, 2, 1, 0}));
  EXPECT_EQ(found.cells, (std::vector<XdmfCell>{{CellType::quad, {0, 1, 2, 3}}, {CellType::quad, {1, 4, 5, 2}}}));
}

TEST(Xdmf, StructuredGrids) {
  const std::string xml = "Format=\"XML\">";
  const std::string even =
      xdmf_grid("even",
                "<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"2 2 3\"/><Geometry "
                "GeometryType=\"ORIGIN_DXDYDZ\">" +
                    item("3", "Float", xml + "10 20 30") + item("3", "Float", xml + "1 2 3") + "</Geometry>");
  const WholeFile found(world(), read_tables(world(), write_text("even.xdmf", within(even))));
  ASSERT_EQ(found.coordinates.size(), 36U);
  EXPECT_EQ(Reals(found.coordinates.end() - 3, found.coordinates.end()), (Reals{36, 22, 11}));
  EXPECT_EQ(found.cells.size(), 2U);
  const std::string axes =
      xdmf_grid("axes", "<Topology TopologyType=\"2DRectMesh\" Dimensions=\"2 3\"/><Geometry GeometryType=\"VXVY\">" +
                            item("3", "Float", xml + "0 1 5") + item("2", "Float", xml + "7 9") + "</Geometry>");
  const WholeFile flat(world(), read_tables(world(), write_text("axes.xdmf", within(axes))));
  EXPECT_EQ(flat.coordinates, (Reals{0, 7, 0, 1, 7, 0, 5, 7, 0, 0, 9, 0, 1, 9, 0, 5, 9, 0}));
  EXPECT_EQ(flat.cells, (std::vector<XdmfCell>{{CellType::quad, {0, 1, 4, 3}}, {CellType::quad, {1, 2, 5, 4}}}));
}

TEST(Xdmf, Polyhedra) {
  // A tet by its faces.
  const std::string xml = "Format=\"XML\">";
  const std::string text =
      within(xdmf_grid("faces", "<Topology TopologyType=\"Mixed\" NumberOfElements=\"1\">" +
                                    item("18", "Int", xml + "16 4 3 0 2 1 3 0 1 3 3 1 2 3 3 0 3 2") +
                                    "</Topology><Geometry GeometryType=\"XYZ\">" +
                                    item("4 3", "Float", xml + "0 0 0 1 0 0 0 1 0 0 0 1") + "</Geometry>"));
  const WholeFile found(world(), read_tables(world(), write_text("faces.xdmf", text)));
  EXPECT_EQ(found.cells,
            (std::vector<XdmfCell>{{CellType::polyhedron, {0, 2, 1, 0, 0, 1, 3, 0, 1, 2, 3, 1, 0, 3, 2, 0}}}));
}

TEST(BadXdmf, FaultsAreNamed) {
  const std::string good = sample_in_xml();
  expect_bad("cut.xdmf", good.substr(0, good.find("<Geometry") + 4), "has markup that ends early");
  expect_bad("open.xdmf", good.substr(0, good.find("</Domain>")), "has markup that cannot be understood");
  expect_bad("empty.xdmf", within(""), "has no grids");
  expect_bad("kind.xdmf", with(good, "\"Mixed\"", "\"Blob\""), "of cells 'blob', which barrio does not read");
  expect_bad("code.xdmf", with(good, ">5 0 1 2 3", ">77 0 1 2 3"), "has a mixed list of cells with 77");
  expect_bad("more.xdmf", with(good, "NumberOfElements=\"5\"", "NumberOfElements=\"6\""),
             "has 10 values in the attribute 'load' of 6 cells");
  expect_bad("short.xdmf", with(good, "\"22\"", "\"21\""), "has a mixed list of cells that ends early");
  expect_bad("node.xdmf", with(good, ">5 0 1 2 3", ">5 0 1 2 9"), "has a cell with point 9 in a grid of 7 points");
  expect_bad("few.xdmf", with(good, "\"7 3\"", "\"9 3\""), "has 7 values in the attribute 'heat' of 9 points");
  expect_bad("format.xdmf", with(good, "Format=\"XML\"", "Format=\"morse\""), "in the unknown format 'morse'");
  expect_bad("type.xdmf", with(good, "NumberType=\"Float\"", "NumberType=\"Complex\""), "has numbers of the type");
  expect_bad("no_file.xdmf", with(good, "Format=\"XML\">0", "Format=\"HDF\">nothing"), "must name FILE:/DATASET");
  expect_bad("vast.xdmf", with(good, "\"7 3\"", "\"9000000000 9000000000\""), "which make no sense");
  const std::string series = of_dolfinx();
  expect_bad("path.xdmf", with(series, "/Xdmf/Domain/Grid[1]/Geometry", "/Xdmf/["), "which cannot be understood");
  expect_bad("nowhere.xdmf", with(series, "/Xdmf/Domain/Grid[1]/Geometry", "/Xdmf/Nothing"), "which does not exist");
}

TEST(Xdmf, TheLastOfSeveralAttributesOfOneNameCounts) {
  const auto values = [](const char* numbers) {
    return "<Attribute Name=\"heat\" Center=\"Node\">" + item("7", "Float", std::string("Format=\"XML\">") + numbers) +
           "</Attribute>";
  };
  const std::string before = values("9 9 9 9 9 9 9");
  const std::string own = values("0 1 2 3 4 5 6");
  const std::string first = sample_in_xml();
  const std::size_t at = first.find("<Attribute");
  ASSERT_NE(at, std::string::npos);
  // in the grid itself, at a step that includes the one before, and on cells beside points
  for (const std::string& text :
       {first.substr(0, at) + before + own + first.substr(at), first.substr(0, at) + before + first.substr(at)}) {
    const std::string path = write_text("same_name.xdmf", text);
    testing::internal::CaptureStderr();
    const mesh::MeshTables tables = read_tables(world(), path);
    const std::string said = testing::internal::GetCapturedStderr();
    double sum = 0.0;
    for (const mesh::TagTable& tag : tables.tags)
      for (const mesh::TagColumn& column : tag.columns)
        for (std::size_t i = 0; tag.info.name == "heat" && i < column.items.bytes.size() / sizeof(double); ++i) {
          double value = 0.0;
          std::memcpy(&value, &column.items.bytes[i * sizeof(double)], sizeof(double));
          sum += value;
        }
    EXPECT_EQ(mpi::sum(world(), sum), 21.0);
    if (world().rank() == 0) {
      EXPECT_NE(said.find("an earlier attribute 'heat' of the same grid"), std::string::npos) << said;
    }
  }
}

}  // namespace
}  // namespace barrio::io
