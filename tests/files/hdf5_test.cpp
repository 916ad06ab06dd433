#include "barrio/files/hdf5.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::files {
namespace {

using test::world;
namespace fs = std::filesystem;

constexpr hsize_t n_rows = 23;

/// Write one dataset by plain HDF5, which converts to the type of the file and deflates chunks.
void put(hid_t file, const char* name, hid_t type, hid_t memory_type, std::vector<hsize_t> sizes, const void* values,
         H5D_layout_t kind = H5D_CONTIGUOUS) {
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  if (kind == H5D_CHUNKED) {
    std::vector<hsize_t> chunk = sizes;
    chunk[0] = 5;
    H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(layout, 6);
  }
  if (kind == H5D_COMPACT) H5Pset_layout(layout, kind);
  const hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  ASSERT_GE(data, 0) << name;
  ASSERT_GE(H5Dwrite(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << name;
  H5Dclose(data);
  H5Pclose(layout);
  H5Sclose(space);
}

struct IntegerType {
  const char* name;
  hid_t type;
  std::int64_t low;
  std::int64_t high;
};

std::vector<IntegerType> integer_types() {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  return {{"i8le", H5T_STD_I8LE, -128, 127},
          {"i8be", H5T_STD_I8BE, -128, 127},
          {"u8le", H5T_STD_U8LE, 0, 255},
          {"u8be", H5T_STD_U8BE, 0, 255},
          {"i16le", H5T_STD_I16LE, -32768, 32767},
          {"i16be", H5T_STD_I16BE, -32768, 32767},
          {"u16le", H5T_STD_U16LE, 0, 65535},
          {"u16be", H5T_STD_U16BE, 0, 65535},
          {"i32le", H5T_STD_I32LE, INT32_MIN, INT32_MAX},
          {"i32be", H5T_STD_I32BE, INT32_MIN, INT32_MAX},
          {"u32le", H5T_STD_U32LE, 0, UINT32_MAX},
          {"u32be", H5T_STD_U32BE, 0, UINT32_MAX},
          {"i64le", H5T_STD_I64LE, min, max},
          {"i64be", H5T_STD_I64BE, min, max},
          {"u64le", H5T_STD_U64LE, 0, max},
          {"u64be", H5T_STD_U64BE, 0, max}};
}

/// Return both ends of the type's range and numbers near them.
std::vector<std::int64_t> values_of(const IntegerType& type) {
  std::vector<std::int64_t> values{type.low, type.high, type.low + 1, type.high - 1, 0, 1, 77};
  while (values.size() < n_rows)
    values.push_back(type.low == 0 ? static_cast<std::int64_t>(values.size())
                                   : -static_cast<std::int64_t>(values.size()));
  return values;
}

class HdfFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (test::scratch() / "types.h5").string();
    if (world().rank() == 0) make();
    mpi::barrier(world());
  }
  void make() const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (const IntegerType& type : integer_types())
      put(file, type.name, type.type, H5T_NATIVE_INT64, {n_rows}, values_of(type).data());
    std::vector<double> reals;
    for (hsize_t i = 0; i < 3 * n_rows; ++i) reals.push_back(0.125 * static_cast<double>(i) - 3.0);
    put(file, "f64le", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {n_rows, 3}, reals.data());
    put(file, "f64be", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {n_rows, 3}, reals.data());
    put(file, "f32le", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, {n_rows, 3}, reals.data());
    put(file, "f32be", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, {n_rows, 3}, reals.data());
    put(file, "deflated", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {n_rows, 3}, reals.data(), H5D_CHUNKED);
    put(file, "compact", H5T_STD_I64LE, H5T_NATIVE_INT64, {n_rows}, values_of({"", 0, 0, 9}).data(), H5D_COMPACT);
    const hsize_t three = 3;
    const hid_t array = H5Tarray_create2(H5T_STD_I32BE, 1, &three);
    const hid_t memory = H5Tarray_create2(H5T_NATIVE_INT32, 1, &three);
    std::vector<std::int32_t> triples;
    for (int i = 0; i < 3 * static_cast<int>(n_rows); ++i) triples.push_back(-i);
    put(file, "array", array, memory, {n_rows}, triples.data());
    const hid_t opaque = H5Tcreate(H5T_OPAQUE, 8);
    std::string names;
    for (hsize_t i = 0; i < n_rows; ++i)
      names += std::string("set") + static_cast<char>('a' + i) + std::string(4, '\0');
    put(file, "names", opaque, opaque, {n_rows}, names.data());
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const std::vector<const char*> lines(n_rows, "a line");
    put(file, "lines", text, text, {n_rows}, lines.data());
    put(file, "deep", H5T_STD_I32LE, H5T_NATIVE_INT64, {n_rows}, values_of({"", 0, 0, 9}).data());
    const hsize_t n = 4;
    const hid_t space = H5Screate_simple(1, &n, nullptr);
    const hid_t attribute =
        H5Acreate_by_name(file, "deep", "sizes", H5T_STD_U16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<std::int64_t, 4> sizes{1, 2, 3, 60000};
    H5Awrite(attribute, H5T_NATIVE_INT64, sizes.data());
    H5Aclose(attribute);
    H5Sclose(space);
    H5Fclose(file);
  }
  std::string path_;
};

template <class Values>
Values slab_of(const Values& all, Rows rows, std::size_t width = 1) {
  const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows.first) * width);
  return {all.begin() + first,
          all.begin() + first + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows.count) * width)};
}

TEST_F(HdfFile, IntegersOfEveryWidthSignAndOrder) {
  const SharedFile file = open_to_read(world(), path_);
  const Slabs slabs{n_rows, world().size()};
  const Rows rows{slabs.first(world().rank()), static_cast<std::int64_t>(slabs.size(world().rank()))};
  for (const IntegerType& type : integer_types()) {
    EXPECT_EQ(read_integers(file.get(), type.name), values_of(type)) << type.name;
    EXPECT_EQ(read_integers(file.get(), type.name, rows), slab_of(values_of(type), rows)) << type.name;
  }
}

TEST_F(HdfFile, SlabsMayBeEmptyOrOverlap) {
  const SharedFile file = open_to_read(world(), path_);
  const auto all = values_of({"", 0, INT32_MIN, INT32_MAX});
  const bool is_last = world().rank() == world().size() - 1;
  const Rows rows = is_last ? Rows{n_rows, 0} : Rows{2, 20};
  EXPECT_EQ(read_integers(file.get(), "i32be", rows), slab_of(all, rows));
}

TEST_F(HdfFile, RealsOfEveryWidthAndOrder) {
  const SharedFile file = open_to_read(world(), path_);
  const Slabs slabs{n_rows, world().size()};
  const Rows rows{slabs.first(world().rank()), static_cast<std::int64_t>(slabs.size(world().rank()))};
  std::vector<double> all;
  for (hsize_t i = 0; i < 3 * n_rows; ++i) all.push_back(0.125 * static_cast<double>(i) - 3.0);
  for (const char* name : {"f64le", "f64be", "f32le", "f32be", "deflated"}) {
    EXPECT_EQ(read_reals(file.get(), name), all) << name;
    EXPECT_EQ(read_reals(file.get(), name, rows), slab_of(all, rows, 3)) << name;
  }
}

TEST_F(HdfFile, ArraysTextsAndAttributes) {
  const Handle file = open_to_read(path_);  // local
  const NativeValues triples = read_native(file.get(), "array", {5, 2});
  EXPECT_EQ(triples.n_numbers, 3U);
  std::array<std::int32_t, 6> numbers{};
  ASSERT_EQ(triples.bytes.size(), sizeof numbers);
  std::memcpy(numbers.data(), triples.bytes.data(), sizeof numbers);
  EXPECT_EQ(numbers, (std::array<std::int32_t, 6>{-15, -16, -17, -18, -19, -20}));
  EXPECT_EQ(read_texts(file.get(), "names", {1, 3}), (std::vector<std::string>{"setb", "setc", "setd"}));
  EXPECT_EQ(read_attribute(file.get(), "deep", "sizes"), (std::vector<std::int64_t>{1, 2, 3, 60000}));
  EXPECT_TRUE(read_attribute(file.get(), "deep", "size").empty());
  EXPECT_TRUE(read_attribute(file.get(), "nothing", "sizes").empty());
  EXPECT_EQ(extents(file.get(), "f64be"), (std::vector<std::int64_t>{n_rows, 3}));
  EXPECT_TRUE(extents(file.get(), "nothing").empty());
  EXPECT_TRUE(has(file.get(), "deep"));
  EXPECT_FALSE(has(file.get(), "deep/er"));
  EXPECT_FALSE(has(file.get(), "no/such/path"));
  EXPECT_EQ(names_in(file.get(), "/").size(), 26U);
}

TEST_F(HdfFile, CountsWhetherRanksReadTogether) {
  const SharedFile file = open_to_read(world(), path_);
  const Rows none_but_last{n_rows - 1, world().rank() == world().size() - 1 ? 1 : 0};
  const auto count = [&](Place where, const char* name) {
    const mpi::Counters before = world().counters();
    read_integers(where, name, none_but_last);
    const mpi::Counters& after = world().counters();
    return std::array{after.collective_reads - before.collective_reads,
                      after.collective_bytes_read - before.collective_bytes_read,
                      after.independent_reads - before.independent_reads,
                      after.independent_bytes_read - before.independent_bytes_read};
  };
  const auto n = static_cast<std::uint64_t>(none_but_last.count);
  using Counts = std::array<std::uint64_t, 4>;
  EXPECT_EQ(count(file.get(), "i32be"), (Counts{1, 4 * n, 0, 0}));
  EXPECT_EQ(count(file.get(), "compact"), (Counts{0, 0, 1, 8 * n})) << "HDF5 has no collective read of headers";
  const Handle local = open_to_read(path_);
  EXPECT_EQ(count(local.get(), "i32be"), (Counts{0, 0, 0, 0}));
}

template <class Call>
std::string fault_of(Call&& call) {
  try {
    call();
    return "none";
  } catch (const Error& error) {
    return std::to_string(exit_code(error.code())) + ": " + error.subject() + ": " + error.cause();
  }
}

TEST_F(HdfFile, WhatIsNotThereIsSaidByName) {
  const SharedFile file = open_to_read(world(), path_);
  EXPECT_EQ(fault_of([&] { read_integers(file.get(), "tstt/nothing"); }), "3: tstt/nothing: is missing in the file");
  EXPECT_EQ(fault_of([&] { read_integers(file.get(), "f64le"); }), "3: f64le: does not hold integers");
  EXPECT_EQ(fault_of([&] { read_reals(file.get(), "i8le"); }), "3: i8le: does not hold floating-point numbers");
  EXPECT_EQ(fault_of([&] { read_integers(file.get(), "array"); }),
            "3: array: has arrays of 3 numbers where single numbers were expected");
  EXPECT_EQ(fault_of([&] { read_integers(file.get(), "i8le", {20, 4}); }),
            "3: i8le: has 23 rows, but rows 20 to 24 were requested");
  EXPECT_EQ(fault_of([&] { read_integers(file.get(), "i8le", {-1, 4}); }),
            "3: i8le: has 23 rows, but rows -1 to 3 were requested");
  EXPECT_EQ(fault_of([&] { read_texts(file.get(), "lines"); }),
            "3: lines: has values of varying length, which are not expected here");
}

TEST_F(HdfFile, AnnouncedSizesAreNotBelieved) {
  const std::string absurd = (test::scratch() / "absurd.h5").string();
  if (world().rank() == 0) {
    const hid_t file = H5Fcreate(absurd.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    // Never written, so the file does not store it.
    const hsize_t n = hsize_t{1} << 59U;
    const hid_t space = H5Screate_simple(1, &n, nullptr);
    H5Dclose(H5Dcreate2(file, "whole", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 1000;
    H5Pset_chunk(layout, 1, &chunk);
    H5Dclose(H5Dcreate2(file, "chunks", H5T_STD_I64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Sclose(space);
    H5Fclose(file);
  }
  mpi::barrier(world());
  const SharedFile file = open_to_read(world(), absurd);
  for (const std::string name : {"whole", "chunks"}) {
    const std::string expected =
        "3: " + name + ": announces 576460752303423488 rows, but the file holds only 0 bytes of it";
    EXPECT_EQ(fault_of([&] { check_size(file.get(), name); }), expected);
    EXPECT_EQ(fault_of([&] { read_integers(file.get(), name); }), expected);
    EXPECT_EQ(fault_of([&] { read_integers(file.get(), name, {0, 1}); }), expected);
  }
}

// As netCDF-4 leaves variables to which nothing was written.
TEST_F(HdfFile, ValuesThatWereNeverWrittenAreTheFillValue) {
  const std::string path = (test::scratch() / "never.h5").string();
  const std::vector<std::vector<hsize_t>> shapes{{7}, {5, 8}, {3, 4, 2}};
  const auto name = [](std::size_t rank, const char* kind) { return std::to_string(rank) + kind; };
  if (world().rank() == 0) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const double fill = -2.5;
    const std::int64_t fill_integer = -25;
    for (const auto& shape : shapes) {
      const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
      const auto make_one = [&](const char* kind, hid_t type, hid_t memory, const void* value, bool is_chunked) {
        const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_fill_value(layout, memory, value);
        if (is_chunked)
          H5Pset_chunk(layout, static_cast<int>(shape.size()), std::vector<hsize_t>(shape.size(), 2).data());
        H5Dclose(H5Dcreate2(file, name(shape.size(), kind).c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT));
        H5Pclose(layout);
      };
      make_one("double", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &fill, false);
      make_one("float", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, &fill, false);
      make_one("chunks", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, &fill, true);
      make_one("integer", H5T_STD_I16BE, H5T_NATIVE_INT64, &fill_integer, false);
      H5Sclose(space);
    }
    H5Fclose(file);
  }
  mpi::barrier(world());
  const SharedFile file = open_to_read(world(), path);
  const Handle local = open_to_read(path);
  for (const auto& shape : shapes) {
    std::size_t n = 1;
    for (const hsize_t size : shape) n *= size;
    const Slabs slabs{static_cast<std::int64_t>(shape[0]), world().size()};
    const Rows rows{slabs.first(world().rank()), static_cast<std::int64_t>(slabs.size(world().rank()))};
    const std::size_t n_mine = slabs.size(world().rank()) * (n / shape[0]);
    for (const char* kind : {"double", "float", "chunks"}) {
      SCOPED_TRACE(name(shape.size(), kind));
      EXPECT_EQ(read_reals(file.get(), name(shape.size(), kind)), std::vector<double>(n, -2.5));
      EXPECT_EQ(read_reals(file.get(), name(shape.size(), kind), rows), std::vector<double>(n_mine, -2.5));
      EXPECT_EQ(read_reals(local.get(), name(shape.size(), kind), rows), std::vector<double>(n_mine, -2.5));
    }
    EXPECT_EQ(read_integers(file.get(), name(shape.size(), "integer"), rows), std::vector<std::int64_t>(n_mine, -25));
  }
}

TEST_F(HdfFile, FilesThatCannotBeOpened) {
  const std::string none = (test::scratch() / "none.h5").string();
  EXPECT_EQ(fault_of([&] { open_to_read(world(), none); }),
            "1: " + none + ": cannot be read: No such file or directory");
  EXPECT_EQ(fault_of([&] { open_to_read(none); }), "1: " + none + ": cannot be read: No such file or directory");
  const std::string torn = (test::scratch() / "torn.h5").string();
  if (world().rank() == 0) {
    fs::copy_file(path_, torn, fs::copy_options::overwrite_existing);
    fs::resize_file(torn, fs::file_size(torn) - 1);
  }
  mpi::barrier(world());
  EXPECT_TRUE(fault_of([&] { open_to_read(world(), torn); }).starts_with("3: " + torn + ": is damaged: truncated file"))
      << fault_of([&] { open_to_read(world(), torn); });
}

// HDF5 1.10 crashes here if a caller requests the names in order.
TEST_F(HdfFile, AFileThatAnotherProgramHasLockedIsNotDamaged) {
  const int writer = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (world().rank() == 0) {
    ASSERT_EQ(::flock(writer, LOCK_EX | LOCK_NB), 0);
  }
  mpi::barrier(world());
  try {
    static_cast<void>(open_to_read(world(), path_));
    ADD_FAILURE() << "it is locked";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(error.remedy().find("HDF5_USE_FILE_LOCKING=FALSE"), std::string::npos) << error.what();
  }
  mpi::barrier(world());
  ::close(writer);
  mpi::barrier(world());
  static_cast<void>(open_to_read(world(), path_));
}

TEST_F(HdfFile, ListsOfLinksMayBeDamaged) {
  const std::string path = (test::scratch() / "links.h5").string();
  if (world().rank() == 0) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t group = H5Gcreate2(file, "many", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 40; ++i)
      H5Gclose(H5Gcreate2(group, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
    H5Fclose(file);
    H5Pclose(access);
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const std::size_t list = bytes.find("BTLF");  // its checksum tells HDF5
    ASSERT_NE(list, std::string::npos);
    bytes[list + 20] = static_cast<char>(bytes[list + 20] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  mpi::barrier(world());
  const std::string found = fault_of([&] { names_in(open_to_read(path).get(), "/many"); });
  EXPECT_TRUE(found.starts_with("3: /many: listing the group: ")) << found;
}

}  // namespace
}  // namespace barrio::files
