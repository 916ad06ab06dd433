// PETSc: its discovery of senders, and its star forests. Zhang et al. 2022, "The PetscSF scalable communication layer".
#include "benchmarks/petsc.hpp"
#include "benchmarks/exchange/by_hand.hpp"
#include "benchmarks/exchange/contenders.hpp"
// Included last: PETSc defines macros with MPI's names.
#include <petscsf.h>

namespace barrio::bench {
namespace {

class PetscBase : public Packing {
 public:
  explicit PetscBase(const Setup& setup) : Packing(setup) {
    // Keep PETSc's duplicate of the communicator; otherwise each call would make and free one.
    check_petsc(PetscCommDuplicate(comm_.get(), &petsc_comm_, nullptr), "PetscCommDuplicate");
  }
  ~PetscBase() override { PetscCommDestroy(&petsc_comm_); }

 private:
  std::shared_ptr<void> use_ = use_petsc();

 protected:
  MPI_Comm petsc_comm_ = MPI_COMM_NULL;
};

/// PetscCommBuildTwoSided gives each rank its senders and counts; then one message per pair.
class TwoSided : public PetscBase {
 public:
  using PetscBase::PetscBase;
  Tally round(const Work& work) override {
    pack(work);
    counts_.assign(targets_.size(), count());
    PetscMPIInt n_from = 0;
    PetscMPIInt* from = nullptr;
    int* counts_in = nullptr;
    check_petsc(PetscCommBuildTwoSided(petsc_comm_, 1, MPI_INT, static_cast<PetscMPIInt>(targets_.size()),
                                       targets_.data(), counts_.data(), &n_from, &from, &counts_in),
                "PetscCommBuildTwoSided");
    const auto n_in = static_cast<std::size_t>(n_from);
    requests_.assign(n_in + targets_.size(), MPI_REQUEST_NULL);
    in_.resize(std::accumulate(counts_in, counts_in + n_in, 0));
    std::uint64_t* next = in_.data();
    for (std::size_t j = 0; j < n_in; ++j) {
      receive(next, counts_in[j], from[j], requests_[j]);
      next += counts_in[j];
    }
    for (std::size_t j = 0; j < targets_.size(); ++j) send(out_to(j), n_, targets_[j], requests_[n_in + j]);
    wait(requests_);
    PetscFree(from);
    PetscFree(counts_in);
    return read(in_);
  }

 private:
  std::vector<int> counts_;
};

/// A star forest: each incoming number is a leaf, whose root is the number in the neighbour's send buffer.
class StarForest : public PetscBase {
 public:
  explicit StarForest(const Setup& setup) : PetscBase(setup) {
    check_petsc(PetscSFCreate(petsc_comm_, &forest_), "PetscSFCreate");
  }
  ~StarForest() override { PetscSFDestroy(&forest_); }
  void prepare(std::uint64_t n) override {
    Packing::prepare(n);
    // Only the neighbour knows the offset of the numbers for this rank.
    std::vector<std::uint64_t> mine(degree());
    std::vector<std::uint64_t> theirs(degree());
    for (std::size_t j = 0; j < degree(); ++j) {
      mine[j] = j * n;
      receive(&theirs[j], 1, neighbours_[j], requests_[j]);
      send(&mine[j], 1, neighbours_[j], requests_[degree() + j]);
    }
    wait(requests_);
    roots_.clear();
    for (std::size_t j = 0; j < degree(); ++j)
      for (std::uint64_t i = 0; i < n; ++i)
        roots_.push_back({.rank = neighbours_[j], .index = static_cast<PetscInt>(theirs[j] + i)});
    set_up();
  }
  Tally round(const Work& work) override {
    pack(work);
    broadcast();
    return read(in_);
  }

 protected:
  void set_up() {
    check_petsc(PetscSFSetGraph(forest_, static_cast<PetscInt>(out_.size()), static_cast<PetscInt>(roots_.size()),
                                nullptr, PETSC_COPY_VALUES, roots_.data(), PETSC_COPY_VALUES),
                "PetscSFSetGraph");
    check_petsc(PetscSFSetUp(forest_), "PetscSFSetUp");
  }
  void broadcast() {
    check_petsc(PetscSFBcastBegin(forest_, MPI_UINT64_T, out_.data(), in_.data(), MPI_REPLACE), "PetscSFBcastBegin");
    check_petsc(PetscSFBcastEnd(forest_, MPI_UINT64_T, out_.data(), in_.data(), MPI_REPLACE), "PetscSFBcastEnd");
  }

 private:
  PetscSF forest_ = nullptr;
  std::vector<PetscSFNode> roots_;
};

/// A star forest that is set up in every round.
class NewStarForest : public StarForest {
 public:
  using StarForest::StarForest;
  Tally round(const Work& work) override {
    pack(work);
    set_up();
    broadcast();
    return read(in_);
  }
};

}  // namespace

std::vector<Kind> petsc_kinds() {
  return {{.name = "petsc-twosided",
           .about = "packed to any rank: PetscCommBuildTwoSided finds the senders",
           .takes_strangers = true,
           .make = make_contender<TwoSided>},
          {.name = "petsc-sf",
           .about = "PetscSFBcast on a prepared star forest, sizes known",
           .make = make_contender<StarForest>},
          {.name = "petsc-sf-new", .about = "the same, set up in each round", .make = make_contender<NewStarForest>}};
}

}  // namespace barrio::bench
