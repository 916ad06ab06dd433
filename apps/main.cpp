#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "apps/command.hpp"
#include "apps/renamed.hpp"
#include "apps/text/completion.hpp"
#include "apps/text/help.hpp"
#include "barrio/base/abort.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/launcher.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"

namespace barrio::apps {
namespace {

/// Return every word that the parser accepts at this place.
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

/// Make the error for a wrong command line, with a guess at what was meant.
Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* active = &app;
  for (const CLI::App* sub : app.get_subcommands()) active = sub;
  const std::string help =
      fmt::format("barrio{} --help lists commands and options", active == &app ? "" : " " + active->get_name());
  // By exit code: CLI11 gives an ExtrasError of a subcommand the subcommand's name.
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError)) {
    for (const std::string& word : app.remaining(true)) {
      if (word == "--") continue;
      std::vector<std::string> known = known_words(*active);
      if (active != &app)
        for (const std::string& more : known_words(app)) known.push_back(more);
      const std::string plain = word.substr(0, word.find('='));
      if (const std::string now = present_spelling(plain); std::ranges::find(known, now) != known.end())
        return {ErrorCode::usage,
                {.subject = fmt::format("'{}'", word), .cause = fmt::format("is spelt {}", now), .remedy = help}};
      if (const std::string_view why = why_dropped(plain); !why.empty())
        return {ErrorCode::usage, {.subject = fmt::format("'{}'", word), .cause = std::string(why), .remedy = help}};
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

/// Refuse options whose number is NaN: it passes all bounds, as no comparison with it holds.
void refuse_nan(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_name().find("FLOAT") == std::string::npos) continue;
    for (const std::string& word : option->results())
      if (std::isnan(std::strtod(word.c_str(), nullptr)))
        throw CLI::ValidationError(option->get_name(), fmt::format("{} is not a number", word));
  }
  for (const CLI::App* sub : app.get_subcommands()) refuse_nan(*sub);
}

/// Tell whether a command line asks for JSON, even if it cannot be parsed as a whole.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

void print_result(const Command& command, const Json& result, const GlobalOptions& options) {
  if (command.is_printed_elsewhere()) return;
  const std::string text =
      options.is_json ? result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : command.render(result);
  const bool is_shown = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  const int reason = errno;
  // Names in a file may not be UTF-8.
  if (!options.result_file.empty())
    write_file_atomically(options.result_file, result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!is_shown)
    throw Error(ErrorCode::failed,
                {.subject = "standard output", .cause = fmt::format("cannot be written: {}", std::strerror(reason))});
}

void check_outputs(const Command& command) {
  for (const Output& output : command.outputs())
    if (!output.path.empty()) check_writable(output.path, output.as);
}

int run_alone(Command& command, const GlobalOptions& options) {
  try {
    check_places(options);
    check_outputs(command);
    const Json result = command.run(nullptr);
    print_result(command, result, options);
    return command.exit_code(result);
  } catch (...) {
    const Error error = current_error();
    print_failure(error, options);
    mpi::print_error(error);
    return exit_code(error.code());
  }
}

Json run_with_progress(Command& command, Context& context) {
  Progress progress("barrio " + command.name(), context.is_root());
  command.show_on(progress, context);
  return command.run(&context);
}

int run_parallel(Command& command, const GlobalOptions& options, int argc, char** argv) {
  int command_code = 0;
  const mpi::RunOptions run_options{
      .context = {.trace = options.trace_file.empty() ? Trace::Mode::totals : Trace::Mode::events}};
  expect_no_other_processes();
  const int code = mpi::run(
      argc, argv,
      [&](Context& context) {
        try {
          agree_after(context, [&] {
            if (!context.is_root()) return;
            check_places(options);
            check_outputs(command);
          });
          Json result = run_with_progress(command, context);
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
          if (context.is_root()) print_failure(error, options);
          throw;
        }
      },
      run_options);
  return code != 0 ? code : command_code;
}

int run_command(Command& command, const GlobalOptions& options, int argc, char** argv) {
  name_unused_options(command, options);
  if (!command.is_parallel()) return run_alone(command, options);
  if (options.n_ranks == 0) return run_parallel(command, options, argc, argv);
  try {
    const RanksEnd end = restart_with_ranks(options.n_ranks, {argv + 1, argv + argc});
    if (end.fault) {
      print_failure(*end.fault, options);
      mpi::print_error(*end.fault);
    }
    return end.code;
  } catch (const Error& error) {
    print_failure(error, options);
    mpi::print_error(error);
    return exit_code(error.code());
  }
}

int main_of(int argc, char** argv) {
  let_long_files_fail();
  CLI::App app{"barrio: parallel computing on meshes that change while they run"};
  app.name("barrio");
  app.set_help_flag("-h,--help", "Show this help and exit");
  GlobalOptions options;
  add_global_options(app, options, "Options of all commands");
  app.formatter(std::make_shared<HelpFormatter>(help_columns()));
  app.require_subcommand(1);
  app.fallthrough();
  const auto commands = all_commands(options);
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    sub->set_help_flag("-h,--help", "Show this help and exit");
    sub->footer(command->more_help() + "Example:\n  " + command->example() +
                "\n\nOptions of all commands (--ranks, --json, --result, --times, --trace): barrio --help");
    sub->fallthrough();
    command->add_options(*sub);
    if (command->is_prefix()) add_global_options(*sub, options, "");
  }
  CLI::App* reference = app.add_subcommand("reference", "Print the reference page of all commands")->group("");
  const CLI::App* completion = app.add_subcommand("completion", "Print completion for bash")->group("");
  app.footer(
      "Examples:\n  barrio info wing.h5m\n  barrio --ranks 4 load wing.h5m --ghosts 1\n\nEnvironment: BARRIO_LOG "
      "(debug, info, warning, error, off), BARRIO_WAIT (spin, yield, block), BARRIO_SINGLETON "
      "(1: run alone although the launcher of another MPI has started several).");

  try {
    app.parse(argc, argv);
    refuse_nan(app);
    for (const auto& command : commands)
      if (std::vector<std::string>* words = command->forwarded_words()) take_global_options(*words, options);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    if (mpi::is_first_of_launcher()) {
      const Error fault = usage_error(app, error);
      options.is_json = asks_for_json(argc, argv);
      print_failure(fault, options);
      mpi::print_error(fault);
    }
    return exit_code(ErrorCode::usage);
  }
  if (reference->parsed()) {
    std::fputs(reference_page(app, commands).c_str(), stdout);
    return 0;
  }
  if (completion->parsed()) {
    std::fputs(bash_completion(app).c_str(), stdout);
    return 0;
  }
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->name())) continue;
    return run_command(*command, options, argc, argv);
  }
  return exit_code(ErrorCode::internal);
}

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands(const GlobalOptions& options) {
  std::vector<std::unique_ptr<Command>> all;
  all.push_back(make_info());
  all.push_back(make_show());
  all.push_back(make_generate());
  all.push_back(make_convert());
  all.push_back(make_partition());
  all.push_back(make_join());
  all.push_back(make_adapt());
  all.push_back(make_amr());
  all.push_back(make_delaunay());
  all.push_back(make_load());
  all.push_back(make_probe(options));
  all.push_back(make_record(options));
  all.push_back(make_map());
  all.push_back(make_seat());
  all.push_back(make_report(options));
  all.push_back(make_exec(options));
  all.push_back(make_bench(options));
  all.push_back(make_doctor(options));
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
      if (option->get_group().empty()) continue;
      std::string left = option->get_name(false, true);
      left = left.substr(0, left.find('{'));  // without the value that a flag sets
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
  page +=
      "\n## Options of all commands\n\nPut them before or after the name of a command; if it runs a program of yours, "
      "before that program.\n" +
      options_of(app);
  for (const auto& command : commands) {
    page += fmt::format("\n## barrio {}\n\n{}.\n{}\n```\n{}\n```\n", command->name(), command->summary(),
                        options_of(*app.get_subcommand(command->name())), command->example());
  }
  return page;
}

}  // namespace barrio::apps

int main(int argc, char** argv) { return barrio::apps::main_of(argc, argv); }
