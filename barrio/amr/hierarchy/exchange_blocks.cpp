#include <cstring>

#include "barrio/amr/grid_function.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::amr::detail {

void exchange_blocks(mpi::Context& context, const BlockMotion& motion, std::size_t block_bytes,
                     const std::vector<std::vector<std::byte*>>& old_blocks,
                     const std::vector<std::vector<std::byte*>>& new_blocks) {
  std::vector<exchange::Outgoing> outgoing;
  std::vector<exchange::Incoming> incoming;
  for (const BlockMotion::Message& one : motion.outgoing) outgoing.push_back({.to = one.peer, .n_bytes = block_bytes});
  for (const BlockMotion::Message& one : motion.incoming)
    incoming.push_back({.from = one.peer, .bytes = {new_blocks[one.level][one.number], block_bytes}});
  const mpi::TagBlock tags = context.take_tags(1);
  exchange::RepeatedExchange exchange(
      context, outgoing, incoming, tags.first,
      {.strategy = exchange::Strategy::delayed_waits, .contents = "blocks that move", .is_checked = false});
  exchange.begin([&](std::size_t i) {
    const BlockMotion::Message& one = motion.outgoing[i];
    std::memcpy(exchange.outgoing(i).data(), old_blocks[one.level][one.number], block_bytes);
  });
  exchange.end();
}

}  // namespace barrio::amr::detail
