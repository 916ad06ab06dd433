#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace barrio::test {

/// Whether a file begins as one of HDF5.
bool is_hdf5(std::span<const std::uint8_t> file);

/// Change some datasets, attributes and links of an HDF5 file, in memory; it stays a sound HDF5 file.
/// @param[in,out] file  its bytes, with room for `max_size`
/// @return the new size; that of before, and the bytes too, if HDF5 does not take the file or the result has no room
std::size_t mutate_hdf5(std::span<std::uint8_t> file, std::size_t max_size, unsigned seed);

}  // namespace barrio::test
