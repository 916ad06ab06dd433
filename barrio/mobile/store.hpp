#pragma once

/// @file Store of objects on a local disk, for data that do not fit into memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "barrio/base/memory_account.hpp"
#include "barrio/base/trace.hpp"

namespace barrio::mobile {

/// Bytes of an object, aligned so that a disk takes them from where they lie. Uninitialised at first. Move-only.
class Block {
 public:
  static constexpr std::size_t alignment = 4096;  ///< bytes of a page: of the address, and of the room taken

  Block() = default;
  /// Allocate. @throws std::bad_alloc
  explicit Block(std::size_t n_bytes);
  Block(Block&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// Return the first byte, aligned; null if it was made by default.
  [[nodiscard]] std::byte* data() noexcept { return bytes_.get(); }
  /// Return the first byte, as above, to read it.
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.get(); }
  /// Return the number of bytes, without padding.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Return the bytes, without padding.
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data(), size_}; }
  /// Return the bytes, as above, to read them.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }
  /// Return the bytes that it takes on a disk and in memory: whole pages.
  [[nodiscard]] static constexpr std::size_t padded(std::size_t n_bytes) noexcept {
    return (n_bytes + alignment - 1) / alignment * alignment;
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

/// Options of a store.
struct StoreOptions {
  std::string folder = {};  ///< of the file
  /// Pass by the page cache. Where the file system cannot do that, bytes go through it; see `Store::is_direct`.
  bool is_direct = true;
  int n_threads = 2;  ///< that read and write
  /// Bytes that may wait to be written before `put` waits.
  std::uint64_t max_waiting_bytes = std::uint64_t{64} << 20U;
  MemoryAccount::Owner* memory = nullptr;  ///< outlives the store; gets the bytes in transfers; or null
  Trace* trace = nullptr;                  ///< outlives the store; gets the transfers, on tracks of their own; or null
};

/// Traffic of a store so far.
struct StoreStatistics {
  std::uint64_t bytes_written = 0;  ///< whole pages
  std::uint64_t bytes_read = 0;     ///< whole pages
  double seconds_busy = 0.0;        ///< of the disk: at least one transfer was under way
  double seconds_waiting = 0.0;     ///< of the caller
  std::uint64_t file_bytes = 0;     ///< size of the file
};

/// Objects in one file of this process, which has no name: nothing is left of it, however the process ends. Its
/// functions are local, and for one thread.
///
/// Threads of its own read and write, so the caller computes meanwhile. Freed places are used again, next to each other
/// as one. A checksum of each object is checked whenever it is read.
/// Memory: objects that wait to be written, and those that were asked for and not taken.
class Store {
 public:
  /// Number of an object.
  using Id = std::int64_t;

  /// Make the file.
  /// @throws Error{usage} for a folder in memory, where nothing would be saved; {failed} if the folder does not exist
  /// or cannot be written
  explicit Store(const StoreOptions& options);
  /// Wait for transfers that are under way; those that wait are dropped.
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Begin to write an object. Returns at once, unless more than `max_waiting_bytes` wait.
  /// @throws Error{failed} if this or an earlier object cannot be written: no space, a broken disk
  [[nodiscard]] Id put(Block block);
  /// Object that is not packed yet.
  struct Unpacked {
    std::shared_ptr<void> object;                     ///< the store shares it until it is packed
    std::uint64_t memory_bytes;                       ///< that it holds
    std::size_t n_bytes;                              ///< once it is packed
    void (*pack)(const void* object, std::byte* to);  ///< writes `n_bytes` bytes; called on a thread of the store
  };
  /// Begin to write an object, as above. A thread of the store packs it, and lets go of it, while the caller computes.
  [[nodiscard]] Id put(Unpacked unpacked);
  /// Take back an object that no thread has begun to pack, and drop it. @return null if there is none
  /// @throws Error{usage} if it is not there
  [[nodiscard]] std::shared_ptr<void> take_back(Id id);
  /// Begin to read an object, so that a later `get` need not wait. A second call, or one for an object that still waits
  /// to be written, does nothing. @throws as get
  void prefetch(Id id);
  /// Read an object; it stays on the disk. Waits for it.
  /// @throws Error{usage} for an object that is not there; {failed} if it cannot be read, or has other bytes than were
  /// written
  [[nodiscard]] Block get(Id id);
  /// Drop an object: its place is free. @throws Error{usage} if it is not there
  void drop(Id id);
  /// Wait until all objects are written. @throws as put
  void wait();

  /// Return the number of objects that were put and are still there.
  [[nodiscard]] std::uint64_t n_objects() const noexcept;
  /// Count the bytes of objects that are in memory for transfers.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  /// Tell whether bytes pass by the page cache.
  [[nodiscard]] bool is_direct() const noexcept;
  /// Return the traffic so far.
  [[nodiscard]] StoreStatistics statistics() const noexcept;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

/// Kind of disk that a folder lies on.
enum class FolderKind {
  disk,     ///< local, or of a file system that is not known
  memory,   ///< tmpfs and the like: its files take memory
  network,  ///< NFS, Lustre and the like
};

/// Find out the kind. Local. @throws Error{failed} if the folder does not exist
[[nodiscard]] FolderKind folder_kind(const std::string& folder);

}  // namespace barrio::mobile
