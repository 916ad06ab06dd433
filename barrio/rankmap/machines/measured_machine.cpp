#include "barrio/rankmap/measured_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/base/error.hpp"

namespace barrio::rankmap {
namespace {

constexpr std::string_view machine_schema = "barrio.machine";
constexpr int machine_schema_version = 1;

Json times_json(const MessageTimes& times) {
  return Json{{"bytes", times.bytes},
              {"seconds", times.seconds},
              {"pairs", times.n_pairs},
              {"latency", times.latency()},
              {"bandwidth", times.bandwidth()}};
}

[[noreturn]] void refuse_measured(const std::string& path, std::string cause) {
  throw Error(ErrorCode::bad_input, {.subject = path,
                                     .cause = std::move(cause),
                                     .remedy = "give the result of 'barrio map --measure --result machine.json'"});
}

MessageTimes times_from(const Json& document, const char* key, const std::string& path) {
  MessageTimes times;
  const auto found = document.find(key);
  if (found == document.end() || !found->is_object() || !found->contains("bytes") || !found->contains("seconds"))
    refuse_measured(path, fmt::format("has no times \"{}\"", key));
  const auto read = [&](const char* list, auto& values, double least) {
    if (!(*found)[list].is_array()) refuse_measured(path, fmt::format("\"{}\" has no list \"{}\"", key, list));
    for (const Json& value : (*found)[list]) {
      if (!value.is_number() || !(value.get<double>() >= least) || !std::isfinite(value.get<double>()))
        refuse_measured(path, fmt::format("{} in \"{}\" of \"{}\" must be a number > 0", value.dump(), list, key));
      values.push_back(value.get<std::decay_t<decltype(values[0])>>());
    }
  };
  read("bytes", times.bytes, 1.0);
  read("seconds", times.seconds, 1e-12);
  if (times.bytes.size() != times.seconds.size())
    refuse_measured(path,
                    fmt::format("\"{}\" has {} sizes and {} times", key, times.bytes.size(), times.seconds.size()));
  return times;
}

}  // namespace

double MessageTimes::bandwidth() const {
  constexpr std::int64_t large_bytes = 64 << 10;
  std::vector<double> rates;
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    const double beyond = seconds[i] - latency();
    if ((bytes[i] >= large_bytes || i + 1 == seconds.size()) && beyond > 0.0)
      rates.push_back(static_cast<double>(bytes[i] - bytes.front()) / beyond);
  }
  std::ranges::sort(rates);
  return rates.empty() ? 0.0 : rates[rates.size() / 2];
}

std::vector<double> MeasuredMachine::distances() const {
  constexpr double usual = 10.0;
  if (inside.bandwidth() <= 0.0 || between.bandwidth() <= 0.0) return {1.0, usual};
  return {1.0, inside.bandwidth() / between.bandwidth()};
}

Json to_json(const MeasuredMachine& machine) {
  Json document = json_document(machine_schema, machine_schema_version);
  document["hosts"] = Json::array();
  for (const HostRun& host : machine.hosts) document["hosts"].push_back({host.name, host.count});
  document["inside"] = times_json(machine.inside);
  document["between"] = times_json(machine.between);
  document["distances"] = machine.distances();
  document["message_bytes"] = machine.message_bytes();
  return document;
}

MeasuredMachine read_measured_machine(const std::string& path) {
  const Json document = read_json_document(path, machine_schema, machine_schema_version);
  MeasuredMachine machine;
  const auto hosts = document.find("hosts");
  if (hosts == document.end() || !hosts->is_array() || hosts->empty()) refuse_measured(path, "has no list \"hosts\"");
  for (const Json& host : *hosts) {
    if (!host.is_array() || host.size() != 2 || !host[0].is_string() || !host[1].is_number_integer() || host[1] < 1 ||
        host[1] > Machine::max_cores)
      refuse_measured(path, fmt::format("hosts[{}] is not [name, ranks]", machine.hosts.size()));
    machine.hosts.push_back({host[0].get<std::string>(), host[1].get<int>()});
  }
  machine.inside = times_from(document, "inside", path);
  machine.between = times_from(document, "between", path);
  return machine;
}

}  // namespace barrio::rankmap
