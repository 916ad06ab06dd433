#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/neighbor_collectives.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "bindings.hpp"
#include "messages.hpp"

namespace barrio::python {

using namespace nb::literals;

namespace {

using exchange::ByteRound;
using exchange::Neighborhood;
using exchange::NeighborhoodOptions;
using exchange::RoundOptions;
using exchange::Routing;
using exchange::Termination;

constexpr std::array<std::pair<const char*, Termination>, 5> terminations{
    {{"neighbourhood", Termination::neighbourhood},
     {"introductions", Termination::introductions},
     {"allreduce", Termination::allreduce},
     {"consensus", Termination::consensus},
     {"automatic", Termination::automatic}}};

constexpr std::array<std::pair<const char*, Routing>, 3> routings{
    {{"direct", Routing::direct}, {"by_node", Routing::by_node}, {"automatic", Routing::automatic}}};

/// A round of a neighbourhood and its progress.
struct OpenRound {
  using Range = decltype(std::declval<ByteRound&>().received());

  OpenRound(Neighborhood& hood, const RoundOptions& options) : round(hood.begin_byte_round(options)) {}
  ByteRound round;
  std::optional<Range::Iterator> now;  // the message handed out last
  bool is_closed = false;
};

/// Python's Exchange: a neighbourhood with its context and its open round.
class SharedExchange {
 public:
  /// Make it. Collective. All ranks hear which ranks gave wrong arguments.
  SharedExchange(const CommArgument& comm, std::span<const Rank> neighbours, const NeighborhoodOptions& options)
      : options_(options), context_(make_context(comm)) {
    const nb::gil_scoped_release unlocked;
    try {
      // Constructed without communication, only to check the neighbours.
      agree_after(*context_, [&] { const Neighborhood alone(*context_, neighbours); });
      hood_ = std::make_unique<Neighborhood>(*context_, neighbours, options);
    } catch (const AgreedError&) {
      context_.reset();  // every rank is here: the communicator can be freed
      throw;
    }
  }
  SharedExchange(const SharedExchange&) = delete;
  SharedExchange& operator=(const SharedExchange&) = delete;
  ~SharedExchange() {
    if (open_) discard();
  }

  [[nodiscard]] Neighborhood& hood() const {
    if (!hood_)
      throw_usage("exchange", "was left in the middle of a round, and its neighbours wait for the rest",
                  "end the job; catch expected errors inside the with block of the round");
    return *hood_;
  }
  [[nodiscard]] Neighborhood& between_rounds() const {
    if (open_)
      throw_usage("exchange", fmt::format("is still in round {}", hood().epoch()),
                  "read that round to its end with received() or collect()");
    return hood();
  }
  OpenRound& begin(const RoundOptions& options) {
    Neighborhood& hood = between_rounds();
    const nb::gil_scoped_release unlocked;
    open_ = std::make_unique<OpenRound>(hood, options);
    return *open_;
  }
  /// Forget the round, which was read to its end.
  void end() noexcept { open_.reset(); }
  /// Drop the round and the rest as an exception would: C++ does not see Python's exceptions. MPI may still write into
  /// posted buffers, and other ranks may not be here to free a communicator.
  void discard() noexcept {
    struct Unwinding {};
    struct Drop {
      SharedExchange& exchange;
      ~Drop() {
        exchange.open_.reset();
        exchange.hood_.reset();
        exchange.context_.reset();
      }
    };
    try {
      const Drop drop{*this};
      throw Unwinding{};
    } catch (const Unwinding&) {  // NOLINT: nothing is left to do
    }
  }
  /// Cancel the round, as all neighbours do, and keep the exchange.
  void cancel() {
    Neighborhood& hood = this->hood();
    const nb::gil_scoped_release unlocked;
    struct Unwinding {};
    try {
      const std::unique_ptr<OpenRound> dropped =
          std::move(open_);  // by an exception: dropped in any other way, an open round counts as a bug
      throw Unwinding{};
    } catch (const Unwinding&) {  // NOLINT: the cancellation follows
    }
    hood.cancel_round();
  }
  [[nodiscard]] bool is_in(const OpenRound* round) const noexcept { return round != nullptr && open_.get() == round; }
  [[nodiscard]] const NeighborhoodOptions& options() const noexcept { return options_; }

  /// Refuse a rank that cannot be sent to, in Python's terms and before a round begins.
  void check_peer(Rank to, const RoundOptions& options) const {
    const mpi::Context& context = hood().context();
    if (to < 0 || to >= context.size())
      throw_usage(fmt::format("rank {}", to), "is not a rank of this job",
                  fmt::format("ranks are 0 .. {}", context.size() - 1));
    if (options.termination.value_or(options_.termination) != Termination::neighbourhood || to == context.rank())
      return;
    if (!std::ranges::binary_search(hood().neighbours(), to))
      throw_usage(fmt::format("rank {}", to), fmt::format("is not a neighbour of rank {}", context.rank()),
                  "list each in the neighbours of the other, or use termination=\"introductions\"");
  }

 private:
  NeighborhoodOptions options_;
  std::unique_ptr<mpi::Context> context_;
  std::unique_ptr<Neighborhood> hood_;
  std::unique_ptr<OpenRound> open_;
};

template <void (Neighborhood::*change)(std::span<const Rank>)>
void change_neighbours(SharedExchange& exchange, const std::vector<Rank>& neighbours) {
  Neighborhood& hood = exchange.between_rounds();
  const nb::gil_scoped_release unlocked;
  (hood.*change)(neighbours);
}

using ExchangePointer = std::shared_ptr<SharedExchange>;

/// Return the bytes. @throws Error{usage} if they are not whole items of this rank's dtype
std::span<const std::byte> whole_items(nb::handle dtype, Rank from, std::span<const std::byte> bytes) {
  if (bytes.size() % nb::cast<std::size_t>(dtype.attr("itemsize")) != 0)
    throw_usage(fmt::format("message of {} bytes from rank {}", bytes.size(), from),
                fmt::format("is not a multiple of {}", text(dtype)), "begin the round with one dtype on all ranks");
  return bytes;
}

/// Python's Round: its messages are arrays of one dtype.
class PythonRound {
 public:
  using Message = std::pair<Rank, nb::object>;

  PythonRound(ExchangePointer exchange, nb::handle dtype, const RoundOptions& options)
      : exchange_(std::move(exchange)),
        dtype_(checked_dtype(dtype)),
        options_(options),
        epoch_(exchange_->hood().epoch()) {
    open_ = &exchange_->begin(options);
  }
  PythonRound(const PythonRound&) = delete;
  PythonRound& operator=(const PythonRound&) = delete;
  ~PythonRound() { discard(); }

  void send(Rank to, nb::handle data) {
    if (open_ == nullptr || still_open().is_closed)
      throw_usage(fmt::format("round {}", epoch_), "is closed for sending",
                  "send before the end of its with block, and before received() and collect()");
    exchange_->check_peer(to, options_);
    put(to, packed(data, dtype_));
  }
  /// Write one message. @pre `words` has contiguous bytes of whole elements, and `to` may be sent to
  void put(Rank to, nb::handle words) {
    const Bytes bytes(words, PyBUF_SIMPLE);
    const nb::gil_scoped_release unlocked;  // waits while there is no room
    const std::span<std::byte> place = open_->round.allocate(to, bytes.size());
    if (bytes.size() > 0) std::memcpy(place.data(), bytes.data(), bytes.size());
  }
  void close() {
    if (open_ == nullptr || still_open().is_closed) return;
    const nb::gil_scoped_release unlocked;
    open_->round.close();
    open_->is_closed = true;
  }
  /// Cancel the round, as all neighbours do, and keep the exchange.
  void cancel() {
    if (open_ == nullptr) return;
    static_cast<void>(still_open());
    exchange_->cancel();
    open_ = nullptr;
  }
  /// Discard the round, unless it was read to its end.
  void discard() noexcept {
    if (exchange_->is_in(open_)) exchange_->discard();
    open_ = nullptr;
  }
  /// Return the next message, or nothing at the end.
  std::optional<Message> next() {
    close();
    if (open_ == nullptr) return {};
    bool is_over = true;
    try {
      const nb::gil_scoped_release unlocked;
      if (open_->now) {
        ++*open_->now;
      } else {
        open_->now.emplace(open_->round.received().begin());
      }
      is_over = *open_->now == std::default_sentinel;
    } catch (const Error&) {  // an error ends the round
      end();
      throw;
    }
    if (is_over) {
      end();
      return {};
    }
    const auto [from, bytes] = **open_->now;
    return Message{from, array_of(from, bytes)};
  }
  std::vector<Message> collect() {
    std::vector<Message> all;
    while (auto message = next()) all.push_back(std::move(*message));
    std::ranges::stable_sort(all, {}, &Message::first);
    return all;
  }
  [[nodiscard]] nb::object dtype() const { return dtype_; }
  [[nodiscard]] std::string describe() const {
    const bool is_open = exchange_->is_in(open_);
    return fmt::format("<barrio.Round {} of {}, {}>", epoch_, text(dtype_),
                       !is_open ? "over" : (open_->is_closed ? "receiving" : "sending"));
  }

 private:
  [[nodiscard]] const OpenRound& still_open() const {
    if (!exchange_->is_in(open_)) static_cast<void>(exchange_->hood());  // throws: it was discarded
    return *open_;
  }
  void end() noexcept {
    exchange_->end();
    open_ = nullptr;
  }
  [[nodiscard]] nb::object array_of(Rank from, std::span<const std::byte> bytes) const {
    return python::array_of(dtype_, whole_items(dtype_, from, bytes));
  }

  ExchangePointer exchange_;
  nb::object dtype_;
  RoundOptions options_;
  std::uint64_t epoch_;
  OpenRound* open_ = nullptr;  // owned by the exchange; null once read to the end
};

/// Run one round with at most one message to and from each rank.
nb::dict exchange_once(const ExchangePointer& exchange, nb::handle messages, nb::handle dtype) {
  const nb::object checked = checked_dtype(dtype);
  std::vector<PythonRound::Message> packed_messages;  // before the round, so that no rank waits after an error
  for (const nb::handle item : messages.attr("items")()) {
    const auto to = nb::cast<Rank>(item[0]);
    exchange->check_peer(to, {});
    packed_messages.emplace_back(to, packed(item[1], checked));
  }
  PythonRound round(exchange, checked, {});
  for (const auto& [to, words] : packed_messages) round.put(to, words);
  nb::dict received;
  Rank last = -1;
  std::optional<Rank> twice;
  for (auto& [from, array] : round.collect()) {
    if (from == last) twice = from;
    last = from;
    received[nb::int_(from)] = std::move(array);
  }
  if (twice)
    throw_usage(fmt::format("rank {}", *twice), "sent more than one message", "use round() to receive several");
  return received;
}

RoundOptions round_options(const std::optional<std::string>& termination, std::uint32_t packet_bytes) {
  RoundOptions options{.packet_bytes = packet_bytes};
  if (termination) options.termination = find_value(terminations, "termination", *termination);
  return options;
}

nb::dict by_source(nb::handle dtype, const exchange::Parcels<std::byte>& lists) {
  nb::dict all;
  for (std::size_t i = 0; i < lists.n_peers(); ++i)
    all[nb::int_(lists.peers[i])] = array_of(dtype, whole_items(dtype, lists.peers[i], lists.of(i)));
  return all;
}

nb::dict neighbor_broadcast(SharedExchange& exchange, nb::handle data, nb::handle dtype) {
  Neighborhood& hood = exchange.between_rounds();
  const nb::object checked = checked_dtype(dtype);
  const nb::object words = data.is_none() ? nb::object() : packed(data, checked);
  std::optional<Bytes> bytes;
  std::optional<std::span<const std::byte>> mine;
  if (words.is_valid()) mine = bytes.emplace(words, PyBUF_SIMPLE).span();
  exchange::Parcels<std::byte> came;
  {
    const nb::gil_scoped_release unlocked;
    came = exchange::neighbor_broadcastv<std::byte>(hood, mine);
  }
  return by_source(checked, came);
}

nb::dict neighbor_allgather(SharedExchange& exchange, nb::handle data, nb::handle dtype) {
  Neighborhood& hood = exchange.between_rounds();
  const nb::object checked = checked_dtype(dtype);
  const nb::object words = packed(data, checked);
  const Bytes bytes(words, PyBUF_SIMPLE);
  exchange::Parcels<std::byte> came;
  {
    const nb::gil_scoped_release unlocked;
    came = exchange::neighbor_allgatherv<std::byte>(hood, bytes.span());
  }
  return by_source(checked, came);
}

nb::object neighbor_allreduce(SharedExchange& exchange, nb::handle values, const std::string& op) {
  Neighborhood& hood = exchange.between_rounds();
  const nb::object copy = numpy().attr("array")(values, "copy"_a = true, "order"_a = "C");
  with_values(copy, "values", [&]<class T>(std::span<T> all) {
    with_operation(op, [&](auto combine) {
      const nb::gil_scoped_release unlocked;
      exchange::neighbor_allreduce(hood, all, combine);
    });
  });
  return copy;
}

}  // namespace

void bind_exchange(nb::module_& module) {
  nb::class_<PythonRound>(module, "Round",
                          R"(One round of an Exchange: all ranks send, then all receive. All methods are local.

The end of its `with` block closes a round for sending; read it to its end before the next one. Arrays are copied once
when sent and once when received: you may change a sent array at once, and received arrays are yours. If the block
raises, the round and its Exchange are discarded, since other ranks do not get the messages that they wait for.)")
      .def("send", &PythonRound::send, "to"_a, "data"_a, nb::sig("def send(self, to: int, data: typing.Any) -> None"),
           "Send one message to a rank: bytes, or anything that numpy converts to an array. It arrives flat. Raises "
           "UsageError if the round's dtype cannot hold it or that rank may not be sent to.")
      .def(
          "received",
          [](nb::handle_t<PythonRound> self) -> nb::object {
            nb::cast<PythonRound&>(self).close();
            return nb::borrow(self);
          },
          nb::sig("def received(self) -> collections.abc.Iterator[tuple[int, numpy.typing.NDArray[typing.Any]]]"),
          "Iterate over messages as (source, array), in order of arrival. Closes the round for sending, and waits for "
          "messages until the round is over.")
      .def("collect", &PythonRound::collect,
           nb::sig("def collect(self) -> list[tuple[int, numpy.typing.NDArray[typing.Any]]]"),
           "Return all messages, by ascending source and then in the order sent: the same in every run.")
      .def("cancel", &PythonRound::cancel,
           "Drop this round with all its messages, and keep the Exchange. All neighbours must do the same, as after "
           "an error that all ranks know of; a neighbour that reads on instead gets an error.")
      .def_prop_ro("dtype", &PythonRound::dtype, nb::sig("def dtype(self) -> numpy.dtype"),
                   "Type of the items of all messages.")
      .def(
          "__iter__", [](nb::handle_t<PythonRound> self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[tuple[int, numpy.typing.NDArray[typing.Any]]]"))
      .def(
          "__next__",
          [](PythonRound& self) {
            auto message = self.next();
            if (!message) throw nb::stop_iteration();
            return std::move(*message);
          },
          nb::sig("def __next__(self) -> tuple[int, numpy.typing.NDArray[typing.Any]]"))
      .def(
          "__enter__", [](nb::handle_t<PythonRound> self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Round"))
      .def("__exit__", &leave<PythonRound>, "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
           nb::sig(leave_signature))
      .def("__repr__", &PythonRound::describe);

  nb::class_<SharedExchange>(module, "Exchange",
                             R"(Exchange arrays with a few neighbours in rounds, without collective calls.

The constructor is collective over comm. Neighbours are mutual: each rank lists the ranks that list it. A round costs
at least one message per neighbour. `termination` decides which ranks may be sent to: "neighbourhood" only neighbours,
"introductions" their neighbours too, "automatic" the same by the cheaper method, "allreduce" and "consensus" any
rank, with a collective call in every round. A rank that is met becomes a neighbour. A rank that hears nothing for
`stall_warning_seconds` prints the ranks that it waits for, and ends the job after `stall_limit_seconds` (0: never).
`routing` decides how messages travel between nodes: "direct", "by_node" as one message for each pair of nodes, or
"automatic", whichever costs less.)")
      .def(
          "__init__",
          [](SharedExchange* self, const CommArgument& comm, const std::vector<Rank>& neighbours,
             const std::string& termination, const std::string& routing, std::uint32_t packet_bytes,
             std::uint32_t ring_depth, bool keeps_discovered, double stall_warning_seconds,
             double stall_limit_seconds) {
            new (self) SharedExchange(comm, neighbours,
                                      {.packet_bytes = packet_bytes,
                                       .ring_depth = ring_depth,
                                       .termination = find_value(terminations, "termination", termination),
                                       .routing = find_value(routings, "routing", routing),
                                       .keeps_discovered = keeps_discovered,
                                       .stall_warning_seconds = stall_warning_seconds,
                                       .stall_limit_seconds = stall_limit_seconds});
          },
          "comm"_a, "neighbours"_a, nb::kw_only(), "termination"_a = "neighbourhood", "routing"_a = "direct",
          "packet_bytes"_a = 0, "ring_depth"_a = 0, "keeps_discovered"_a = true, "stall_warning_seconds"_a = 30.0,
          "stall_limit_seconds"_a = 3600.0)
      .def(
          "round",
          [](const ExchangePointer& self, nb::handle dtype, const std::optional<std::string>& termination,
             std::uint32_t packet_bytes) {
            return std::make_unique<PythonRound>(self, dtype, round_options(termination, packet_bytes));
          },
          "dtype"_a, nb::kw_only(), "termination"_a = nb::none(), "packet_bytes"_a = 0,
          nb::sig("def round(self, dtype: numpy.typing.DTypeLike, *, termination: str | None = None, packet_bytes: int "
                  "= 0) -> Round"),
          "Begin a round of arrays of one dtype, the same on all ranks: any dtype without Python objects, including "
          "records. `termination` and `packet_bytes` hold for this round only and are the same on all ranks; the "
          "Exchange has the defaults. Local; but the first use of a termination other than the Exchange's is "
          "collective. Raises UsageError if the previous round was not read to its end.")
      .def("exchange", &exchange_once, "messages"_a, "dtype"_a,
           nb::sig("def exchange(self, messages: collections.abc.Mapping[int, typing.Any], dtype: "
                   "numpy.typing.DTypeLike) -> dict[int, numpy.typing.NDArray[typing.Any]]"),
           "Run one round with at most one message to each rank. Returns the messages received, by ascending source. "
           "Ranks without a message call it with {}.")
      .def_prop_ro(
          "neighbours",
          [](const SharedExchange& self) {
            const auto all = self.hood().neighbours();
            return std::vector<Rank>(all.begin(), all.end());
          },
          "Ranks of the neighbours, ascending.")
      .def("set_neighbours", &change_neighbours<&Neighborhood::set_neighbours>, "neighbours"_a,
           "Replace this rank's neighbours from the next round on. Local. The neighbours must do the same, or both "
           "sides wait for ever.")
      .def("add_neighbours", &change_neighbours<&Neighborhood::add_neighbours>, "neighbours"_a,
           "Add neighbours from the next round on. Otherwise as set_neighbours.")
      .def(
          "drop_idle_neighbours",
          [](SharedExchange& self, std::uint64_t n_rounds) {
            Neighborhood& hood = self.between_rounds();
            const nb::gil_scoped_release unlocked;
            return hood.drop_idle_neighbours(n_rounds);
          },
          "n_rounds"_a,
          "Remove and return the neighbours without any message to or from them in the last `n_rounds` rounds. Local. "
          "All ranks must call it after the same round with the same number.")
      .def("neighbor_allgather", &neighbor_allgather, "data"_a, "dtype"_a,
           nb::sig("def neighbor_allgather(self, data: typing.Any, dtype: numpy.typing.DTypeLike) -> dict[int, "
                   "numpy.typing.NDArray[typing.Any]]"),
           "Send one array to all neighbours and return theirs, which may have other lengths, by ascending source. "
           "This rank's own array is not included. One round.")
      .def("neighbor_broadcast", &neighbor_broadcast, "data"_a.none(), "dtype"_a,
           nb::sig("def neighbor_broadcast(self, data: typing.Any | None, dtype: numpy.typing.DTypeLike) -> dict[int, "
                   "numpy.typing.NDArray[typing.Any]]"),
           "Send one array to all neighbours from each rank that has one; the others give None. Returns the arrays "
           "received, by ascending source. One round.")
      .def("neighbor_allreduce", &neighbor_allreduce, "values"_a, "op"_a = "sum",
           nb::sig("def neighbor_allreduce(self, values: numpy.typing.ArrayLike, op: str = 'sum') -> "
                   "numpy.typing.NDArray[typing.Any]"),
           "Combine this rank's values with those of all neighbours, element by element, in ascending order of ranks: "
           "the same bits in every run. One round. Every rank gives the same number of values, of float64, float32, "
           "int64 or int32. `op`: sum, product, min, max.")
      .def(
          "validate",
          [](SharedExchange& self) {
            const Neighborhood& hood = self.between_rounds();
            const nb::gil_scoped_release unlocked;
            hood.validate();
          },
          "Check that neighbours are mutual. Collective. Raises Error on all ranks that names a pair that is not.")
      .def_prop_ro(
          "epoch", [](const SharedExchange& self) { return self.hood().epoch(); }, "Number of rounds done.")
      .def_prop_ro(
          "memory_bytes", [](const SharedExchange& self) { return self.hood().memory_bytes(); },
          "Bytes of buffers and lists on this rank.")
      .def("__repr__", [](const SharedExchange& self) {
        const Neighborhood& hood = self.hood();
        return fmt::format("<barrio.Exchange of rank {} of {} with {} neighbours, {} rounds done>",
                           hood.context().rank(), hood.context().size(), hood.neighbours().size(), hood.epoch());
      });
}

}  // namespace barrio::python
