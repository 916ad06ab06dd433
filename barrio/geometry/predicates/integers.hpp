#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace barrio::geometry::detail {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// A signed integer of 256 bits, as wide as a determinant of `in_common_unit`'s integers needs. Nothing is allocated,
/// and no operation is rounded.
class Int256 {
 public:
  constexpr Int256() = default;
  /// Make the product a * b. @pre the magnitudes of both are below 2^127
  [[nodiscard]] static Int256 product(Int128 a, Int128 b) noexcept;

  Int256& operator+=(const Int256& other) noexcept;
  [[nodiscard]] int sign() const noexcept;

 private:
  void negate() noexcept;

  std::array<std::uint64_t, 4> words_{};  // two's complement, lowest first
};

/// Write doubles as integers times a common power of two. @return the integers, with magnitudes below 2^61; nothing if
/// the doubles have too different magnitudes for that
template <std::size_t n>
[[nodiscard]] std::optional<std::array<std::int64_t, n>> in_common_unit(const std::array<double, n>& x) noexcept;

}  // namespace barrio::geometry::detail
