// Files that change during a read. At each system call on the file in turn, on each rank, the file is truncated,
// overwritten or replaced. The read fails with the same error on all ranks, or returns the original mesh.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/cgns/cgns_writer.hpp"
#include "tests/io/exodus/exodus_sample.hpp"
#include "tests/io/gmsh/gmsh_binary.hpp"
#include "tests/io/vtk/legacy_vtk.hpp"
#include "tests/support/faulty_io.h"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::world;
namespace fs = std::filesystem;

/// Change to a file.
struct Change {
  const char* name;
  int calls;  ///< kinds of system calls that trigger it
  std::function<void(const fs::path& file, const fs::path& good)> work;
};

constexpr int any_call = FAULTY_IO_READ | FAULTY_IO_OPEN;

// No removal at an open by one rank: Open MPI 4.1 would wait in MPI_File_open for ever.
const std::vector<Change> changes{
    {"cut to nothing", any_call, [](const fs::path& file, const fs::path&) { fs::resize_file(file, 0); }},
    {"cut in the middle", any_call,
     [](const fs::path& file, const fs::path&) { fs::resize_file(file, fs::file_size(file) / 2); }},
    {"cut at its end", any_call,
     [](const fs::path& file, const fs::path&) { fs::resize_file(file, fs::file_size(file) - 9); }},
    {"overwritten", any_call,
     [](const fs::path& file, const fs::path&) {
       const auto n = static_cast<std::streamsize>(fs::file_size(file));
       std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
       out.seekp(n / 3);
       out << std::string(static_cast<std::size_t>(n - n / 3), '\x7f');
     }},
    {"replaced by a cut one", any_call,
     [](const fs::path& file, const fs::path& good) {
       const fs::path other = file.string() + ".other";
       fs::copy_file(good, other);
       fs::resize_file(other, fs::file_size(other) * 2 / 3);
       fs::rename(other, file);
     }},
    {"removed", FAULTY_IO_READ, [](const fs::path& file, const fs::path&) { fs::remove(file); }},
};

/// Read on all ranks. Return "code: text" of the error, or the checksum of the mesh.
std::string outcome(const fs::path& path) {
  try {
    return std::to_string(read(world(), path.string(), {.ghost_layers = 1, .without_tags = {}}).checksum());
  } catch (const AgreedError& error) {
    return fmt::format("{}: {}", exit_code(error.code()), error.what());
  }
}

struct Order {
  const Change* change;
  fs::path file;
  fs::path good;
};

class ChangingFile : public testing::Test {
 protected:
  void SetUp() override {
    // A refused file remains open in HDF5.
    struct ::rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (world().rank() == 0) fs::create_directories(folder_);
    mpi::barrier(world());
  }
  void TearDown() override {
    mpi::barrier(world());
    if (world().rank() == 0) fs::remove_all(folder_);
  }

  /// Make a new copy. Collective.
  fs::path copy(const fs::path& good) {
    fs::path made = folder_ / fmt::format("c{}{}", n_copies_++, good.extension().string());
    if (world().rank() == 0) fs::copy_file(good, made);
    mpi::barrier(world());
    return made;
  }

  static void begin(const fs::path& file, Rank rank, std::int64_t at, int calls, Order* order = nullptr) {
    if (world().rank() != rank) return;
    FaultyIo plan{.calls = calls,
                  .file = {},
                  .at = at,
                  .end = LONG_MAX,
                  .error = 0,
                  .act =
                      [](void* argument) {
                        const auto& it = *static_cast<const Order*>(argument);
                        it.change->work(it.file, it.good);
                      },
                  .argument = order};
    const std::string name = file.filename().string();
    std::copy_n(name.c_str(), std::min(name.size() + 1, sizeof plan.file - 1), static_cast<char*>(plan.file));
    faulty_io_begin(&plan);
  }

  /// Read on all ranks, with each change at each call. @return the number of cases
  int sweep(const fs::path& good, std::int64_t max_places = 10) {
    const std::string whole = outcome(good);
    EXPECT_EQ(whole.find(':'), std::string::npos) << whole;
    int n_cases = 0;
    int n_refused = 0;
    for (Rank rank = 0; rank < world().size(); rank += std::max(world().size() - 1, 1)) {
      for (const Change& change : changes) {
        const fs::path counted = copy(good);
        begin(counted, rank, 0, change.calls);
        EXPECT_EQ(outcome(counted), whole);
        std::int64_t n = faulty_io_end();
        mpi::broadcast(world(), std::span(&n, 1), rank);
        EXPECT_GT(n, 0);
        std::int64_t last = 0;
        for (std::int64_t i = 0; i < max_places; ++i) {
          const std::int64_t at = 1 + i * (n - 1) / std::max<std::int64_t>(max_places - 1, 1);
          if (at == last) continue;
          last = at;
          Order order{&change, copy(good), good};
          SCOPED_TRACE(
              fmt::format("{} {} at call {} of {} on rank {}", good.filename().string(), change.name, at, n, rank));
          begin(order.file, rank, at, change.calls, &order);
          const std::string found = outcome(order.file);
          faulty_io_end();
          std::string of_root = found;
          mpi::broadcast(world(), of_root);
          EXPECT_EQ(found, of_root);
          EXPECT_TRUE(found == whole || found.starts_with("3: ") || found.starts_with("1: ")) << found;
          if (found != whole) {
            EXPECT_NE(found.find(order.file.filename().string()), std::string::npos) << found;
          }
          n_cases += 1;
          n_refused += found == whole ? 0 : 1;
        }
      }
    }
    EXPECT_GT(n_refused, n_cases / 2);
    return n_cases;
  }

  /// Do the same with `inspect`, on one process.
  void sweep_inspect(const fs::path& good) {
    if (world().rank() != 0) return;
    const std::string whole = inspect(good.string()).dump();
    const fs::path counted = folder_ / ("inspected" + good.extension().string());
    fs::copy_file(good, counted, fs::copy_options::overwrite_existing);
    begin(counted, 0, 0, any_call);
    static_cast<void>(inspect(counted.string()));
    const std::int64_t n = faulty_io_end();
    for (const Change& change : changes) {
      for (std::int64_t at = 1; at <= n; at += std::max<std::int64_t>(n / 10, 1)) {
        SCOPED_TRACE(fmt::format("{} {} at call {} of {}", good.filename().string(), change.name, at, n));
        Order order{&change, folder_ / fmt::format("i{}{}", n_inspected_++, good.extension().string()), good};
        fs::copy_file(good, order.file);
        begin(order.file, 0, at, any_call, &order);
        try {
          const Json found = inspect(order.file.string());
          if (at > 1) {  // a change at the first call precedes any reading
            EXPECT_EQ(found.dump(), whole);
          }
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed) << error.what();
        }
        faulty_io_end();
      }
    }
  }

  fs::path folder_ = test::scratch() / "changing";

 private:
  int n_copies_ = 0;
  int n_inspected_ = 0;  // on rank 0
};

template <class Write>
fs::path made(const fs::path& path, const Write& write) {
  if (world().rank() == 0) write(path);
  mpi::barrier(world());
  return path;
}

TEST_F(ChangingFile, H5m) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {9, 8, 7}, .volumes = {2, 1, 1}});
  mesh::partition_cells(world(), tables, 4);
  tables = mesh::reorder_by_part(world(), std::move(tables));
  const fs::path good = folder_ / "good.h5m";
  write_h5m(world(), tables, good.string());
  sweep(good, 24);
  sweep_inspect(good);
}

TEST_F(ChangingFile, Gmsh) {
  sweep(test::data("wing/wing_coarse.msh"));
  sweep_inspect(test::data("wing/wing_coarse.msh"));
}

TEST_F(ChangingFile, GmshBinary) {
  const fs::path good = made(folder_ / "binary.msh", [](const fs::path& path) {
    test::write_gmsh_binary(test::data("wing/wing_coarse.msh"), path);
  });
  sweep(good);
  sweep_inspect(good);
}

TEST_F(ChangingFile, Vtk) {
  for (const bool is_binary : {false, true}) {
    const fs::path good = made(folder_ / fmt::format("good{}.vtk", is_binary), [&](const fs::path& path) {
      std::ofstream(path, std::ios::binary) << test::row_of_tets(3, is_binary, 2000);
    });
    sweep(good);
    sweep_inspect(good);
  }
}

TEST_F(ChangingFile, Vtu) {
  const fs::path good = made(folder_ / "good.vtu", [](const fs::path& path) {
    constexpr int n = 1500;
    std::string points;
    std::string nodes;
    std::string ends;
    std::string types;
    for (int c = 0; c < n; ++c) {
      points += fmt::format("{0} 0 0 {1} 0 0 {0} 1 0 {0} 0 1\n", c, c + 0.5);
      nodes += fmt::format("{} {} {} {}\n", 4 * c, 4 * c + 1, 4 * c + 2, 4 * c + 3);
      ends += fmt::format("{} ", 4 * c + 4);
      types += "10 ";
    }
    std::ofstream(path) << fmt::format(
        R"(<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="{}" NumberOfCells="{}">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{}</DataArray></Points>
<Cells><DataArray type="Int32" Name="connectivity" format="ascii">{}</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">{}</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">{}</DataArray></Cells>
</Piece></UnstructuredGrid></VTKFile>
)",
        4 * n, n, points, nodes, ends, types);
  });
  sweep(good);
  sweep_inspect(good);
}

TEST_F(ChangingFile, Exodus) {
  for (const auto format : {test::NetcdfFormat::cdf2, test::NetcdfFormat::hdf5}) {
    const fs::path good = made(folder_ / fmt::format("good{}.exo", static_cast<int>(format)),
                               [&](const fs::path& path) { test::write(test::exodus_sample(), path, format); });
    sweep(good, 16);
    sweep_inspect(good);
  }
}

TEST_F(ChangingFile, Cgns) {
  const fs::path good =
      made(folder_ / "good.cgns", [](const fs::path& path) { test::write(test::cgns_unstructured(), path); });
  sweep(good, 16);
  sweep_inspect(good);
}

}  // namespace
}  // namespace barrio::io
