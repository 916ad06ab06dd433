#pragma once

/// @file Typed sends and receives, with requests that own their buffers.

#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mpi {

namespace detail {
struct BeginRequest;
void check_whole_items(std::size_t bytes, std::size_t item_bytes, Rank from, int tag);
}  // namespace detail

/// Message in flight and its buffer, until `wait()`. Move-only.
/// To drop it before it is complete is a bug and ends the job, unless an exception is in flight.
template <Trivial T>
class [[nodiscard]] Request {
 public:
  Request(Request&& other) noexcept
      : context_(other.context_),
        request_(std::exchange(other.request_, MPI_REQUEST_NULL)),
        items_(std::move(other.items_)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(request_, other.request_);
    std::swap(items_, other.items_);
    return *this;
  }
  ~Request() {
    if (request_ == MPI_REQUEST_NULL) return;
    if (std::uncaught_exceptions() > 0) {
      items_.release();  // NOLINT: MPI may still write there, so the buffer must outlive the message
      return;
    }
    BARRIO_ASSERT(cheap, request_ == MPI_REQUEST_NULL && "a message was dropped before wait()");
  }

  /// Complete the message. Local, blocks. @return the buffer: the items received, or those sent
  std::vector<T> wait() {
    BARRIO_ASSERT(cheap, items_ != nullptr && "wait() on a request that was moved from");
    mpi::wait(request_, context_->wait_policy());
    return std::move(*items_);
  }
  /// Test whether the message is complete. Local. After true, `wait()` returns at once.
  bool test() {
    if (request_ == MPI_REQUEST_NULL) return true;  // the simulator's MPI_Test returns false here
    int done = 0;
    check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

 private:
  friend struct detail::BeginRequest;  // functions as friends have constraints, which clang 16 does not accept
  Request(Context& context, std::vector<T> items)
      : context_(&context), items_(std::make_unique<std::vector<T>>(std::move(items))) {}

  Context* context_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::vector<T>> items_;
};

namespace detail {
struct BeginRequest {
  template <Trivial T>
  static Request<T> send(Context& context, std::vector<T> items, Rank to, int tag) {
    Request<T> made(context, std::move(items));
    const std::size_t bytes = made.items_->size() * sizeof(T);
    check(MPI_Isend(made.items_->data(), as_count(bytes), MPI_BYTE, to, tag, context.comm(), &made.request_),
          "MPI_Isend");
    context.counters().messages_sent += 1;
    context.counters().bytes_sent += bytes;
    return made;
  }
  template <Trivial T>
  static Request<T> receive(Context& context, std::size_t n, Rank from, int tag) {
    Request<T> made(context, std::vector<T>(n));
    check(MPI_Irecv(made.items_->data(), as_count(n * sizeof(T)), MPI_BYTE, from, tag, context.comm(), &made.request_),
          "MPI_Irecv");
    context.counters().messages_received += 1;
    context.counters().bytes_received += n * sizeof(T);
    return made;
  }
};
}  // namespace detail

/// Start sending items; the request keeps them. Local.
/// @throws Error{internal} above 2^31 - 1 bytes in one message
template <Trivial T>
Request<T> begin_send(Context& context, std::vector<T> items, Rank to, int tag) {
  return detail::BeginRequest::send(context, std::move(items), to, tag);
}

/// Start receiving exactly `n` items. Local.
template <Trivial T>
Request<T> begin_receive(Context& context, std::size_t n, Rank from, int tag) {
  return detail::BeginRequest::receive<T>(context, n, from, tag);
}

/// Send items and wait until the buffer is free. Local, blocks.
template <Trivial T>
void send(Context& context, std::span<const T> items, Rank to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(items.data(), as_count(items.size_bytes()), MPI_BYTE, to, tag, context.comm(), &request),
        "MPI_Isend");
  context.counters().messages_sent += 1;
  context.counters().bytes_sent += items.size_bytes();
  wait(request, context.wait_policy());
}

/// Wait for a message of unknown length from one rank, without receiving it. Local, blocks. @return its length in bytes
std::size_t probe_bytes(Context& context, Rank from, int tag);

/// Receive a message of any length from one rank. Local, blocks.
/// @throws Error{internal} if it is not a whole number of items; the message is not received then
template <Trivial T>
std::vector<T> receive(Context& context, Rank from, int tag) {
  const std::size_t bytes = probe_bytes(context, from, tag);
  detail::check_whole_items(bytes, sizeof(T), from, tag);
  std::vector<T> items(bytes / sizeof(T));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(items.data(), static_cast<int>(bytes), MPI_BYTE, from, tag, context.comm(), &request), "MPI_Irecv");
  wait(request, context.wait_policy());
  context.counters().messages_received += 1;
  context.counters().bytes_received += bytes;
  return items;
}

}  // namespace barrio::mpi
