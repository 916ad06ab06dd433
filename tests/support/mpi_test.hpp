#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "barrio/mpi/context.hpp"

namespace barrio::test {

/// The context over all ranks of the test launch; made before the first test.
mpi::Context& world();

/// A seed for random tests: BARRIO_SEED if set, else from the clock; printed once, the same on all ranks.
std::uint64_t seed();

/// A folder for files of this test launch, the same on all ranks, removed at the end.
std::filesystem::path scratch();

/// A real file nobody here wrote (see data/README.md), or nothing where the collection is absent.
std::optional<std::filesystem::path> interop(const std::string& name);

/// A file of the project's own `data` folder.
std::filesystem::path data(const std::string& name);

}  // namespace barrio::test
