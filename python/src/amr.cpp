#include <fmt/format.h>

#include <utility>

#include "barrio/cases/case_run.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

/// A run with its context.
class OwnedCase {
 public:
  OwnedCase(const CommArgument& comm, std::string file, std::string text, std::vector<std::string> settings,
            std::string restart)
      : context_(make_context(comm)) {
    const nb::gil_scoped_release unlocked;
    try {
      run_ = std::make_unique<cases::CaseRun>(
          *context_, cases::CaseJob{std::move(file), std::move(text), std::move(settings), std::move(restart)});
    } catch (const AgreedError&) {
      context_.reset();  // all ranks are here and no longer unwinding: the communicator can be freed
      throw;
    }
  }
  void run() {
    const nb::gil_scoped_release unlocked;
    run_->run();
  }
  std::string result() {
    const nb::gil_scoped_release unlocked;
    return run_->result().dump();
  }
  [[nodiscard]] const cases::CaseRun& of() const { return *run_; }

 private:
  std::unique_ptr<mpi::Context> context_;
  std::unique_ptr<cases::CaseRun> run_;
};

/// Give numpy an array of its own. @param width  length of the second axis; 0: there is none
template <class T>
nb::object rows(std::vector<T> values, std::size_t width) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* data = kept->data();
  const std::size_t n = kept->size();
  const nb::capsule owner(kept.get(), [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
  kept.release();
  if (width == 0) return nb::cast(nb::ndarray<nb::numpy, T>(data, {n}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T>(data, {n / width, width}, owner));
}

}  // namespace

void bind_amr(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<OwnedCase>(module, "AmrRun", "Run of a case. Use it through `barrio.amr.Case`.")
      .def(nb::init<const CommArgument&, std::string, std::string, std::vector<std::string>, std::string>(), "comm"_a,
           "file"_a, "text"_a, "settings"_a, "restart"_a)
      .def("run", &OwnedCase::run, "Advance to the end of the case, and write its files. Collective.")
      .def("result", &OwnedCase::result, "Return the result document as JSON. Collective.")
      .def_prop_ro(
          "time", [](const OwnedCase& self) { return self.of().time(); }, "Simulated time.")
      .def_prop_ro(
          "n_steps", [](const OwnedCase& self) { return self.of().n_steps(); }, "Steps of the coarsest level.")
      .def_prop_ro(
          "n_levels", [](const OwnedCase& self) { return self.of().n_levels(); }, "Levels that the case allows.")
      .def(
          "cells",
          [](const OwnedCase& self) {
            cases::CaseCells cells = self.of().cells();
            const std::size_t n_axes = cells.n_axes;
            const std::size_t n_names = cells.names.size();
            return nb::make_tuple(cells.names, rows(std::move(cells.levels), 0), rows(std::move(cells.centres), n_axes),
                                  rows(std::move(cells.sizes), n_axes), rows(std::move(cells.values), n_names));
          },
          nb::sig("def cells(self) -> tuple[list[str], numpy.typing.NDArray[numpy.int32], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          "Return names of quantities, and levels, centres, sizes and values of this rank's finest cells. Local.")
      .def(
          "blocks",
          [](const OwnedCase& self, int level) {
            if (level < 0 || level >= self.of().n_levels())
              throw_usage(fmt::format("level {}", level),
                          fmt::format("does not exist: the case has levels 0 to {}", self.of().n_levels() - 1));
            cases::CaseBlocks blocks = self.of().blocks(level);
            const std::size_t n_axes = self.of().n_axes();
            return nb::make_tuple(rows(std::move(blocks.low), n_axes), rows(std::move(blocks.high), n_axes));
          },
          "level"_a,
          nb::sig("def blocks(self, level: int) -> tuple[numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64]]"),
          "Return low and high corners of this rank's blocks of a level. Local.");
}

}  // namespace barrio::python
