#include "barrio/probe/transports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <initializer_list>
#include <utility>

#include "barrio/base/text.hpp"

namespace barrio::probe {
namespace {

constexpr std::uint64_t kib = 1024;

/// Largest number of fragments of Open MPI's shared memory (btl_vader_free_list_max).
constexpr std::uint64_t vader_fragments = 512;

/// Make a setting that gives several parameters of Open MPI one value.
Setting open_mpi(std::string transport, std::string quantity, std::initializer_list<const char*> parameters,
                 const std::string& value) {
  Setting setting{.transport = std::move(transport), .quantity = std::move(quantity), .how = "mpiexec"};
  for (const char* parameter : parameters) {
    setting.variables.push_back(fmt::format("OMPI_MCA_{}={}", parameter, value));
    setting.how += fmt::format(" --mca {} {}", parameter, value);
  }
  return setting;
}

/// Make a setting that gives several environment variables one value.
Setting by_variables(std::string transport, std::string quantity, std::initializer_list<const char*> names,
                     const std::string& value) {
  Setting setting{.transport = std::move(transport), .quantity = std::move(quantity)};
  for (const char* name : names) setting.variables.push_back(fmt::format("{}={}", name, value));
  setting.how = fmt::format("{}", fmt::join(setting.variables, " "));
  return setting;
}

/// Memory used by a limit on unexpected messages, or by a size of the kernel's buffers.
struct Price {
  std::uint64_t per_rank = 0;  ///< times the value
  std::uint64_t per_peer = 0;  ///< times the value
  const char* where = "";
  const char* limited_by = "";
};

/// Add one setting for each value.
template <class Make>
void sweep(std::vector<Setting>& all, std::initializer_list<std::uint64_t> values, const Price& price,
           const Make& make) {
  for (const std::uint64_t value : values) {
    Setting setting = make(std::to_string(value));
    setting.value = value;
    setting.bytes_per_rank = price.per_rank * value;
    setting.bytes_per_peer = price.per_peer * value;
    setting.memory = price.where;
    setting.limited_by = price.limited_by;
    all.push_back(std::move(setting));
  }
}

constexpr const char* eager_limit = "eager limit";
constexpr const char* socket_buffers = "socket buffers";
constexpr Price of_unexpected{.per_peer = 1, .where = "one unexpected message of each peer"};
constexpr Price of_sockets{.per_peer = 2,
                           .where = "of the kernel, send and receive buffer of each connection",
                           .limited_by = "/proc/sys/net/core/wmem_max"};

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
    return {{"shm", "default of a job on one node", {}},
            {"tcp", "sockets of ob1", {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self"}},
            {"ucx-shm", "shared memory of UCX", ucx("sm")},
            {"ucx-tcp", "sockets of UCX", ucx("tcp")}};
  }
  if (mpi_flavour == "mpich") {
    return {{"shm", "default of a job on one node", {}},
            {"tcp", "sockets of UCX", {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self"}},
            {"ucx-shm", "shared memory of UCX", {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=sm,self"}}};
  }
  return {{"default", "default of a job", {}}};
}

std::vector<Setting> settings_of(std::string_view mpi_flavour) {
  std::vector<Setting> all;
  if (mpi_flavour == "openmpi") {
    sweep(all, {16 * kib, 64 * kib, 256 * kib},
          {.per_rank = vader_fragments,
           .where = "fragments in the rank's shared segment, at most 512; raise btl_vader_segment_size with it"},
          [](const std::string& value) { return open_mpi("shm", eager_limit, {"btl_vader_eager_limit"}, value); });
    all.push_back(open_mpi("shm", "no single copy between processes", {"btl_vader_single_copy_mechanism"}, "none"));
    sweep(all, {256 * kib, 1024 * kib, 4096 * kib}, of_unexpected,
          [](const std::string& value) { return open_mpi("tcp", eager_limit, {"btl_tcp_eager_limit"}, value); });
    sweep(all, {128 * kib, 1024 * kib, 4096 * kib}, of_sockets, [](const std::string& value) {
      return open_mpi("tcp", socket_buffers, {"btl_tcp_sndbuf", "btl_tcp_rcvbuf"}, value);
    });
  } else if (mpi_flavour == "mpich") {
    for (const char* transport : {"shm", "tcp"})
      sweep(all, {64 * kib, 256 * kib, 1024 * kib}, of_unexpected, [transport](const std::string& value) {
        return by_variables(transport, eager_limit, {"UCX_RNDV_THRESH"}, value);
      });
    sweep(all, {128 * kib, 1024 * kib, 4096 * kib}, of_sockets, [](const std::string& value) {
      return by_variables("tcp", socket_buffers, {"UCX_TCP_SNDBUF", "UCX_TCP_RCVBUF"}, value);
    });
  }
  return all;
}

std::string name_of(const Setting& setting) {
  return setting.value == 0 ? setting.quantity : fmt::format("{} {}", setting.quantity, format_bytes(setting.value));
}

Json to_json(const Setting& setting) {
  Json memory = Json::array();
  for (const std::uint64_t n_peers : {16U, 256U, 4096U})
    memory.push_back({{"peers", n_peers}, {"bytes", setting.bytes_per_rank + n_peers * setting.bytes_per_peer}});
  Json json{{"transport", setting.transport}, {"name", name_of(setting)}, {"quantity", setting.quantity},
            {"value", setting.value},         {"how", setting.how},       {"variables", setting.variables},
            {"memory_of_a_rank", memory},     {"memory", setting.memory}};
  std::uint64_t granted = 0;
  if (std::ifstream file(setting.limited_by); file >> granted && granted < setting.value) {
    json["granted"] = granted;
    json["limited_by"] = setting.limited_by;
  }
  return json;
}

}  // namespace barrio::probe
