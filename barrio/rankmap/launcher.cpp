#include "barrio/rankmap/launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/detail/line_reader.hpp"
#include "barrio/rankmap/detail/words.hpp"
#include "barrio/rankmap/map_document.hpp"

namespace barrio::rankmap {
namespace {

constexpr std::array<std::pair<std::string_view, LauncherFormat>, 5> formats{
    {{"openmpi-rankfile", LauncherFormat::openmpi_rankfile},
     {"openmpi-seq", LauncherFormat::openmpi_seq},
     {"cray", LauncherFormat::cray},
     {"slurm", LauncherFormat::slurm},
     {"permutation", LauncherFormat::permutation}}};

std::string rankfile(const Machine& machine, const Placement& placement, std::string_view path) {
  std::string text = fmt::format(
      "# rank -> node and core, for Open MPI. HOSTS lists each node once, with 'slots={}':\n"
      "#   mpirun -n {} --hostfile HOSTS --rankfile {} PROGRAM\n"
      "#   mpirun -n {} --hostfile HOSTS --map-by rankfile:file={} PROGRAM    (Open MPI 5)\n"
      "# In a batch job, leave --hostfile out.\n",
      machine.max_cores_per_node(), placement.n_ranks(), path, placement.n_ranks(), path);
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank) {
    const int core = placement.core_of(rank);
    text += fmt::format("rank {}={} slot={}\n", rank, machine.node_name(machine.node_of(core)), machine.slot_of(core));
  }
  return text;
}

std::string host_lines(const Machine& machine, const Placement& placement) {
  std::string text;
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank)
    text += machine.node_name(machine.node_of(placement.core_of(rank))) + '\n';
  return text;
}

std::string seq_hostfile(const Machine& machine, const Placement& placement, std::string_view path) {
  return fmt::format(
             "# line i = host of rank i, for Open MPI. Give it as below: a plain --hostfile sorts ranks by host.\n"
             "#   mpirun -n {} --mca rmaps seq --hostfile {} PROGRAM\n"
             "#   mpirun -n {} --map-by seq --hostfile {} PROGRAM    (Open MPI 5)\n",
             placement.n_ranks(), path, placement.n_ranks(), path) +
         host_lines(machine, placement);
}

std::string slurm_hostfile(const Machine& machine, const Placement& placement, std::string_view path) {
  return fmt::format(
             "# line i = host of rank i, for Slurm; inside an allocation of these nodes:\n"
             "#   SLURM_HOSTFILE={} srun --distribution=arbitrary -n {} PROGRAM\n",
             path, placement.n_ranks()) +
         host_lines(machine, placement);
}

// How many ranks each node has, if a launcher that fills node after node can make it so.
int ranks_per_node(const Machine& machine, const Placement& placement) {
  std::vector<int> counts(static_cast<std::size_t>(machine.n_nodes()), 0);
  for (const int core : placement.core_of_rank()) ++counts[static_cast<std::size_t>(machine.node_of(core))];
  bool is_last = false;
  for (std::size_t node = 0; node < counts.size(); ++node) {
    if (is_last ? counts[node] > 0 : counts[node] > counts[0]) {
      throw Error(ErrorCode::usage, {.subject = "Cray rank order",
                                     .cause = fmt::format("cannot express {} ranks on {} after {} on {}", counts[node],
                                                          machine.node_name(static_cast<int>(node)), counts[node - 1],
                                                          machine.node_name(static_cast<int>(node) - 1)),
                                     .remedy = "describe a machine with as many cores as ranks"});
    }
    is_last = is_last || counts[node] < counts[0];
  }
  return counts.empty() ? 0 : counts[0];
}

std::string cray_rank_order(const Machine& machine, const Placement& placement, std::string_view path) {
  const int per_node = ranks_per_node(machine, placement);
  std::string text = fmt::format(
      "# core -> rank, in the order in which nodes are filled, for Cray MPICH:\n"
      "#   export MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={}\n"
      "#   srun -n {} --ntasks-per-node={} PROGRAM\n",
      path, placement.n_ranks(), per_node);
  // One line per node; a list may go on over lines.
  int n_on_line = 0;
  for (const Rank rank : placement.rank_at_core()) {
    if (rank == no_rank) continue;
    text += fmt::format("{}{}", n_on_line == 0 ? "" : ",", rank);
    if (++n_on_line == per_node) {
      text += '\n';
      n_on_line = 0;
    }
  }
  if (n_on_line > 0) text += '\n';
  return text;
}

std::string permutation_text(const Machine& machine, const Placement& placement) {
  std::string text = fmt::format("# line i = core of rank i, from 0; {} ranks on {} cores of {}\n", placement.n_ranks(),
                                 placement.n_cores(), machine.text());
  for (const int core : placement.core_of_rank()) text += fmt::format("{}\n", core);
  return text;
}

}  // namespace

std::string_view name_of(LauncherFormat format) noexcept { return formats[static_cast<std::size_t>(format)].first; }

LauncherFormat parse_launcher_format(std::string_view word) { return detail::value_of_word("launcher", word, formats); }

std::string launcher_text(LauncherFormat format, const Machine& machine, const Placement& placement,
                          std::string_view path) {
  switch (format) {
    case LauncherFormat::openmpi_rankfile: return rankfile(machine, placement, path);
    case LauncherFormat::openmpi_seq: return seq_hostfile(machine, placement, path);
    case LauncherFormat::cray: return cray_rank_order(machine, placement, path);
    case LauncherFormat::slurm: return slurm_hostfile(machine, placement, path);
    case LauncherFormat::permutation: return permutation_text(machine, placement);
  }
  throw Error(ErrorCode::internal, {.subject = "launcher format", .cause = "is not in the list"});
}

void write_launcher_file(const std::string& path, LauncherFormat format, const Machine& machine,
                         const Placement& placement) {
  write_file_atomically(path, launcher_text(format, machine, placement, path));
}

Placement read_placement(const std::string& path, int n_cores) {
  detail::LineReader reader(path);
  std::vector<int> core_of_rank;
  std::vector<int> line_of_core(static_cast<std::size_t>(n_cores), 0);
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words[0].starts_with('{'))
      return placement_from_json(read_json_document(path, map_schema, map_schema_version), n_cores, path);
    if (words.size() != 1) reader.fail("is not one core number");
    const auto core = static_cast<int>(reader.integer(words[0], "the core", 0, n_cores - 1));
    int& line = line_of_core[static_cast<std::size_t>(core)];
    if (line > 0) reader.fail(fmt::format("core {} is already given in line {}", core, line));
    line = reader.line_number();
    core_of_rank.push_back(core);
  }
  return {std::move(core_of_rank), n_cores};
}

}  // namespace barrio::rankmap
