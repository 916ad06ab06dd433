#pragma once

/// @file Typed collectives that yield the core while they wait.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

// Every collective here is started non-blocking and completed by the context's wait policy. Ranks that outnumber the
// cores then do not spin against each other.

namespace barrio::mpi {

/// Wait for all ranks. Collective.
void barrier(Context& context);

namespace detail {
void all_reduce(Context& context, void* items, std::size_t n, MPI_Datatype type, MPI_Op op);
void exclusive_scan(Context& context, const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op op);
void broadcast(Context& context, void* bytes, std::size_t n_bytes, Rank root);
void all_gather(Context& context, const void* in, std::size_t n_bytes, void* out);
void all_to_all(Context& context, const void* in, std::size_t n_bytes, void* out);
}  // namespace detail

/// Reduce items over all ranks, in place, with the result on all ranks. Collective. Cost: O(log P) messages.
template <Builtin T>
void all_reduce(Context& context, std::span<T> items, MPI_Op op) {
  detail::all_reduce(context, items.data(), items.size(), datatype<T>(), op);
}
/// Reduce one item over all ranks. Collective. @return the result, on all ranks
template <Builtin T>
[[nodiscard]] T all_reduce(Context& context, T item, MPI_Op op) {
  detail::all_reduce(context, &item, 1, datatype<T>(), op);
  return item;
}
/// Sum over all ranks. Collective. The order of floating-point additions is MPI's: use it for integers or for numbers
/// that are only shown.
template <Builtin T>
[[nodiscard]] T sum(Context& context, T item) {
  return all_reduce(context, item, MPI_SUM);
}
/// Return the smallest of the items of all ranks. Collective.
template <Builtin T>
[[nodiscard]] T min(Context& context, T item) {
  return all_reduce(context, item, MPI_MIN);
}
/// Return the largest of the items of all ranks. Collective.
template <Builtin T>
[[nodiscard]] T max(Context& context, T item) {
  return all_reduce(context, item, MPI_MAX);
}

/// Sum the items of all lower ranks; 0 on rank 0. Collective.
template <Builtin T>
[[nodiscard]] T exclusive_sum(Context& context, T item) {
  T before{};
  detail::exclusive_scan(context, &item, &before, 1, datatype<T>(), MPI_SUM);
  return context.rank() == 0 ? T{} : before;
}

/// Sum each of several items over all lower ranks, in place; 0 on rank 0. Collective.
template <Builtin T>
void exclusive_sum(Context& context, std::span<T> items) {
  std::vector<T> before(items.size(), T{});
  detail::exclusive_scan(context, items.data(), before.data(), items.size(), datatype<T>(), MPI_SUM);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = context.rank() == 0 ? T{} : before[i];
}

/// Compute the maximum of each of several items over all lower ranks, in place; `lowest` on rank 0. Collective.
template <Builtin T>
void exclusive_max(Context& context, std::span<T> items, T lowest) {
  std::vector<T> before(items.size(), lowest);
  detail::exclusive_scan(context, items.data(), before.data(), items.size(), datatype<T>(), MPI_MAX);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = context.rank() == 0 ? lowest : before[i];
}

/// Broadcast items from `root` to all ranks; every rank passes the same size. Collective.
template <Trivial T>
void broadcast(Context& context, std::span<T> items, Rank root = 0) {
  detail::broadcast(context, items.data(), items.size_bytes(), root);
}
/// Broadcast a text of any length from `root` to all ranks. Collective.
void broadcast(Context& context, std::string& text, Rank root = 0);
/// Broadcast a vector of any length from `root` to all ranks. Collective.
template <Trivial T>
void broadcast(Context& context, std::vector<T>& items, Rank root = 0) {
  std::uint64_t n = items.size();
  detail::broadcast(context, &n, sizeof n, root);
  items.resize(n);
  detail::broadcast(context, items.data(), n * sizeof(T), root);
}

/// Gather one item of each rank on all ranks. Collective. Memory O(P) on every rank: for reports and tests.
template <Trivial T>
[[nodiscard]] std::vector<T> all_gather(Context& context, const T& item) {
  std::vector<T> all(context.size());
  detail::all_gather(context, &item, sizeof(T), all.data());
  return all;
}

/// Send one item to each rank and receive one from each. Collective. Memory O(P) on every rank: for few ranks.
/// @param out  one item per rank @return one item per rank
template <Trivial T>
[[nodiscard]] std::vector<T> all_to_all(Context& context, std::span<const T> out) {
  std::vector<T> in(out.size());
  detail::all_to_all(context, out.data(), sizeof(T), in.data());
  return in;
}

/// Merge one text of each rank up a binomial tree to rank 0. Collective.
/// @param merge  joins the text merged so far with that of a higher rank; its size should not grow with P
/// @return the merged text on rank 0, empty elsewhere. Cost: a tree of O(log P) levels of messages.
std::string reduce_to_root(Context& context, std::string mine,
                           const std::function<std::string(std::string, std::string)>& merge);

}  // namespace barrio::mpi
