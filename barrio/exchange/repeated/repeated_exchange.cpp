#include "barrio/exchange/repeated_exchange.hpp"

#include <exception>
#include <utility>

#include "barrio/exchange/repeated/repeated_core.hpp"

namespace barrio::exchange {

RepeatedExchange::RepeatedExchange(mpi::Context& context, std::span<const Outgoing> outgoing,
                                   std::span<const Incoming> incoming, mpi::TagBlock tags,
                                   const RepeatedExchangeOptions& options)
    : core_(std::make_unique<detail::RepeatedCore>(context, outgoing, incoming, std::move(tags), options)) {}
RepeatedExchange::RepeatedExchange(RepeatedExchange&&) noexcept = default;

RepeatedExchange::~RepeatedExchange() {
  // MPI, or a thread, may still use the core's buffers.
  if (!core_ || !core_->is_travelling() || (std::uncaught_exceptions() == 0 && !core_->is_refused())) return;
  core_->abandon();
  static_cast<void>(core_.release());
}

std::span<std::byte> RepeatedExchange::outgoing(std::size_t i) const& noexcept { return core_->wires().outgoing(i); }
std::size_t RepeatedExchange::n_outgoing() const noexcept { return core_->wires().n_outgoing(); }
void RepeatedExchange::begin(const Pack& pack) { core_->begin(pack); }
bool RepeatedExchange::progress() { return core_->progress(); }
std::optional<std::size_t> RepeatedExchange::next_arrived() { return core_->take_arrived(false); }
std::optional<std::size_t> RepeatedExchange::wait_for_arrived() { return core_->take_arrived(true); }
void RepeatedExchange::end(const Arrived& arrived) { core_->end(arrived); }
bool RepeatedExchange::is_travelling() const noexcept { return core_->is_travelling(); }
const RepeatedExchangeStatistics& RepeatedExchange::statistics() const& noexcept { return core_->statistics(); }
std::uint64_t RepeatedExchange::memory_bytes() const noexcept { return core_->memory_bytes(); }

}  // namespace barrio::exchange
