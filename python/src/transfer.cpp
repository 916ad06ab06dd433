#include "barrio/exchange/shared_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/byte_rows.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "messages.hpp"

namespace barrio::python {

using namespace nb::literals;

namespace {

using exchange::ByteColumn;
using exchange::ReceivedRows;
using exchange::Route;

constexpr std::array<std::pair<const char*, Route>, 4> routes{{{"automatic", Route::automatic},
                                                               {"crystal", Route::crystal},
                                                               {"direct", Route::direct},
                                                               {"counted", Route::counted}}};

/// Python's Context: a duplicated communicator for calls between any ranks.
struct SharedContext {
  std::unique_ptr<mpi::Context> context;
};

/// Arrays with the same number of rows, as numpy arrays and as columns of bytes.
class Rows {
 public:
  Rows() = default;
  void add(nb::handle data) {
    nb::object array = numpy().attr("asarray")(data, "order"_a = "C");
    const nb::object dtype = checked_dtype(array.attr("dtype"));
    if (nb::cast<std::size_t>(array.attr("ndim")) == 0) throw_usage("rows", "are a single value", "give an array");
    const nb::object shape = array.attr("shape")[nb::slice(nb::int_(1), nb::none(), nb::none())];
    const auto n = nb::cast<std::size_t>(array.attr("shape")[0]);
    std::size_t value_bytes = nb::cast<std::size_t>(dtype.attr("itemsize"));
    for (const nb::handle extent : shape) value_bytes *= nb::cast<std::size_t>(extent);
    if (value_bytes == 0) throw_usage("rows", fmt::format("of shape {} hold nothing", text(array.attr("shape"))));
    if (!arrays_.empty() && n != n_rows_)
      throw_usage("rows", fmt::format("are {} in one array and {} in another", n_rows_, n));
    n_rows_ = n;
    types_ += (types_.empty() ? "" : ", ") + text(dtype) + (nb::len(shape) == 0 ? "" : text(shape));
    columns_.push_back({nullptr, value_bytes});
    dtypes_.push_back(dtype);
    shapes_.push_back(shape);
    const nb::object flat = array.attr("reshape")(-1).attr("view")(numpy().attr("uint8"));
    columns_.back().values = static_cast<const std::byte*>(bytes_.emplace_back(flat, PyBUF_SIMPLE).data());
    arrays_.push_back(flat);
  }
  [[nodiscard]] std::size_t n_rows() const noexcept { return n_rows_; }
  [[nodiscard]] const std::vector<ByteColumn>& columns() const noexcept { return columns_; }
  [[nodiscard]] const std::string& types() const noexcept { return types_; }

  /// Give numpy column k of the received rows.
  [[nodiscard]] nb::object array(std::size_t k, std::vector<std::byte> bytes) const {
    const std::size_t n = bytes.size() / columns_[k].value_bytes;
    nb::list shape;
    shape.append(n);
    for (const nb::handle extent : shapes_[k]) shape.append(extent);
    auto kept = std::make_unique<std::vector<std::byte>>(std::move(bytes));
    auto* const place = reinterpret_cast<std::uint8_t*>(kept->data());
    const std::size_t size = kept->size();
    const nb::capsule owner(kept.get(), [](void* all) noexcept { delete static_cast<std::vector<std::byte>*>(all); });
    kept.release();
    const nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> flat(const_cast<void*>(address(place)), {size}, owner);
    return nb::cast(flat).attr("view")(dtypes_[k]).attr("reshape")(nb::tuple(shape));
  }

 private:
  std::size_t n_rows_ = 0;
  std::string types_;
  std::vector<ByteColumn> columns_;
  std::vector<nb::object> dtypes_, shapes_, arrays_;
  std::list<Bytes> bytes_;
};

/// Convert the argument `to` to ranks. @throws Error{usage}
std::vector<Rank> ranks_of(nb::handle to, std::size_t n_rows) {
  const nb::object np = numpy();
  const nb::object array = np.attr("asarray")(to, "order"_a = "C");
  if (nb::cast<std::size_t>(array.attr("size")) > 0 &&
      nb::cast<std::string>(array.attr("dtype").attr("kind")).find_first_of("iu") == std::string::npos)
    throw_usage("to", fmt::format("must hold integers, not {}", text(array.attr("dtype"))), "give a rank for each row");
  const auto wide =
      nb::cast<nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>>(array.attr("astype")(np.attr("int64")));
  if (nb::cast<std::size_t>(array.attr("ndim")) != 1 || wide.size() != n_rows)
    throw_usage("to", fmt::format("has shape {} for {} rows", text(array.attr("shape")), n_rows),
                "give a rank for each row");
  std::vector<Rank> ranks;
  ranks.reserve(n_rows);
  for (std::size_t i = 0; i < n_rows; ++i)  // a value beyond the type of ranks stays invalid
    ranks.push_back(static_cast<Rank>(std::clamp<std::int64_t>(wide.data()[i], -1, std::numeric_limits<Rank>::max())));
  return ranks;
}

/// Run a check of arguments. @return its fault, which all ranks will agree on. @pre the GIL is held
template <class Look>
Status look_at(const char* what, Look&& look) {
  try {
    look();
  } catch (const nb::python_error& trouble) {
    return error_of(trouble, what);
  } catch (const Error& error) {
    return error;
  }
  return {};
}

ReceivedRows send_rows(mpi::Context& context, const std::vector<Rank>& to, const Rows& rows, Route route,
                       const Status& fault) {
  const nb::gil_scoped_release unlocked;
  return exchange::transfer_bytes(context, to, rows.columns(), rows.types(), {.route = route}, fault);
}

nb::tuple transfer(const SharedContext& self, nb::handle to, const nb::args& arrays, const std::string& route) {
  Rows rows;
  std::vector<Rank> ranks;
  Route by = Route::automatic;
  Status fault = look_at("rows", [&] {
    by = find_value(routes, "route", route);
    if (nb::len(nb::handle(arrays)) == 0)
      throw_usage("transfer", "was called without rows", "give an array with a row for each rank");
    for (const nb::handle array : arrays) rows.add(array);
    ranks = ranks_of(to, rows.n_rows());
  });
  ReceivedRows received = send_rows(*self.context, ranks, rows, by, fault);
  nb::list all;
  all.append(copied(std::move(received.from)));
  for (std::size_t k = 0; k < received.columns.size(); ++k) all.append(rows.array(k, std::move(received.columns[k])));
  return nb::tuple(all);
}

nb::object ask(const SharedContext& self, nb::handle to, nb::handle requests, const nb::callable& answer,
               nb::handle dtype) {
  mpi::Context& context = *self.context;
  Rows asked;
  std::vector<Rank> ranks;
  nb::object wanted;
  Status fault = look_at("requests", [&] {
    wanted = numpy().attr("dtype")(dtype);  // a dtype with a shape: each answer is an array
    static_cast<void>(checked_dtype(wanted.attr("base")));
    asked.add(requests);
    ranks = ranks_of(to, asked.n_rows());
  });
  ReceivedRows came = send_rows(context, ranks, asked, Route::automatic, fault);

  Rows answers;
  std::exception_ptr raised;
  fault = look_at("answers", [&] {
    const nb::object given = asked.array(0, std::move(came.columns[0]));
    nb::object array;
    try {
      array = answer(given);
    } catch (...) {
      raised = std::current_exception();
      throw;
    }
    const nb::object base = wanted.attr("base");
    array = numpy().attr("asarray")(array);
    const auto n = nb::cast<std::size_t>(array.attr("size"));
    if (n > 0 && would_lose(array.attr("dtype"), base))
      throw_usage("answers", fmt::format("of {} do not fit in {}", text(array.attr("dtype")), text(base)));
    const nb::object shape = nb::make_tuple(came.from.size()) + wanted.attr("shape");
    if (n > 0 ? !array.attr("shape").equal(shape) : nb::cast<std::size_t>(numpy().attr("prod")(shape)) != 0)
      throw_usage("answers", fmt::format("have shape {} and not {}", text(array.attr("shape")), text(shape)),
                  "give one answer for each request, in the same order");
    answers.add(array.attr("astype")(base).attr("reshape")(shape));
  });
  ReceivedRows back;
  try {
    back = send_rows(context, came.from, answers, Route::automatic, fault);
  } catch (const AgreedError&) {
    if (raised) std::rethrow_exception(raised);  // this rank raises the original exception
    throw;
  }
  // Answers arrive by ascending rank, and within a rank in the order of the requests.
  const nb::object sorted = answers.array(0, std::move(back.columns[0]));
  if (std::ranges::is_sorted(ranks)) return sorted;
  std::vector<std::int64_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return ranks[i]; });
  nb::object result = numpy().attr("empty_like")(sorted);
  result.attr("__setitem__")(copied(std::move(order)), sorted);
  return result;
}

struct SharersOfIds {
  std::vector<Rank> neighbours;
  std::vector<std::int64_t> offsets;
  std::vector<Rank> ranks;
  std::vector<std::int32_t> positions;
};

std::unique_ptr<SharersOfIds> shared_ids(const SharedContext& self, nb::handle ids) {
  std::vector<GlobalId> mine;
  const Status fault = look_at("ids", [&] { mine = ids_of(ids); });
  auto shared = std::make_unique<SharersOfIds>();
  const nb::gil_scoped_release unlocked;
  mpi::agree(*self.context, fault);
  const exchange::SharedIds found = exchange::find_shared_ids(*self.context, mine);
  shared->neighbours = found.neighbours;
  shared->offsets.assign(found.offsets.begin(), found.offsets.end());
  for (const exchange::Sharer& one : found.sharers) {
    shared->ranks.push_back(one.rank);
    shared->positions.push_back(static_cast<std::int32_t>(index(one.index)));
  }
  return shared;
}

}  // namespace

void bind_transfer(nb::module_& module) {
  nb::class_<SharersOfIds>(module, "SharedIds",
                           R"(Other ranks that have this rank's ids. Made by Context.shared_ids.

Id i is at `positions[k]` of the list of `ranks[k]`, for k from `offsets[i]` to `offsets[i + 1]`, by ascending rank.
This rank is among them if it lists the id twice.)")
      .def_prop_ro(
          "offsets", [](nb::handle_t<SharersOfIds> self) { return view(self, nb::cast<SharersOfIds&>(self).offsets); },
          nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]"),
          "First item of each id in `ranks` and `positions`; one longer than the ids.")
      .def_prop_ro(
          "ranks", [](nb::handle_t<SharersOfIds> self) { return view(self, nb::cast<SharersOfIds&>(self).ranks); },
          nb::sig("def ranks(self) -> numpy.typing.NDArray[numpy.int32]"),
          "Other ranks that have the id, ascending for each id.")
      .def_prop_ro(
          "positions",
          [](nb::handle_t<SharersOfIds> self) { return view(self, nb::cast<SharersOfIds&>(self).positions); },
          nb::sig("def positions(self) -> numpy.typing.NDArray[numpy.int32]"),
          "Position of the id in the list of that rank.")
      .def_prop_ro(
          "neighbours", [](const SharersOfIds& self) { return self.neighbours; },
          "Other ranks that share an id with this rank, ascending.");

  nb::class_<SharedContext>(module, "Context",
                            R"(Communication between any ranks of a communicator, which need not know each other before.

The constructor is collective over comm and duplicates it: make one and keep it. All methods are collective. A wrong
argument on one rank raises the same UsageError on all ranks.)")
      .def(
          "__init__",
          [](SharedContext* self, const CommArgument& comm) { new (self) SharedContext{make_context(comm)}; }, "comm"_a)
      .def_prop_ro(
          "rank", [](const SharedContext& self) { return self.context->rank(); },
          "Rank of this process in the communicator.")
      .def_prop_ro(
          "size", [](const SharedContext& self) { return self.context->size(); }, "Number of ranks.")
      .def(
          "transfer", &transfer, "to"_a, "arrays"_a, nb::kw_only(), "route"_a = "automatic",
          nb::sig("def transfer(self, to: numpy.typing.ArrayLike, *arrays: numpy.typing.ArrayLike, route: str = "
                  "'automatic') -> tuple[numpy.typing.NDArray[typing.Any], ...]"),
          R"(Send each row of the arrays to its rank in `to`. Returns the source rank of each received row, and the received
arrays, ordered by source and then as sent: the same in every run. All arrays have the same number of rows; dtypes and
other axes are the same on all ranks. Records are allowed. `route`: "counted" announces all counts first, for up to
some hundreds of ranks; "crystal" takes log2(P) messages; "direct" sends one to each receiver.)")
      .def(
          "ask", &ask, "to"_a, "requests"_a, "answer"_a, "dtype"_a,
          nb::sig("def ask(self, to: numpy.typing.ArrayLike, requests: numpy.typing.ArrayLike, answer: "
                  "collections.abc.Callable[[numpy.typing.NDArray[typing.Any]], typing.Any], dtype: "
                  "numpy.typing.DTypeLike) -> numpy.typing.NDArray[typing.Any]"),
          R"(Send each request to its rank in `to`, and return the answers in the same order. `answer` is called once on
every rank, with all received requests in one array; it returns an array of `dtype` with one answer for each ("3f8" is
three numbers per answer). If it raises on one rank, all others raise a UsageError that says so.)")
      .def(
          "mutual_neighbours",
          [](const SharedContext& self, const std::vector<Rank>& named) {
            const nb::gil_scoped_release unlocked;
            return exchange::mutual_neighbours(*self.context, named);
          },
          "named"_a,
          "Return all ranks that name this rank and all that it names, ascending. This makes the neighbours of an "
          "Exchange from lists that only one side knows.")
      .def("shared_ids", &shared_ids, "ids"_a,
           nb::sig("def shared_ids(self, ids: numpy.typing.ArrayLike) -> SharedIds"),
           "Find the other ranks that have this rank's ids: integers in any order, with any repetition. Negative ids "
           "are not shared.")
      .def("__repr__", [](const SharedContext& self) {
        return fmt::format("<barrio.Context of rank {} of {}>", self.context->rank(), self.context->size());
      });
}

}  // namespace barrio::python
