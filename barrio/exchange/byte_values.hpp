#pragma once

/// @file Values of varying length, or absent, packed into a message and read in place.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/message.hpp"

namespace barrio::exchange {

/// Values for a message, each of any number of bytes or absent: lengths first, then all bytes. A length common to all
/// is stored once. Local.
class ByteValues {
 public:
  /// Add a value. @throws Error{failed} for 2 GiB or more
  void add(std::span<const std::byte> value) {
    if (value.size() > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorCode::failed,
                  {.subject = "a value in a message",
                   .cause = fmt::format("has {} bytes; it must be shorter than 2 GiB", value.size())});
    add_size(static_cast<std::int32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  /// Add an entry without a value.
  void add_nothing() { add_size(nothing); }
  /// Return the number of entries, those without a value too.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }

  /// Write all entries to a message, where a ByteValuesView reads them.
  void put_into(MessageWriter& message) const {
    const Head head{static_cast<std::int64_t>(n_), sizes_.empty() ? size_ : varies};
    message.put(std::span(&head, 1));
    message.put(sizes_);
    message.put(bytes_);
  }

 private:
  friend class ByteValuesView;
  static constexpr std::int32_t nothing = -1;
  static constexpr std::int64_t varies = -2;
  struct Head {
    std::int64_t n;
    std::int64_t size;  // of each value, or `varies`
  };
  void add_size(std::int32_t size) {
    if (n_ == 0) size_ = size;
    if (size != size_ && sizes_.empty()) sizes_.assign(n_, size_);
    n_ += 1;
    if (!sizes_.empty()) sizes_.push_back(size);
  }

  std::size_t n_ = 0;
  std::int32_t size_ = nothing;      // of the first value
  std::vector<std::int32_t> sizes_;  // empty while all have one length
  std::vector<std::byte> bytes_;
};

/// View of the values in a message, read in place and in any order. It lives as long as the message. Local. Cost: O(n)
/// if lengths vary, else O(1).
class ByteValuesView {
 public:
  /// Read the entries that `ByteValues::put_into` wrote at this place of the message; the reader moves past them.
  explicit ByteValuesView(MessageReader& message) {
    const ByteValues::Head head = message.get<ByteValues::Head>()[0];
    n_ = head.n;
    size_ = head.size;
    sizes_ = message.get<std::int32_t>();
    bytes_ = message.get<std::byte>();
    if (size_ != ByteValues::varies) return;
    offsets_.reserve(n_);
    std::size_t at = 0;
    for (const std::int32_t size : sizes_) {
      offsets_.push_back(at);
      if (size > 0) at += size;
    }
  }
  /// Return the number of entries, those without a value too.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// Tell whether the i-th entry has a value; a value may have no bytes.
  [[nodiscard]] bool has(std::size_t i) const noexcept {
    return (size_ == ByteValues::varies ? sizes_[i] : size_) != ByteValues::nothing;
  }
  /// Return the i-th value. @pre it has one
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const noexcept {
    if (size_ != ByteValues::varies) {
      const std::size_t size = size_;
      return bytes_.subspan(i * size, size);
    }
    return bytes_.subspan(offsets_[i], sizes_[i]);
  }

 private:
  std::size_t n_ = 0;
  std::int64_t size_ = 0;
  std::span<const std::int32_t> sizes_;
  std::span<const std::byte> bytes_;
  std::vector<std::size_t> offsets_;  // if lengths vary
};

}  // namespace barrio::exchange
