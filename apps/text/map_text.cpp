#include "apps/text/map_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"

namespace barrio::apps {

std::string render_measured(const rankmap::MeasuredMachine& measured) {
  std::string text = "  bytes       inside a node        between nodes\n";
  const auto cell = [](const rankmap::MessageTimes& times, std::size_t i) {
    if (i >= times.seconds.size()) return std::string("-");
    return fmt::format("{} {:>8.1f} MB/s", format_seconds(times.seconds[i]),
                       1e-6 * static_cast<double>(times.bytes[i]) / times.seconds[i]);
  };
  const std::size_t n = std::max(measured.inside.seconds.size(), measured.between.seconds.size());
  const rankmap::MessageTimes& known = measured.inside.seconds.empty() ? measured.between : measured.inside;
  for (std::size_t i = 0; i < n; ++i)
    text += fmt::format("  {:>9}  {:>20}  {:>20}\n", format_bytes(static_cast<std::uint64_t>(known.bytes[i])),
                        cell(measured.inside, i), cell(measured.between, i));
  std::vector<std::pair<std::string, std::string>> rows{
      {"pairs", fmt::format("{} inside nodes, {} between nodes", measured.inside.n_pairs, measured.between.n_pairs)}};
  if (measured.inside.bandwidth() > 0.0 && measured.between.bandwidth() > 0.0) {
    rows.emplace_back("distances", fmt::format("1:{:.3g}, by the cost of a byte", measured.distances().back()));
    rows.emplace_back("message", fmt::format("costs as much as {:.0f} bytes between nodes: --message-bytes {:.0f}",
                                             measured.message_bytes(), measured.message_bytes()));
  } else {
    rows.emplace_back("distances", "unknown: needs two nodes, and two ranks on one of them");
  }
  return text + two_columns(rows);
}

std::string render_verification(const Json& result) {
  const int n_ranks = result["ranks"], n_nodes = result["nodes"];
  if (result["as_planned"] == true)
    return fmt::format(
        "all {} ranks are where the plan has them, on {} node{}{}\n", n_ranks, n_nodes, n_nodes == 1 ? "" : "s",
        result["names_are_known"] == true ? "" : "; the plan names no hosts: only compared which ranks share a node");
  const std::int64_t elsewhere = result["elsewhere"], torn = result["torn"];
  std::string text =
      elsewhere > 0
          ? fmt::format("{} of {} ranks are not where the plan has them\n", elsewhere, n_ranks)
          : fmt::format(
                "all {} ranks are on their hosts, but {} of them do not share memory with all ranks there: MPI "
                "takes a host for several nodes\n  barrio map -f mpich writes how to start MPICH instead\n",
                n_ranks, torn);
  for (const Json& fault : result["faults"]) text += fmt::format("  {}\n", fault.get<std::string>());
  if (static_cast<std::int64_t>(result["faults"].size()) < elsewhere + torn) text += "  ...\n";
  return text;
}

}  // namespace barrio::apps
