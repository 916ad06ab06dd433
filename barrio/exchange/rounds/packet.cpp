#include "barrio/exchange/rounds/packet.hpp"

#include <cstring>

#include "barrio/base/assert.hpp"

namespace barrio::exchange::detail {

PacketHeader make_header(const MessageKind& kind, std::size_t payload_bytes, std::size_t last,
                         std::uint64_t count_or_next_bytes) {
  PacketHeader header{};
  header.payload_bytes = payload_bytes & ((std::uint64_t{1} << 40U) - 1);
  header.last = last & ((1U << 24U) - 1);
  header.count_or_next_bytes = count_or_next_bytes;
  header.kind = kind;
  BARRIO_ASSERT(cheap, header.payload_bytes == payload_bytes && header.last == last, payload_bytes, last);
  return header;
}

PacketHeader header_of(const Buffer& buffer) {
  PacketHeader header{};
  std::memcpy(&header, buffer.data(), header_bytes);
  return header;
}

void put_header(Buffer& buffer, const PacketHeader& header) { std::memcpy(buffer.data(), &header, header_bytes); }

std::size_t packet_bytes(const PacketHeader& header) {
  const std::size_t used_bytes = header_bytes + header.payload_bytes;
  return header.last > 1 ? 8 * words_of(used_bytes) + (header.last - 1) * sizeof(Introduction) : used_bytes;
}

std::vector<Introduction> introductions_in(const Buffer& buffer, const PacketHeader& header) {
  std::vector<Introduction> lines(header.last - 1);
  const std::uint64_t* const from = buffer.data() + words_of(header_bytes + header.payload_bytes);
  if (!lines.empty()) std::memcpy(lines.data(), from, lines.size() * sizeof(Introduction));
  return lines;
}

std::size_t add_introductions(Buffer& buffer, std::size_t used_bytes, std::span<const Introduction> lines) {
  if (lines.empty()) return used_bytes;
  const std::size_t at = words_of(used_bytes);
  const std::size_t n_words = at + words_of(lines.size_bytes());
  buffer.reserve(n_words, at);
  std::memcpy(buffer.data() + at, lines.data(), lines.size_bytes());
  return n_words * 8;
}

}  // namespace barrio::exchange::detail
