#include "barrio/mpi/launcher.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "barrio/mpi/check.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::mpi {
namespace {

struct Sign {
  const char* variable;
  std::string_view launcher;
};
constexpr std::array<Sign, 2> size_signs{
    {{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"}, {"PMI_SIZE", "MPICH's mpiexec, or another that speaks PMI,"}}};

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

bool is_spawned() {
#ifdef BARRIO_MPI_SMPI
  return false;  // the simulator starts all ranks itself
#else
  MPI_Comm parent = MPI_COMM_NULL;
  check(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
  return parent != MPI_COMM_NULL;
#endif
}

bool is_allowed_alone() {
  const char* const text = std::getenv("BARRIO_SINGLETON");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace

std::optional<Error> find_launcher_fault() {
  int world_size = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &world_size), "MPI_Comm_size");
  if (world_size > 1 || is_allowed_alone() || is_spawned()) return {};
  // A launcher inside a job of another one: the variables of both are set, and the inner one's are right.
  const auto is_right = [](const Sign& sign) { return number_in(sign.variable) == 1; };
  if (std::ranges::any_of(size_signs, is_right)) return {};
  const auto* const seen =
      std::ranges::find_if(size_signs, [](const Sign& sign) { return number_in(sign.variable) > 1; });
  if (seen == size_signs.end()) return {};
  return Error(
      ErrorCode::usage,
      {.subject = "MPI launcher",
       .cause = fmt::format("{} has started {} processes ({}), but this program was built for {}, which runs each of "
                            "them alone: all would do the same work and write the same files",
                            seen->launcher, number_in(seen->variable), seen->variable, mpi_library()),
       .remedy = "start it with the launcher of the MPI it was built for (barrio --ranks N finds it), or set "
                 "BARRIO_SINGLETON=1 to let each process run alone"});
}

bool is_first_of_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable)) return std::atoi(rank) == 0;
  return true;
}

}  // namespace barrio::mpi
