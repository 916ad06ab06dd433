// Zoltan's communication package: a plan has the target rank of each item. Boman et al. 2012, "The Zoltan and Isorropia
// parallel toolkits for combinatorial scientific computing".
#include <fmt/format.h>
#include <zoltan_comm.h>

#include "benchmarks/exchange/by_hand.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

void check_zoltan(int code, const char* call) {
  if (code != 0)
    throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("Zoltan returned the code {}", code)});
}

class Plan {
 public:
  /// Make a plan. Collective. @param to  the rank of each item
  Plan(std::vector<int>& to, MPI_Comm comm, int tag) {
    int n_in = 0;
    check_zoltan(Zoltan_Comm_Create(&plan_, static_cast<int>(to.size()), to.data(), comm, tag, &n_in),
                 "Zoltan_Comm_Create");
    n_in_ = n_in;
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { Zoltan_Comm_Destroy(&plan_); }
  void exchange(std::vector<std::uint64_t>& out, std::vector<std::uint64_t>& in, int tag) {
    in.resize(n_in_);
    check_zoltan(Zoltan_Comm_Do(plan_, tag, reinterpret_cast<char*>(out.data()), sizeof(std::uint64_t),
                                reinterpret_cast<char*>(in.data())),
                 "Zoltan_Comm_Do");
  }

 private:
  ZOLTAN_COMM_OBJ* plan_ = nullptr;
  std::size_t n_in_ = 0;
};

class ZoltanBase : public Packing {
 public:
  using Packing::Packing;

 protected:
  void address() {
    to_.clear();
    for (const Rank target : targets_) to_.insert(to_.end(), n_, target);
  }
  std::vector<int> to_;
};

/// A new plan in every round, from which receivers learn their messages.
class Zoltan : public ZoltanBase {
 public:
  using ZoltanBase::ZoltanBase;
  Tally round(const Work& work) override {
    pack(work);
    address();
    Plan plan(to_, comm_.get(), tag);
    plan.exchange(out_, in_, tag + 1);
    return read(in_);
  }
};

/// One plan for all rounds.
class ZoltanDo : public ZoltanBase {
 public:
  using ZoltanBase::ZoltanBase;
  void prepare(std::uint64_t n) override {
    Packing::prepare(n);
    address();
    plan_ = std::make_unique<Plan>(to_, comm_.get(), tag);
  }
  Tally round(const Work& work) override {
    pack(work);
    plan_->exchange(out_, in_, tag + 1);
    return read(in_);
  }

 private:
  std::unique_ptr<Plan> plan_;
};

}  // namespace

std::vector<Kind> zoltan_kinds() {
  return {{.name = "zoltan",
           .about = "to any rank: Zoltan_Comm_Create and Zoltan_Comm_Do",
           .takes_strangers = true,
           .make = make_contender<Zoltan>},
          {.name = "zoltan-do", .about = "Zoltan_Comm_Do, sizes known", .make = make_contender<ZoltanDo>}};
}

}  // namespace barrio::bench
