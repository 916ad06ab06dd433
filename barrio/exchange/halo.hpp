#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/traffic.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange {

/// Say which local values are copies of whose, built once and shared by all fields of one numbering.
/// Copies lie behind the owned values, grouped by owner; so a receive needs no unpacking.
struct HaloPlan {
  struct Incoming {
    Rank owner;
    LocalId first;  ///< copies first .. first + count belong to `owner`
    std::int32_t count;
  };
  std::vector<Incoming> incoming;  ///< by ascending owner
  std::vector<Rank> readers;       ///< ranks that hold copies of owned values, ascending
  std::vector<std::size_t> out_offsets{0};
  std::vector<LocalId> out;  ///< values to send, grouped by reader, in the reader's order
  mpi::TagBlock tags;

  [[nodiscard]] std::span<const LocalId> sent_to(std::size_t reader) const& noexcept {
    return std::span<const LocalId>(out).subspan(out_offsets[reader], out_offsets[reader + 1] - out_offsets[reader]);
  }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Find out who sends what: each rank tells the owners of its copies which of them it holds. Collective.
/// @param[in] copies  global ids of the copies, grouped by owner in ascending order
/// @param[in] owners  owner of each copy
/// @param first_copy  local id of copies[0]; the others follow
/// @param local_of  gives the local id of an owned value, or no_local_id if this rank does not know it
/// @throws AgreedError{internal} if a rank asks for a value its supposed owner does not have
HaloPlan plan_halo(mpi::Context& context, std::span<const GlobalId> copies, std::span<const Rank> owners,
                   LocalId first_copy, const std::function<LocalId(GlobalId)>& local_of);

/// What becomes of an owner's value and of those that copies of it hold.
enum class Reduction {
  sum,
  min,
  max,
  any,  ///< the first that is not 0: the owner's, else that of the lowest rank; else 0
};

/// Bring the copies of one field up to date with their owners, as often as wanted.
/// Neighbours only; one message per neighbour and direction; receives go straight into the field.
template <mpi::Trivial T>
class HaloExchange {
 public:
  /// Local. The plan is shared; the values are borrowed as long as the exchange lives.
  /// @param values  shape (n_local, n_components), contiguous by entity
  HaloExchange(mpi::Context& context, std::shared_ptr<const HaloPlan> plan, std::span<T> values, int n_components)
      : context_(&context),
        plan_(std::move(plan)),
        values_(values),
        n_components_(static_cast<std::size_t>(n_components)),
        out_(plan_->out.size() * n_components_),
        requests_(plan_->incoming.size() + plan_->readers.size(), MPI_REQUEST_NULL) {}
  HaloExchange(HaloExchange&& other) noexcept = default;
  HaloExchange& operator=(HaloExchange&&) = delete;
  ~HaloExchange() {
    if (!is_travelling_ || requests_.empty()) return;
    if (std::uncaught_exceptions() > 0) {
      new std::vector<T>(std::move(out_));  // MPI may still read it
      return;
    }
    BARRIO_ASSERT(cheap, !is_travelling_ && "a halo exchange was dropped between begin() and end()");
  }

  /// Send owned values and start to receive copies. Local. Until `end()` the owned values may be read and written,
  /// the copies not touched.
  void begin() {
    BARRIO_ASSERT(cheap, !is_travelling_ && "begin() again before end()");
    const int tag = plan_->tags.first;
    std::size_t at = 0;
    for (const HaloPlan::Incoming& in : plan_->incoming) {
      const std::size_t n_bytes = static_cast<std::size_t>(in.count) * n_components_ * sizeof(T);
      mpi::check(MPI_Irecv(&values_[index(in.first) * n_components_], mpi::detail::checked_bytes(n_bytes), MPI_BYTE,
                           in.owner, tag, context_->comm(), &requests_[at++]),
                 "MPI_Irecv");
      context_->counters().messages_received += 1;
      context_->counters().bytes_received += n_bytes;
    }
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader) {
      const std::span<const LocalId> sent = plan_->sent_to(reader);
      T* const first = &out_[plan_->out_offsets[reader] * n_components_];
      T* to = first;
      for (const LocalId id : sent) {
        const T* from = &values_[index(id) * n_components_];
        for (std::size_t c = 0; c < n_components_; ++c) *to++ = from[c];
      }
      const std::size_t n_bytes = sent.size() * n_components_ * sizeof(T);
      mpi::check(MPI_Isend(first, mpi::detail::checked_bytes(n_bytes), MPI_BYTE, plan_->readers[reader], tag,
                           context_->comm(), &requests_[at++]),
                 "MPI_Isend");
      context_->counters().messages_sent += 1;
      context_->counters().bytes_sent += n_bytes;
    }
    is_travelling_ = true;
  }

  /// Wait until the copies are there and the send buffers free. Local, blocks.
  void end() {
    BARRIO_ASSERT(cheap, is_travelling_ && "end() without begin()");
    const std::size_t n_in = plan_->incoming.size();
    mpi::wait_all(std::span(requests_).first(n_in), context_->wait_policy());
    mpi::wait_all(std::span(requests_).subspan(n_in), context_->wait_policy());
    is_travelling_ = false;
    n_exchanges_ += 1;
  }

  /// Bring what copies hold back to their owners: owned = combine(owned, copy), reader by reader in ascending order,
  /// so the result does not depend on the order of arrival. The copies stay as they are. All ranks take part.
  template <class Combine>
  void reduce(Combine&& combine) {
    BARRIO_ASSERT(cheap, !is_travelling_ && "reduce() between begin() and end()");
    std::size_t at = 0;
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader) {
      const std::size_t n_bytes = plan_->sent_to(reader).size() * n_components_ * sizeof(T);
      mpi::check(MPI_Irecv(&out_[plan_->out_offsets[reader] * n_components_], mpi::detail::checked_bytes(n_bytes),
                           MPI_BYTE, plan_->readers[reader], plan_->tags.first, context_->comm(), &requests_[at++]),
                 "MPI_Irecv");
    }
    for (const HaloPlan::Incoming& in : plan_->incoming) {
      const std::size_t n_bytes = static_cast<std::size_t>(in.count) * n_components_ * sizeof(T);
      mpi::check(MPI_Isend(&values_[index(in.first) * n_components_], mpi::detail::checked_bytes(n_bytes), MPI_BYTE,
                           in.owner, plan_->tags.first, context_->comm(), &requests_[at++]),
                 "MPI_Isend");
      context_->counters().messages_sent += 1;
      context_->counters().bytes_sent += n_bytes;
    }
    mpi::wait_all(requests_, context_->wait_policy());
    const T* copy = out_.data();
    for (const LocalId id : plan_->out) {
      T* const owned = &values_[index(id) * n_components_];
      for (std::size_t c = 0; c < n_components_; ++c) owned[c] = combine(owned[c], *copy++);
    }
  }

  /// The same by name: what a finite element code does with contributions to vertices of the interface. Copies that no
  /// own cell uses take part too: let them hold what changes nothing.
  void reduce(Reduction reduction) {
    switch (reduction) {
      case Reduction::sum: return reduce([](T a, T b) { return static_cast<T>(a + b); });
      case Reduction::min: return reduce([](T a, T b) { return std::min(a, b); });
      case Reduction::max: return reduce([](T a, T b) { return std::max(a, b); });
      case Reduction::any: return reduce([](T a, T b) { return a != T{} ? a : b; });
    }
  }

  /// begin() and end() in one.
  void exchange() {
    begin();
    end();
  }

  /// What this rank has sent so far, one row per reader. Local.
  [[nodiscard]] std::vector<TrafficRow> traffic() const {
    std::vector<TrafficRow> rows;
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader) {
      const auto n = static_cast<std::int64_t>(plan_->sent_to(reader).size());
      const auto times = static_cast<std::int64_t>(n_exchanges_);
      rows.push_back({context_->rank(), plan_->readers[reader], n,
                      times * n * static_cast<std::int64_t>(n_components_ * sizeof(T)), times});
    }
    return rows;
  }
  /// Exchanges completed so far.
  [[nodiscard]] std::uint64_t n_exchanges() const noexcept { return n_exchanges_; }
  [[nodiscard]] const HaloPlan& plan() const& noexcept { return *plan_; }

 private:
  mpi::Context* context_;
  std::shared_ptr<const HaloPlan> plan_;
  std::span<T> values_;
  std::size_t n_components_;
  std::vector<T> out_;
  std::vector<MPI_Request> requests_;
  std::uint64_t n_exchanges_ = 0;
  bool is_travelling_ = false;
};

}  // namespace barrio::exchange
