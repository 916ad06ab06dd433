#include "barrio/exchange/traffic.hpp"

#include <fmt/format.h>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/write_text.hpp"

namespace barrio::exchange {

void write_traffic(mpi::Context& context, const std::string& path, int n_ends, const std::vector<TrafficRow>& rows) {
  Json head = mpi::document(context, "barrio.traffic", 1);
  head["recorded_on_ranks"] = context.size();
  head["ranks"] = n_ends;
  std::string piece;
  if (context.is_root()) {
    // The head without its closing brace; the rows of all ranks follow as its last entry.
    piece = head.dump(1);
    piece.erase(piece.find_last_of('}'));
    while (!piece.empty() && piece.back() == '\n') piece.pop_back();
    piece += ",\n \"entries\": [";
  }
  const auto n_before = mpi::exclusive_sum(context, std::ssize(rows));
  bool is_first = n_before == 0;
  for (const TrafficRow& row : rows) {
    piece += fmt::format("{}\n  [{}, {}, {}, {}, {}]", is_first ? "" : ",", row.from, row.to, row.points, row.bytes,
                         row.messages);
    is_first = false;
  }
  if (context.rank() + 1 == context.size()) piece += "\n ]\n}\n";
  mpi::write_text(context, path, piece);
}

}  // namespace barrio::exchange
