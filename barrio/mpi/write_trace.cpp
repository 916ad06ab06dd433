#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::mpi {
namespace {

std::string render(Context& context, double start_seconds) {
  const Trace& trace = context.trace();
  std::string text;
  if (context.is_root()) text += "[\n";
  text += fmt::format(
      R"({{"name":"thread_name","ph":"M","pid":0,"tid":{0},"args":{{"name":"rank {0}"}}}})",
      context.rank());
  for (const Trace::Event& event : trace.events()) {
    text += fmt::format(",\n" R"({{"name":{},"ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                        Json(trace.region_name(event.region)).dump(), context.rank(),
                        (event.begin_seconds - start_seconds) * 1e6,
                        (event.end_seconds - event.begin_seconds) * 1e6);
  }
  text += context.rank() + 1 < context.size() ? ",\n" : "\n]\n";
  return text;
}

Error cannot_write(const std::string& path, int mpi_code) {
  std::string reason = "the file system refused";
  try {
    check(mpi_code, "MPI_File");
  } catch (const Error& error) {
    reason = error.cause();
  }
  return {ErrorCode::failed, {.subject = path,
                              .cause = fmt::format("the trace cannot be written: {}", reason),
                              .remedy = "choose another place"}};
}

}  // namespace

void write_trace(Context& context, const std::string& path) {
  double start_seconds = context.trace().events().empty() ? MPI_Wtime()
                                                          : context.trace().events().front().begin_seconds;
  start_seconds = min(context, start_seconds);
  const std::string text = render(context, start_seconds);
  const auto offset = exclusive_sum(context, static_cast<std::int64_t>(text.size()));
  const std::string temporary = path + ".part";

  MPI_File file = MPI_FILE_NULL;
  const int opened = MPI_File_open(context.comm(), temporary.c_str(),
                                   MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  agree_after(context, [&] {
    if (opened != MPI_SUCCESS) throw cannot_write(path, opened);
  });
  MPI_File_set_size(file, 0);
  const int written = MPI_File_write_at_all(file, offset, text.data(), static_cast<int>(text.size()),
                                            MPI_BYTE, MPI_STATUS_IGNORE);
  const int closed = MPI_File_close(&file);
  Status status = capture([&] {
    if (written != MPI_SUCCESS) throw cannot_write(path, written);
    if (closed != MPI_SUCCESS) throw cannot_write(path, closed);
  });
  const bool all_written = min(context, status ? 0 : 1) == 1;
  if (context.is_root() && all_written && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = cannot_write(path, MPI_SUCCESS);
  if (context.is_root() && (status || !all_written)) ::unlink(temporary.c_str());
  agree(context, status);
}

}  // namespace barrio::mpi
