#include <fmt/format.h>

#include <algorithm>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/write_text.hpp"

namespace barrio::mpi {
namespace {

std::string render(Context& context, double start_seconds) {
  const Trace& trace = context.trace();
  std::string text;
  if (context.is_root()) text += "[\n";
  text += fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{0},"args":{{"name":"rank {0}"}}}})",
                      context.rank());
  for (const Trace::Event& event : trace.events()) {
    text += fmt::format(
        ",\n"
        R"({{"name":{},"ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
        Json(trace.region_name(event.region)).dump(), context.rank(), (event.begin_seconds - start_seconds) * 1e6,
        (event.end_seconds - event.begin_seconds) * 1e6);
  }
  text += context.rank() + 1 < context.size() ? ",\n" : "\n]\n";
  return text;
}

}  // namespace

void write_trace(Context& context, const std::string& path) {
  double start_seconds = MPI_Wtime();
  for (const Trace::Event& event : context.trace().events())
    start_seconds = std::min(start_seconds, event.begin_seconds);
  start_seconds = min(context, start_seconds);
  write_text(context, path, render(context, start_seconds));
}

}  // namespace barrio::mpi
