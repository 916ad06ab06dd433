#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mobile/messages/runtime_core.hpp"
#include "barrio/mobile/storage/saved_state.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/written_file.hpp"

// Objects that are saved to a file, and made again from it.

namespace barrio::mobile::detail {
namespace {

constexpr RegionName save_region{"mobile.save"};
constexpr RegionName restore_region{"mobile.restore"};
constexpr std::size_t bytes_of_round = std::size_t{16} << 20U;

template <class T>
std::string_view text_of(const T& items) {
  const auto bytes = std::as_bytes(std::span(items));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::uint64_t sum_of(const T& items) {
  std::uint64_t sum = 0;
  for (const auto& item : items) sum += checksum_of(std::as_bytes(std::span(&item, 1)));
  return sum;
}

/// Read a list some items at a time.
template <class T, class Visit>
void in_parts(const SavedState& state, std::uint64_t place, std::uint64_t first, std::uint64_t n, Visit&& visit) {
  constexpr std::uint64_t max_items = std::uint64_t{1} << 16U;
  for (std::uint64_t done = 0; done < n; done += max_items)
    for (const T& item : state.read_list<T>(place, first + done, std::min(max_items, n - done))) visit(item);
}

/// Check the lists that no rank reads whole. @throws Error{bad_input}
void check_structure(const SavedState& state) {
  const SavedHead& head = state.head();
  std::uint64_t sum = 0;
  const auto add = [&](const auto& item) { sum += checksum_of(std::as_bytes(std::span(&item, 1))); };
  in_parts<MadeCount>(state, head.counts, 0, head.n_counts, add);
  in_parts<SavedSection>(state, head.sections, 0, head.n_ranks, add);
  in_parts<char>(state, head.types, 0, head.n_type_bytes, add);
  if (sum != head.sum_of_structure) state.refuse("its lists are damaged");
}

/// Write the types, one in a line: name and layout.
std::string describe_types(const std::vector<TypeEntry>& types) {
  std::string text;
  for (const TypeEntry& type : types) text += fmt::format("{:016x} {}\n", type.layout, type.name);
  return text;
}

/// Find the types of a file among those here. @throws Error{bad_input}
std::vector<std::uint16_t> types_of(const std::string& text, const std::vector<TypeEntry>& types,
                                    const SavedState& state) {
  std::vector<std::uint16_t> all;
  constexpr std::size_t n_digits = 16;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos || end - at <= n_digits) state.refuse("its list of types is damaged");
    const std::string layout = text.substr(at, n_digits);
    const std::string name = text.substr(at + n_digits + 1, end - at - n_digits - 1);
    at = end + 1;
    const auto found = std::ranges::find(types, name, &TypeEntry::name);
    if (found == types.end()) {
      all.push_back(UINT16_MAX);  // refused where there is an object of it
      continue;
    }
    if (fmt::format("{:016x}", found->layout) != layout)
      state.refuse(fmt::format("has objects of the type {} with other fields than it has now", name));
    all.push_back(static_cast<std::uint16_t>(found - types.begin()));
  }
  return all;
}

}  // namespace

void RuntimeCore::save(const std::string& path) {
  const Region region(context_.trace(), save_region);
  mpi::agree_after(context_, [&] {
    if (is_running_) refuse(ErrorCode::usage, "objects", "cannot be saved by a handler", "save() between runs");
    if (has_sent_ || n_sent_before_ != statistics_.local_messages + statistics_.remote_messages)
      refuse(ErrorCode::usage, "objects", "cannot be saved while messages to them wait", "run() before");
  });
  std::vector<const ObjectRecord*> mine;
  objects_.each([&](const ObjectRecord& record) { mine.push_back(&record); });
  std::ranges::sort(mine, {}, &ObjectRecord::id);

  mpi::WrittenFile file(context_, path);
  std::vector<SavedEntry> entries;
  std::uint64_t n_bytes = 0;
  std::string round;
  Status status;
  for (std::size_t next = 0;;) {
    // some objects of each rank, until none has any left
    round.clear();
    const std::size_t first = next;
    const Status fault = capture([&] {
      for (; next < mine.size() && round.size() < bytes_of_round && !status; ++next) {
        ObjectRecord& record = record_of(mine[next]->id);
        const TypeEntry& type = types_[record.type];
        const void* const object = objects_.take(record);
        const std::size_t size = whole_words(type.bytes(object));
        const std::size_t at = round.size();
        round.resize(at + size);
        auto* const to = reinterpret_cast<std::byte*>(round.data() + at);
        type.pack(object, to);
        objects_.give_back(record);
        entries.push_back({record.id.word(), at, size, n_bytes, checksum_of({to, size}), record.type});
        n_bytes += size;
      }
    });
    if (fault && !status) status = fault;
    const bool is_done = next == mine.size() || status.has_value();
    const std::uint64_t place = file.append(round);
    for (std::size_t i = first; i < entries.size(); ++i) entries[i].place += place;
    if (mpi::sum(context_, is_done ? 0 : 1) == 0) break;
  }
  mpi::agree(context_, status);

  const std::uint64_t before = mpi::exclusive_sum(context_, n_bytes);
  for (SavedEntry& entry : entries) entry.before += before;
  std::vector<MadeCount> counts = n_made_before_;
  for (const auto& [rank, n] : n_made_) counts.push_back({rank_, rank, n, 0});
  const auto n_mine = static_cast<std::uint64_t>(entries.size());
  const auto n_counts = static_cast<std::uint64_t>(counts.size());
  const std::vector<SavedSection> section{
      {mpi::exclusive_sum(context_, n_mine), n_mine, mpi::exclusive_sum(context_, n_counts), n_counts}};
  const std::string types = context_.is_root() ? describe_types(types_) : std::string();
  SavedHead head{.n_entries = mpi::sum(context_, n_mine),
                 .n_counts = mpi::sum(context_, n_counts),
                 .n_ranks = static_cast<std::uint64_t>(context_.size()),
                 .n_type_bytes = types.size(),
                 .n_object_bytes = mpi::sum(context_, n_bytes),
                 .sum_of_entries = mpi::sum(context_, sum_of(entries)),
                 .sum_of_structure = mpi::sum(context_, sum_of(counts) + sum_of(section) + sum_of(types)),
                 .version = SavedHead::newest_version,
                 .magic = SavedHead::right_magic};
  // on the first rank these are the places where the lists begin
  head.entries = file.append(text_of(entries));
  head.counts = file.append(text_of(counts));
  head.sections = file.append(text_of(section));
  head.types = file.append(types);
  head.checksum = checksum_of(std::as_bytes(std::span(&head, 1)));
  (void)file.append(context_.is_root() ? text_of(std::span<const SavedHead>(&head, 1)) : std::string_view());
  file.close();
}

void RuntimeCore::restore(const std::string& path) {
  const Region region(context_.trace(), restore_region);
  mpi::agree_after(context_, [&] {
    bool has_any = has_sent_ || !n_made_.empty();
    objects_.each([&](const ObjectRecord&) { has_any = true; });
    if (is_running_ || has_any)
      refuse(ErrorCode::usage, "objects", "cannot be restored beside others", "call restore() before make()");
  });
  try {
    std::uint64_t wanted = 0;
    std::uint64_t sum = 0;
    mpi::agree_after(context_, [&] {
      const SavedState state(path);
      if (context_.is_root()) check_structure(state);
      wanted = state.head().sum_of_entries;
      sum = restore_share(state, path);
    });
    sum = mpi::sum(context_, sum);
    mpi::agree_after(context_, [&] {
      if (sum != wanted) SavedState(path).refuse("its list of objects is damaged");
    });
  } catch (const AgreedError&) {
    std::vector<ObjectId> all;
    objects_.each([&](const ObjectRecord& record) { all.push_back(record.id); });
    for (const ObjectId id : all) objects_.remove(record_of(id));
    n_made_.clear();
    n_made_before_.clear();
    throw;
  }
  if (!moves_) return;
  // the home of each object learns where it is, before any message can ask
  objects_.each([&](const ObjectRecord& record) {
    const Rank home = moves_->directory.home(record.id);
    if (home == rank_) return;
    record.moving->epoch = 1;
    send_place(home, record.id, {rank_, 1});
  });
  stream().drain([&](const exchange::PacketStream::Packet& packet) { deliver(packet.payload); });
}

std::uint64_t RuntimeCore::restore_share(const SavedState& state, const std::string& path) {
  const auto n_ranks = static_cast<std::uint64_t>(context_.size());
  const auto rank = static_cast<std::uint64_t>(rank_);
  const SavedHead& head = state.head();
  const bool is_same = head.n_ranks == n_ranks;
  if (!is_same && !moves_)
    refuse(ErrorCode::usage, path, fmt::format("was written by {} ranks, and {} restore it", head.n_ranks, n_ranks),
           "make the runtime with RuntimeOptions{.migration = true}, or start as many ranks");
  SavedSection mine{.n_counts = head.n_counts};
  if (is_same) {
    mine = state.read_list<SavedSection>(head.sections, rank, 1).front();
  } else {
    mine.first = state.first_of_share(rank, n_ranks);
    mine.n = state.first_of_share(rank + 1, n_ranks) - mine.first;
  }
  std::string types(head.n_type_bytes, '\0');
  state.read(head.types, std::as_writable_bytes(std::span(types)));
  const std::vector<std::uint16_t> type_of = types_of(types, types_, state);

  std::uint64_t sum = 0;
  std::vector<std::byte> bytes;
  in_parts<SavedEntry>(state, head.entries, mine.first, mine.n, [&](const SavedEntry& entry) {
    sum += checksum_of(std::as_bytes(std::span(&entry, 1)));
    const ObjectId id = ObjectId::of_word(entry.id);
    if (entry.type >= type_of.size() || entry.n_bytes > head.n_object_bytes || !id.is_set())
      state.refuse("its list of objects is damaged");
    const std::uint16_t type = type_of[entry.type];
    if (type == UINT16_MAX) state.refuse("has objects of a type that this program does not have");
    if (!moves_ && id.rank() != rank_)
      refuse(ErrorCode::usage, path, "has objects that have migrated",
             "make the runtime with RuntimeOptions{.migration = true}");
    bytes.resize(entry.n_bytes);
    state.read(entry.place, bytes);
    if (checksum_of(bytes) != entry.checksum) state.refuse(fmt::format("object {:#x} is damaged", entry.id));
    (void)add_object(id, type, types_[type].unpack(bytes));
  });
  // on other ranks than before each reads all counts, of which there are a few for each rank
  in_parts<MadeCount>(state, head.counts, mine.first_count, mine.n_counts, [&](const MadeCount& count) {
    if (count.maker == rank_)
      n_made_[count.rank] = count.n;
    else if (count.maker % context_.size() == rank_ && (count.maker >= context_.size() || is_same))
      n_made_before_.push_back(count);
  });
  return sum;
}

}  // namespace barrio::mobile::detail
