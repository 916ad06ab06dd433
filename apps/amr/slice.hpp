#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/amr/case.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::apps {

/// A picture of a plane of a simulation: a number for each pixel, the lowest row first, and how fine the blocks are
/// whose outlines pass through it.
struct Slice {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<double> values;
  std::vector<std::uint8_t> outlines;  ///< 0: none; else 1 + level
  double least = 0.0;
  double most = 0.0;
};

/// Cut a plane out of a simulation. Collective; all ranks get it. @param quantity  of a cell, from its variables
/// Cost: a reduction of the picture, whose longer side has at most 1 600 pixels
template <std::size_t D>
[[nodiscard]] Slice cut(const amr::Simulation<D>& simulation, const SliceCase& wanted,
                        const std::function<double(std::span<const double>)>& quantity);

/// Write it as a PNG file, which appears whole or not at all. Local. @throws Error{failed}
void write_png(const Slice& slice, const SliceCase& wanted, const std::string& path);

extern template Slice cut<2>(const amr::Simulation<2>&, const SliceCase&,
                             const std::function<double(std::span<const double>)>&);
extern template Slice cut<3>(const amr::Simulation<3>&, const SliceCase&,
                             const std::function<double(std::span<const double>)>&);

}  // namespace barrio::apps
