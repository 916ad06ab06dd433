#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/amr/simulation.hpp"
#include "barrio/cases/reading/case.hpp"

namespace barrio::cases {

/// Picture of a plane of a simulation. For each pixel, the lowest row first: a value, and the level of the finest block
/// whose outline passes through it.
struct Slice {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<double> values;
  std::vector<std::uint8_t> outlines;  ///< 0: no outline; else 1 + level
  double min = 0.0;                    ///< of values
  double max = 0.0;
};

/// Cut a plane out of a simulation. Collective; all ranks get the picture. @param quantity  of a cell's variables
/// Cost: a reduction of the picture, whose longer side has at most 1 600 pixels
template <std::size_t D>
[[nodiscard]] Slice cut(const amr::Simulation<D>& simulation, const SliceCase& wanted,
                        const std::function<double(std::span<const double>)>& quantity);

/// Write a slice as a PNG file with a bar of its colours, which appears whole or not at all. Local.
/// @param lowest, highest  values of the first and the last colour @throws Error{failed}
void write_png(const Slice& slice, const SliceCase& wanted, double lowest, double highest, const std::string& path);

extern template Slice cut<2>(const amr::Simulation<2>&, const SliceCase&,
                             const std::function<double(std::span<const double>)>&);
extern template Slice cut<3>(const amr::Simulation<3>&, const SliceCase&,
                             const std::function<double(std::span<const double>)>&);

}  // namespace barrio::cases
