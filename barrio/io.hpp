#pragma once

/// \file All of the room `io`.

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/read_structured.hpp"
#include "barrio/io/write.hpp"
