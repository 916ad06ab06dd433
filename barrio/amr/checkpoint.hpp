#pragma once

#include <memory>
#include <string>

#include "barrio/amr/simulation.hpp"

namespace barrio::amr {

/// Write all that a simulation needs to go on: an HDF5 file that appears whole or not at all. Collective. Layout: group
/// /amr with the numbers that describe it, and for each level its blocks along the curve and their values.
/// @throws AgreedError{failed} as files::FileWriter; what stood under that name stays
/// Cost: one pass over the values; memory a block of indices a block
template <std::size_t D>
void write_checkpoint(const Simulation<D>& simulation, const std::string& path);

/// Go on from a checkpoint, on any number of ranks, to the bits that would have come without the break. Collective.
/// @param options  of the grid that was written; `initial` is not needed
/// @throws AgreedError{failed} if it cannot be read; {bad_input} if it is none, is damaged, or was written by another
/// system of equations or on another grid
template <std::size_t D>
[[nodiscard]] Simulation<D> read_checkpoint(mpi::Context& context, std::shared_ptr<const System<D>> system,
                                            SimulationOptions<D> options, const std::string& path);

}  // namespace barrio::amr
