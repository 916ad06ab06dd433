#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>

#include "barrio/mobile/packing.hpp"

namespace barrio::mobile {
class Turn;
}

namespace barrio::mobile::detail {

/// Address that stands for a type within this process.
template <class T>
inline constexpr char tag = 0;

/// Number within this process of messages M to objects T; 0: they have no handler in any runtime.
template <class T, class M>
inline constinit std::atomic<std::uint32_t> message_number = 0;

/// Return a number that stands for messages of one kind, and give it if it is 0.
std::uint32_t number(std::atomic<std::uint32_t>& message_number);

/// Functions of a type of objects.
struct TypeEntry {
  const void* tag = nullptr;
  std::string name;
  std::uint64_t layout = 0;  // of its fields, and its version
  std::uint64_t (*memory_bytes)(const void*) = nullptr;
  std::size_t (*bytes)(const void*) = nullptr;
  void (*pack)(const void*, std::byte*) = nullptr;
  std::shared_ptr<void> (*unpack)(std::span<const std::byte>) = nullptr;
};

template <class T>
TypeEntry make_type(std::string name, std::uint32_t version) {
  return {.tag = &tag<T>,
          .name = std::move(name),
          .layout = Hash64(version).add(Packing<T>::layout()).value(),
          .memory_bytes = [](const void* object) { return Packing<T>::memory_bytes(*static_cast<const T*>(object)); },
          .bytes = [](const void* object) { return Packing<T>::bytes(*static_cast<const T*>(object)); },
          .pack = [](const void* object, std::byte* to) { Packing<T>::pack(*static_cast<const T*>(object), to); },
          .unpack = [](std::span<const std::byte> from) -> std::shared_ptr<void> {
            return std::make_shared<T>(Packing<T>::unpack(from));
          }};
}

/// Handler of one type of messages to one type of objects.
struct HandlerEntry {
  std::uint32_t number = 0;    // of its messages
  const void* type = nullptr;  // tag of the type of objects
  std::string message;         // name of its type
  std::uint64_t layout = 0;
  std::shared_ptr<void> handler;
  void (*call)(void* handler, Turn& turn, void* object, std::span<const std::byte> bytes) = nullptr;
};

template <class T, class M, class Handler>
HandlerEntry make_handler(Handler handler) {
  return {.number = number(message_number<T, M>),
          .type = &tag<T>,
          .message = typeid(M).name(),
          .layout = Packing<M>::layout(),
          .handler = std::make_shared<Handler>(std::move(handler)),
          .call = [](void* owned, Turn& turn, void* object, std::span<const std::byte> bytes) {
            Handler& act = *static_cast<Handler*>(owned);
            if constexpr (Plain<M>) {
              M message;
              std::memcpy(&message, bytes.data(), sizeof message);
              act(turn, *static_cast<T*>(object), std::as_const(message));
            } else {
              const M message = Packing<M>::unpack(bytes);
              act(turn, *static_cast<T*>(object), message);
            }
          }};
}

}  // namespace barrio::mobile::detail
