#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "barrio/mpi/run.hpp"

namespace barrio::test {

using Scenarios = std::map<std::string, std::function<void(Context&)>>;

inline void say(const char* text) {
  std::fputs((std::string(text) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

/// Run the scenario that the first argument names, with a short limit for ranks that wait to agree.
inline int run_scenario(int argc, char** argv, const Scenarios& scenarios) {
  const auto scenario = scenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == scenarios.end()) {
    say("no such scenario");
    return 99;
  }
  mpi::RunOptions options;
  options.context.agree_limit_seconds = 4.0;
  const int code = barrio::run(argc, argv, scenario->second, options);
  say("run() returned");
  return code;
}

}  // namespace barrio::test
