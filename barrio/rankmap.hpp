#pragma once

/// @file Umbrella header of the room `rankmap`: placement of ranks on cores.

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/hosts.hpp"
#include "barrio/rankmap/launcher.hpp"
#include "barrio/rankmap/machine.hpp"
#include "barrio/rankmap/machine_sources.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/measured_machine.hpp"
#include "barrio/rankmap/qaplib.hpp"
#include "barrio/rankmap/recorded_run.hpp"
#include "barrio/rankmap/reorder.hpp"
#include "barrio/rankmap/solve.hpp"
#include "barrio/rankmap/traffic.hpp"
#include "barrio/rankmap/traffic_files.hpp"
#include "barrio/rankmap/verify.hpp"
