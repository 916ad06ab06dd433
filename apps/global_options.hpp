#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"

namespace barrio::apps {

class Command;

/// Options of all commands, accepted before and after a command's name.
struct GlobalOptions {
  int n_ranks = 0;
  bool is_json = false;
  bool shows_times = false;
  std::string trace_file = {};
  std::string result_file = {};
};

/// Add these options and --version to a parser. Local. @param[out] options  set by parsing; must outlive the parser
/// @param group  their heading in the help; empty: they are hidden
void add_global_options(CLI::App& app, GlobalOptions& options, const std::string& group);

/// Remove these options from words that are meant for another program, and store them. Local.
/// @throws CLI::ParseError as the parser of the command line does
void take_global_options(std::vector<std::string>& words, GlobalOptions& options);

/// Return the options, except --ranks, as words for a program of barrio.
std::vector<std::string> words_of(const GlobalOptions& options);

/// Report the given options that a command does not use. Local.
void name_unused_options(const Command& command, const GlobalOptions& options);

/// Refuse a result or trace file that cannot be written, before the work instead of after it. Local.
/// @throws Error{failed}
void check_places(const GlobalOptions& options);

/// Print an error as a JSON document on standard output, if --json was given. Local.
void print_failure(const Error& error, const GlobalOptions& options);

}  // namespace barrio::apps
