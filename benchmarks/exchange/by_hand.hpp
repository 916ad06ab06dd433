#pragma once

#include <mpi.h>

#include <numeric>
#include <span>

#include "barrio/mpi/check.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/wait.hpp"
#include "benchmarks/exchange/contender.hpp"

namespace barrio::bench {

/// Base of contenders that call MPI: neighbours, the numbers for them, and an own communicator.
class ByHand : public Contender {
 public:
  static constexpr int tag = 7;

  explicit ByHand(const Setup& setup)
      : context_(setup.context),
        comm_(mpi::Comm::duplicate(setup.context.comm())),
        neighbours_(setup.neighbours.begin(), setup.neighbours.end()) {
    for (const Rank to : neighbours_) numbers_.push_back(number_of_pair(context_.rank(), to));
  }

 protected:
  [[nodiscard]] std::size_t degree() const { return neighbours_.size(); }
  void send(const std::uint64_t* numbers, std::uint64_t n, Rank to, MPI_Request& request) {
    mpi::check(MPI_Isend(numbers, static_cast<int>(n), MPI_UINT64_T, to, tag, comm_.get(), &request), "MPI_Isend");
  }
  void receive(std::uint64_t* numbers, std::uint64_t n, Rank from, MPI_Request& request) {
    mpi::check(MPI_Irecv(numbers, static_cast<int>(n), MPI_UINT64_T, from, tag, comm_.get(), &request), "MPI_Irecv");
  }
  void wait(std::vector<MPI_Request>& requests) { mpi::wait_all(requests, context_.wait_policy()); }
  static Tally read(const std::vector<std::uint64_t>& items) {
    return {items.size(), std::accumulate(items.begin(), items.end(), std::uint64_t{0})};
  }

  mpi::Context& context_;
  mpi::Comm comm_;
  std::vector<Rank> neighbours_;
  std::vector<std::uint64_t> numbers_;  ///< of each neighbour
};

/// Packs the numbers for each rank contiguously: neighbours in their order, then the strangers of the round.
class Packing : public ByHand {
 public:
  using ByHand::ByHand;
  void prepare(std::uint64_t n) override {
    n_ = n;
    targets_ = neighbours_;
    out_.resize(n * degree());
    in_.resize(n * degree());
    requests_.assign(2 * degree(), MPI_REQUEST_NULL);
  }

 protected:
  void pack(const Work& work) {
    targets_.resize(degree());
    numbers_.resize(degree());
    for (const Rank to : work.strangers) {
      targets_.push_back(to);
      numbers_.push_back(number_of_pair(context_.rank(), to));
    }
    out_.resize(targets_.size() * n_);
    // A copy for the loop: the compiler must assume that writes may change the member.
    const std::uint64_t n = n_;
    const std::uint64_t salt = work.salt;
    const std::span<const std::uint64_t> numbers(numbers_);
    std::uint64_t* const out = out_.data();
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < numbers.size(); ++j) out[j * n + i] = numbers[j] + salt + i;
  }
  [[nodiscard]] int count() const { return static_cast<int>(n_); }
  [[nodiscard]] const std::uint64_t* out_to(std::size_t j) const { return out_.data() + j * n_; }
  [[nodiscard]] std::uint64_t* in_from(std::size_t j) { return in_.data() + j * n_; }

  std::uint64_t n_ = 0;
  std::vector<Rank> targets_;
  std::vector<std::uint64_t> out_;
  std::vector<std::uint64_t> in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace barrio::bench
