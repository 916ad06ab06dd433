#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"
#include "benchmarks/command_line.hpp"

namespace barrio::bench {

/// Output options of a benchmark: those of all commands of barrio, except --ranks.
struct Output {
  bool is_json = false;
  bool shows_times = false;
  std::string result_file = {};
  std::string trace_file = {};
};

inline void add_output_options(CLI::App& app, Output& output) {
  app.add_flag("--json", output.is_json, "Print one JSON document");
  app.add_option("--result", output.result_file, "Write the JSON document to a file too");
  app.add_flag("--times", output.shows_times, "Print the time per phase (min, mean, max over ranks) on stderr");
  app.add_option("--trace", output.trace_file,
                 "Write a Chrome/Perfetto trace: a track per rank, and per disk that a rank uses");
}

/// Start to record what the output options need. Nothing else is recorded, since that takes time. Local.
inline void begin_output(mpi::Context& context, const Output& output) {
  if (!output.trace_file.empty())
    context.trace().set_mode(Trace::Mode::events);
  else if (output.shows_times)
    context.trace().set_mode(Trace::Mode::totals);
}

/// Print a result and write the requested files. Collective. @param document  on rank 0
/// @param to_text  formats the document as text
template <class ToText>
void print_output(mpi::Context& context, const Output& output, const Json& document, const ToText& to_text) {
  if (output.shows_times) {
    const auto summary = mpi::summarise(context);
    if (context.is_root()) std::fputs(mpi::format_summary(summary).c_str(), stderr);
  }
  if (!output.trace_file.empty()) mpi::write_trace(context, output.trace_file);
  mpi::agree_after(context, [&] {
    if (!context.is_root()) return;
    std::fputs((output.is_json ? document.dump(2) + "\n" : to_text(document)).c_str(), stdout);
    if (!output.result_file.empty()) write_file_atomically(output.result_file, document.dump(1) + "\n");
  });
}

/// Run as barrio::run does. With --json, errors are printed as JSON documents too.
inline int run_benchmark(int argc, char** argv, const std::function<void(mpi::Context&)>& body,
                         const mpi::RunOptions& options = {}) {
  const auto guarded = [&](mpi::Context& context) {
    try {
      Progress progress("barrio bench", context.is_root());
      progress.follow(context.trace(), {});
      body(context);
    } catch (const AgreedError& error) {
      const std::span<char*> words(argv, static_cast<std::size_t>(argc));
      const bool is_json =
          std::ranges::any_of(words, [](const char* word) { return std::string_view(word) == "--json"; });
      if (is_json && context.is_root()) {
        Json document = json_document("barrio.error", 1);
        document["error"] = to_json(error);
        std::puts(document.dump(2).c_str());
        std::fflush(stdout);
      }
      throw;
    }
  };
  return mpi::run(argc, argv, guarded, options);
}

}  // namespace barrio::bench
