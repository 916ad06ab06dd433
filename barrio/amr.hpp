#pragma once

/// @file Umbrella header of the room `amr`: structured adaptive mesh refinement.

#include "barrio/amr/block_space.hpp"
#include "barrio/amr/checkpoint.hpp"
#include "barrio/amr/euler.hpp"
#include "barrio/amr/grid_function.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/amr/output_quantity.hpp"
#include "barrio/amr/patch_kernel.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/amr/simulation_file.hpp"
#include "barrio/amr/system.hpp"
