#include "apps/text/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace barrio::apps {
namespace {

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  const std::vector<std::string> common = options_of(app);
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name().empty() || sub->get_group().empty()) continue;
    names.push_back(sub->get_name());
    std::vector<std::string> words = options_of(*sub);
    words.insert(words.end(), common.begin(), common.end());
    cases += fmt::format("    {}) words='{}' ;;\n", sub->get_name(), fmt::join(words, " "));
  }
  return fmt::format(R"(# Completion of barrio for bash: source <(barrio completion)
_barrio() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command='' words i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command in
{}    *) words='{} {}' ;;
  esac
  if [[ $word == -* || -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -o default -o bashdefault -F _barrio barrio
)",
                     fmt::join(names, " | "), cases, fmt::join(names, " "), fmt::join(common, " "));
}

}  // namespace barrio::apps
