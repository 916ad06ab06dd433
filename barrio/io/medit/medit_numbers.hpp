#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "barrio/io/medit/medit_file.hpp"

namespace barrio::io::detail {

template <class T>
T byte_swapped(T value) {
  std::array<std::byte, sizeof(T)> bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

/// Reader of numbers in the encoding of a file.
class MeditNumbers {
 public:
  MeditNumbers(Scanner& in, const MeditHead& head) : in_(in), head_(head) {}

  std::int64_t integer() {
    std::int64_t number = 0;
    integers({&number, 1});
    return number;
  }
  void integers(std::span<std::int64_t> numbers) {
    if (!head_.is_binary) {
      for (std::int64_t& number : numbers) number = in_.number_word<std::int64_t>();
    } else if (head_.integer_bytes() == 8) {
      binary<std::int64_t>(numbers);
    } else {
      binary<std::int32_t>(numbers);
    }
  }
  void reals(std::span<double> numbers) {
    if (!head_.is_binary) {
      for (double& number : numbers) number = in_.number_word<double>();
    } else if (head_.real_bytes() == 8) {
      binary<double>(numbers);
    } else {
      binary<float>(numbers);
    }
  }

 private:
  template <class InFile, class T>
  void binary(std::span<T> numbers) {
    std::array<InFile, max_numbers> row{};
    const std::span<InFile> read = std::span(row).first(numbers.size());
    in_.binary(read);
    std::ranges::transform(read, numbers.begin(), [&](InFile number) {
      return static_cast<T>(head_.is_swapped ? byte_swapped(number) : number);
    });
  }
  static constexpr std::size_t max_numbers = 32;  // more than any row has
  Scanner& in_;
  const MeditHead& head_;
};

}  // namespace barrio::io::detail
