#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio::test {

/// Print the fault and crash, so that the fuzzer keeps the file.
[[noreturn]] void find(const std::string& what);

/// Report errors that are not a proper answer to a file: internal errors, and memory out of proportion to its size.
void expect_in_good_order(const char* doing, const Error& error);

/// Return the path of this process's files without a suffix, in a folder in memory if there is one.
[[nodiscard]] std::string scratch_stem();

void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace barrio::test
