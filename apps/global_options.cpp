#include "apps/global_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "apps/command.hpp"
#include "barrio/base/log.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/version.hpp"
#include "barrio/mpi/launcher.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {

void add_global_options(CLI::App& app, GlobalOptions& options, const std::string& group) {
  app.set_version_flag("--version",
                       fmt::format("barrio {} ({}), {}, {}", version(), commit(), compiler(), mpi::mpi_library()),
                       "Show version, commit, compiler and MPI, and exit")
      ->group(group);
  app.add_option("--ranks", options.n_ranks, "Start N ranks with the MPI launcher barrio was built for")
      ->check(positive_integer())
      ->group(group);
  app.add_flag("--json", options.is_json, "Print the result as one JSON document")->group(group);
  app.add_option("--result", options.result_file,
                 "Also write the result to a file as a JSON document, for barrio report")
      ->group(group);
  app.add_flag("--times", options.shows_times, "Print the time per phase (min, mean, max over ranks) on stderr")
      ->group(group);
  app.add_option("--trace", options.trace_file,
                 "Write a Chrome/Perfetto trace: a track per rank, and per disk that a rank uses")
      ->group(group);
}

void take_global_options(std::vector<std::string>& words, GlobalOptions& options) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  add_global_options(app, options, "");
  std::ranges::reverse(words);  // CLI11 takes them in this order
  app.parse(words);
  words = app.remaining();
}

std::vector<std::string> words_of(const GlobalOptions& options) {
  std::vector<std::string> words;
  if (options.is_json) words.emplace_back("--json");
  if (options.shows_times) words.emplace_back("--times");
  if (!options.result_file.empty()) words.insert(words.end(), {"--result", options.result_file});
  if (!options.trace_file.empty()) words.insert(words.end(), {"--trace", options.trace_file});
  return words;
}

void name_unused_options(const Command& command, const GlobalOptions& options) {
  const GlobalUse use = command.global_use();
  std::vector<std::string> unused;
  if (options.n_ranks > 0 && !use.ranks) unused.emplace_back("--ranks");
  if (options.is_json && !use.result) unused.emplace_back("--json");
  if (!options.result_file.empty() && !use.result) unused.emplace_back("--result");
  if (options.shows_times && !use.phases) unused.emplace_back("--times");
  if (!options.trace_file.empty() && !use.phases) unused.emplace_back("--trace");
  if (unused.empty() || !mpi::is_first_of_launcher()) return;
  Log().notice(fmt::format("barrio {} does not use {}", command.name(), fmt::join(unused, ", ")));
}

void check_places(const GlobalOptions& options) {
  for (const std::string& path : {options.result_file, options.trace_file})
    if (!path.empty()) check_writable(path, WrittenAs::file_or_device);
}

void print_failure(const Error& error, const GlobalOptions& options) {
  if (!options.is_json) return;
  Json document = json_document("barrio.error", 1);
  document["error"] = to_json(error);
  std::puts(document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

}  // namespace barrio::apps
