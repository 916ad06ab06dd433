#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "barrio/mpi/collectives.hpp"
#include "bindings.hpp"

namespace barrio::python {

using mesh::EntityTable;
using mesh::FieldData;

SharedMesh::SharedMesh(std::shared_ptr<mpi::Context> context, mesh::Mesh mesh)
    : state_(std::make_unique<State>(std::move(context), std::move(mesh))) {
  agree_on_widths();
}

SharedMesh::~SharedMesh() {
  for (const auto& [field, exchange] : state_->exchanges) {
    if (!exchange.is_travelling) continue;
    state_->context->log().warning(fmt::format(
        "field '{}' was dropped between begin_exchange() and end_exchange(); its memory is not freed", field->name));
    static_cast<void>(state_.release());  // MPI may still write there
    return;
  }
}

Exchange& SharedMesh::exchange(FieldData& field) {
  const auto known = state_->exchanges.find(&field);
  if (known != state_->exchanges.end()) return known->second;
  return std::visit(
      [&]<class T>(const std::vector<T>&) -> Exchange& {
        const mesh::Field<T> typed(field);
        return state_->exchanges.try_emplace(&field, state_->mesh.plan(typed)).first->second;
      },
      field.values);
}

std::optional<std::string> SharedMesh::travelling_field() const {
  for (const auto& [field, exchange] : state_->exchanges)
    if (exchange.is_travelling) return field->name;
  return {};
}

// A rank's table has the simplest form that its own entities allow. But all ranks run the same script, so all must get
// the same kind of array, including ranks without entities.
void SharedMesh::agree_on_widths() {
  constexpr std::int64_t nothing = std::numeric_limits<std::int32_t>::min();
  std::array<std::int64_t, 8> extremes{};  // of each dimension: the max width, and minus the min width
  extremes.fill(nothing);
  for (std::size_t d = 1; d < 4; ++d) {
    const EntityTable& table = state_->mesh.entities(static_cast<Dim>(d));
    if (table.size() == 0) continue;
    extremes[2 * d] = table.nodes_per_entity;
    extremes[2 * d + 1] = -std::int64_t{table.nodes_per_entity};
    if (!table.offsets.empty()) extremes[2 * d + 1] = 0;
  }
  mpi::all_reduce(*state_->context, std::span<std::int64_t>(extremes), MPI_MAX);
  for (std::size_t d = 1; d < 4; ++d) {
    const EntityTable& table = state_->mesh.entities(static_cast<Dim>(d));
    if (extremes[2 * d] == nothing) {
      state_->widths[d] = std::max(static_cast<int>(d) + 1, table.nodes_per_entity);  // no rank has any: take simplices
    } else if (extremes[2 * d] == -extremes[2 * d + 1] && extremes[2 * d] > 0) {
      state_->widths[d] = static_cast<int>(extremes[2 * d]);
    } else if (table.offsets.empty()) {
      auto& offsets = state_->offsets[d];
      offsets.resize(table.size() + 1);
      for (std::size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = static_cast<std::int32_t>(i) * table.nodes_per_entity;
    }
  }
}

const std::vector<std::int32_t>& SharedMesh::offsets(Dim dim) const noexcept {
  const auto& made = state_->offsets[static_cast<std::size_t>(mesh::value(dim))];
  return made.empty() ? state_->mesh.entities(dim).offsets : made;
}

}  // namespace barrio::python
