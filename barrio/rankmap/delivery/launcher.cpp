#include "barrio/rankmap/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/line_reader.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/text/words.hpp"

namespace barrio::rankmap {
namespace {

constexpr std::array<std::pair<std::string_view, LauncherFormat>, 8> formats{
    {{"openmpi-rankfile", LauncherFormat::openmpi_rankfile},
     {"openmpi-seq", LauncherFormat::openmpi_seq},
     {"mpich", LauncherFormat::mpich},
     {"intel", LauncherFormat::intel},
     {"cray", LauncherFormat::cray},
     {"slurm", LauncherFormat::slurm},
     {"flux", LauncherFormat::flux},
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

/// Consecutive ranks on one node.
struct NodeRun {
  int node = 0;
  int n_ranks = 0;
};

std::vector<NodeRun> runs_of(const Machine& machine, const Placement& placement) {
  std::vector<NodeRun> runs;
  for (Rank rank = 0; rank < placement.n_ranks(); ++rank) {
    const int node = machine.node_of(placement.core_of(rank));
    if (runs.empty() || runs.back().node != node) runs.push_back({node, 0});
    ++runs.back().n_ranks;
  }
  return runs;
}

// Hydra and its relatives treat a host that appears again after another as another node, unless `barrio seat` starts
// the program.
std::string hydra_hostfile(LauncherFormat format, const Machine& machine, const Placement& placement,
                           std::string_view path) {
  const std::vector<NodeRun> runs = runs_of(machine, placement);
  std::vector<int> nodes;
  for (const NodeRun& run : runs) nodes.push_back(run.node);
  std::ranges::sort(nodes);
  const bool has_repetitions = std::ranges::adjacent_find(nodes) != nodes.end();
  const bool is_intel = format == LauncherFormat::intel;
  std::string text = fmt::format("# hosts in the order of ranks, for {}:\n#   mpiexec {} {} -n {} PROGRAM\n",
                                 is_intel ? "Intel MPI" : "MPICH and its launcher Hydra",
                                 is_intel ? "-machinefile" : "-f", path, placement.n_ranks());
  if (has_repetitions && is_intel)
    text += "# Hosts appear again after others: check with 'barrio map --verify' that ranks of a host share memory.\n";
  if (has_repetitions && !is_intel)
    text += fmt::format(
        "# Hosts appear again after others, and Hydra treats each appearance as another node, whose ranks would talk\n"
        "# over the network. Start the program through barrio, which tells MPICH which ranks share a host:\n"
        "#   mpiexec -f {} -n {} barrio seat MAP.json -- PROGRAM\n"
        "# MAP.json is the result document: barrio map ... --result MAP.json\n",
        path, placement.n_ranks());
  for (const NodeRun& run : runs) text += fmt::format("{}:{}\n", machine.node_name(run.node), run.n_ranks);
  return text;
}

// RFC 34 of Flux: blocks of [first node, nodes, ranks on each, repetitions]; nodes by their order in the allocation.
std::string flux_taskmap(const Machine& machine, const Placement& placement, std::string_view path) {
  std::vector<int> number(machine.n_nodes(), 0);
  int next = 0;
  for (const int node : machine.fill_order()) number[node] = next++;
  struct Block {
    int first, n_nodes, n_ranks;
  };
  std::vector<Block> blocks;
  for (const NodeRun& run : runs_of(machine, placement)) {
    const int node = number[run.node];
    if (!blocks.empty() && blocks.back().n_ranks == run.n_ranks && blocks.back().first + blocks.back().n_nodes == node)
      ++blocks.back().n_nodes;
    else
      blocks.push_back({node, 1, run.n_ranks});
  }
  std::string text = fmt::format(
      "# task map of ranks, for Flux; nodes count in the order of the allocation:\n"
      "#   flux run -n {} --taskmap=\"manual:$(grep -v '^#' {})\" PROGRAM\n[",
      placement.n_ranks(), path);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    text += fmt::format("{}[{},{},{},1]", i > 0 ? "," : "", blocks[i].first, blocks[i].n_nodes, blocks[i].n_ranks);
  return text + "]\n";
}

std::string slurm_hostfile(const Machine& machine, const Placement& placement, std::string_view path) {
  return fmt::format(
             "# line i = host of rank i, for Slurm; inside an allocation of these nodes:\n"
             "#   SLURM_HOSTFILE={} srun --distribution=arbitrary -n {} PROGRAM\n",
             path, placement.n_ranks()) +
         host_lines(machine, placement);
}

// Return the number of ranks on each node, if a launcher that fills node after node can produce it.
int ranks_per_node(const Machine& machine, const Placement& placement) {
  std::vector<int> counts(machine.n_nodes(), 0);
  for (const int core : placement.core_of_rank()) ++counts[machine.node_of(core)];
  const std::vector<int> nodes = machine.fill_order();
  const auto count_of = [&](std::size_t i) { return counts[nodes[i]]; };
  bool is_last = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_last ? count_of(i) > 0 : count_of(i) > count_of(0)) {
      throw Error(
          ErrorCode::usage,
          {.subject = "Cray rank order",
           .cause = fmt::format("cannot express {} ranks on {} after {} on {}", count_of(i),
                                machine.node_name(nodes[i]), count_of(i - 1), machine.node_name(nodes[i - 1])),
           .remedy = "describe a machine whose nodes all have the same number of cores, as many cores as ranks"});
    }
    is_last = is_last || count_of(i) < count_of(0);
  }
  return nodes.empty() ? 0 : count_of(0);
}

std::string cray_rank_order(const Machine& machine, const Placement& placement, std::string_view path) {
  const int per_node = ranks_per_node(machine, placement);
  std::string text = fmt::format(
      "# core -> rank, in the order in which nodes are filled, for Cray MPICH:\n"
      "#   export MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={}\n"
      "#   srun -n {} --ntasks-per-node={} PROGRAM\n",
      path, placement.n_ranks(), per_node);
  // One line per node; a list may extend over lines.
  for (const int node : machine.fill_order()) {
    std::string_view separator;
    for (int slot = 0; slot < machine.cores_of_node(node); ++slot) {
      const Rank rank = placement.rank_at(machine.first_core(node) + slot);
      if (rank == no_rank) continue;
      text += fmt::format("{}{}", separator, rank);
      separator = ",";
    }
    if (!separator.empty()) text += '\n';
  }
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
    case LauncherFormat::mpich:
    case LauncherFormat::intel: return hydra_hostfile(format, machine, placement, path);
    case LauncherFormat::flux: return flux_taskmap(machine, placement, path);
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
  LineReader reader(path);
  std::vector<int> core_of_rank;
  std::vector<int> line_of_core(n_cores, 0);
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words[0].starts_with('{'))
      return placement_from_json(read_json_document(path, map_schema, map_schema_version), n_cores, path);
    if (words.size() != 1) reader.fail("must be one core number");
    const int core = detail::read_int(reader, words[0], "the core", 0, n_cores - 1);
    int& line = line_of_core[core];
    if (line > 0) reader.fail(fmt::format("core {} is already given in line {}", core, line));
    line = reader.line_number();
    core_of_rank.push_back(core);
  }
  return {std::move(core_of_rank), n_cores};
}

}  // namespace barrio::rankmap
