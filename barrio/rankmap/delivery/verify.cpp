#include "barrio/rankmap/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/rankmap/machines/job_hosts.hpp"
#include "barrio/rankmap/map_document.hpp"

namespace barrio::rankmap {
namespace {

constexpr std::size_t max_faults = 8;

/// Place of a rank in a plan.
struct Seat {
  int leader = 0;  // the lowest rank of its node
  int n_on_node = 0;
  std::array<char, 128> host{};  // empty: the plan does not name hosts
};

/// Return the names of a plan's nodes; empty if the plan has invented them.
std::vector<std::string> names_in(const Json& document) {
  std::vector<std::string> names;
  const auto list = document.find("node_names");
  if (list == document.end() || !list->is_array()) return names;
  bool is_named = false;
  for (const Json& name : *list) {
    names.push_back(name.is_string() ? name.get<std::string>() : std::string());
    is_named = is_named || names.back() != fmt::format("node{}", names.size() - 1);
  }
  return is_named ? names : std::vector<std::string>();
}

std::vector<Seat> read_seats(const std::string& path, int n_ranks) {
  const Json document = read_json_document(path, map_schema, map_schema_version);
  const std::vector<int> node_of_rank = nodes_from_json(document, path);
  if (std::ssize(node_of_rank) != n_ranks)
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("places {} ranks, but the launcher started {}", node_of_rank.size(), n_ranks),
                 .remedy = "start as many ranks as the plan has"});
  const std::vector<std::string> names = names_in(document);
  struct Node {
    Rank leader = -1;
    int n_ranks = 0;
  };
  std::vector<Node> nodes;
  for (Rank rank = 0; rank < n_ranks; ++rank) {
    const std::size_t node = node_of_rank[rank];
    if (node >= nodes.size()) nodes.resize(node + 1);
    if (nodes[node].leader < 0) nodes[node].leader = rank;
    ++nodes[node].n_ranks;
  }
  std::vector<Seat> seats(n_ranks);
  for (Rank rank = 0; rank < n_ranks; ++rank) {
    const std::size_t node = node_of_rank[rank];
    Seat& seat = seats[rank];
    seat.leader = nodes[node].leader;
    seat.n_on_node = nodes[node].n_ranks;
    if (node < names.size())
      std::memcpy(seat.host.data(), names[node].data(), std::min(names[node].size(), seat.host.size() - 1));
  }
  return seats;
}

/// A group of ranks, seen by its members.
struct Group {
  Rank leader = 0;
  int size = 0;
  int n = 0;  // of such groups in the job
};

Group group_of(mpi::Context& context, const mpi::Comm& comm) {
  Group group{.leader = context.rank(), .size = comm.size(), .n = 0};
  mpi::check(MPI_Bcast(&group.leader, 1, MPI_INT, 0, comm.get()), "MPI_Bcast");
  group.n = mpi::sum(context, group.leader == context.rank() ? 1 : 0);
  return group;
}

}  // namespace

Verification verify_placement(mpi::Context& context, const std::string& path) {
  std::vector<Seat> seats;
  agree_after(context, [&] {
    if (context.is_root()) seats = read_seats(path, context.size());
  });
  Seat mine;
  mpi::check(MPI_Scatter(seats.data(), sizeof(Seat), MPI_BYTE, &mine, sizeof(Seat), MPI_BYTE, 0, context.comm()),
             "MPI_Scatter");
  const Group on_host = group_of(context, mpi::Comm::split_by_host(context.comm(), context.rank()));
  const Group sharing = group_of(context, mpi::Comm::split_shared(context.comm(), context.rank()));
  const std::string host = host_name(), planned = mine.host.data();
  Verification found{.n_ranks = context.size(), .n_nodes = on_host.n};
  found.names_are_known = !planned.empty();
  std::string fault;
  if (found.names_are_known && !is_same_host(host, planned))
    fault = fmt::format("rank {} is on {}, but the plan has it on {}", context.rank(), host, planned);
  else if (on_host.leader != mine.leader || on_host.size != mine.n_on_node)
    fault = fmt::format("rank {} is on {} with {} ranks, the lowest {}; the plan has it with {}, the lowest {}",
                        context.rank(), host, on_host.size, on_host.leader, mine.n_on_node, mine.leader);
  found.n_elsewhere = mpi::sum(context, std::int64_t{fault.empty() ? 0 : 1});
  if (found.n_elsewhere == 0 && (sharing.leader != on_host.leader || sharing.size != on_host.size))
    fault = fmt::format("rank {} shares memory with {} ranks of the {} on {}", context.rank(), sharing.size,
                        on_host.size, host);
  if (found.n_elsewhere == 0) found.n_torn = mpi::sum(context, std::int64_t{fault.empty() ? 0 : 1});
  Rank told = -1;
  while (found.faults.size() < max_faults) {
    const Rank next = mpi::min(context, !fault.empty() && context.rank() > told ? context.rank() : context.size());
    if (next == context.size()) break;
    std::string text = fault;
    mpi::broadcast(context, text, next);
    found.faults.push_back(std::move(text));
    told = next;
  }
  return found;
}

Json to_json(const Verification& verification) {
  Json document = json_document("barrio.verification", 1);
  document["ranks"] = verification.n_ranks;
  document["nodes"] = verification.n_nodes;
  document["as_planned"] = verification.is_as_planned();
  document["elsewhere"] = verification.n_elsewhere;
  document["torn"] = verification.n_torn;
  document["names_are_known"] = verification.names_are_known;
  document["faults"] = verification.faults;
  return document;
}

}  // namespace barrio::rankmap
