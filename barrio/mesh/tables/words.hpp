#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// Write records of varying length as 64-bit words.
class WordWriter {
 public:
  void put(std::int64_t word) { words_.push_back(word); }
  void put(GlobalId id) { put(barrio::value(id)); }
  void put(double number) { put(std::bit_cast<std::int64_t>(number)); }
  [[nodiscard]] std::vector<std::int64_t>& words() noexcept { return words_; }

 private:
  std::vector<std::int64_t> words_;
};

/// Read them back in the same order.
class WordReader {
 public:
  explicit WordReader(std::span<const std::int64_t> words) : words_(words) {}
  std::int64_t get() { return words_[at_++]; }
  GlobalId get_id() { return GlobalId{get()}; }
  double get_double() { return std::bit_cast<double>(get()); }
  std::span<const std::int64_t> get(std::size_t n) {
    at_ += n;
    return words_.subspan(at_ - n, n);
  }
  [[nodiscard]] bool done() const noexcept { return at_ == words_.size(); }

 private:
  std::span<const std::int64_t> words_;
  std::size_t at_ = 0;
};

}  // namespace barrio::mesh::detail
