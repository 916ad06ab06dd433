#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio::test {

/// Say what is wrong and crash, so that the fuzzer keeps the file.
[[noreturn]] void find(const std::string& what);

/// Find errors that are no proper answer to a file: internal ones, and memory that does not fit its size.
void expect_in_good_order(const char* doing, const Error& error);

/// Where a fuzzer puts its files, in memory if there is such a folder: the path of this process, without a suffix.
[[nodiscard]] std::string scratch_stem();

void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace barrio::test
