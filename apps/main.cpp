#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "apps/command.hpp"
#include "barrio/base/abort.hpp"
#include "barrio/base/text.hpp"
#include "barrio/base/version.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"

namespace barrio::apps {
namespace {

struct GlobalOptions {
  int n_ranks = 0;
  bool is_json = false;
  bool shows_times = false;
  std::string trace_file;
  std::string result_file;
};

/// Every word the parser would have understood at this place.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
  }
  for (const CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_name().empty()) words.push_back(sub->get_name());
  return words;
}

/// Say what is wrong with the command line, in one line, with a guess at what was meant.
Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* active = &app;
  for (const CLI::App* sub : app.get_subcommands()) active = sub;
  const std::string help =
      fmt::format("barrio{} --help shows what there is", active == &app ? "" : " " + active->get_name());
  // By exit code: CLI11 gives an ExtrasError of a subcommand the subcommand's name.
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError)) {
    for (const std::string& word : app.remaining(true)) {
      if (word == "--") continue;
      std::vector<std::string> known = known_words(*active);
      if (active != &app)
        for (const std::string& more : known_words(app)) known.push_back(more);
      const std::string plain = word.substr(0, word.find('='));
      return {ErrorCode::usage,
              {.subject = fmt::format("'{}'", word),
               .cause = fmt::format("is not {} of barrio{}.{}",
                                    plain.starts_with("-") ? "an option"
                                    : active == &app       ? "a command"
                                                           : "an argument",
                                    active == &app ? "" : " " + active->get_name(), did_you_mean(plain, known)),
               .remedy = help}};
    }
  }
  std::string cause = error.what();
  if (is(CLI::ExitCodes::RequiredError) && active == &app) cause = "a command is needed";
  return {ErrorCode::usage,
          {.subject = active == &app ? "barrio" : "barrio " + active->get_name(), .cause = cause, .remedy = help}};
}

void print_result(const Command& command, const Json& result, const GlobalOptions& options) {
  const std::string text =
      options.is_json ? result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : command.render(result);
  const bool is_shown = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  const int reason = errno;
  // Names in a file may be no UTF-8.
  if (!options.result_file.empty())
    write_file_atomically(options.result_file, result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!is_shown)
    throw Error(ErrorCode::failed,
                {.subject = "standard output", .cause = fmt::format("cannot be written: {}", std::strerror(reason))});
}

void print_failure(const Error& error, bool is_json) {
  if (!is_json) return;
  Json document = json_document("barrio.error", 1);
  document["error"] = to_json(error);
  std::puts(document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

/// Refuse a place that cannot be written before the work is done, not after it.
void check_places(const GlobalOptions& options) {
  for (const std::string& path : {options.result_file, options.trace_file}) {
    if (path.empty()) continue;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) continue;
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be written: {}", std::strerror(errno)),
                                    .remedy = "choose another place, or make the folder and rights for it"});
  }
}

int run_alone(Command& command, const GlobalOptions& options) {
  try {
    check_places(options);
    const Json result = command.run(nullptr);
    print_result(command, result, options);
    return command.exit_code(result);
  } catch (...) {
    const Error error = current_error();
    print_failure(error, options.is_json);
    mpi::print_error(error);
    return exit_code(error.code());
  }
}

int run_parallel(Command& command, const GlobalOptions& options, int argc, char** argv) {
  int command_code = 0;
  const mpi::RunOptions run_options{
      .context = {.trace = options.trace_file.empty() ? Trace::Mode::totals : Trace::Mode::events}};
  const int code = mpi::run(
      argc, argv,
      [&](Context& context) {
        try {
          agree_after(context, [&] {
            if (context.is_root()) check_places(options);
          });
          Json result = command.run(&context);
          if (options.shows_times || options.is_json || !options.result_file.empty()) {
            const auto summary = mpi::summarise(context);
            result["phases"] = mpi::to_json(summary);
            if (options.shows_times && context.is_root()) std::fputs(mpi::format_summary(summary).c_str(), stderr);
          }
          if (!options.trace_file.empty()) mpi::write_trace(context, options.trace_file);
          agree_after(context, [&] {
            if (context.is_root()) print_result(command, result, options);
          });
          command_code = command.exit_code(result);
        } catch (const AgreedError& error) {
          if (context.is_root()) print_failure(error, options.is_json);
          throw;
        }
      },
      run_options);
  return code != 0 ? code : command_code;
}

int main_of(int argc, char** argv) {
  let_long_files_fail();
  CLI::App app{"barrio: parallel computing on meshes that change while they run"};
  app.set_help_flag("-h,--help", "Show this help and end");
  app.set_version_flag("--version",
                       fmt::format("barrio {} ({}), {}, {}", version(), commit(), compiler(), mpi::mpi_library()),
                       "Show version, commit, compiler and MPI, and end");
  GlobalOptions options;
  app.add_option("--ranks", options.n_ranks, "Start N ranks with the MPI launcher barrio was built for")
      ->check(at_least_one());
  app.add_flag("--json", options.is_json, "Print the result as one JSON document");
  app.add_option("--result", options.result_file,
                 "Write the result as a JSON document to a file too, for barrio report");
  app.add_flag("--times", options.shows_times, "Print the time per phase (min, mean, max over ranks) on stderr");
  app.add_option("--trace", options.trace_file, "Write a Chrome/Perfetto trace, one track per rank");
  app.require_subcommand(1);
  app.fallthrough();
  const auto commands = all_commands(options.n_ranks);
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    sub->set_help_flag("-h,--help", "Show this help and end");
    sub->footer("Example:\n  " + command->example());
    sub->fallthrough();
    command->add_options(*sub);
  }
  CLI::App* reference = app.add_subcommand("reference", "Print the reference page of all commands")->group("");
  app.footer(
      "Examples:\n  barrio info wing.h5m\n  barrio --ranks 4 load wing.h5m --ghosts 1\n\nEnvironment: BARRIO_LOG "
      "(debug, info, warning, error, off), BARRIO_WAIT (spin, yield, block).");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    if (is_first_of_launcher()) mpi::print_error(usage_error(app, error));
    return exit_code(ErrorCode::usage);
  }
  if (reference->parsed()) {
    std::fputs(reference_page(app, commands).c_str(), stdout);
    return 0;
  }
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->name())) continue;
    if (!command->is_parallel()) return run_alone(*command, options);
    if (options.n_ranks > 0) {
      try {
        restart_with_ranks(options.n_ranks, {argv + 1, argv + argc});
      } catch (const Error& error) {
        mpi::print_error(error);
        return exit_code(error.code());
      }
    }
    return run_parallel(*command, options, argc, argv);
  }
  return exit_code(ErrorCode::internal);
}

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands(const int& n_ranks) {
  std::vector<std::unique_ptr<Command>> all;
  all.push_back(make_info());
  all.push_back(make_generate());
  all.push_back(make_convert());
  all.push_back(make_partition());
  all.push_back(make_join());
  all.push_back(make_load());
  all.push_back(make_probe(n_ranks));
  all.push_back(make_record(n_ranks));
  all.push_back(make_map());
  all.push_back(make_seat());
  all.push_back(make_report());
  all.push_back(make_exec(n_ranks));
  all.push_back(make_bench(n_ranks));
  all.push_back(make_doctor());
  return all;
}

std::string reference_page(const CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands) {
  std::string page =
      "# The command `barrio`\n\nThis page is printed by `barrio reference`; a test keeps it up to date.\n\n"
      "Results go to standard output, messages to standard error. Exit codes: 0 ok, 1 failed, 2 wrong command line, "
      "3 bad input, 4 differs, 70 a bug in barrio.\n";
  const auto options_of = [](const CLI::App& some) {
    std::string text = "\n| option | meaning |\n|---|---|\n";
    for (const CLI::Option* option : some.get_options()) {
      std::string left = option->get_name(false, true);
      left = left.substr(0, left.find('{'));  // what a flag stands for
      if (!option->get_positional() && option->get_expected_min() > 0) left += " " + option->get_type_name();
      std::string right = option->get_description();
      if (option->get_required()) right += " (required)";
      if (!option->get_default_str().empty()) right += fmt::format(" (default {})", option->get_default_str());
      std::string escaped;
      for (const char c : right) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
      text += fmt::format("| `{}` | {} |\n", left, escaped);
    }
    return text;
  };
  page += "\n## Options of all commands\n" + options_of(app);
  for (const auto& command : commands) {
    page += fmt::format("\n## barrio {}\n\n{}.\n{}\n```\n{}\n```\n", command->name(), command->summary(),
                        options_of(*app.get_subcommand(command->name())), command->example());
  }
  return page;
}

}  // namespace barrio::apps

int main(int argc, char** argv) { return barrio::apps::main_of(argc, argv); }
