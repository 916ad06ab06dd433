#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::test {

/// Return the context over all ranks of the test launch, made before the first test.
mpi::Context& world();

/// Return a seed for random tests: BARRIO_SEED if set, else random. Printed once, the same on all ranks.
std::uint64_t seed();

/// Return a folder for files of this test launch, the same on all ranks, removed at the end.
std::filesystem::path scratch();

/// Return a real file of another program (see data/README.md), or nothing if the collection is absent.
std::optional<std::filesystem::path> interop(const std::string& name);

/// Compute the reference of one rank: rank 0 does it, on a context of its own, and tells the others. Collective.
std::vector<std::uint64_t> of_one_rank(const std::function<std::vector<std::uint64_t>(mpi::Context& alone)>& compute);

extern const char* const data_folder;  ///< the project's own `data`
/// Return a file of the project's own `data` folder.
std::filesystem::path data(const std::string& name);

}  // namespace barrio::test
