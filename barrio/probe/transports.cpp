#include "barrio/probe/transports.hpp"

#include <fmt/format.h>

namespace barrio::probe {
namespace {

constexpr std::uint64_t kib = 1024;

/// How many fragments Open MPI's shared memory keeps at most (btl_vader_free_list_max).
constexpr std::uint64_t vader_fragments = 512;

Setting open_mpi(std::string transport, std::string name, const std::string& parameter, const std::string& value) {
  return {.transport = std::move(transport),
          .name = std::move(name),
          .variable = fmt::format("OMPI_MCA_{}={}", parameter, value),
          .how = fmt::format("mpiexec --mca {} {}", parameter, value)};
}

Setting by_variable(std::string transport, std::string name, const std::string& assignment) {
  return {.transport = std::move(transport), .name = std::move(name), .variable = assignment, .how = assignment};
}

Setting with_memory(Setting setting, std::uint64_t per_rank, std::uint64_t per_peer, std::string where) {
  setting.bytes_per_rank = per_rank;
  setting.bytes_per_peer = per_peer;
  setting.memory = std::move(where);
  return setting;
}

}  // namespace

std::vector<Transport> transports_of(std::string_view mpi_flavour) {
  if (mpi_flavour == "openmpi") {
    const std::vector<std::string> any_ucx{"OMPI_MCA_pml=ucx", "OMPI_MCA_pml_ucx_tls=any",
                                           "OMPI_MCA_pml_ucx_devices=any", "OMPI_MCA_osc=^ucx"};
    const auto ucx = [&](const char* lanes) {
      std::vector<std::string> all = any_ucx;
      all.push_back(fmt::format("UCX_TLS={},self", lanes));
      return all;
    };
    return {{"shm", "what a job on one node gets without settings", {}},
            {"tcp", "sockets of ob1", {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self"}},
            {"ucx-shm", "shared memory of UCX", ucx("sm")},
            {"ucx-tcp", "sockets of UCX", ucx("tcp")}};
  }
  if (mpi_flavour == "mpich") {
    return {{"shm", "what a job on one node gets without settings", {}},
            {"tcp", "sockets of UCX", {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self"}},
            {"ucx-shm", "shared memory of UCX", {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=sm,self"}}};
  }
  return {{"default", "what a job gets without settings", {}}};
}

std::vector<Setting> settings_of(std::string_view mpi_flavour) {
  const std::uint64_t eager = 64 * kib;
  const std::uint64_t long_eager = 1024 * kib;
  if (mpi_flavour == "openmpi") {
    return {
        with_memory(open_mpi("shm", "eager limit 64 KiB", "btl_vader_eager_limit", "65536"), vader_fragments * eager, 0,
                    "fragments in the rank's shared segment, 512 at most; raise btl_vader_segment_size with it"),
        open_mpi("shm", "no single copy between processes", "btl_vader_single_copy_mechanism", "none"),
        with_memory(open_mpi("tcp", "eager limit 1 MiB", "btl_tcp_eager_limit", "1048576"), 0, long_eager,
                    "one unexpected message of each peer"),
        with_memory(open_mpi("tcp", "socket buffers 4 MiB", "btl_tcp_sndbuf", "4194304"), 0, 2 * 4096 * kib,
                    "of the kernel, send and receive buffer of each connection (set btl_tcp_rcvbuf too)")};
  }
  if (mpi_flavour == "mpich") {
    return {with_memory(by_variable("shm", "eager limit 256 KiB", "UCX_RNDV_THRESH=262144"), 0, 256 * kib,
                        "one unexpected message of each peer on the node"),
            with_memory(by_variable("tcp", "eager limit 1 MiB", "UCX_RNDV_THRESH=1048576"), 0, long_eager,
                        "one unexpected message of each peer"),
            with_memory(by_variable("tcp", "socket buffers 4 MiB", "UCX_TCP_SNDBUF=4194304"), 0, 2 * 4096 * kib,
                        "of the kernel, send and receive buffer of each connection (set UCX_TCP_RCVBUF too)")};
  }
  return {};
}

Json to_json(const Setting& setting) {
  Json memory = Json::array();
  for (const std::uint64_t n_peers : {16, 256, 4096})
    memory.push_back({{"peers", n_peers}, {"bytes", setting.bytes_per_rank + n_peers * setting.bytes_per_peer}});
  return {{"transport", setting.transport}, {"name", setting.name},
          {"variable", setting.variable},   {"how", setting.how},
          {"memory_of_a_rank", memory},     {"memory", setting.memory}};
}

}  // namespace barrio::probe
