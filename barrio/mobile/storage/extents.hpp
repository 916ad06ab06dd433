#pragma once

#include <cstdint>
#include <map>

namespace barrio::mobile::detail {

/// Places in a file: of those that are free, the smallest one that is large enough is taken; else the file grows. Free
/// places next to each other become one.
class Extents {
 public:
  /// Take a place. @param n_bytes  above 0 @return its offset. Cost: O(free places)
  [[nodiscard]] std::uint64_t take(std::uint64_t n_bytes);
  /// Free a place that was taken.
  void free(std::uint64_t offset, std::uint64_t n_bytes);
  /// Return the bytes of the file that were ever in use.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t free_bytes() const noexcept;

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // bytes by offset
  std::uint64_t end_ = 0;
};

}  // namespace barrio::mobile::detail
