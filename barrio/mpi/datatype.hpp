#pragma once

/// @file MPI datatypes of C++ types, and an owner of derived ones.

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "barrio/mpi/check.hpp"

namespace barrio::mpi {

namespace detail {
template <class T>
MPI_Datatype builtin_datatype() {
  if constexpr (std::is_same_v<T, std::byte> || std::is_same_v<T, char>) {
    return MPI_BYTE;  // before the enumerations: std::byte is one
  } else if constexpr (std::is_enum_v<T>) {
    return builtin_datatype<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, float>) {
    return MPI_FLOAT;
  } else if constexpr (std::is_same_v<T, bool>) {
#ifdef BARRIO_MPI_SMPI
    return MPI_UINT8_T;  // the simulator has no operations for MPI_CXX_BOOL
#else
    return MPI_CXX_BOOL;
#endif
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if constexpr (sizeof(T) == 1) return MPI_INT8_T;
    if constexpr (sizeof(T) == 2) return MPI_INT16_T;
    if constexpr (sizeof(T) == 4) return MPI_INT32_T;
    if constexpr (sizeof(T) == 8) return MPI_INT64_T;
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (sizeof(T) == 1) return MPI_UINT8_T;
    if constexpr (sizeof(T) == 2) return MPI_UINT16_T;
    if constexpr (sizeof(T) == 4) return MPI_UINT32_T;
    if constexpr (sizeof(T) == 8) return MPI_UINT64_T;
  } else {
    return MPI_DATATYPE_NULL;
  }
}
}  // namespace detail

/// Type whose bytes may be sent unchanged.
template <class T>
concept Trivial = std::is_trivially_copyable_v<T>;

/// Type that MPI itself knows: numbers, bytes and enumerations over them.
template <class T>
concept Builtin = Trivial<T> && (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::byte>);

/// Return the MPI datatype of a C++ number.
template <Builtin T>
MPI_Datatype datatype() {
  return detail::builtin_datatype<T>();
}

/// Owner of a derived datatype. Move-only.
class Datatype {
 public:
  /// Make a block of `n` bytes: a count of such items fits MPI's int even above 2^31 bytes.
  static Datatype bytes(std::size_t n) {
    Datatype made;
    check(MPI_Type_contiguous(static_cast<int>(n), MPI_BYTE, &made.type_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&made.type_), "MPI_Type_commit");
    return made;
  }
  Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  /// Return the committed datatype, which stays owned.
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

 private:
  Datatype() = default;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace barrio::mpi
