#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace barrio {

/// Count the bytes a vector holds, capacity included. Local.
template <class T>
std::uint64_t memory_bytes(const std::vector<T>& items) noexcept {
  return static_cast<std::uint64_t>(items.capacity()) * sizeof(T);
}

/// Count the bytes of this process that are in physical memory now. Local; 0 where /proc is absent.
std::uint64_t resident_bytes() noexcept;
/// The largest value `resident_bytes()` has had. Local.
std::uint64_t peak_resident_bytes() noexcept;

/// Keep account of the memory that barrio's structures hold on one rank, against an optional limit.
/// Thread-safe. A structure takes a `Lease` for what it holds and gives it back when it is destroyed.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes = unlimited) noexcept : limit_bytes_(limit_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  static constexpr std::uint64_t unlimited = UINT64_MAX;

  /// A share of the budget, given back by its destructor. Move-only.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { give_back(); }
    /// Change the size of the share. @throws Error{failed} if the budget has no room; the share is unchanged then
    void resize(std::uint64_t bytes, std::string_view what);
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

   private:
    friend class MemoryBudget;
    Lease(MemoryBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    void give_back() noexcept;
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// Take a share. Local. @throws Error{failed} naming `what`, the size and the limit if there is no room
  [[nodiscard]] Lease lease(std::uint64_t bytes, std::string_view what);

  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_.load(); }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_.load(); }
  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_bytes_; }

 private:
  void take(std::uint64_t bytes, std::string_view what);
  std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> peak_bytes_{0};
};

}  // namespace barrio
