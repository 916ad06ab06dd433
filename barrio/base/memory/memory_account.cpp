#include "barrio/base/memory_account.hpp"

#include <algorithm>
#include <utility>

#include "barrio/base/growing_array.hpp"

namespace barrio {
namespace {

thread_local MemoryGrowth* innermost = nullptr;

}  // namespace

MemoryAccount::Owner& MemoryAccount::add_owner(std::string name, Counting counting) {
  return owners_.emplace_back(*this, std::move(name), counting);
}

bool MemoryAccount::reserve(std::uint64_t n_bytes) {
  for (;;) {
    const std::uint64_t held = bytes();
    const std::uint64_t room = held < limit_ ? limit_ - held : 0;
    const std::uint64_t excess = held > limit_ ? held - limit_ : 0;
    if (n_bytes <= room && excess == 0) return true;
    if (!make_room_ || !make_room_(n_bytes - std::min(n_bytes, room) + excess)) return false;
  }
}

Json MemoryAccount::to_json() const {
  Json json = {{"max_bytes", max_bytes()}, {"owners", Json::object()}};
  if (has_limit()) json["limit"] = limit_;
  for (const Owner& owner : owners_) json["owners"][owner.name()] = owner.max_bytes();
  return json;
}

MemoryGrowth::MemoryGrowth(MemoryAccount& account, MemoryAccount::Owner& owner) noexcept
    : account_(account), owner_(owner), outer_(std::exchange(innermost, this)) {}

MemoryGrowth::~MemoryGrowth() {
  owner_.subtract(n_bytes_);
  innermost = outer_;
}

void MemoryGrowth::grow(std::uint64_t n_bytes) {
  MemoryGrowth* const scope = innermost;
  if (scope == nullptr) return;
  // who makes room may use arrays that grow: those are not the owner's
  innermost = nullptr;
  try {
    scope->account_.reserve(n_bytes);
  } catch (...) {
    innermost = scope;
    throw;
  }
  innermost = scope;
  scope->owner_.add(n_bytes);
  scope->n_bytes_ += n_bytes;
}

void MemoryGrowth::shrink(std::uint64_t n_bytes) noexcept {
  MemoryGrowth* const scope = innermost;
  if (scope == nullptr) return;
  const std::uint64_t n = std::min(n_bytes, scope->n_bytes_);
  scope->owner_.subtract(n);
  scope->n_bytes_ -= n;
}

void detail::reserve_growth(std::uint64_t n_bytes) { MemoryGrowth::grow(n_bytes); }
void detail::end_growth(std::uint64_t n_bytes) noexcept { MemoryGrowth::shrink(n_bytes); }

}  // namespace barrio
