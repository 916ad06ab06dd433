#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "tests/io/exodus/netcdf_writer.hpp"

namespace barrio::test {

/// Read a file. Return "code: subject: cause" of the error, or "sound". Collective.
std::string verdict(const std::filesystem::path& path);

/// Damage a copy of a file on rank 0, and read it on all ranks.
std::string verdict_after(const std::filesystem::path& good, const std::string& name,
                          const std::function<void(const std::filesystem::path&)>& damage);

/// Expect a code, a cause, and the same words on every rank. Collective.
void expect_refusal(const std::string& found, const std::string& code, const std::string& cause);

/// Write a file on rank 0, and expect that it is refused as bad input, with its name and a cause. Collective.
void expect_bad(const std::string& name, const std::string& contents, const std::string& cause);

/// Write a text on rank 0, as it is. Collective. @return its path
std::string write_text(const std::string& name, const std::string& text);

/// Replace the first occurrence of some words in a text. They must occur.
std::string with(std::string text, const std::string& old, const std::string& by);

/// Write a file of a new name on rank 0, because a refused file remains open in HDF5. Collective.
/// @return its path, which ends in `suffix`
std::filesystem::path write_anew(const NetcdfContents& contents, NetcdfFormat format, const std::string& suffix);

/// Write a sample with a fault, and expect that it is refused as bad input, with its name and a cause. Collective.
void expect_spoilt(NetcdfContents sample, NetcdfFormat format, const std::string& suffix, const std::string& cause,
                   const std::function<void(NetcdfContents&)>& spoil);

}  // namespace barrio::test
