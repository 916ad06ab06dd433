#include "tests/io/refusal.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "barrio/base/error.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

namespace fs = std::filesystem;

std::string verdict(const fs::path& path) {
  try {
    static_cast<void>(io::read(world(), path.string(), {.ghost_layers = 1}));
    return "sound";
  } catch (const AgreedError& error) {
    EXPECT_FALSE(error.remedy().empty()) << error.what();
    return std::to_string(exit_code(error.code())) + ": " + error.subject() + ": " + error.cause();
  }
}

std::string verdict_after(const fs::path& good, const std::string& name,
                          const std::function<void(const fs::path&)>& damage) {
  const fs::path bad = scratch() / name;
  if (world().rank() == 0) {
    fs::copy_file(good, bad, fs::copy_options::overwrite_existing);
    damage(bad);
  }
  mpi::barrier(world());
  return verdict(bad);
}

void expect_refusal(const std::string& found, const std::string& code, const std::string& cause) {
  EXPECT_TRUE(found.starts_with(code + ": ")) << found;
  EXPECT_NE(found.find(cause), std::string::npos) << "expected: " << cause << "\n   found: " << found;
  std::string of_root = found;
  mpi::broadcast(world(), of_root);
  EXPECT_EQ(found, of_root);
}

void expect_bad(const std::string& name, const std::string& contents, const std::string& cause) {
  SCOPED_TRACE(name);
  const std::filesystem::path path = scratch() / name;
  if (world().rank() == 0) std::ofstream(path, std::ios::binary) << contents;
  mpi::barrier(world());
  const std::string found = verdict(path);
  expect_refusal(found, "3", path.string() + ": ");
  expect_refusal(found, "3", cause);
}

std::string write_text(const std::string& name, const std::string& text) {
  const auto path = scratch() / name;
  if (world().rank() == 0) std::ofstream(path, std::ios::binary) << text;
  mpi::barrier(world());
  return path.string();
}

std::string with(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << "the test is out of date: no " << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

std::filesystem::path write_anew(const NetcdfContents& contents, NetcdfFormat format, const std::string& suffix) {
  static int n_written = 0;
  const std::filesystem::path path = scratch() / ("anew" + std::to_string(n_written++) + suffix);
  if (world().rank() == 0) write(contents, path, format);
  mpi::barrier(world());
  return path;
}

void expect_spoilt(NetcdfContents sample, NetcdfFormat format, const std::string& suffix, const std::string& cause,
                   const std::function<void(NetcdfContents&)>& spoil) {
  SCOPED_TRACE(cause);
  spoil(sample);
  const std::filesystem::path path = write_anew(sample, format, suffix);
  const std::string found = verdict(path);
  expect_refusal(found, "3", path.string() + ": ");
  expect_refusal(found, "3", cause);
  mpi::barrier(world());
}

}  // namespace barrio::test
