// The exchange of halo.c with barrio. progress() tests as often as the profile recommends.
//
// With --thread, a thread that owns MPI does this on a core of its own.
//
//   mpiexec -n 2 overlap
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/mpi/run.hpp"
#include "strip.h"

namespace {

using barrio::exchange::Engine;
using barrio::exchange::EngineMode;
using barrio::exchange::Incoming;
using barrio::exchange::Outgoing;
using barrio::exchange::RepeatedExchange;

std::span<std::byte> bytes_of_row(double* values, const Strip& strip, int row) {
  return std::as_writable_bytes(std::span(row_of(values, &strip, row), static_cast<std::size_t>(strip.nx)));
}

class Solver {
 public:
  Solver(barrio::Context& context, const Options& options)
      : options_(options),
        strip_(make_strip(&options)),
        engine_(context, {.mode = options.thread != 0 ? EngineMode::on : EngineMode::off}),
        tag_(context.take_tags(1).first),
        halos_{make_exchange(context, strip_.now), make_exchange(context, strip_.next)} {}
  ~Solver() { free_strip(&strip_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  void solve() {
    std::array<Times, n_blocks> blocks{};
    for (Times& block : blocks) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      for (int step = 0; step < options_.steps; ++step) block.waiting += advance(step);
      block.all = MPI_Wtime() - begin;
    }
    report(&strip_, &options_, blocks.data());
  }

 private:
  /// Plan the exchange of rows of one of the two fields. Rows arrive directly in the field.
  RepeatedExchange make_exchange(barrio::Context& context, double* values) {
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    sent_rows_.clear();
    const auto add = [&](int neighbour, int sent_row, int copied_row) {
      if (neighbour == MPI_PROC_NULL) return;
      outgoing.push_back({neighbour, bytes_of_row(values, strip_, sent_row).size()});
      incoming.push_back({neighbour, bytes_of_row(values, strip_, copied_row)});
      sent_rows_.push_back(sent_row);
    };
    add(strip_.above, 1, 0);
    add(strip_.below, strip_.n_rows, strip_.n_rows + 1);
    return {
        context, outgoing, incoming, tag_, {.n_tests = static_cast<std::uint32_t>(options_.tests), .engine = &engine_}};
  }

  /// Advance by one step. @return seconds spent in the wait
  double advance(int step) {
    const int n = strip_.n_rows;
    const double late = late_row_seconds(&strip_, &options_, step);

    RepeatedExchange& halo = halos_[now_];
    halo.begin([&](std::size_t i) {
      const std::span<const std::byte> row = bytes_of_row(strip_.now, strip_, sent_rows_[i]);
      std::memcpy(halo.outgoing(i).data(), row.data(), row.size());
    });
    for (int row = 2; row < n; ++row) {
      sweep_row(&strip_, row);
      work_for(late);
      halo.progress();
    }
    const double begin = MPI_Wtime();
    halo.end();
    const double end = MPI_Wtime();

    sweep_row(&strip_, 1);
    if (n > 1) sweep_row(&strip_, n);
    swap_fields(&strip_);
    now_ = 1 - now_;
    return end - begin;
  }

  Options options_;
  Strip strip_;
  Engine engine_;  // before the exchanges that use it
  int tag_;
  std::vector<int> sent_rows_;
  std::array<RepeatedExchange, 2> halos_;  // one for each field
  std::size_t now_ = 0;
};

int run_example(barrio::Context& context, int argc, char** argv) {
  Options options{};
  options.nx = 65536;
  options.ny = 64;
  options.steps = 20;
  const int code = parse(argc, argv, "overlap", &options);
  if (code >= 0) return code;
  if (options.receives_first != 0) return complain("overlap", "--receives-first", "is for halo only");
  Solver(context, options).solve();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int code = 0;
  // MPI is called by one thread at a time: this one, or the engine's.
  const int run_code =
      barrio::run(argc, argv, [&](barrio::Context& context) { code = run_example(context, argc, argv); },
                  {.thread_level = MPI_THREAD_SERIALIZED});
  return run_code != 0 ? run_code : code;
}
