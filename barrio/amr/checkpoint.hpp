#pragma once

/// @file Checkpoints of a simulation: written by any number of ranks, read by any other.

#include <memory>
#include <string>

#include "barrio/amr/simulation.hpp"

namespace barrio::amr {

/// Write a checkpoint, with all that a simulation needs to go on: an HDF5 file that appears whole or not at all.
/// Collective. Layout: group /amr with the numbers that describe it, and for each level its blocks along the curve and
/// their values.
/// @throws AgreedError{failed} as files::FileWriter; a file of that name stays as it was
/// Cost: one pass over the values; memory: the indices of each block
template <std::size_t D>
void write_checkpoint(const Simulation<D>& simulation, const std::string& path);

/// Read a checkpoint, on any number of ranks. The run continues to the same bits as without the break. Collective.
/// @param options  with the grid that was written; `initial` is not needed
/// @throws AgreedError{failed} if the file cannot be read; {bad_input} if it is not a checkpoint, is damaged, or was
/// written for another system of equations or another grid
template <std::size_t D>
[[nodiscard]] Simulation<D> read_checkpoint(mpi::Context& context, std::shared_ptr<const System<D>> system,
                                            SimulationOptions<D> options, const std::string& path);

}  // namespace barrio::amr
