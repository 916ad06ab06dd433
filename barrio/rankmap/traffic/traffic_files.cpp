#include "barrio/rankmap/traffic_files.hpp"

#include <array>
#include <filesystem>
#include <utility>

#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/recorded_run.hpp"

namespace barrio::rankmap {
namespace {

RecordedRun plain(TrafficMatrix traffic) {
  RecordedRun run;
  run.collectives = TrafficMatrix(traffic.n_ranks());
  run.traffic = std::move(traffic);
  return run;
}

}  // namespace

TrafficMatrix read_traffic(const std::string& path, double collectives) {
  RecordedRun run = read_run(path);
  if (collectives == 0.0 || run.collectives.entries().empty()) return std::move(run.traffic);
  return sum(std::array{std::move(run.traffic), std::move(run.collectives)}, std::array{1.0, collectives});
}

RecordedRun read_run(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) ||
      (!std::filesystem::exists(path, ignored) && std::filesystem::exists(path + ".0.prof", ignored)))
    return plain(read_monitoring(path));

  LineReader reader(path);
  while (reader.next_line()) {
    if (reader.line().starts_with("%%MatrixMarket")) return plain(read_matrix_market(path));
    if (reader.line().starts_with('%')) continue;
    const auto words = reader.words();
    if (words.empty()) continue;
    if (words.front().starts_with('{')) return read_recorded_run(path);
    const bool is_number = words.front().find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && words.size() >= 2 && words.size() <= 4) return plain(read_metis_graph(path));
    reader.fail("is not a traffic file that barrio knows",
                is_number ? "a QAPLIB file holds the machine too: give it alone, without --machine"
                          : "give barrio.traffic JSON, a METIS graph, Matrix Market or Open MPI monitoring files");
  }
  reader.fail("is empty", "give barrio.traffic JSON, a METIS graph, Matrix Market or Open MPI monitoring files");
}

}  // namespace barrio::rankmap
