#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace barrio::test {

/// Tell whether a file begins like an HDF5 file.
bool is_hdf5(std::span<const std::uint8_t> file);

/// Change some datasets, attributes and links of an HDF5 file in memory; it remains a sound HDF5 file.
/// @param[in,out] file  its bytes, with room for `max_size`
/// @return the new size; the old size and bytes if HDF5 does not open the file or the result does not fit
std::size_t mutate_hdf5(std::span<std::uint8_t> file, std::size_t max_size, unsigned seed);

}  // namespace barrio::test
