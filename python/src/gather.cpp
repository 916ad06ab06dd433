#include "barrio/exchange/gather_scatter.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "messages.hpp"

namespace barrio::python {

using namespace nb::literals;

namespace {

using exchange::GatherMethod;
using exchange::GatherScatter;

constexpr std::array<std::pair<const char*, GatherMethod>, 4> methods{{{"automatic", GatherMethod::automatic},
                                                                       {"pairwise", GatherMethod::pairwise},
                                                                       {"owner", GatherMethod::owner},
                                                                       {"crystal", GatherMethod::crystal}}};

/// Python's GatherScatter: a plan with its context.
class SharedGather {
 public:
  SharedGather(const CommArgument& comm, nb::handle ids, const std::string& method, std::uint64_t max_pairwise_ranks) {
    const nb::object array = numpy().attr("ascontiguousarray")(ids).attr("reshape")(-1);
    context_ = make_context(comm);
    std::vector<GlobalId> mine;
    GatherMethod chosen = GatherMethod::automatic;
    Status fault;
    try {
      chosen = find_value(methods, "method", method);
      mine = ids_of(array);
    } catch (const nb::python_error& trouble) {
      fault = error_of(trouble, "ids");
    } catch (const Error& error) {
      fault = error;
    }
    const nb::gil_scoped_release unlocked;
    try {
      mpi::agree(*context_, fault);
      gather_ = std::make_unique<GatherScatter>(
          *context_, mine, exchange::GatherScatterOptions{.method = chosen, .max_pairwise_ranks = max_pairwise_ranks});
    } catch (const AgreedError&) {
      context_.reset();  // every rank is here: the communicator can be freed
      throw;
    }
    n_positions_ = mine.size();
  }

  SharedGather(const SharedGather&) = delete;
  SharedGather& operator=(const SharedGather&) = delete;
  /// Leak the memory instead of waiting if values are in transit: Python may drop a plan at any time.
  ~SharedGather() {
    if (!values_.is_valid()) return;
    static_cast<void>(gather_.release());
    static_cast<void>(context_.release());
    values_.inc_ref();  // MPI may still write there
  }

  [[nodiscard]] const GatherScatter& gather() const noexcept { return *gather_; }

  void begin(nb::handle values, const std::string& op) {
    if (values_.is_valid()) throw_usage("gather-scatter", "is under way already", "call end() first");
    with_arguments(values, op, [&](auto all, auto combine, int n_components) {
      const nb::gil_scoped_release unlocked;
      gather_->begin(all, n_components, combine);
    });
    values_ = nb::borrow(values);
    op_ = op;
  }
  void end() {
    if (!values_.is_valid()) throw_usage("gather-scatter", "is not under way", "call begin() first");
    const nb::object values = std::move(values_);
    values_ = nb::object();
    with_arguments(values, op_, [&](auto all, auto combine, int n_components) {
      const nb::gil_scoped_release unlocked;
      gather_->end(all, n_components, combine);
    });
  }

 private:
  template <class Visit>
  void with_arguments(nb::handle values, const std::string& op, Visit&& visit) const {
    with_values(values, "values", [&]<class T>(std::span<T> all) {
      const bool has_rows = nb::cast<std::size_t>(values.attr("ndim")) > 0;
      const std::size_t n_rows = has_rows ? nb::cast<std::size_t>(values.attr("shape")[0]) : 0;
      if (!has_rows || n_rows != n_positions_)
        throw_usage("values", fmt::format("have shape {} for {} ids", text(values.attr("shape")), n_positions_),
                    "give a row for each id");
      // A rank without ids cannot derive the components from its number of values.
      std::size_t n_components = 1;
      for (std::size_t axis = 1; axis < nb::cast<std::size_t>(values.attr("ndim")); ++axis)
        n_components *= nb::cast<std::size_t>(values.attr("shape")[axis]);
      with_operation(op, [&](auto combine) { visit(all, combine, static_cast<int>(n_components)); });
    });
  }

  std::unique_ptr<mpi::Context> context_;
  std::unique_ptr<GatherScatter> gather_;
  std::size_t n_positions_ = 0;
  nb::object values_;  // between begin and end
  std::string op_;
};

std::string method_name(GatherMethod method) {
  for (const auto& [word, value] : methods)
    if (value == method) return word;
  return {};
}

}  // namespace

void bind_gather(nb::module_& module) {
  nb::class_<SharedGather>(module, "GatherScatter",
                           R"(A reusable plan that combines the values of all positions, on all ranks, with the same id.

The constructor is collective over comm. `ids` are integers in any order, with any repetition; values at negative ids
do not change. The values of an id are combined in one fixed order, so all sharers get the same bits. `method`:
"pairwise" between all sharers, by an "owner", by the "crystal" router, or "automatic", which times them.)")
      .def(nb::init<const CommArgument&, nb::handle, const std::string&, std::uint64_t>(), "comm"_a, "ids"_a,
           nb::kw_only(), "method"_a = "automatic", "max_pairwise_ranks"_a = 64,
           nb::sig(
               "def __init__(self, comm: mpi4py.MPI.Comm, ids: numpy.typing.ArrayLike, *, method: str = 'automatic', "
               "max_pairwise_ranks: int = 64) -> None"))
      .def(
          "apply",
          [](SharedGather& self, nb::handle values, const std::string& op) {
            self.begin(values, op);
            self.end();
          },
          "values"_a, "op"_a = "sum",
          nb::sig("def apply(self, values: numpy.typing.NDArray[typing.Any], op: str = 'sum') -> None"),
          "Combine values in place: a contiguous array of shape (n,) or (n, ...) for n ids, of float64, float32, "
          "int64 or int32. All ranks take part; messages go to sharers only. `op`: sum, product, min, max.")
      .def("begin", &SharedGather::begin, "values"_a, "op"_a = "sum",
           nb::sig("def begin(self, values: numpy.typing.NDArray[typing.Any], op: str = 'sum') -> None"),
           "Send this rank's values of each id. Local. Until `end()` you may read values of shared ids; writes to them "
           "are lost.")
      .def("end", &SharedGather::end,
           "Wait for the other ranks, and write the results into the array given to `begin()`.")
      .def_prop_ro(
          "method", [](const SharedGather& self) { return method_name(self.gather().method()); },
          "Method in use; if it was \"automatic\", the one chosen.")
      .def_prop_ro(
          "neighbours",
          [](const SharedGather& self) {
            const auto all = self.gather().neighbours();
            return std::vector<Rank>(all.begin(), all.end());
          },
          "Ranks that this rank exchanges values with, ascending.")
      .def_prop_ro(
          "n_shared", [](const SharedGather& self) { return self.gather().n_shared(); },
          "Number of this rank's ids that occur at another position, on this rank or elsewhere.")
      .def_prop_ro(
          "memory_bytes", [](const SharedGather& self) { return self.gather().memory_bytes(); },
          "Bytes of plan and buffers on this rank.");
}

}  // namespace barrio::python
