#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/exchange/rounds/round_state.hpp"

namespace barrio::exchange::detail {

// A packet is a header and messages back to back. In the last packet of a round introductions follow from the next
// whole word on. All sizes are in bytes unless stated.

inline constexpr std::size_t header_bytes = sizeof(PacketHeader);
static_assert(header_bytes == 24 && sizeof(Introduction) == 16);

constexpr std::size_t words_of(std::size_t n_bytes) { return (n_bytes + 7) / 8; }
/// Round up to a valid packet size: whole words, at least one of them besides the header.
constexpr std::size_t whole_packet(std::size_t n_bytes) { return std::max(8 * words_of(n_bytes), header_bytes + 8); }

/// Make a header. @param last  as `PacketHeader::last`
PacketHeader make_header(const MessageKind& kind, std::size_t payload_bytes, std::size_t last,
                         std::uint64_t count_or_next_bytes);
PacketHeader header_of(const Buffer& buffer);
void put_header(Buffer& buffer, const PacketHeader& header);

/// Count the bytes of a packet with its header and introductions.
std::size_t packet_bytes(const PacketHeader& header);
std::vector<Introduction> introductions_in(const Buffer& buffer, const PacketHeader& header);
/// Append introductions to the payload. @return bytes of the whole packet
std::size_t add_introductions(Buffer& buffer, std::size_t used_bytes, std::span<const Introduction> lines);

}  // namespace barrio::exchange::detail
