#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace barrio::mobile::detail {

// A file of saved objects: their bytes, in rounds of all ranks; an entry for each object, those of a rank in a row;
// the number of objects that ranks have made; a section for each rank; the types as text; and at the end its head,
// which tells the places of these.

/// Object in the file.
struct SavedEntry {
  std::uint64_t id;
  std::uint64_t place;     // of its bytes
  std::uint64_t n_bytes;   // whole words
  std::uint64_t before;    // bytes of the objects before it in the list
  std::uint64_t checksum;  // of its bytes
  std::uint64_t type;      // its place in the list of types
};

/// Objects that one rank has made for another one, so that names are not given twice.
struct MadeCount {
  std::int32_t maker;
  std::int32_t rank;
  std::uint32_t n;
  std::uint32_t unused;
};

/// Objects of a rank that wrote the file, and counts of what it has made.
struct SavedSection {
  std::uint64_t first = 0;
  std::uint64_t n = 0;
  std::uint64_t first_count = 0;
  std::uint64_t n_counts = 0;
};

/// Head, at the end of the file.
struct SavedHead {
  static constexpr std::array<char, 8> right_magic{'B', 'A', 'R', 'R', 'I', 'O', 'M', 'O'};
  static constexpr std::uint64_t newest_version = 1;
  std::uint64_t entries = 0;  // places
  std::uint64_t counts = 0;
  std::uint64_t sections = 0;
  std::uint64_t types = 0;
  std::uint64_t n_entries = 0;
  std::uint64_t n_counts = 0;
  std::uint64_t n_ranks = 0;
  std::uint64_t n_type_bytes = 0;
  std::uint64_t n_object_bytes = 0;    // sum
  std::uint64_t sum_of_entries = 0;    // of their checksums, as a sum over all
  std::uint64_t sum_of_structure = 0;  // of counts, sections and types, the same
  std::uint64_t checksum = 0;          // of this head before it
  std::uint64_t version = 0;
  std::array<char, 8> magic{};
};
static_assert(sizeof(SavedHead) == 14 * 8);

/// Compute a checksum of bytes.
std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

/// Open file of saved objects, for reading. Local.
class SavedState {
 public:
  /// Open a file, and read its head. @throws Error{bad_input} if it is none, or damaged; {failed} if it cannot be read
  explicit SavedState(const std::string& path);
  SavedState(const SavedState&) = delete;
  SavedState& operator=(const SavedState&) = delete;
  ~SavedState();

  [[nodiscard]] const SavedHead& head() const noexcept { return head_; }
  /// Read bytes at a place. @throws Error{bad_input} where the file ends before; {failed}
  void read(std::uint64_t place, std::span<std::byte> bytes) const;
  template <class T>
  [[nodiscard]] std::vector<T> read_list(std::uint64_t place, std::uint64_t first, std::uint64_t n) const {
    std::vector<T> list(n);
    read(place + first * sizeof(T), std::as_writable_bytes(std::span(list)));
    return list;
  }
  /// Return the first object of a share of the bytes of all. Cost: log2(objects) reads
  [[nodiscard]] std::uint64_t first_of_share(std::uint64_t share, std::uint64_t n_shares) const;
  /// Report damage. @throws Error{bad_input}
  [[noreturn]] void refuse(const std::string& cause) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t n_bytes_ = 0;
  SavedHead head_{};
};

}  // namespace barrio::mobile::detail
