#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mesh/tags.hpp"

namespace barrio::mesh::detail {

/// Set the values of all tags on the entities of a dimension: on owned entities those they have, on copies those of
/// their owners. Collective; one round.
/// @param n_owned  of that dimension
/// @param with_value  `with_value(tag number, local id, visit)` calls `visit(bytes)` with the value of an owned entity
/// and returns true, or returns false if it has none
template <class WithValue>
void carry_tags(exchange::Neighborhood& hood, const exchange::HaloPlan& plan, Dim dim, std::size_t n_owned,
                std::span<MeshTag> tags, WithValue&& with_value) {
  auto round = hood.begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < plan.readers.size(); ++r) {
    message.clear();
    for (std::size_t t = 0; t < tags.size(); ++t) {
      ByteValues values;
      for (const LocalId id : plan.sent_to(r))
        if (!with_value(t, id, [&](std::span<const std::byte> bytes) { values.add(bytes); })) values.add_nothing();
      values.put_into(message);
    }
    std::ranges::copy(message.bytes(), round.allocate(plan.readers[r], message.bytes().size()).begin());
  }
  round.close();
  std::vector<std::vector<std::byte>> heard;  // by ascending owner, in the order of copies
  for (const auto& [from, bytes] : round.received()) heard.emplace_back(bytes.begin(), bytes.end());
  std::vector<MessageReader> readers(heard.begin(), heard.end());

  for (std::size_t t = 0; t < tags.size(); ++t) {
    const bool length_varies = tags[t].info.length_varies;
    MeshTag::Values& values = tags[t].on[index(dim)];
    const auto add = [&](LocalId id, std::span<const std::byte> bytes) {
      values.entities.insert(id);
      values.items.add(bytes, length_varies);
    };
    for (std::size_t i = 0; i < n_owned; ++i)
      with_value(t, local_id(i), [&](std::span<const std::byte> bytes) { add(local_id(i), bytes); });
    for (std::size_t in = 0; in < plan.incoming.size(); ++in) {
      const ByteValuesView carried(readers[in]);
      const std::size_t first = index(plan.incoming[in].first);
      for (std::size_t i = 0; i < carried.size(); ++i)
        if (carried.has(i)) add(local_id(first + i), carried[i]);
    }
    values.items.bytes.shrink_to_fit();
  }
}

}  // namespace barrio::mesh::detail
