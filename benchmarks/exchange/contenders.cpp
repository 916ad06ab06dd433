#include "benchmarks/exchange/contenders.hpp"

#include <fmt/format.h>

#include <numeric>

#include "barrio/base/hash.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/comm.hpp"

namespace barrio::bench {
namespace {

using mpi::check;

constexpr int tag = 7;

/// What all of them know: neighbours, numbers, a communicator of their own.
class Base : public Contender {
 public:
  Base(mpi::Context& context, std::vector<Rank> neighbours)
      : context_(context), comm_(mpi::Comm::duplicate(context.comm())), neighbours_(std::move(neighbours)) {
    for (const Rank to : neighbours_) numbers_.push_back(number_of_pair(context.rank(), to));
  }

 protected:
  [[nodiscard]] std::size_t degree() const { return neighbours_.size(); }
  void wait(std::vector<MPI_Request>& requests) { mpi::wait_all(requests, context_.wait_policy()); }
  static Tally read(const std::vector<std::uint64_t>& items) {
    return {items.size(), std::accumulate(items.begin(), items.end(), std::uint64_t{0})};
  }
  mpi::Context& context_;
  mpi::Comm comm_;
  std::vector<Rank> neighbours_;
  std::vector<std::uint64_t> numbers_;
};

class Raw : public Base {
 public:
  using Base::Base;
  [[nodiscard]] std::string name() const override { return "raw"; }
  [[nodiscard]] std::uint64_t max_messages() const override { return 70'000; }
  void prepare(std::uint64_t n) override {
    out_.resize(n * degree());
    in_.resize(n * degree());
    sends_.resize(n * degree());
    receives_.resize(n * degree());
  }
  Tally round(std::uint64_t n) override {
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < degree(); ++j) {
        const std::size_t k = i * degree() + j;
        out_[k] = numbers_[j] + i;
        check(MPI_Isend(&out_[k], 1, MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &sends_[k]), "MPI_Isend");
        check(MPI_Irecv(&in_[k], 1, MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &receives_[k]), "MPI_Irecv");
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

/// Numbers in one buffer per neighbour, one after the other in one array.
class PackedBase : public Base {
 public:
  using Base::Base;
  void prepare(std::uint64_t n) override {
    n_ = n;
    out_.resize(n * degree());
    in_.resize(n * degree());
    requests_.assign(2 * degree(), MPI_REQUEST_NULL);
  }

 protected:
  void pack() {
    for (std::uint64_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < degree(); ++j) out_[j * n_ + i] = numbers_[j] + i;
  }
  [[nodiscard]] int count() const { return static_cast<int>(n_); }
  std::uint64_t n_ = 0;
  std::vector<std::uint64_t> out_;
  std::vector<std::uint64_t> in_;
  std::vector<MPI_Request> requests_;
};

class Packed : public PackedBase {
 public:
  using PackedBase::PackedBase;
  [[nodiscard]] std::string name() const override { return "packed"; }
  Tally round(std::uint64_t) override {
    for (std::size_t j = 0; j < degree(); ++j)
      check(MPI_Irecv(&in_[j * n_], count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &requests_[j]),
            "MPI_Irecv");
    pack();
    for (std::size_t j = 0; j < degree(); ++j)
      check(MPI_Isend(&out_[j * n_], count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &requests_[degree() + j]),
            "MPI_Isend");
    wait(requests_);
    return read(in_);
  }
};

#ifndef BARRIO_MPI_SMPI  // the simulator has none of what these need
class Persistent : public PackedBase {
 public:
  using PackedBase::PackedBase;
  ~Persistent() override { free(); }
  [[nodiscard]] std::string name() const override { return "persistent"; }
  void prepare(std::uint64_t n) override {
    free();
    PackedBase::prepare(n);
    for (std::size_t j = 0; j < degree(); ++j) {
      check(MPI_Recv_init(&in_[j * n_], count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(), &requests_[j]),
            "MPI_Recv_init");
      check(MPI_Send_init(&out_[j * n_], count(), MPI_UINT64_T, neighbours_[j], tag, comm_.get(),
                          &requests_[degree() + j]),
            "MPI_Send_init");
    }
  }
  Tally round(std::uint64_t) override {
    start(0);
    pack();
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

class Neighbor : public PackedBase {
 public:
  Neighbor(mpi::Context& context, std::vector<Rank> neighbours) : PackedBase(context, std::move(neighbours)) {
    const auto n = static_cast<int>(degree());
    check(MPI_Dist_graph_create_adjacent(comm_.get(), n, neighbours_.data(), MPI_UNWEIGHTED, n, neighbours_.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
          "MPI_Dist_graph_create_adjacent");
  }
  ~Neighbor() override { MPI_Comm_free(&graph_); }
  [[nodiscard]] std::string name() const override { return "neighbor"; }
  void prepare(std::uint64_t n) override {
    PackedBase::prepare(n);
    counts_.assign(degree(), count());
    offsets_.clear();
    for (std::size_t j = 0; j < degree(); ++j) offsets_.push_back(static_cast<int>(j) * count());
  }
  Tally round(std::uint64_t) override {
    pack();
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

class Consensus : public PackedBase {
 public:
  using PackedBase::PackedBase;
  [[nodiscard]] std::string name() const override { return "consensus"; }
  Tally round(std::uint64_t) override {
    pack();
    requests_.resize(degree());
    // Rounds that follow each other at once would mix without a tag of their own (a barrier is what others add).
    const int tag_now = tag + 1 + static_cast<int>(n_rounds_++ % 2);
    for (std::size_t j = 0; j < degree(); ++j)
      check(MPI_Issend(&out_[j * n_], count(), MPI_UINT64_T, neighbours_[j], tag_now, comm_.get(), &requests_[j]),
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
        buffer_.resize(static_cast<std::size_t>(n));
        check(MPI_Mrecv(buffer_.data(), n, MPI_UINT64_T, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
        const Tally part = read(buffer_);
        tally = {tally.n + part.n, tally.sum + part.sum};
        pause.reset();
        continue;
      }
      if (is_in_barrier) {
        check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
      } else {
        int all_sent = 0;
        check(MPI_Testall(static_cast<int>(degree()), requests_.data(), &all_sent, MPI_STATUSES_IGNORE), "MPI_Testall");
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

class Barrio : public Base {
 public:
  Barrio(mpi::Context& context, const std::vector<Rank>& neighbours, std::uint32_t packet_bytes,
         exchange::Termination termination)
      : Base(context, neighbours),
        hood_(context, neighbours, {.packet_bytes = packet_bytes, .termination = termination}),
        introduces_(termination == exchange::Termination::introductions) {}
  [[nodiscard]] std::string name() const override { return introduces_ ? "barrio-intro" : "barrio"; }
  Tally round(std::uint64_t n) override {
    auto round = hood_.begin_round<std::uint64_t>();
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < degree(); ++j) round.channel(j).allocate() = numbers_[j] + i;
    round.close();
    Tally tally;
    for (const auto& [from, numbers] : round.received_runs()) {
      tally.n += numbers.size();
      tally.sum = std::accumulate(numbers.begin(), numbers.end(), tally.sum);
    }
    return tally;
  }

 private:
  exchange::Neighborhood hood_;
  bool introduces_;
};

}  // namespace

std::uint64_t number_of_pair(Rank from, Rank to) {
  return mix64(static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint64_t>(to));
}

Tally expected(const std::vector<Rank>& neighbours, Rank me, std::uint64_t n_iterations) {
  Tally tally;
  for (const Rank from : neighbours) {
    tally.n += n_iterations;
    tally.sum += n_iterations * number_of_pair(from, me) + n_iterations * (n_iterations - 1) / 2;
  }
  return tally;
}

std::vector<std::string> contender_names() {
#ifdef BARRIO_MPI_SMPI
  return {"raw", "packed", "barrio", "barrio-intro"};
#else
  return {"raw", "packed", "persistent", "neighbor", "consensus", "barrio", "barrio-intro"};
#endif
}

std::unique_ptr<Contender> make_contender(const std::string& name, mpi::Context& context,
                                          const std::vector<Rank>& neighbours, std::uint32_t packet_bytes) {
  using exchange::Termination;
  if (name == "raw") return std::make_unique<Raw>(context, neighbours);
  if (name == "packed") return std::make_unique<Packed>(context, neighbours);
#ifndef BARRIO_MPI_SMPI
  if (name == "persistent") return std::make_unique<Persistent>(context, neighbours);
  if (name == "neighbor") return std::make_unique<Neighbor>(context, neighbours);
  if (name == "consensus") return std::make_unique<Consensus>(context, neighbours);
#endif
  if (name == "barrio") return std::make_unique<Barrio>(context, neighbours, packet_bytes, Termination::neighbourhood);
  if (name == "barrio-intro")
    return std::make_unique<Barrio>(context, neighbours, packet_bytes, Termination::introductions);
  const std::vector<std::string> known = contender_names();
  throw AgreedError(ErrorCode::usage, {.subject = fmt::format("contender '{}'", name),
                                       .cause = "is not known." + did_you_mean(name, known)});
}

}  // namespace barrio::bench
