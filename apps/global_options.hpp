#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"

namespace barrio::apps {

class Command;

/// What can be asked of every command, before its name and behind it.
struct GlobalOptions {
  int n_ranks = 0;
  bool is_json = false;
  bool shows_times = false;
  std::string trace_file = {};
  std::string result_file = {};
};

/// Add them, and --version, to a parser. Local. @param[out] options  set when it parses; outlives the parser
/// @param group  heading of the help under which they stand; empty: they are not shown
void add_global_options(CLI::App& app, GlobalOptions& options, const std::string& group);

/// Take these options out of words that are meant for another program. Local.
/// @throws CLI::ParseError as the parser of the command line does
void take_global_options(std::vector<std::string>& words, GlobalOptions& options);

/// The options, but for --ranks, as words that a program of barrio understands.
std::vector<std::string> words_of(const GlobalOptions& options);

/// Say which options were given that a command has no use for. Local.
void name_unused_options(const Command& command, const GlobalOptions& options);

/// Refuse a place that cannot be written before the work is done, not after it. Local. @throws Error{failed}
void check_places(const GlobalOptions& options);

/// Print an error as a JSON document on standard output, if one is wanted. Local.
void print_failure(const Error& error, const GlobalOptions& options);

}  // namespace barrio::apps
