// A program that fails in the way its first argument names. expect.py launches it and checks how the job ends.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"
#include "barrio/mpi/run.hpp"

namespace {

using namespace barrio;

/// Longer than any limit of expect.py: a job that waits for it has hung.
constexpr auto too_long = std::chrono::seconds(120);

// These calls hide from the compiler that a scenario throws, so it cannot inline it away.
void on_last_rank(Context& context, const std::function<void()>& act) {
  if (context.rank() == context.size() - 1) act();
}

void say(const char* text) {
  std::fputs((std::string(text) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

/// The worst kind of distributed object: its destructor waits for all ranks.
class WaitsWhenDestroyed {
 public:
  explicit WaitsWhenDestroyed(Context& context) : context_(context) {}
  WaitsWhenDestroyed(const WaitsWhenDestroyed&) = delete;
  WaitsWhenDestroyed& operator=(const WaitsWhenDestroyed&) = delete;
  ~WaitsWhenDestroyed() {
    say("DESTRUCTOR RAN");
    mpi::barrier(context_);
  }

 private:
  Context& context_;
};

Error torn_file() {
  return {ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated", .remedy = "copy it again"}};
}

/// Call `raise`, which throws, on the last rank; the others wait for it in a barrier.
void lonely(Context& context, const std::function<void()>& raise) {
  on_last_rank(context, raise);
  mpi::barrier(context);
  std::this_thread::sleep_for(too_long);  // a single rank waits for nobody
}

void destroy(Context& context) {
  const WaitsWhenDestroyed outer(context);
  const std::vector<std::string> also_cleaned(3, std::string(100, 'x'));
  lonely(context, [&] {
    const WaitsWhenDestroyed inner(context);
    throw torn_file();
  });
}

void absent(Context& context) {
  on_last_rank(context, [] { std::this_thread::sleep_for(too_long); });
  agree(context, context.rank() == 0 ? Status(torn_file()) : Status());
}

void drop_request(Context& context) {
  lonely(context, [&] { auto lost = mpi::begin_receive<int>(context, 1, context.rank(), 5); });
}

void wait_for_moved(Context& context) {
  lonely(context, [&] {
    auto request = mpi::begin_receive<int>(context, 1, context.rank(), 5);
    auto owner = std::move(request);
    (void)request.wait();
  });
}

void assert_nothing(Context& context) {
  on_last_rank(context, [&] {
    const int n_parts = 7;
    BARRIO_ASSERT(cheap, n_parts < context.size(), n_parts);
  });
  mpi::barrier(context);
}

/// Print when MPI_Finalize begins, which first deletes the attributes of MPI_COMM_SELF. Output after MPI_Finalize may
/// be lost: a launcher ends the other ranks as soon as one has returned an exit code.
void announce_finalize() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void*, void*) {
        say("this rank finalises");
        return MPI_SUCCESS;
      },
      &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

const std::map<std::string, std::function<void(Context&)>> scenarios{
    {"success", [](Context&) {}},
    {"leaves_early",
     [](Context& context) {
       if (context.rank() < context.size() - 1) std::this_thread::sleep_for(std::chrono::seconds(3));
     }},
    {"agreed",
     [](Context& context) { agree_after(context, [&] { on_last_rank(context, [] { throw torn_file(); }); }); }},
    {"agreed_alike", [](Context&) { throw AgreedError(torn_file()); }},
    {"error", [](Context& context) { lonely(context, [] { throw torn_file(); }); }},
    {"exception", [](Context& context) { lonely(context, [] { throw std::runtime_error("a stray exception"); }); }},
    {"not_an_exception", [](Context& context) { lonely(context, [] { throw 7; }); }},
    {"thread",
     [](Context& context) {
       lonely(context, [] { std::thread([] { throw std::runtime_error("thrown in a thread"); }).join(); });
     }},
    {"mpi_error",
     [](Context& context) { lonely(context, [&] { mpi::send(context, std::span<const int>(), context.size(), 1); }); }},
    {"destructor", destroy},
    {"destructor_caught", destroy},
    {"assertion", assert_nothing},
    {"absent", absent},
    {"absent_blocking", absent},
    {"dropped", drop_request},
    {"moved", wait_for_moved},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto scenario = scenarios.find(name);
  if (scenario == scenarios.end()) {
    say(("no scenario '" + name + "'").c_str());
    return 99;
  }
  const auto body = [&](Context& context) {
    announce_finalize();
    scenario->second(context);
  };
  mpi::RunOptions options;
  options.context.agree_limit_seconds = 1.0;
  options.finish_warning_seconds = 1.0;
  if (name == "absent_blocking") options.context.wait.kind = mpi::WaitPolicy::Kind::block;

  int code = 98;
  if (name == "destructor_caught") {
    // A caller may catch everything: the job must end before unwinding gets this far.
    try {
      code = barrio::run(argc, argv, body, options);
    } catch (...) {
      say("CAUGHT IN MAIN");
    }
  } else {
    code = barrio::run(argc, argv, body, options);
  }
  int finalised = 0;
  MPI_Finalized(&finalised);
  say(finalised != 0 ? "run() returned, MPI is finalised" : "run() returned, MPI is NOT FINALISED");
  return code;
}
