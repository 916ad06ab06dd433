#include "barrio/rankmap/recorded_run.hpp"

#include <fmt/format.h>

#include "barrio/base/json.hpp"

namespace barrio::rankmap {
namespace {

[[noreturn]] void refuse_hosts(const std::string& path, std::string cause) {
  throw Error(ErrorCode::bad_input, {.subject = path,
                                     .cause = std::move(cause),
                                     .remedy = "write \"hosts\": [[name, ranks], ...], in the order of ranks"});
}

std::vector<HostRun> hosts_of(const Json& document, int n_ranks, const std::string& path) {
  const auto rows = document.find("hosts");
  if (rows == document.end()) return {};
  if (!rows->is_array()) refuse_hosts(path, "\"hosts\" must be a list");
  std::vector<HostRun> hosts;
  std::int64_t n_placed = 0;
  for (const Json& row : *rows) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number_integer() || row[1] < 1 ||
        row[1] > n_ranks)
      refuse_hosts(path, fmt::format("hosts[{}] is not [name, ranks]", hosts.size()));
    hosts.push_back({row[0].get<std::string>(), row[1].get<int>()});
    n_placed += hosts.back().count;
  }
  if (n_placed != n_ranks)
    refuse_hosts(path, fmt::format("\"hosts\" have {} ranks, but \"ranks\" is {}", n_placed, n_ranks));
  return hosts;
}

}  // namespace

RecordedRun read_recorded_run(const std::string& path) {
  const Json document = read_json_document(path, traffic_schema, traffic_schema_version);
  RecordedRun run;
  run.traffic = TrafficMatrix::from_json(document, path);
  run.collectives = document.contains("collectives") ? TrafficMatrix::from_rows(document, "collectives", path)
                                                     : TrafficMatrix(run.traffic.n_ranks());
  run.hosts = hosts_of(document, run.traffic.n_ranks(), path);
  if (const auto seconds = document.find("seconds"); seconds != document.end() && seconds->is_number())
    run.seconds = seconds->get<double>();
  return run;
}

}  // namespace barrio::rankmap
