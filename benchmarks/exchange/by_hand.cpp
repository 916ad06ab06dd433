// Code written with MPI alone for known neighbours and sizes.
#include "benchmarks/exchange/by_hand.hpp"

#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

using mpi::check;

/// One message per number, as in Ovcharenko et al. 2012, figure 6.
class Raw : public ByHand {
 public:
  using ByHand::ByHand;
  void prepare(std::uint64_t n) override {
    out_.resize(n * degree());
    in_.resize(n * degree());
    sends_.resize(n * degree());
    receives_.resize(n * degree());
  }
  Tally round(const Work& work) override {
    for (std::uint64_t i = 0; i < work.n; ++i) {
      for (std::size_t j = 0; j < degree(); ++j) {
        const std::size_t k = i * degree() + j;
        out_[k] = numbers_[j] + work.salt + i;
        send(&out_[k], 1, neighbours_[j], sends_[k]);
        receive(&in_[k], 1, neighbours_[j], receives_[k]);
      }
    }
    wait(sends_);
    wait(receives_);
    return read(in_);
  }

 private:
  std::vector<std::uint64_t> out_;
  std::vector<std::uint64_t> in_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

class Packed : public Packing {
 public:
  using Packing::Packing;
  Tally round(const Work& work) override {
    for (std::size_t j = 0; j < degree(); ++j) receive(in_from(j), n_, neighbours_[j], requests_[j]);
    pack(work);
    for (std::size_t j = 0; j < degree(); ++j) send(out_to(j), n_, neighbours_[j], requests_[degree() + j]);
    wait(requests_);
    return read(in_);
  }
};

#ifndef BARRIO_MPI_SMPI  // the simulator lacks what these need
class Persistent : public Packing {
 public:
  using Packing::Packing;
  ~Persistent() override { free(); }
  void prepare(std::uint64_t n) override {
    free();
    Packing::prepare(n);
    for (std::size_t j = 0; j < degree(); ++j) {
      check(MPI_Recv_init(in_from(j), count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &requests_[j]),
            "MPI_Recv_init");
      check(MPI_Send_init(out_to(j), count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &requests_[degree() + j]),
            "MPI_Send_init");
    }
  }
  Tally round(const Work& work) override {
    start(0);
    pack(work);
    start(degree());
    wait(requests_);
    return read(in_);
  }

 private:
  void start(std::size_t first) {
    if (degree() > 0) check(MPI_Startall(static_cast<int>(degree()), requests_.data() + first), "MPI_Startall");
  }
  void free() {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
};

class Neighbor : public Packing {
 public:
  explicit Neighbor(const Setup& setup) : Packing(setup) {
    const auto n = static_cast<int>(degree());
    check(MPI_Dist_graph_create_adjacent(comm_.get(), n, neighbours_.data(), MPI_UNWEIGHTED, n, neighbours_.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
          "MPI_Dist_graph_create_adjacent");
  }
  ~Neighbor() override { MPI_Comm_free(&graph_); }
  void prepare(std::uint64_t n) override {
    Packing::prepare(n);
    counts_.assign(degree(), count());
    offsets_.clear();
    for (std::size_t j = 0; j < degree(); ++j) offsets_.push_back(static_cast<int>(j) * count());
  }
  Tally round(const Work& work) override {
    pack(work);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_alltoallv(out_.data(), counts_.data(), offsets_.data(), MPI_UINT64_T, in_.data(),
                                  counts_.data(), offsets_.data(), MPI_UINT64_T, graph_, &request),
          "MPI_Ineighbor_alltoallv");
    mpi::wait(request, context_.wait_policy());
    return read(in_);
  }

 private:
  MPI_Comm graph_ = MPI_COMM_NULL;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// Non-blocking consensus of Hoefler, Siebert, Lumsdaine 2010.
class Consensus : public Packing {
 public:
  using Packing::Packing;
  Tally round(const Work& work) override {
    pack(work);
    requests_.resize(targets_.size());
    // Successive rounds would mix without different tags. (Others add a barrier.)
    const int tag_now = tag + 1 + static_cast<int>(n_rounds_++ % 2);
    for (std::size_t j = 0; j < targets_.size(); ++j)
      check(MPI_Issend(out_to(j), count(), MPI_UINT64_T, targets_[j], tag_now, comm_.get(), &requests_[j]),
            "MPI_Issend");
    Tally tally;
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool is_in_barrier = false;
    mpi::Pause pause(context_.wait_policy());
    for (int done = 0; done == 0;) {
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, tag_now, comm_.get(), &found, &message, &status), "MPI_Improbe");
      if (found != 0) {
        int n = 0;
        MPI_Get_count(&status, MPI_UINT64_T, &n);
        buffer_.resize(n);
        check(MPI_Mrecv(buffer_.data(), n, MPI_UINT64_T, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
        tally += read(buffer_);
        pause.reset();
        continue;
      }
      if (is_in_barrier) {
        check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
      } else {
        int all_sent = 0;
        check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_sent, MPI_STATUSES_IGNORE),
              "MPI_Testall");
        if (all_sent != 0) {
          check(MPI_Ibarrier(comm_.get(), &barrier), "MPI_Ibarrier");
          is_in_barrier = true;
        }
      }
      if (done == 0) pause();
    }
    return tally;
  }

 private:
  std::uint64_t n_rounds_ = 0;
  std::vector<std::uint64_t> buffer_;
};
#endif

}  // namespace

std::vector<Kind> by_hand_kinds() {
  return {
      {.name = "raw", .about = "one message per number, as in figure 6 of the paper", .make = make_contender<Raw>},
      {.name = "packed", .about = "one message per neighbour, sizes known", .make = make_contender<Packed>},
#ifndef BARRIO_MPI_SMPI
      {.name = "persistent", .about = "the same with persistent requests", .make = make_contender<Persistent>},
      {.name = "neighbor", .about = "MPI_Ineighbor_alltoallv, sizes known", .make = make_contender<Neighbor>},
      {.name = "consensus",
       .about = "packed to any rank: MPI_Issend, MPI_Improbe, MPI_Ibarrier",
       .takes_strangers = true,
       .make = make_contender<Consensus>},
#endif
  };
}

}  // namespace barrio::bench
