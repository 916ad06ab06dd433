#include "barrio/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio {

std::uint64_t resident_bytes() noexcept {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t peak_resident_bytes() noexcept {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
}

void MemoryBudget::take(std::uint64_t bytes, std::string_view what) {
  std::uint64_t used = used_bytes_.load();
  do {
    if (bytes > limit_bytes_ - used) {
      throw Error(ErrorCode::failed, {.subject = fmt::format("memory for {}", what),
                                      .cause = fmt::format("{} wanted, {} of {} in use", format_bytes(bytes),
                                                           format_bytes(used), format_bytes(limit_bytes_)),
                                      .remedy = "raise the memory limit or use more ranks"});
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  std::uint64_t peak = peak_bytes_.load();
  while (peak < used + bytes && !peak_bytes_.compare_exchange_weak(peak, used + bytes)) {
  }
}

MemoryBudget::Lease MemoryBudget::lease(std::uint64_t bytes, std::string_view what) {
  take(bytes, what);
  return {this, bytes};
}

void MemoryBudget::Lease::resize(std::uint64_t bytes, std::string_view what) {
  if (budget_ == nullptr) return;
  if (bytes > bytes_) {
    budget_->take(bytes - bytes_, what);
  } else {
    budget_->used_bytes_ -= bytes_ - bytes;
  }
  bytes_ = bytes;
}

void MemoryBudget::Lease::give_back() noexcept {
  if (budget_ != nullptr) budget_->used_bytes_ -= bytes_;
  budget_ = nullptr;
  bytes_ = 0;
}

MemoryBudget::Lease& MemoryBudget::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    give_back();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

}  // namespace barrio
