#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mesh/assembly/carry_tags.hpp"
#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mpi/agree.hpp"

// A payload travels as a hidden tag of opaque bytes.

namespace barrio::mesh {

void Mesh::pack_payloads(std::span<const Payload> payloads) {
  if (payloads.empty()) return;
  std::vector<TagItems> packed(payloads.size());  // of owned entities
  agree_after(context(), [&] {
    std::vector<std::byte> bytes;
    for (std::size_t p = 0; p < payloads.size(); ++p) {
      const Dim dim = payloads[p].dim;
      if (dim > cell_dim() || !storage_->halos[index(dim)])
        refuse(ErrorCode::usage, fmt::format("payload on dimension {}", value(dim)),
               "cannot be: the mesh has no entities of that dimension");
      for (std::size_t i = 0; i < n_owned(dim); ++i) {
        bytes.clear();
        payloads[p].pack(local_id(i), bytes);
        packed[p].add(bytes, true);
      }
    }
  });
  exchange::Neighborhood hood(
      context(), neighbours(),
      {.termination = exchange::Termination::introductions, .delivery = exchange::Delivery::by_rank});
  for (std::size_t p = 0; p < payloads.size(); ++p) {
    const Dim dim = payloads[p].dim;
    const auto value_of = [&](std::size_t /*tag*/, LocalId id, auto&& visit) {
      visit(packed[p].value(index(id), 0));
      return true;
    };
    MeshTag& tag = storage_->tags.emplace_back();
    tag.info.type = TagType::bytes;
    tag.info.length_varies = true;
    detail::carry_tags(hood, *storage_->halos[index(dim)], dim, n_owned(dim), {&tag, 1}, value_of);
    packed[p] = {};
  }
}

void Mesh::unpack_payloads(std::span<const Payload> payloads) {
  if (payloads.empty()) return;
  const std::vector<MeshTag>::iterator first = storage_->tags.end() - std::ssize(payloads);
  const std::vector<MeshTag> packed(std::make_move_iterator(first), std::make_move_iterator(storage_->tags.end()));
  storage_->tags.erase(first, storage_->tags.end());
  agree_after(context(), [&] {
    for (std::size_t p = 0; p < payloads.size(); ++p) {
      const MeshTag::Values& values = packed[p].on[index(payloads[p].dim)];
      std::size_t i = 0;
      for (const LocalId id : values.entities) payloads[p].unpack(id, values.items.value(i++, 0));
    }
  });
}

}  // namespace barrio::mesh
