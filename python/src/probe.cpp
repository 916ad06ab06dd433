#include "barrio/probe/probe.hpp"

#include <fmt/format.h>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/stored_profile.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

nb::object probe(const CommArgument& comm, const std::string& depth, bool store) {
  const auto wanted = depth == "check"    ? probe::Depth::check
                      : depth == "limits" ? probe::Depth::limits
                                          : probe::Depth::all;
  if (depth != "check" && depth != "limits" && depth != "all")
    throw_usage(fmt::format("depth '{}'", depth), "is not known", "use one of check, limits, all");
  std::string text;
  in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    const probe::Findings found = probe::run(*context, {.depth = wanted});
    mpi::agree_after(*context, [&] {
      if (const std::string path = mpi::stored_profiles_path(); store && context->is_root() && !path.empty())
        probe::store(path, found.document);
    });
    text = found.document.dump();
    return 0;
  });
  return nb::module_::import_("json").attr("loads")(text);
}

}  // namespace

void bind_probe(nb::module_& module) {
  using namespace nb::literals;
  module.def("probe", &probe, "comm"_a, nb::kw_only(), "depth"_a = "limits", "store"_a = false,
             nb::sig("def probe(comm: mpi4py.MPI.Comm, *, depth: str = 'limits', store: bool = False) -> dict[str, "
                     "typing.Any]"),
             R"(Measure how messages between two ranks behave over the transport of this job. Collective over comm.

`depth`: "check" compares a few times with the stored profile, "limits" measures the values of a profile, "all" runs
every experiment of `barrio probe`. `store` keeps the profile for later jobs of this user on this platform, unless
other work disturbed the measurement ("is_disturbed"). In a job on several nodes rank 0's partner is on another node;
"on_node" has the results within its node. Raises UsageError with one rank. Keys: platform, limits, overlap, streams,
profile and more; see the reference of documents.)");
}

}  // namespace barrio::python
