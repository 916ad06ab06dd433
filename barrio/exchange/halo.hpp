#pragma once

/// @file Ghost values of a field: copy them from their owners, or reduce them into their owners.

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/exchange/traffic.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Plan of a halo: the local values that are copies of other ranks' values, and their owners. Built once and shared by
/// all fields of one numbering. Copies follow the owned values, grouped by owner, so a receive needs no unpacking.
struct HaloPlan {
  /// Copies of the values of one owner.
  struct Incoming {
    Rank owner;          ///< rank that sends them
    LocalId first;       ///< copies first .. first + count belong to `owner`
    std::int32_t count;  ///< >= 1
  };
  std::vector<Incoming> incoming;           ///< by ascending owner
  std::vector<Rank> readers;                ///< ranks that hold copies of owned values, ascending
  std::vector<std::size_t> out_offsets{0};  ///< into `out`: the first value of each reader, and the end
  std::vector<LocalId> out;                 ///< values to send, grouped by reader, in the reader's order
  mpi::TagBlock tags;                       ///< `n_tags`: the exchanges of a plan take one each
  static constexpr int n_tags = 256;        ///< size of `tags`; further exchanges share them

  /// Return the values to send to a reader. @param reader  its place in `readers`
  [[nodiscard]] std::span<const LocalId> sent_to(std::size_t reader) const& noexcept {
    return std::span<const LocalId>(out).subspan(out_offsets[reader], out_offsets[reader + 1] - out_offsets[reader]);
  }
  /// Count the bytes of the lists on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Plan a halo: each rank tells the owners of its copies which values it holds. Collective.
/// @param[in] copies  global ids of the copies, grouped by owner in ascending order
/// @param[in] owners  owner of each copy
/// @param first_copy  local id of copies[0]; the others follow
/// @param local_of  returns the local id of an owned value, or no_local_id if this rank does not know it
/// @throws AgreedError{internal} if a rank asks for a value that its supposed owner does not have
HaloPlan plan_halo(mpi::Context& context, std::span<const GlobalId> copies, std::span<const Rank> owners,
                   LocalId first_copy, const std::function<LocalId(GlobalId)>& local_of);

/// Operator that combines an owner's value with those of its copies.
enum class Reduction {
  sum,  ///< of the owner's value and those of all copies
  min,  ///< smallest of these
  max,  ///< largest of these
  any,  ///< the first that is not 0: the owner's, else that of the lowest rank; else 0
};

namespace detail {

/// Complete the contents of an exchange by what is done, and the type and the number of values of an entity.
RepeatedExchangeOptions with_contents(RepeatedExchangeOptions options, const char* act, const MessageKind& kind,
                                      std::size_t n_components);

}  // namespace detail

/// Exchange that updates the copies of one field from their owners, as often as wanted.
/// Neighbours only; one message per neighbour and direction; receives go straight into the field.
template <mpi::Trivial T>
class HaloExchange {
 public:
  /// Make an exchange of one field. Local. The plan is shared; the values are borrowed as long as the exchange lives.
  /// @param values  shape (n_local, n_components), contiguous by entity
  /// @param options  with an engine: all exchanges of one plan must name it, to keep their order. Type and number of
  /// components are added to the contents
  /// @throws Error{usage} as RepeatedExchange
  HaloExchange(mpi::Context& context, std::shared_ptr<const HaloPlan> plan, std::span<T> values, int n_components,
               const RepeatedExchangeOptions& options = {})
      : context_(&context),
        plan_(std::move(plan)),
        values_(values),
        n_components_(n_components),
        options_(options),
        exchange_(context, outgoing(), incoming(), plan_->tags,
                  detail::with_contents(options, "copies", kind(), n_components_)) {}

  /// Send owned values and start receiving copies. Local. Until `end()` the owned values may be read and written, but
  /// the copies must not be touched.
  void begin() {
    exchange_.begin([this](std::size_t reader) {
      T* to = out(reader);
      for (const LocalId id : plan_->sent_to(reader)) {
        const T* from = &values_[index(id) * n_components_];
        for (std::size_t c = 0; c < n_components_; ++c) *to++ = from[c];
      }
    });
  }

  /// Test the messages while the caller computes: call it after each row or block of work. Local; most calls cost a few
  /// nanoseconds. @return whether `end()` has nothing left to wait for
  bool progress() { return exchange_.progress(); }

  /// Wait until the copies have arrived and the send buffers are free. Local, blocks.
  void end() {
    exchange_.end();
    n_exchanges_ += 1;
  }

  /// Reduce the values of copies into their owners': owned = combine(owned, copy), reader by reader in ascending order,
  /// so the result does not depend on the order of arrival. The copies are unchanged. All ranks take part. The first
  /// call makes an exchange in the other direction, which stays.
  template <class Combine>
  void reduce(Combine&& combine) {
    reduce_by("combined copies", by_function, combine);
  }

  /// Reduce by a named operator, as a finite element code does with contributions to interface vertices. Copies that no
  /// own cell uses take part too: give them neutral values.
  void reduce(Reduction reduction) {
    const auto which = static_cast<std::size_t>(reduction);
    switch (reduction) {
      case Reduction::sum: return reduce_by("sums", which, [](T a, T b) { return static_cast<T>(a + b); });
      case Reduction::min: return reduce_by("minima", which, [](T a, T b) { return std::min(a, b); });
      case Reduction::max: return reduce_by("maxima", which, [](T a, T b) { return std::max(a, b); });
      case Reduction::any: return reduce_by("any copies", which, [](T a, T b) { return a != T{} ? a : b; });
    }
  }

  /// Call begin() and end().
  void exchange() {
    begin();
    end();
  }

  /// List the data that this rank has sent so far, one row per reader. Local.
  [[nodiscard]] std::vector<TrafficRow> traffic() const {
    std::vector<TrafficRow> rows;
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader) {
      const std::int64_t n = plan_->sent_to(reader).size();
      const std::int64_t times = n_exchanges_;
      rows.push_back({context_->rank(), plan_->readers[reader], n,
                      times * n * static_cast<std::int64_t>(n_components_ * sizeof(T)), times});
    }
    return rows;
  }
  /// Count the exchanges completed so far.
  [[nodiscard]] std::uint64_t n_exchanges() const noexcept { return n_exchanges_; }
  /// Return the statistics of the exchange, with its strategy.
  [[nodiscard]] const RepeatedExchangeStatistics& statistics() const& noexcept { return exchange_.statistics(); }
  /// Return the plan; it lives at least as long as the exchange.
  [[nodiscard]] const HaloPlan& plan() const& noexcept { return *plan_; }

 private:
  static constexpr std::size_t by_function = 4;  // after the named reductions

  [[nodiscard]] static detail::MessageKind kind() { return detail::kind_of<T>(detail::RoundCall::messages); }

  template <class Combine>
  void reduce_by(const char* act, std::size_t which, Combine&& combine) {
    BARRIO_ASSERT(cheap, !exchange_.is_travelling() && "reduce() between begin() and end()");
    std::unique_ptr<RepeatedExchange>& exchange = reductions_[which];
    if (!exchange) exchange = make_reduction(act);
    exchange->begin([&](std::size_t i) {
      const std::span<std::byte> message = exchange->outgoing(i);
      std::memcpy(message.data(), &values_[index(plan_->incoming[i].first) * n_components_], message.size());
    });
    exchange->end();
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader) {
      const T* copy = arrived(reader);
      for (const LocalId id : plan_->sent_to(reader)) {
        T* const owned = &values_[index(id) * n_components_];
        for (std::size_t c = 0; c < n_components_; ++c) owned[c] = combine(owned[c], *copy++);
      }
    }
  }
  /// Make the exchange from copies to owners.
  std::unique_ptr<RepeatedExchange> make_reduction(const char* act) {
    const std::size_t entity_bytes = n_components_ * sizeof(T);
    arrived_.resize(plan_->out.size() * entity_bytes);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const HaloPlan::Incoming& copies : plan_->incoming)
      out.push_back({copies.owner, static_cast<std::size_t>(copies.count) * entity_bytes});
    for (std::size_t reader = 0; reader < plan_->readers.size(); ++reader)
      in.push_back({plan_->readers[reader],
                    {reinterpret_cast<std::byte*>(arrived(reader)), plan_->sent_to(reader).size() * entity_bytes}});
    return std::make_unique<RepeatedExchange>(*context_, out, in, plan_->tags,
                                              detail::with_contents(options_, act, kind(), n_components_));
  }
  [[nodiscard]] T* arrived(std::size_t reader) noexcept {
    return reinterpret_cast<T*>(arrived_.data() + plan_->out_offsets[reader] * n_components_ * sizeof(T));
  }
  [[nodiscard]] std::vector<Outgoing> outgoing() const {
    std::vector<Outgoing> all(plan_->readers.size());
    for (std::size_t reader = 0; reader < all.size(); ++reader)
      all[reader] = {plan_->readers[reader], plan_->sent_to(reader).size() * n_components_ * sizeof(T)};
    return all;
  }
  [[nodiscard]] std::vector<Incoming> incoming() const {
    std::vector<Incoming> all;
    all.reserve(plan_->incoming.size());
    for (const HaloPlan::Incoming& in : plan_->incoming)
      all.push_back(
          {in.owner, std::as_writable_bytes(values_.subspan(index(in.first) * n_components_,
                                                            static_cast<std::size_t>(in.count) * n_components_))});
    return all;
  }
  [[nodiscard]] T* out(std::size_t reader) const noexcept {
    static_assert(alignof(T) <= alignof(std::max_align_t), "messages are aligned for built-in types");
    return reinterpret_cast<T*>(exchange_.outgoing(reader).data());
  }

  mpi::Context* context_;
  std::shared_ptr<const HaloPlan> plan_;
  std::span<T> values_;
  std::size_t n_components_;
  RepeatedExchangeOptions options_;
  RepeatedExchange exchange_;
  std::array<std::unique_ptr<RepeatedExchange>, by_function + 1> reductions_;  // made at first use
  std::vector<std::byte> arrived_;                                             // for them
  std::uint64_t n_exchanges_ = 0;
};

}  // namespace barrio::exchange
