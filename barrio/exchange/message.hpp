#pragma once

/// @file Write several arrays into one message and read them back in place.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Message of arrays, one after the other, each preceded by its length and padded to 8 bytes. Local.
/// Send its bytes in a `ByteRound`, in `Parcels<std::byte>`, or in any other way that keeps them aligned.
class MessageWriter {
 public:
  /// Add an array, by a copy of its items.
  template <mpi::Trivial T>
  void put(const std::vector<T>& items) {
    put(std::span<const T>(items));
  }
  /// Add an array, by a copy of its items.
  template <mpi::Trivial T>
  void put(std::span<const T> items) {
    const std::uint64_t n = items.size();
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof n + padded(items.size_bytes()));
    std::memcpy(&bytes_[at], &n, sizeof n);
    if (!items.empty()) std::memcpy(&bytes_[at + sizeof n], items.data(), items.size_bytes());
  }
  /// Reserve space for items that are written in place. @return valid until the next call
  template <mpi::Trivial T>
  std::span<T> put_room(std::size_t n_items) {
    const std::uint64_t n = n_items;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof n + padded(n_items * sizeof(T)));
    std::memcpy(&bytes_[at], &n, sizeof n);
    return {reinterpret_cast<T*>(bytes_.data() + at + sizeof n), n_items};
  }
  /// Return the message so far; valid until the next call that adds or clears.
  [[nodiscard]] std::span<const std::byte> bytes() const& noexcept { return bytes_; }
  /// Begin an empty message; the memory stays.
  void clear() noexcept { bytes_.clear(); }

 private:
  friend class MessageReader;
  static constexpr std::size_t padded(std::size_t n) noexcept { return (n + 7U) & ~std::size_t{7}; }
  std::vector<std::byte> bytes_;
};

/// Reader of such a message: same order and types, in place. Spans live as long as the message. Local.
/// @pre the message is aligned to 8 bytes
class MessageReader {
 public:
  MessageReader() = default;
  /// Read a message from its start. @param bytes  borrowed as long as the reader and its spans are used
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// Return the next array, in place. @pre it was put with this type
  template <mpi::Trivial T>
  [[nodiscard]] std::span<const T> get() {
    std::uint64_t n = 0;
    std::memcpy(&n, &bytes_[at_], sizeof n);
    const auto* first = reinterpret_cast<const T*>(bytes_.data() + at_ + sizeof n);
    at_ += sizeof n + MessageWriter::padded(n * sizeof(T));
    return {first, n};
  }
  /// Tell whether everything was read.
  [[nodiscard]] bool done() const noexcept { return at_ >= bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace barrio::exchange
