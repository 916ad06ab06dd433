#include "barrio/mobile/storage/extents.hpp"

#include <iterator>

namespace barrio::mobile::detail {

std::uint64_t Extents::take(std::uint64_t n_bytes) {
  auto best = free_.end();
  for (auto at = free_.begin(); at != free_.end(); ++at)
    if (at->second >= n_bytes && (best == free_.end() || at->second < best->second)) best = at;
  if (best == free_.end()) {
    const std::uint64_t offset = end_;
    end_ += n_bytes;
    return offset;
  }
  const auto [offset, size] = *best;
  free_.erase(best);
  if (size > n_bytes) free_.emplace(offset + n_bytes, size - n_bytes);
  return offset;
}

void Extents::free(std::uint64_t offset, std::uint64_t n_bytes) {
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + n_bytes) {
    n_bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += n_bytes;
      offset = before->first;
      n_bytes = before->second;
    } else {
      free_.emplace(offset, n_bytes);
    }
  } else {
    free_.emplace(offset, n_bytes);
  }
  if (offset + n_bytes != end_) return;
  end_ = offset;  // the file may shrink
  free_.erase(offset);
}

std::uint64_t Extents::free_bytes() const noexcept {
  std::uint64_t n = 0;
  for (const auto& [offset, size] : free_) n += size;
  return n;
}

}  // namespace barrio::mobile::detail
