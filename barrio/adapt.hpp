#pragma once

/// @file Umbrella header of the room `adapt`: adaptation of meshes to wanted sizes.

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/adapt/sizes.hpp"
