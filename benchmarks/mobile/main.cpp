// Messages outside rounds, and mobile objects that send them: rates, latency, against rounds and receives by hand.
//
//   barrio --ranks 2 bench mobile
//   barrio --ranks 1 bench mobile --parts local --messages 10000000
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "barrio/base/text.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mobile/parts.hpp"

namespace barrio::bench {

void check_sum(mpi::Context& context, bool is_right, const char* what) {
  if (mpi::min(context, is_right ? 1 : 0) == 1) return;
  throw AgreedError(ErrorCode::differs, {.subject = std::string("bench mobile, ") + what,
                                         .cause = "lost or changed messages",
                                         .remedy = "this is a bug in barrio or in the MPI"});
}

namespace {

bool parse_options(mpi::Context& context, int argc, char** argv, MobileOptions& options) {
  CLI::App app("Messages outside rounds, and mobile objects that send them", "barrio bench mobile");
  app.add_option("--parts", options.parts,
                 "stream (against rounds), request (against receives by hand), local, remote (messages to objects), "
                 "skewed (objects of unequal cost, balanced), directory (objects that move), "
                 "policies (choice of what leaves memory)")
      ->check(CLI::IsMember({"stream", "request", "local", "remote", "skewed", "directory", "policies"}))
      ->capture_default_str();
  app.add_option("--messages", options.n_messages, "Messages of each rank in a run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--objects", options.n_objects, "Objects of each rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--chains", options.n_chains, "Messages that are under way for each object")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--migration", options.migration,
               "Let objects of local and remote migrate, though they do not: its cost");
  app.add_option("--scratch", options.scratch, "Folder on a disk, for policies (default: that for temporary files)");
  app.add_option("--repeats", options.repeats, "Runs; the fastest counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_output_options(app, options.output);
  return parse(app, "bench mobile", context, argc, argv);
}

Json make_document(mpi::Context& context, const MobileOptions& options) {
  Json document = mpi::document(context, "barrio.bench.mobile", 1);
  document["repeats"] = options.repeats;
  Goals goals;
  const auto has = [&](const char* part) { return std::ranges::find(options.parts, part) != options.parts.end(); };
  if (has("stream")) document["parts"].push_back(measure_stream(context, options, goals));
  if (has("request")) document["parts"].push_back(measure_request(context, options, goals));
  for (const char* part : {"local", "remote"})
    if (has(part)) document["parts"].push_back(measure_objects(context, options, std::string(part) == "remote", goals));
  if (has("skewed")) document["parts"].push_back(measure_skewed(context, options, goals));
  if (has("directory")) document["parts"].push_back(measure_directory(context, options, goals));
  if (has("policies")) document["parts"].push_back(measure_policies(context, options, goals));
  document["goals"] = goals.list();
  return document;
}

std::string to_text(const Json& document) {
  std::string text;
  for (const Json& part : document["parts"]) {
    const auto name = part["part"].get<std::string>();
    if (name == "stream") {
      text += fmt::format("stream: {:.1f} M messages of {} bytes a second and rank; {:.2f} times the speed of rounds\n",
                          part["messages_per_second"].get<double>() / 1e6, part["bytes"].get<int>(),
                          part["of_rounds"].get<double>());
    } else if (name == "request" && part.contains("of_hand")) {
      text += fmt::format("request: {} to the reply; by receives posted by hand {}\n",
                          format_seconds(part["stream_seconds"].get<double>()),
                          format_seconds(part["hand_seconds"].get<double>()));
    } else if (name == "skewed") {
      text +=
          fmt::format("skewed: {}; {:.2f} of the least time, handlers of the busiest rank {:.2f}; {} migrations, {}\n",
                      format_seconds(part["seconds"].get<double>()), part["efficiency"].get<double>(),
                      part["handler_efficiency"].get<double>(), part["migrations"].get<std::int64_t>(),
                      format_bytes(part["migrated_bytes"].get<std::uint64_t>()));
    } else if (name == "directory") {
      for (const Json& one : part["policies"])
        text += fmt::format("directory, {}: {:.3f} hops a message, {} at most; {} migrations, {} updates; {}\n",
                            one["updates"].get<std::string>(), one["hops"].get<double>(), one["max_hops"].get<int>(),
                            one["migrations"].get<std::int64_t>(), one["place_updates"].get<std::int64_t>(),
                            format_seconds(one["seconds"].get<double>()));
    } else if (name == "policies") {
      if (part.contains("reason")) text += fmt::format("policies: not run: {}\n", part["reason"].get<std::string>());
      for (const Json& one : part["loads"]) {
        text += fmt::format("policies, {}: loads by the least:", one["load"].get<std::string>());
        for (const char* policy : {"lru", "mru", "lfu", "lu", "mu", "adaptive"})
          text += fmt::format(" {} {:.2f}", policy, one[policy].get<double>());
        text += "\n";
      }
    } else if (part.contains("objects")) {
      text += fmt::format("{}: {:.1f} M messages a second and rank, to {} objects; {} waves\n", name,
                          part["messages_per_second"].get<double>() / 1e6, part["objects"].get<int>(),
                          part["waves"].get<int>());
    }
  }
  for (const Json& one : document["goals"])
    text += fmt::format("{} {:<24} {:.4g}{} (goal {} {:g})\n", one["met"].get<bool>() ? "met    " : "NOT MET",
                        one["id"].get<std::string>(), one["value"].get<double>(), one["unit"].get<std::string>(),
                        one["better"] == "higher" ? ">=" : "<=", one["goal"].get<double>());
  return text;
}

}  // namespace
}  // namespace barrio::bench

int main(int argc, char** argv) {
  using namespace barrio;
  return bench::run_benchmark(argc, argv, [&](mpi::Context& context) {
    bench::MobileOptions options;
    if (!bench::parse_options(context, argc, argv, options)) return;
    bench::begin_output(context, options.output);
    const Json document = bench::make_document(context, options);
    bench::print_output(context, options.output, document, bench::to_text);
  });
}
