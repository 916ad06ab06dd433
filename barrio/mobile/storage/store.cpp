#include "barrio/mobile/store.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mobile/storage/extents.hpp"
#include "barrio/mobile/storage/scratch_file.hpp"

namespace barrio::mobile {
namespace detail {

/// Seconds during which at least one transfer is under way.
class BusyTime {
 public:
  void begin() {
    if (n_++ == 0) since_ = std::chrono::steady_clock::now();
  }
  void end() {
    if (--n_ == 0) seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  int n_ = 0;
  std::chrono::steady_clock::time_point since_;
  double seconds_ = 0.0;
};

}  // namespace detail

namespace {

constexpr RegionName read_region{"mobile.read"};
constexpr RegionName write_region{"mobile.write"};
constexpr std::size_t bytes_a_piece = std::size_t{4} << 20U;   // of an object that is transferred at once
constexpr std::size_t max_kept_bytes = std::size_t{8} << 20U;  // of a thread that packs objects

std::uint64_t checksum_of(const Block& block) noexcept { return XXH3_64bits(block.data(), block.size()); }

}  // namespace

Block::Block(std::size_t n_bytes)
    : bytes_(static_cast<std::byte*>(std::aligned_alloc(alignment, std::max(padded(n_bytes), alignment)))),
      size_(n_bytes) {
  if (!bytes_) throw std::bad_alloc();
  const std::size_t whole = padded(n_bytes);
  if (whole > n_bytes) std::memset(bytes_.get() + n_bytes, 0, whole - n_bytes);
}

void Block::Free::operator()(std::byte* bytes) const noexcept { std::free(bytes); }

/// State of a store. The mutex guards all of it but the file, and the bytes of blocks that are under way.
class Store::Core {
 public:
  explicit Core(const StoreOptions& options) : options_(options), file_(options.folder, options.is_direct) {
    for (int i = 0; i < std::max(options.n_threads, 1); ++i) threads_.emplace_back([this, i] { work(i); });
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      pieces_.clear();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Id put(Block block) {
    const std::uint64_t checksum = checksum_of(block);
    std::unique_lock lock(mutex_);
    const auto [id, object] = add(lock, block.size());
    object.checksum = checksum;
    object.transfer = begin(id, std::move(block), object.offset, true);
    return id;
  }

  Id put(Unpacked unpacked) {
    std::unique_lock lock(mutex_);
    const std::size_t room = room_of(unpacked.n_bytes);
    const auto [id, object] = add(lock, unpacked.n_bytes);
    auto transfer = std::make_shared<Transfer>();
    transfer->unpacked = std::move(unpacked);
    transfer->n_left = 1;
    transfer->is_write = true;
    object.transfer = transfer;
    hold(transfer->unpacked.memory_bytes);
    waiting_bytes_ += room;
    pieces_.push_back({std::move(transfer), id, 0, room, object.offset});
    wake_.notify_one();
    return id;
  }

  std::shared_ptr<void> take_back(Id id) {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Transfer> transfer = find(id).transfer;
    if (!transfer || !transfer->is_unpacked()) return nullptr;
    // of a piece that is not there any more a thread has the object
    if (std::erase_if(pieces_, [&](const Piece& piece) { return piece.transfer == transfer; }) == 0) return nullptr;
    std::shared_ptr<void> object = std::exchange(transfer->unpacked.object, nullptr);
    forget(id, find(id));
    return object;
  }

  void prefetch(Id id) {
    const std::lock_guard lock(mutex_);
    Object& object = find(id);
    if (object.transfer) return;
    object.transfer = begin(id, Block(object.n_bytes), object.offset, false);
  }

  Block get(Id id) {
    std::unique_lock lock(mutex_);
    {
      Object& object = find(id);
      if (!object.transfer) object.transfer = begin(id, Block(object.n_bytes), object.offset, false);
    }
    std::shared_ptr<Transfer> transfer = find(id).transfer;
    if (transfer->is_unpacked()) {  // what is not packed is read once it was written
      wait_until(lock, [&] { return transfer->n_left == 0; });
      if (fault_) std::rethrow_exception(fault_);
      if (!find(id).transfer) find(id).transfer = begin(id, Block(find(id).n_bytes), find(id).offset, false);
      transfer = find(id).transfer;
    }
    if (transfer->is_write) {  // a copy of what still waits to be written
      Block copy(transfer->block.size());
      std::memcpy(copy.data(), transfer->block.data(), copy.size());
      return copy;
    }
    wait_until(lock, [&] { return transfer->n_left == 0; });
    Object& object = find(id);
    object.transfer.reset();
    release(room_of(object.n_bytes));
    if (transfer->error != 0)
      refuse(ErrorCode::failed, options_.folder,
             fmt::format("object {} of the scratch file there cannot be read: {}", id, std::strerror(transfer->error)));
    Block block = std::move(transfer->block);
    const std::uint64_t checksum = object.checksum;
    lock.unlock();
    if (checksum_of(block) != checksum)
      refuse(ErrorCode::failed, options_.folder,
             fmt::format("object {} of the scratch file there has other bytes than were written", id),
             "check the disk");
    return block;
  }

  void drop(Id id) {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Transfer> transfer = find(id).transfer;
    if (transfer) {
      // pieces that nobody has begun need not be done
      const std::size_t gone = std::erase_if(pieces_, [&](const Piece& piece) { return piece.transfer == transfer; });
      transfer->n_left -= gone;
      if (!transfer->is_write) n_reads_ -= gone;
      wait_until(lock, [&] { return transfer->n_left == 0; });
    }
    forget(id, find(id));
  }

  void wait() {
    std::unique_lock lock(mutex_);
    wait_until(lock, [&] { return waiting_bytes_ == 0 || has_failed(); });
    refuse_failed_write();
  }

  [[nodiscard]] std::uint64_t n_objects() const {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    return memory_bytes_;
  }
  [[nodiscard]] bool is_direct() const noexcept { return file_.is_direct(); }
  [[nodiscard]] StoreStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    StoreStatistics now = statistics_;
    now.seconds_busy = busy_.seconds();
    return now;
  }

 private:
  /// An object that is being written or read, or was read and waits to be taken.
  struct Transfer {
    [[nodiscard]] bool is_unpacked() const noexcept { return unpacked.pack != nullptr; }
    Block block;
    Unpacked unpacked = {};   // instead of a block
    std::int64_t n_left = 0;  // pieces
    bool is_write = false;
    int error = 0;  // of the system
  };
  struct Object {
    std::uint64_t offset = 0;
    std::size_t n_bytes = 0;
    std::uint64_t checksum = 0;
    std::shared_ptr<Transfer> transfer = {};
  };
  struct Piece {
    std::shared_ptr<Transfer> transfer;
    Id id;
    std::size_t first;
    std::size_t n;
    std::uint64_t offset;  // in the file
  };

  /// Return the bytes of an object in the file: whole pages, at least one.
  static std::size_t room_of(std::size_t n_bytes) noexcept {
    return std::max(Block::padded(n_bytes), Block::alignment);
  }

  void hold(std::size_t n_bytes) noexcept {
    memory_bytes_ += n_bytes;
    if (options_.memory != nullptr) options_.memory->add(n_bytes);
  }
  void release(std::size_t n_bytes) noexcept {
    memory_bytes_ -= n_bytes;
    if (options_.memory != nullptr) options_.memory->subtract(n_bytes);
  }

  Object& find(Id id) {
    const auto found = objects_.find(id);
    if (found == objects_.end()) refuse(ErrorCode::usage, fmt::format("object {}", id), "is not in the store");
    return found->second;
  }

  /// Add an object, once fewer bytes wait to be written, with a place in the file. @return its number, and the object
  std::pair<Id, Object&> add(std::unique_lock<std::mutex>& lock, std::size_t n_bytes) {
    wait_until(lock, [&] { return waiting_bytes_ <= options_.max_waiting_bytes || has_failed(); });
    refuse_failed_write();
    const Id id = next_++;
    Object& object = objects_[id];
    object.n_bytes = n_bytes;
    object.offset = extents_.take(room_of(n_bytes));
    statistics_.file_bytes = std::max(statistics_.file_bytes, extents_.end());
    return {id, object};
  }

  /// Forget an object without a piece that is under way. The lock is held.
  void forget(Id id, const Object& object) {
    const std::size_t room = room_of(object.n_bytes);
    if (const Transfer* const transfer = object.transfer.get()) {
      release(transfer->is_unpacked() ? transfer->unpacked.memory_bytes : room);
      if (transfer->is_write) waiting_bytes_ -= room;
    }
    extents_.free(object.offset, room);
    objects_.erase(id);
  }

  /// Queue the pieces of a transfer: reads before writes, since somebody waits for them. The lock is held.
  std::shared_ptr<Transfer> begin(Id id, Block block, std::uint64_t offset, bool is_write) {
    auto transfer = std::make_shared<Transfer>();
    const std::size_t n = room_of(block.size());
    transfer->block = std::move(block);
    transfer->is_write = is_write;
    std::vector<Piece> made;
    for (std::size_t first = 0; first < n; first += bytes_a_piece)
      made.push_back({transfer, id, first, std::min(bytes_a_piece, n - first), offset + first});
    transfer->n_left = std::ssize(made);
    if (is_write) {
      pieces_.insert(pieces_.end(), made.begin(), made.end());
      waiting_bytes_ += n;
    } else {
      pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(n_reads_), made.begin(), made.end());
      n_reads_ += made.size();
    }
    hold(n);
    wake_.notify_all();
    return transfer;
  }

  void work(int thread) {
    Block packed;  // kept for the next object
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return is_ending_ || !pieces_.empty(); });
      if (pieces_.empty()) return;
      const Piece piece = std::move(pieces_.front());
      pieces_.pop_front();
      if (n_reads_ > 0) --n_reads_;
      if (piece.transfer->is_unpacked()) {
        write_unpacked(lock, piece, thread, packed);
      } else {
        end_piece(piece, transfer_bytes(lock, piece, piece.transfer->block.data() + piece.first, thread));
      }
    }
  }

  /// Write or read the bytes of a piece, without the lock. @return 0, or the system's error number
  int transfer_bytes(std::unique_lock<std::mutex>& lock, const Piece& piece, std::byte* bytes, int thread) {
    const bool is_write = piece.transfer->is_write;
    busy_.begin();
    lock.unlock();
    const double begin = options_.trace != nullptr ? options_.trace->now() : 0.0;
    const int error = is_write ? file_.write(bytes, piece.n, piece.offset) : file_.read(bytes, piece.n, piece.offset);
    if (options_.trace != nullptr)
      options_.trace->add_beside(thread == 0 ? "disk" : "disk, more at once", is_write ? write_region : read_region,
                                 begin, options_.trace->now());
    lock.lock();
    busy_.end();
    return error;
  }

  /// Pack an object, let go of it, and write it. @param packed  memory of this thread, which grows. The lock is held,
  /// but not meanwhile.
  void write_unpacked(std::unique_lock<std::mutex>& lock, const Piece& piece, int thread, Block& packed) {
    Transfer& transfer = *piece.transfer;
    const std::size_t n_bytes = transfer.unpacked.n_bytes;
    std::uint64_t checksum = 0;
    if (packed.size() < piece.n) {
      release(packed.size());
      packed = {};
      hold(piece.n);
    }
    lock.unlock();
    try {
      if (packed.size() == 0) packed = Block(piece.n);
      transfer.unpacked.pack(transfer.unpacked.object.get(), packed.data());
      std::memset(packed.data() + n_bytes, 0, piece.n - n_bytes);
      checksum = XXH3_64bits(packed.data(), n_bytes);
      transfer.unpacked.object.reset();
    } catch (...) {
      lock.lock();
      if (packed.size() == 0) release(piece.n);
      if (!fault_) fault_ = std::current_exception();
      transfer.n_left = 0;
      done_.notify_all();
      return;
    }
    lock.lock();
    objects_.find(piece.id)->second.checksum = checksum;
    release(std::exchange(transfer.unpacked.memory_bytes, 0));
    const int error = transfer_bytes(lock, piece, packed.data(), thread);
    if (error != 0) keep_unwritten(transfer, packed);
    end_piece(piece, error);
    if (packed.size() <= max_kept_bytes) return;
    release(packed.size());
    packed = {};
  }

  /// Keep the bytes of an object that cannot be written, so that it can still be read. The lock is held.
  void keep_unwritten(Transfer& transfer, const Block& packed) {
    try {
      transfer.block = Block(transfer.unpacked.n_bytes);
    } catch (...) {  // it is lost, which whoever asks for it is told
      if (!fault_) fault_ = std::current_exception();
      return;
    }
    std::memcpy(transfer.block.data(), packed.data(), transfer.block.size());
    hold(room_of(transfer.block.size()));
    transfer.unpacked = {};
  }

  /// Note that a piece is done. The lock is held.
  void end_piece(const Piece& piece, int error) {
    Transfer& transfer = *piece.transfer;
    if (error != 0) transfer.error = error;
    (transfer.is_write ? statistics_.bytes_written : statistics_.bytes_read) += piece.n;
    --transfer.n_left;
    if (transfer.is_write && error != 0) write_error_ = error;
    if (transfer.n_left == 0 && transfer.is_write && transfer.error == 0) {
      // the object is on the disk alone from now on
      if (const auto found = objects_.find(piece.id); found != objects_.end() && found->second.transfer) {
        const std::size_t n = room_of(found->second.n_bytes);
        release(transfer.is_unpacked() ? transfer.unpacked.memory_bytes : n);
        waiting_bytes_ -= n;
        found->second.transfer.reset();
      }
    }
    done_.notify_all();
  }

  template <class IsDone>
  void wait_until(std::unique_lock<std::mutex>& lock, IsDone&& is_done) {
    if (is_done()) return;
    const auto start = std::chrono::steady_clock::now();
    done_.wait(lock, is_done);
    statistics_.seconds_waiting += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  [[nodiscard]] bool has_failed() const noexcept { return write_error_ != 0 || fault_; }
  void refuse_failed_write() const {
    if (fault_) std::rethrow_exception(fault_);
    if (write_error_ == 0) return;
    refuse(ErrorCode::failed, options_.folder,
           fmt::format("the scratch file there cannot be written: {}", std::strerror(write_error_)),
           write_error_ == ENOSPC ? "free space there, or name another folder" : "name another folder");
  }

  StoreOptions options_;
  detail::ScratchFile file_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;  // of threads
  std::condition_variable done_;  // of the caller
  std::deque<Piece> pieces_;      // the first `n_reads_` are read, the others written
  std::size_t n_reads_ = 0;
  std::unordered_map<Id, Object> objects_;
  detail::Extents extents_;
  Id next_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t waiting_bytes_ = 0;  // to be written
  int write_error_ = 0;              // the latest; the store is of no use from then on
  std::exception_ptr fault_;         // the first of a thread that packed an object; as above
  bool is_ending_ = false;
  detail::BusyTime busy_;
  StoreStatistics statistics_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

Store::Store(const StoreOptions& options) : core_(std::make_unique<Core>(options)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store::Id Store::put(Block block) { return core_->put(std::move(block)); }
Store::Id Store::put(Unpacked unpacked) { return core_->put(std::move(unpacked)); }
std::shared_ptr<void> Store::take_back(Id id) { return core_->take_back(id); }
void Store::prefetch(Id id) { core_->prefetch(id); }
Block Store::get(Id id) { return core_->get(id); }
void Store::drop(Id id) { core_->drop(id); }
void Store::wait() { core_->wait(); }
std::uint64_t Store::n_objects() const noexcept { return core_->n_objects(); }
std::uint64_t Store::memory_bytes() const noexcept { return core_->memory_bytes(); }
bool Store::is_direct() const noexcept { return core_->is_direct(); }
StoreStatistics Store::statistics() const noexcept { return core_->statistics(); }

}  // namespace barrio::mobile
