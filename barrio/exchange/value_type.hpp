#pragma once

/// @file Type of values at run time, as exchanges name it.

#include <cstddef>
#include <string>

#include "barrio/exchange/detail/message_kind.hpp"

namespace barrio::exchange {

/// Type of values: the same on ranks that exchange them.
struct ValueType {
  std::string name;         ///< "float64"; of classes the size and a hash of the linker's name
  std::size_t n_bytes = 0;  ///< of one value
  bool operator==(const ValueType&) const = default;
};

/// Return the type of values of type T. An enumeration counts as its underlying integer. Local.
template <class T>
ValueType value_type() {
  return {detail::type_name(detail::kind_of<T>(detail::RoundCall::messages)), sizeof(T)};
}

}  // namespace barrio::exchange
