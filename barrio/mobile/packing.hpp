#pragma once

/// @file Bytes of objects and messages: for the disk and for other ranks.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mobile/mobile_ptr.hpp"

namespace barrio::mobile {

/// Type whose bytes may be copied as they are.
template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

/// List of the fields of a class: by its member `fields`, see Packing. Specialise it for a class that you cannot
/// change.
template <class T>
struct Fields {
  /// Call `visit(name, field)` for each field, in the same order for writing and reading.
  template <class Visit>
  static void list(T& object, Visit& visit)
    requires requires { object.fields(visit); }
  {
    object.fields(visit);
  }
};

namespace detail {

/// Visitor that does nothing, to recognise types that list their fields.
struct AnyVisitor {
  template <class F>
  void operator()(std::string_view /*name*/, F& /*field*/) {}
};

/// Type whose fields are listed.
template <class T>
concept HasFields =
    std::default_initializable<T> && requires(T& object, AnyVisitor& visit) { Fields<T>::list(object, visit); };

/// Items in a row that may be copied as they are: of a vector, a string, or any container with the same functions.
template <class T>
concept PlainItems = requires(T& items, std::size_t n) {
  requires Plain<std::remove_reference_t<decltype(*items.data())>>;
  { items.size() } -> std::convertible_to<std::size_t>;
  items.resize(n);
};

constexpr std::size_t whole_words(std::size_t n_bytes) noexcept { return (n_bytes + 7U) & ~std::size_t{7}; }

/// Writer of fields. Without a place it counts bytes.
class FieldWriter {
 public:
  explicit FieldWriter(std::byte* to) : to_(to) {}
  [[nodiscard]] std::size_t n_bytes() const noexcept { return n_; }

  template <class F>
  void operator()(std::string_view /*name*/, F& field) {
    put(field);
  }
  template <class F>
  void put(F& field) {
    if constexpr (Plain<F>) {
      put_bytes(&field, sizeof field);
    } else if constexpr (PlainItems<F>) {
      std::uint64_t n = field.size();
      put(n);
      if (n > 0) put_bytes(field.data(), n * sizeof(*field.data()));
    } else {
      static_assert(HasFields<F>, "this field is neither plain, nor a vector or string, nor are its fields listed");
      Fields<F>::list(field, *this);
    }
  }
  template <class F>
    requires(!Plain<F>)
  void put(std::vector<F>& items) {
    std::uint64_t n = items.size();
    put(n);
    for (F& item : items) put(item);
  }

 private:
  void put_bytes(const void* from, std::size_t n) {
    if (to_ != nullptr) std::memcpy(to_ + n_, from, n);
    n_ += whole_words(n);
  }
  std::byte* to_;
  std::size_t n_ = 0;
};

/// Report bytes that end before an object is complete. @throws Error{internal}
[[noreturn]] void refuse_bytes(std::size_t n_bytes);
/// Report an object or a message that is not whole words, or 4 GiB and more. @throws Error{usage}
[[noreturn]] void refuse_length(std::size_t n_bytes);

/// Reader of fields.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class F>
  void operator()(std::string_view /*name*/, F& field) {
    get(field);
  }
  template <class F>
  void get(F& field) {
    if constexpr (Plain<F>) {
      get_bytes(&field, 1, sizeof field);
    } else if constexpr (PlainItems<F>) {
      constexpr std::size_t item_bytes = sizeof(*field.data());
      field.resize(get_length(item_bytes));
      if (field.size() > 0) get_bytes(field.data(), field.size(), item_bytes);
    } else {
      Fields<F>::list(field, *this);
    }
  }
  template <class F>
    requires(!Plain<F>)
  void get(std::vector<F>& items) {
    items.resize(get_length(1));
    for (F& item : items) get(item);
  }

 private:
  std::uint64_t get_length(std::size_t item_bytes) {
    std::uint64_t n = 0;
    get(n);
    if (n > (bytes_.size() - at_) / item_bytes) refuse_bytes(bytes_.size());
    return n;
  }
  void get_bytes(void* to, std::size_t n, std::size_t item_bytes) {
    const std::size_t wanted = n * item_bytes;
    if (whole_words(wanted) > bytes_.size() - at_) refuse_bytes(bytes_.size());
    std::memcpy(to, bytes_.data() + at_, wanted);
    at_ += whole_words(wanted);
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Hash of the names and types of fields.
class FieldHash {
 public:
  template <class F>
  void operator()(std::string_view name, F& field) {
    hash_.add_text(name);
    add<F>(&field);
  }
  template <class F>
  void add(F* field) {
    hash_.add(std::int64_t{sizeof(F)});
    if constexpr (Plain<F>) {
      hash_.add(std::int64_t{std::is_floating_point_v<F> ? 1 : std::is_integral_v<F> ? 2 + std::is_signed_v<F> : 4});
    } else if constexpr (requires { field->data(); }) {
      hash_.add(std::int64_t{5});
      std::remove_reference_t<decltype(*field->data())> item{};
      add(&item);
    } else {
      Fields<F>::list(*field, *this);
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_.value(); }

 private:
  Hash64 hash_;
};

}  // namespace detail

/// Way in which objects and messages of a type become bytes and return. Plain types are copied; others list their
/// fields: plain ones, vectors, strings, and classes that list theirs:
///
///     template <class Visit> void fields(Visit& visit) { visit("heat", heat); visit("history", history); }
///
/// A class that you cannot change has its list in a specialisation of `Fields`. Specialise Packing only where lists of
/// fields do not do.
/// With a limit of memory, another thread packs an object that leaves, and destroys it: neither may touch anything but
/// the object.
template <class T>
struct Packing {
  /// Return a number that tells whether another program has the same fields.
  [[nodiscard]] static std::uint64_t layout() {
    detail::FieldHash hash;
    if constexpr (Plain<T>) {
      hash.add(static_cast<T*>(nullptr));
    } else {
      T empty{};
      Fields<T>::list(empty, hash);
    }
    return hash.value();
  }
  /// Return the number of bytes of the packed object, whole words: messages are refused otherwise.
  [[nodiscard]] static std::size_t bytes(const T& object) { return write(object, nullptr); }
  /// Pack an object. @param to  place for its bytes, aligned to words
  static void pack(const T& object, std::byte* to) { write(object, to); }
  /// Unpack an object. @throws Error{internal} if there are too few bytes
  [[nodiscard]] static T unpack(std::span<const std::byte> from) {
    detail::FieldReader reader(from);
    T object;
    reader.get(object);
    return object;
  }
  /// Return about the bytes that an object holds in memory: by its member `memory_bytes`, if it has one.
  [[nodiscard]] static std::uint64_t memory_bytes(const T& object) {
    if constexpr (requires { object.memory_bytes(); })
      return object.memory_bytes();
    else
      return Plain<T> ? sizeof(T) : sizeof(T) + bytes(object);
  }

 private:
  static std::size_t write(const T& object, std::byte* to) {
    detail::FieldWriter writer(to);
    if constexpr (Plain<T>) {
      writer.put(object);
    } else {
      static_assert(detail::HasFields<T>, "list the fields of this type, or specialise barrio::mobile::Fields");
      Fields<T>::list(const_cast<T&>(object), writer);  // one list for both directions; the writer changes nothing
    }
    return writer.n_bytes();
  }
};

}  // namespace barrio::mobile
