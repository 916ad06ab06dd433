// gslib, if it is built in (option BARRIO_PEERS_DIR).
#include <cstring>

#include "benchmarks/exchange/gather_work.hpp"
#include "benchmarks/exchange/peers/gslib_shim.h"
#include "benchmarks/exchange/transfer_work.hpp"

namespace barrio::bench {
namespace {

class Gslib : public BlockVertices {
 public:
  explicit Gslib(mpi::Context& context) : BlockVertices(context) {
    std::vector<long long> ids;
    for (const GlobalId id : ids_) ids.push_back(barrio::value(id) + 1);  // in gslib 0 means no id
    gather_ = gslib_shim_make_gather(ids.data(), ids.size(), context.comm());
  }
  ~Gslib() override { gslib_shim_free_gather(gather_); }
  void run() override { gslib_shim_add(gather_, values_.data(), static_cast<int>(n_components_)); }

 private:
  void* gather_;
};

class GslibTransfer : public RandomRows {
 public:
  explicit GslibTransfer(mpi::Context& context)
      : RandomRows(context), transfer_(gslib_shim_make_transfer(context.comm())) {}
  ~GslibTransfer() override { gslib_shim_free_transfer(transfer_); }
  void run() override { gslib_shim_transfer(transfer_); }

 private:
  void set_rows(const std::vector<Row>& rows) override { gslib_shim_set_rows(transfer_, rows.data(), rows.size()); }
  std::vector<Row> take_rows() override {
    std::size_t n = 0;
    const void* const first = gslib_shim_rows(transfer_, &n);
    std::vector<Row> rows(n);
    if (n > 0) std::memcpy(rows.data(), first, n * sizeof(Row));
    return rows;
  }
  void* transfer_;
};

}  // namespace

std::vector<WorkerKind> gslib_gatherers() {
  return {{.name = "gslib", .about = "gs of gslib, automatic", .make = make_worker<Gslib>}};
}
std::vector<WorkerKind> gslib_transferers() {
  return {{.name = "gslib", .about = "sarray_transfer of gslib", .make = make_worker<GslibTransfer>}};
}

}  // namespace barrio::bench
