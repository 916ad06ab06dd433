#pragma once

/// @file Bytes that the parts of a program hold, by owner, against one limit.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "barrio/base/json.hpp"

namespace barrio {

/// Account of memory: owners add and subtract the bytes that they hold. Who needs room asks for it before, and whoever
/// can free some is called. Owners may be used by several threads; room is asked for by one.
///
///     MemoryAccount account(1U << 30U);
///     MemoryAccount::Owner& tiles = account.add_owner("tiles");
///     account.set_make_room([&](std::uint64_t n_bytes) { return evict_tiles(n_bytes); });
///     account.reserve(n_bytes);
///     tiles.add(n_bytes);
class MemoryAccount {
 public:
  /// Ways to count the bytes of an owner.
  enum class Counting {
    inside,  ///< in the bytes of the account, and so against its limit
    beside   ///< only in the bytes of the owner
  };

  /// Bytes of one owner.
  class Owner {
   public:
    /// Add bytes that the owner has taken. Any thread. Makes no room: that is `MemoryAccount::reserve()`.
    void add(std::uint64_t n_bytes) noexcept {
      raise(max_bytes_, bytes_.fetch_add(n_bytes, std::memory_order_relaxed) + n_bytes);
      if (counting_ == Counting::inside) account_.add(n_bytes);
    }
    /// Subtract bytes that the owner has released. Any thread. @pre it holds them
    void subtract(std::uint64_t n_bytes) noexcept {
      bytes_.fetch_sub(n_bytes, std::memory_order_relaxed);
      if (counting_ == Counting::inside) account_.bytes_.fetch_sub(n_bytes, std::memory_order_relaxed);
    }
    /// Return the bytes held now.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    /// Return the most bytes held at one time so far.
    [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_.load(std::memory_order_relaxed); }
    /// Return the name, as in the JSON of the account.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Make an owner that the account does not list; use `add_owner()`.
    Owner(MemoryAccount& account, std::string name, Counting counting)
        : account_(account), name_(std::move(name)), counting_(counting) {}

   private:
    MemoryAccount& account_;
    std::string name_;
    Counting counting_;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::atomic<std::uint64_t> max_bytes_ = 0;
  };

  /// Make an account without owners. @param max_bytes  limit; 0: none
  explicit MemoryAccount(std::uint64_t max_bytes = 0) : limit_(max_bytes > 0 ? max_bytes : UINT64_MAX) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// Add an owner; it lives as long as the account.
  [[nodiscard]] Owner& add_owner(std::string name, Counting counting = Counting::inside);
  /// Set the function that frees memory: called with the bytes that are lacking, again until they are free. It returns
  /// false if it can free no more.
  void set_make_room(std::function<bool(std::uint64_t n_lacking)> make_room) { make_room_ = std::move(make_room); }
  /// Make room for more bytes beside those held. @return false if they would exceed the limit all the same
  /// @throws as the function that frees memory
  bool reserve(std::uint64_t n_bytes);

  /// Return the bytes held now by owners that count inside.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  /// Return the most bytes that they held at one time so far.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_.load(std::memory_order_relaxed); }
  /// Return all owners in the order they were added, those beside too.
  [[nodiscard]] const std::deque<Owner>& owners() const noexcept { return owners_; }
  /// Return the limit; UINT64_MAX: none.
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// Tell whether there is a limit.
  [[nodiscard]] bool has_limit() const noexcept { return limit_ != UINT64_MAX; }
  /// Return the most bytes at one time: `{"max_bytes": N, "owners": {"tiles": N, ...}}`, with the limit if there is
  /// one.
  [[nodiscard]] Json to_json() const;

 private:
  friend class MemoryGrowth;
  void add(std::uint64_t n_bytes) noexcept {
    raise(max_bytes_, bytes_.fetch_add(n_bytes, std::memory_order_relaxed) + n_bytes);
  }
  static void raise(std::atomic<std::uint64_t>& max, std::uint64_t bytes) noexcept {
    for (std::uint64_t there = max.load(std::memory_order_relaxed);
         bytes > there && !max.compare_exchange_weak(there, bytes, std::memory_order_relaxed);)
      continue;
  }

  std::uint64_t limit_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> max_bytes_ = 0;
  std::function<bool(std::uint64_t)> make_room_;
  std::deque<Owner> owners_;
};

/// While it lives, each `GrowingArray` that grows on this thread reserves the bytes first, and adds them to an owner.
/// Where they do not fit, the array grows all the same: what is in use may exceed the limit. Bytes of arrays that
/// shrink or end are subtracted, down to none. At the end the owner holds what it held before; its account of the
/// arrays is the caller's again. Scopes may be nested: the innermost counts.
class MemoryGrowth {
 public:
  /// Begin the scope on this thread, which also ends it. Account and owner outlive it.
  MemoryGrowth(MemoryAccount& account, MemoryAccount::Owner& owner) noexcept;
  ~MemoryGrowth();
  MemoryGrowth(const MemoryGrowth&) = delete;
  MemoryGrowth& operator=(const MemoryGrowth&) = delete;
  /// Count the bytes that arrays grew by.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return n_bytes_; }

  /// Reserve and add bytes in the innermost scope of this thread, if there is one. @throws as MemoryAccount::reserve
  static void grow(std::uint64_t n_bytes);
  /// Subtract bytes in the innermost scope of this thread, at most those that it has.
  static void shrink(std::uint64_t n_bytes) noexcept;

 private:
  MemoryAccount& account_;
  MemoryAccount::Owner& owner_;
  MemoryGrowth* outer_;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace barrio
