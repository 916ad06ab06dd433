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

/// All, also those that this build lacks. `meet-fixed` is barrio in the pattern `meet`, without its strangers.
const std::vector<Kind>& all_kinds();

/// The one of this name; `barrio@1024`: with packets of 1024 bytes.
/// @throws AgreedError{usage} for a name that is not known, or one that this build lacks
Kind find_kind(const std::string& name);

}  // namespace barrio::bench
