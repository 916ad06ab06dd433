// Coverage-guided fuzzing of the readers (libFuzzer): the bytes become a file for `inspect` and `read`, or
// `read_structured` for the grids of `.nc` files.
// A file may be properly refused; everything else is a find: a crash, an internal error, memory out of proportion to
// the size of the file, an error that other ranks would not share. One executable per format, with the suffix
// BARRIO_FUZZ_SUFFIX.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/abort.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/read_structured.hpp"
#include "tests/fuzz/finds.hpp"
#include "tests/fuzz/mutate_hdf5.hpp"

namespace barrio::test {
namespace {

std::unique_ptr<mpi::Context> the_world;
std::string the_path;

/// Tell whether a mesh is too large for this test: grids of legacy VTK store no points, so a small file may have one.
bool is_vast(const Json& facts) { return facts.value("vertices", std::int64_t{0}) > 100'000; }

/// Inspect the file. @return whether the mesh may be read too
bool inspect_file() {
  try {
    return !is_vast(io::inspect(the_path, {.limit_bytes = std::uint64_t{4} << 20U}));
  } catch (const Error& error) {
    expect_in_good_order("inspect", error);
    return true;
  } catch (const std::exception& error) {
    find(fmt::format("inspect throws {}", error.what()));
  }
}

void read_file() {
  try {
    if constexpr (std::string_view(BARRIO_FUZZ_SUFFIX) == ".nc") {
      static_cast<void>(io::read_structured(*the_world, the_path, {.ghost_layers = 1}));
      return;
    }
    static_cast<void>(io::read(*the_world, the_path, {.ghost_layers = 1, .ghost_sides = true, .without_tags = {}}));
  } catch (const AgreedError& error) {
    expect_in_good_order("read", error);
  } catch (const std::exception& error) {
    find(fmt::format("read throws what not all ranks would: {}", error.what()));
  }
}

/// Close HDF5. A refused file remains open in it, with all its open objects, and named types of a file keep HDF5 from
/// closing by itself.
void close_hdf5() {
  const ssize_t n = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  std::vector<hid_t> left(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (!left.empty()) H5Fget_obj_ids(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL, left.size(), left.data());
  for (const unsigned kind :
       {unsigned{H5I_ATTR}, unsigned{H5I_DATASET}, unsigned{H5I_DATATYPE}, unsigned{H5I_GROUP}, unsigned{H5I_FILE}})
    for (const hid_t id : left)
      while (H5Iis_valid(id) > 0 && static_cast<unsigned>(H5Iget_type(id)) == kind && H5Idec_ref(id) > 0) {
      }
  H5close();
}

}  // namespace
}  // namespace barrio::test

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace barrio;
  ::setenv("BARRIO_LOG", "off", 0);
  // A single process, which starts no daemon and leaves the signals to the fuzzer.
  ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  ::setenv("OMPI_MCA_orte_create_session_dirs", "false", 0);
  ::setenv("OMPI_MCA_opal_signal", "", 0);
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  test::the_world = std::make_unique<mpi::Context>(MPI_COMM_WORLD);
  set_abort_hook({.end_job = [](int) noexcept { std::abort(); }});
  test::the_path = test::scratch_stem() + BARRIO_FUZZ_SUFFIX;
  std::atexit([] {
    std::remove(test::the_path.c_str());
    test::the_world.reset();
    MPI_Finalize();
  });
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace barrio::test;
  std::remove(the_path.c_str());  // HDF5 identifies files by their inodes, and may still have the previous one open
  write_bytes(the_path, {data, size});
  if (inspect_file()) read_file();
  close_hdf5();
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  // HDF5 itself refuses files with randomly changed bytes, so change the values in the file.
  static const bool changes_bytes = std::getenv("BARRIO_FUZZ_BYTES") != nullptr;
  if (!changes_bytes && barrio::test::is_hdf5({data, size}))
    return barrio::test::mutate_hdf5({data, size}, max_size, seed);
  return LLVMFuzzerMutate(data, size, max_size);
}

}  // extern "C"
