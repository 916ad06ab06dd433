#pragma once

/// @file Umbrella header of the room `io`: mesh files.

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/read_structured.hpp"
#include "barrio/io/write.hpp"
