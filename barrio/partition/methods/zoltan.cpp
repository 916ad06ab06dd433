#include <fmt/format.h>

#include <limits>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/graph.hpp"
#include "barrio/partition/hypergraph.hpp"
#include "barrio/partition/methods/fit_weights.hpp"
#include "barrio/partition/methods/quiet_output.hpp"

#ifdef BARRIO_HAVE_ZOLTAN
#include <zoltan.h>
#endif

namespace barrio::partition {

#ifdef BARRIO_HAVE_ZOLTAN
namespace {

// Zoltan's ids are 32 bits wide; ours take two words.
constexpr std::ptrdiff_t id_words = 2;
void put_id(std::int64_t id, ZOLTAN_ID_PTR words) {
  words[0] = static_cast<ZOLTAN_ID_TYPE>(id >> 32);
  words[1] = static_cast<ZOLTAN_ID_TYPE>(id & 0xffffffff);
}

/// The data behind Zoltan's callbacks.
struct Asked {
  const Hypergraph& hypergraph;
  std::int64_t first;
  int n;
};

const Asked& asked(void* data) { return *static_cast<const Asked*>(data); }

int count_vertices(void* data, int* status) {
  *status = ZOLTAN_OK;
  return asked(data).n;
}

void list_vertices(void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR places, int n_weights, float* weights,
                   int* status) {
  const Asked& of = asked(data);
  for (int i = 0; i < of.n; ++i) {
    put_id(of.first + i, ids + id_words * i);
    places[i] = i;
    if (n_weights > 0) weights[i] = static_cast<float>(of.hypergraph.weights[i]);
  }
  *status = ZOLTAN_OK;
}

void count_pins(void* data, int* n_nets, int* n_pins, int* format, int* status) {
  const Hypergraph& hypergraph = asked(data).hypergraph;
  *n_nets = static_cast<int>(hypergraph.offsets.size() - 1);
  *n_pins = static_cast<int>(hypergraph.pins.size());
  *format = ZOLTAN_COMPRESSED_EDGE;
  *status = ZOLTAN_OK;
}

void list_pins(void* data, int, int n_nets, int n_pins, int, ZOLTAN_ID_PTR nets, int* first_pins, ZOLTAN_ID_PTR pins,
               int* status) {
  const Hypergraph& hypergraph = asked(data).hypergraph;
  for (int i = 0; i < n_nets; ++i) {
    put_id(hypergraph.first_net + i, nets + id_words * i);
    first_pins[i] = static_cast<int>(hypergraph.offsets[i]);
  }
  for (int i = 0; i < n_pins; ++i) put_id(value(hypergraph.pins[i]), pins + id_words * i);
  *status = ZOLTAN_OK;
}

/// A Zoltan object that is set up for one cut.
class Cutter {
 public:
  Cutter(MPI_Comm comm, Asked& asked, int n_parts) {
    float version = 0.0F;
    check(Zoltan_Initialize(0, nullptr, &version), "Zoltan_Initialize");
    zoltan_ = Zoltan_Create(comm);
    set("DEBUG_LEVEL", "0");
    set("LB_METHOD", "HYPERGRAPH");
    set("HYPERGRAPH_PACKAGE", "PHG");
    set("LB_APPROACH", "PARTITION");
    set("NUM_GID_ENTRIES", std::to_string(id_words));
    set("NUM_LID_ENTRIES", "1");
    set("NUM_GLOBAL_PARTS", std::to_string(n_parts));
    set("RETURN_LISTS", "PARTS");
    set("IMBALANCE_TOL", "1.05");
    set("SEED", "1");  // otherwise a cut continues with the random numbers of the previous one
    Zoltan_Set_Num_Obj_Fn(zoltan_, count_vertices, &asked);
    Zoltan_Set_Obj_List_Fn(zoltan_, list_vertices, &asked);
    Zoltan_Set_HG_Size_CS_Fn(zoltan_, count_pins, &asked);
    Zoltan_Set_HG_CS_Fn(zoltan_, list_pins, &asked);
  }
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;
  ~Cutter() { Zoltan_Destroy(&zoltan_); }

  void set(const std::string& name, const std::string& text) {
    check(Zoltan_Set_Param(zoltan_, name.c_str(), text.c_str()), "Zoltan_Set_Param");
  }
  /// Run the partitioner. Collective. @param[out] status  Zoltan's return code
  std::vector<std::int32_t> cut(std::size_t n, int& status) {
    struct List {
      ZOLTAN_ID_PTR ids = nullptr;
      ZOLTAN_ID_PTR places = nullptr;
      int* ranks = nullptr;
      int* parts = nullptr;
      int n = 0;
      ~List() { Zoltan_LB_Free_Part(&ids, &places, &ranks, &parts); }
    };
    List in;
    List out;
    int has_changed = 0;
    int n_id_words = 0;
    int n_place_words = 0;
    status = Zoltan_LB_Partition(zoltan_, &has_changed, &n_id_words, &n_place_words, &in.n, &in.ids, &in.places,
                                 &in.ranks, &in.parts, &out.n, &out.ids, &out.places, &out.ranks, &out.parts);
    std::vector<std::int32_t> part(n, 0);
    for (int i = 0; i < out.n; ++i) part[out.places[i]] = out.parts[i];
    return part;
  }
  static void check(int status, const char* call) {
    if (status == ZOLTAN_OK || status == ZOLTAN_WARN) return;
    throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("gave up with code {}", status)});
  }

 private:
  Zoltan_Struct* zoltan_ = nullptr;
};

}  // namespace

std::vector<std::int32_t> cut_by_zoltan(mpi::Context& context, const Hypergraph& hypergraph, int n_parts) {
  if (n_parts < 1) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("Zoltan, {} parts", n_parts),
                                         .cause = "must be at least 1",
                                         .remedy = "ask for 1 or more"});
  }
  const auto most = mpi::max(context, std::ssize(hypergraph.pins));
  if (most > std::numeric_limits<int>::max()) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("Zoltan, {} pins on one rank", most),
                                         .cause = "must be below 2^31",
                                         .remedy = "use more ranks or rcb"});
  }
  if (hypergraph.vertices.n_rows == 0) return {};
  const std::size_t n = hypergraph.vertices.size(context.rank());
  Asked asked{hypergraph, hypergraph.vertices.first(context.rank()), static_cast<int>(n)};
  Cutter cutter(context.comm(), asked, n_parts);
  const bool has_weights = !detail::weights_that_count(context, hypergraph.weights).empty();
  if (mpi::max(context, has_weights ? 1 : 0) > 0) cutter.set("OBJ_WEIGHT_DIM", "1");
  int status = ZOLTAN_OK;
  std::vector<std::int32_t> part = [&] {
    const detail::QuietOutput quiet;
    return cutter.cut(n, status);
  }();
  agree_after(context, [&] { Cutter::check(status, "Zoltan_LB_Partition"); });
  return part;
}
#else
std::vector<std::int32_t> cut_by_zoltan(mpi::Context&, const Hypergraph&, int) {
  graph_method("hypergraph");  // throws, because this build lacks Zoltan
  return {};
}
#endif

}  // namespace barrio::partition
