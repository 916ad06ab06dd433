#include "benchmarks/exchange/gather_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/gather_scatter.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/comm.hpp"

namespace barrio::bench {

BlockVertices::BlockVertices(mpi::Context& context) : context_(context) {
  // As close to a cube as the number of ranks allows.
  int rest = context.size();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto root = static_cast<int>(std::lround(std::pow(rest, 1.0 / static_cast<double>(3 - axis))));
    int n = std::max(root, 1);
    while (rest % n != 0) --n;
    grid_[axis] = n;
    rest /= n;
  }
  const std::array<int, 3> block{context.rank() % grid_[0], context.rank() / grid_[0] % grid_[1],
                                 context.rank() / (grid_[0] * grid_[1])};
  const auto begin_of = [&](std::size_t axis, int b) { return n_cells * b / grid_[axis]; };
  for (int k = begin_of(2, block[2]); k <= begin_of(2, block[2] + 1); ++k)
    for (int j = begin_of(1, block[1]); j <= begin_of(1, block[1] + 1); ++j)
      for (int i = begin_of(0, block[0]); i <= begin_of(0, block[0] + 1); ++i)
        ids_.push_back(GlobalId{(std::int64_t{k} * (n_cells + 1) + j) * (n_cells + 1) + i});
}

BlockVertices::Range BlockVertices::blocks_at(int axis, int vertex) const {
  const int n = grid_[axis];
  Range range{n, -1};
  for (int b = 0; b < n; ++b) {
    if (vertex < n_cells * b / n || vertex > n_cells * (b + 1) / n) continue;
    range = {std::min(range.first, b), b};
  }
  return range;
}

std::vector<Rank> BlockVertices::sharers_of(GlobalId vertex) const {
  constexpr int n = n_cells + 1;
  const auto id = static_cast<int>(barrio::value(vertex));
  const Range i = blocks_at(0, id % n);
  const Range j = blocks_at(1, id / n % n);
  const Range k = blocks_at(2, id / (n * n));
  std::vector<Rank> ranks;
  for (int c = k.first; c <= k.last; ++c)
    for (int b = j.first; b <= j.last; ++b)
      for (int a = i.first; a <= i.last; ++a) ranks.push_back((c * grid_[1] + b) * grid_[0] + a);
  return ranks;
}

double BlockVertices::value_of(Rank rank, GlobalId vertex, std::size_t component, std::uint64_t salt) {
  const auto id = static_cast<std::uint64_t>(barrio::value(vertex));
  return static_cast<double>(mix64(id * 31 + static_cast<std::uint64_t>(rank) + 1'000'003 * component + salt) % 1024);
}

void BlockVertices::prepare(std::uint64_t n) {
  n_components_ = n;
  values_.assign(ids_.size() * n, 0.0);
}

void BlockVertices::fill(std::uint64_t salt) {
  for (std::size_t i = 0; i < ids_.size(); ++i)
    for (std::size_t c = 0; c < n_components_; ++c)
      values_[i * n_components_ + c] = value_of(context_.rank(), ids_[i], c, salt);
}

bool BlockVertices::is_right(std::uint64_t salt) {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::vector<Rank> sharers = sharers_of(ids_[i]);
    for (std::size_t c = 0; c < n_components_; ++c) {
      double sum = 0.0;  // of integers: the same in any order
      for (const Rank rank : sharers) sum += value_of(rank, ids_[i], c, salt);
      // After the first time all sharers have the same value.
      for (int run = 1; run < n_in_a_row(); ++run) sum *= static_cast<double>(sharers.size());
      if (values_[i * n_components_ + c] != sum) return false;
    }
  }
  return true;
}

namespace {

using exchange::GatherMethod;

template <GatherMethod method>
class BarrioGather : public BlockVertices {
 public:
  explicit BarrioGather(mpi::Context& context) : BlockVertices(context), gather_(context, ids_, {.method = method}) {}
  void run() override { gather_.apply(values_, static_cast<int>(n_components_), exchange::Sum{}); }

 private:
  exchange::GatherScatter gather_;
};

/// Hand-written code for this box: lists of shared vertices by neighbour, and persistent requests.
class GatherByHand : public BlockVertices {
 public:
  explicit GatherByHand(mpi::Context& context) : BlockVertices(context), comm_(mpi::Comm::duplicate(context.comm())) {
    std::map<Rank, std::vector<std::size_t>> shared;
    for (std::size_t i = 0; i < ids_.size(); ++i)
      for (const Rank rank : sharers_of(ids_[i]))
        if (rank != context.rank()) shared[rank].push_back(i);
    for (auto& [rank, vertices] : shared) {
      peers_.push_back(rank);
      vertices_.insert(vertices_.end(), vertices.begin(), vertices.end());
      offsets_.push_back(vertices_.size());
    }
  }
  ~GatherByHand() override { free(); }
  void prepare(std::uint64_t n) override {
    BlockVertices::prepare(n);
    free();
    out_.resize(vertices_.size() * n);
    in_.resize(vertices_.size() * n);
    requests_.assign(2 * peers_.size(), MPI_REQUEST_NULL);
#ifndef BARRIO_MPI_SMPI
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      mpi::check(MPI_Recv_init(in(p), count(p), MPI_DOUBLE, peers_[p], 0, comm_.get(), &requests_[p]), "MPI_Recv_init");
      mpi::check(MPI_Send_init(out(p), count(p), MPI_DOUBLE, peers_[p], 0, comm_.get(), &requests_[peers_.size() + p]),
                 "MPI_Send_init");
    }
#endif
  }
  void run() override {
    switch (n_components_) {
      case 1: return add(std::integral_constant<std::size_t, 1>{});
      case 5: return add(std::integral_constant<std::size_t, 5>{});
      default: return add(n_components_);
    }
  }

 private:
  double* in(std::size_t p) { return in_.data() + offsets_[p] * n_components_; }
  double* out(std::size_t p) { return out_.data() + offsets_[p] * n_components_; }
  [[nodiscard]] int count(std::size_t p) const {
    return static_cast<int>((offsets_[p + 1] - offsets_[p]) * n_components_);
  }
  void start(bool receives) {
    const std::size_t n = peers_.size();
#ifdef BARRIO_MPI_SMPI
    for (std::size_t p = 0; p < n; ++p) {
      if (receives) {
        MPI_Irecv(in(p), count(p), MPI_DOUBLE, peers_[p], 0, comm_.get(), &requests_[p]);
      } else {
        MPI_Isend(out(p), count(p), MPI_DOUBLE, peers_[p], 0, comm_.get(), &requests_[n + p]);
      }
    }
#else
    if (n > 0) mpi::check(MPI_Startall(static_cast<int>(n), requests_.data() + (receives ? 0 : n)), "MPI_Startall");
#endif
  }
  template <class N>
  void add(N n) {
    start(true);
    double* to = out_.data();
    for (const std::size_t vertex : vertices_)
      for (std::size_t c = 0; c < n; ++c) *to++ = values_[vertex * n + c];
    start(false);
    mpi::wait_all(requests_, context_.wait_policy());
    const double* from = in_.data();
    for (const std::size_t vertex : vertices_)
      for (std::size_t c = 0; c < n; ++c) values_[vertex * n + c] += *from++;
  }
  void free() {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  mpi::Comm comm_;
  std::vector<Rank> peers_;
  std::vector<std::size_t> offsets_{0};
  std::vector<std::size_t> vertices_;
  std::vector<double> in_;
  std::vector<double> out_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

WorkTraits gather_work() {
  WorkTraits work{.name = "gather",
                  .about = "sums over the blocks that share the vertices of 64^3 cells",
                  .unit = "values at each vertex",
                  .numbers = {1, 5},
                  .reference = "persistent",
                  .workers = {
                      {.name = "persistent",
                       .about = "by hand: one message per neighbour, persistent requests",
                       .make = make_worker<GatherByHand>},
                      {.name = "barrio",
                       .about = "GatherScatter, automatic",
                       .make = make_worker<BarrioGather<GatherMethod::automatic>>},
                      {.name = "barrio-pairwise",
                       .about = "the same, to each sharer",
                       .make = make_worker<BarrioGather<GatherMethod::pairwise>>},
                      {.name = "barrio-owner",
                       .about = "the same, to the owner and back",
                       .make = make_worker<BarrioGather<GatherMethod::owner>>},
                      {.name = "barrio-crystal",
                       .about = "the same, by the router",
                       .make = make_worker<BarrioGather<GatherMethod::crystal>>},
                  }};
#ifdef BARRIO_BENCH_GSLIB
  std::ranges::move(gslib_gatherers(), std::back_inserter(work.workers));
#else
  work.workers.push_back({.name = "gslib", .about = "", .lacking = BARRIO_BENCH_NO_GSLIB});
#endif
  return work;
}

}  // namespace barrio::bench
