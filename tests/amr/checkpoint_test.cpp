#include "barrio/amr/checkpoint.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/amr/moving_blob.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

template <std::size_t D>
std::shared_ptr<const Euler<D>> air() {
  return std::make_shared<const Euler<D>>();
}

template <std::size_t D>
void expect_no_break(int n_before, int n_after) {
  mpi::Context& world = barrio::test::world();
  const std::string path = (barrio::test::scratch() / "state.h5").string();
  const SimulationOptions<D> options = test::moving_blob(air<D>());
  Simulation<D> through(world, air<D>(), options);
  for (int step = 0; step < n_before; ++step) through.step();
  write_checkpoint(through, path);
  for (int step = 0; step < n_after; ++step) through.step();
  SimulationOptions<D> without_initial = options;
  without_initial.initial = nullptr;
  const auto go_on = [&](mpi::Context& context) {
    Simulation<D> again = read_checkpoint<D>(context, air<D>(), without_initial, path);
    EXPECT_EQ(again.n_steps(), n_before);
    again.hierarchy().validate();
    if (&context != &world) write_checkpoint(again, path);
    for (int step = 0; step < n_after; ++step) again.step();
    EXPECT_EQ(again.time(), through.time());
    return again.checksum();
  };
  const std::uint64_t expected = through.checksum();
  // Read by as many ranks as wrote it; by one, which writes it again; and the second file by all.
  EXPECT_EQ(go_on(world), expected);
  if (world.is_root()) {
    mpi::Context alone(MPI_COMM_SELF);
    EXPECT_EQ(go_on(alone), expected);
  }
  mpi::barrier(world);
  EXPECT_EQ(go_on(world), expected);
}

// The checkpoint lies in the middle of the interval between two regrids.
TEST(Checkpoint, LeavesNoTrace) {
  expect_no_break<2>(6, 7);
  expect_no_break<3>(1, 3);
}

class DamagedCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (barrio::test::scratch() / "damaged.h5").string();
    const Simulation<2> simulation(barrio::test::world(), air<2>(), options_);
    write_checkpoint(simulation, path_);
  }
  /// Return the message of a failed read, after the file's name.
  std::string fault(const std::shared_ptr<const Euler<2>>& euler = air<2>()) {
    mpi::barrier(barrio::test::world());
    try {
      const Simulation<2> simulation = read_checkpoint<2>(barrio::test::world(), euler, options_, path_);
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      const std::string text = error.what();
      return text.starts_with(path_) ? text.substr(path_.size()) : text;
    }
    return "";
  }
  /// Change some bytes of the file, on rank 0.
  template <class Change>
  void change(Change&& change) {
    if (barrio::test::world().is_root()) change(path_);
  }
  SimulationOptions<2> options_ = test::moving_blob(air<2>());
  std::string path_;
};

TEST_F(DamagedCheckpoint, OfOtherPhysicsIsRefused) {
  EXPECT_EQ(fault(std::make_shared<const Euler<2>>(EulerOptions{.gamma = 1.6})),
            ": was written for another system: compressible Euler equations in 2 dimensions, gamma 1.4, 0 species "
            "(this run has: "
            "compressible Euler equations in 2 dimensions, gamma 1.6, 0 species)");
}
TEST_F(DamagedCheckpoint, OfAnotherGridIsRefused) {
  options_.grid.cell_size[0] *= 2.0;
  EXPECT_EQ(fault(), ": was written for another grid (give the grid that it was written with)");
}
TEST_F(DamagedCheckpoint, WithOtherValuesIsRefused) {
  change([](const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) - 2000));
    file.put('x');
  });
  EXPECT_EQ(fault(), ": has other values than were written (the file is damaged or was written wrongly)");
}
TEST_F(DamagedCheckpoint, ThatIsCutIsRefused) {
  change([](const std::string& path) { std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2); });
  EXPECT_NE(fault(), "");
}
TEST_F(DamagedCheckpoint, ThatIsNoneIsRefused) {
  path_ = barrio::test::data("README.md").string();
  EXPECT_NE(fault(), "");
}

}  // namespace
}  // namespace barrio::amr
