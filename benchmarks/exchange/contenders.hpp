#pragma once

#include <string>
#include <vector>

#include "benchmarks/exchange/contender.hpp"

namespace barrio::bench {

std::vector<Kind> by_hand_kinds();
std::vector<Kind> barrio_kinds();
std::vector<Kind> zoltan_kinds();  ///< defined only with BARRIO_BENCH_ZOLTAN
std::vector<Kind> petsc_kinds();   ///< defined only with BARRIO_BENCH_PETSC
std::vector<Kind> pcu_kinds();     ///< defined only with BARRIO_BENCH_PCU
std::vector<Kind> ygm_kinds();     ///< defined only with BARRIO_BENCH_YGM

/// Return all kinds, including those that this build lacks. `meet-fixed` is barrio in the pattern `meet`, without
/// strangers.
const std::vector<Kind>& all_kinds();

/// Return the kind of this name. `barrio@1024` has packets of 1024 bytes.
/// @throws AgreedError{usage} for an unknown name, or one that this build lacks
Kind find_kind(const std::string& name);

}  // namespace barrio::bench
