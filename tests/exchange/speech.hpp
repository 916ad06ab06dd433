#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

/// Return a pseudo-random number from the seed of the run and the purpose. The same on every rank.
inline std::uint64_t number(std::initializer_list<std::uint64_t> purpose) {
  Hash64 hash(seed());
  for (const std::uint64_t word : purpose) hash.add(word);
  return hash.value();
}
inline std::uint64_t word(int i) { return i; }

/// An item of any size, without padding.
template <std::size_t n>
struct Blob {
  std::array<unsigned char, n> bytes;
  bool operator==(const Blob&) const = default;
};

/// Fill bytes from a number; equal numbers give equal bytes.
inline void fill(std::span<std::byte> bytes, std::uint64_t from) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8U) {
    if (i % 8 == 0) word = mix64(from + i);
    bytes[i] = static_cast<std::byte>(word & 0xffU);
  }
}
template <class T>
T filled(std::uint64_t from) {
  T item;
  fill(std::as_writable_bytes(std::span(&item, 1)), from);
  return item;
}

enum class Graph { none, ring, all, random };
inline constexpr std::array all_graphs{Graph::none, Graph::ring, Graph::all, Graph::random};

/// Tell whether two ranks are neighbours. Symmetric, and the same on all ranks.
inline bool are_neighbours(Graph graph, Rank a, Rank b, int n_ranks) {
  if (a == b || graph == Graph::none) return false;
  if (graph == Graph::ring) return (a + 1) % n_ranks == b || (b + 1) % n_ranks == a;
  return graph == Graph::all || number({99, word(std::min(a, b)), word(std::max(a, b))}) % 2 == 0;
}
inline std::vector<Rank> neighbours_of(Graph graph, Rank rank, int n_ranks) {
  std::vector<Rank> neighbours;
  for (Rank other = n_ranks - 1; other >= 0; --other)  // any order is legal
    if (are_neighbours(graph, rank, other, n_ranks)) neighbours.push_back(other);
  return neighbours;
}

/// Return the message of a call that must be refused.
template <class Act>
std::string error_of(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace barrio::test
