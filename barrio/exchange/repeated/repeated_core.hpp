#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "barrio/exchange/repeated/arrivals.hpp"
#include "barrio/exchange/repeated/contents_check.hpp"
#include "barrio/exchange/repeated/engine_job.hpp"
#include "barrio/exchange/repeated/strategy_memory.hpp"
#include "barrio/exchange/repeated/test_pace.hpp"
#include "barrio/exchange/repeated/wires.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::exchange::detail {

/// Requests of a RepeatedExchange, and the times when they are started, tested and waited for.
class RepeatedCore : public EngineJob {
 public:
  RepeatedCore(mpi::Context& context, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
               mpi::TagBlock tags, const RepeatedExchangeOptions& options);
  RepeatedCore(const RepeatedCore&) = delete;
  RepeatedCore& operator=(const RepeatedCore&) = delete;
  ~RepeatedCore() override;

  void begin(const RepeatedExchange::Pack& pack);
  bool progress() {
    if (is_done_ || !pace_.is_due()) return is_done_;
    return test();
  }
  /// Take a message that has arrived and was not handed out. @param waits  for one, unless all were handed out
  std::optional<std::size_t> take_arrived(bool waits);
  void end(const RepeatedExchange::Arrived& arrived);

  [[nodiscard]] const Wires& wires() const noexcept { return *wires_; }
  [[nodiscard]] bool is_travelling() const noexcept { return is_travelling_; }
  /// Tell whether a peer exchanges other contents.
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_.load(std::memory_order_acquire); }
  [[nodiscard]] const RepeatedExchangeStatistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  [[nodiscard]] std::size_t tag() const noexcept override { return tag_; }
  void start_receives() override;
  void start_sends() override;
  bool test_receives() override;
  bool test_sends() override;

 private:
  using Pack = RepeatedExchange::Pack;
  using Arrived = RepeatedExchange::Arrived;

  /// Wait between polls, and look at the clock now and then.
  class IdleWait {
   public:
    explicit IdleWait(RepeatedCore& core);
    void operator()();

   private:
    RepeatedCore& core_;
    mpi::Pause pause_;
    std::uint64_t n_polls_ = 0;
    double since_ = 0.0;
    double next_warning_;
  };
  void begin_check();
  /// Let the check of contents go on, in the first round. @return whether messages are being received
  /// @throws Error{usage} if a peer exchanges other contents
  bool pass_check();
  void wait_for_check();
  /// Let the checks of the other exchanges that this thread has begun go on: a rank that waits for one of them may wait
  /// for receives that follow its check here.
  void pass_other_checks();
  /// Tell whether another exchange that this thread has begun is in its check, so that no call of MPI may block.
  [[nodiscard]] bool has_other_checks() const noexcept;
  /// Tell whether calls of MPI may block until a message has arrived.
  [[nodiscard]] bool may_block() const noexcept;
  void throw_if_refused() const;
  /// Tell whether a message is received only when the check has passed.
  [[nodiscard]] bool is_deferred(std::size_t wire) const noexcept;
  void receive_checked();
  void start_receive(std::size_t wire);
  void wait_all(std::span<MPI_Request> requests);
  [[nodiscard]] std::string describe_stall(double seconds);
  [[nodiscard]] std::string likely_cause();
  bool test();
  /// Make one call that lets MPI progress. @return whether all messages have arrived and all sends are done
  bool call_mpi();
  void start_all(const Pack& pack);
  void pack_wire(const Wire& wire, const Pack& pack);
  void start_send(std::size_t wire);
  void make_persistent();
  void count_round();
  void find_arrived(bool waits);
  /// Record the receives that are done. @param blocks  sleep in MPI until one is @return whether there was one
  bool record_arrived(bool blocks);
  void wait_for_receives(const Arrived& arrived);
  /// Tell whether to time the caller's computation in this round: the clock costs more than an exchange that is done.
  [[nodiscard]] bool is_paced() const noexcept;
  [[nodiscard]] bool is_threaded() const noexcept { return strategy_ == Strategy::thread; }
  [[nodiscard]] std::span<MPI_Request> receives() noexcept;
  [[nodiscard]] std::span<MPI_Request> sends() noexcept;

  mpi::Context& context_;
  Engine* engine_;
  mpi::TagBlock tags_;
  int tag_ = -1;  ///< from the first round on
  std::string contents_;
  bool is_checked_;
  double stall_warning_seconds_;
  double stall_limit_seconds_;
  std::unique_ptr<Wires> wires_;
  std::unique_ptr<ContentsCheck> check_;  ///< in the first round
  bool is_checking_ = false;              ///< messages are not received yet; of the thread that receives
  std::atomic<bool> is_refused_ = false;
  std::vector<MPI_Request> requests_;    ///< of incoming, then of outgoing wires
  std::vector<MPI_Request> persistent_;  ///< persistent ones of the same wires, made when first used
  std::vector<int> completed_;
  Arrivals arrivals_;
  std::shared_ptr<LearntChoice> learnt_;
  TestPace pace_;
  bool is_timed_;
  Strategy strategy_ = Strategy::delayed_waits;  ///< of this round
  RepeatedExchangeStatistics statistics_;
  double computing_since_ = 0.0;
  bool is_travelling_ = false;
  bool is_done_ = true;
  bool takes_arrivals_ = false;  ///< whether the caller of this round takes messages as they arrive
};

}  // namespace barrio::exchange::detail
