#include "barrio/adapt/assembly/side_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

constexpr std::size_t max_values = 1'000;  // distinct ones of a field or tag
constexpr std::array side_dims{Dim::edge, Dim::face};

std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> to_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Return the bytes of an owned entity's value in a field.
std::string row_of(const mesh::FieldData& field, std::size_t i) {
  return std::visit(
      [&](const auto& values) {
        return to_string(std::as_bytes(std::span(values).subspan(i * field.n_components, field.n_components)));
      },
      field.values);
}

/// Keep the distinct values; one more than allowed is enough to tell that there are too many.
void make_distinct(std::vector<std::string>& values) {
  sort_unique(values);
  if (values.size() > max_values) values.resize(max_values + 1);
}

std::string packed(std::span<const std::vector<std::string>> lists) {
  exchange::MessageWriter message;
  for (const auto& values : lists) {
    std::vector<std::uint64_t> lengths;
    std::string all;
    for (const std::string& value : values) {
      lengths.push_back(value.size());
      all += value;
    }
    message.put(lengths);
    message.put(std::span<const char>(all));
  }
  return to_string(message.bytes());
}

std::vector<std::vector<std::string>> unpacked(const std::string& text, std::size_t n_lists) {
  std::vector<std::uint64_t> aligned((text.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  if (!text.empty()) std::memcpy(aligned.data(), text.data(), text.size());
  exchange::MessageReader reader(std::as_bytes(std::span(aligned)));
  std::vector<std::vector<std::string>> lists(n_lists);
  for (auto& values : lists) {
    const auto lengths = reader.get<std::uint64_t>();
    std::span<const char> all = reader.get<char>();
    for (const std::uint64_t length : lengths) {
      values.emplace_back(all.data(), length);
      all = all.subspan(length);
    }
  }
  return lists;
}

}  // namespace

std::int32_t SideValues::Item::number_of(const std::string& value) const {
  return first + static_cast<std::int32_t>(std::ranges::lower_bound(values, value) - values.begin());
}

SideValues::SideValues(const mesh::Mesh& mesh) {
  find_items(mesh);
  if (items_.empty()) return;
  for (Item& item : items_) {
    const std::size_t n_owned = mesh.n_owned(item.dim);
    if (!item.is_tag) {
      for (std::size_t i = 0; i < n_owned; ++i) item.values.push_back(row_of(*mesh.fields()[item.from], i));
    } else {
      const mesh::MeshTag& tag = mesh.tags()[item.from];
      const mesh::MeshTag::Values& on = tag.on[mesh::index(item.dim)];
      for (std::size_t i = 0; i < on.entities.size(); ++i)
        item.values.push_back(to_string(on.items.value(i, tag.info.value_bytes())));
    }
    make_distinct(item.values);
  }
  agree(mesh.context());
  std::int32_t next = static_cast<std::int32_t>(mesh.sets().size());
  for (Item& item : items_) {
    item.is_left_out = item.values.size() > max_values;
    item.first = next;
    if (!item.is_left_out) next += static_cast<std::int32_t>(item.values.size());
  }
}

/// Find the fields on sides, and the tags that have a value on some. Ids are new, and entities get other numbers.
void SideValues::find_items(const mesh::Mesh& mesh) {
  for (std::size_t f = 0; f < mesh.fields().size(); ++f) {
    const mesh::FieldData& field = *mesh.fields()[f];
    if (std::ranges::find(side_dims, field.dim) == side_dims.end()) continue;
    Item& item = items_.emplace_back();
    item.from = f;
    item.dim = field.dim;
    item.field = {field.name, field.dim, field.n_components, {}};
    std::visit([&]<class T>(const std::vector<T>&) { item.field.values = std::vector<T>(); }, field.values);
  }
  std::vector<std::int64_t> n_values;
  for (const mesh::MeshTag& tag : mesh.tags())
    for (const Dim dim : side_dims) n_values.push_back(tag.on[mesh::index(dim)].entities.size());
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(n_values), MPI_SUM);
  for (std::size_t t = 0; t < mesh.tags().size(); ++t) {
    const mesh::TagInfo& info = mesh.tags()[t].info;
    for (std::size_t i = 0; i < side_dims.size(); ++i) {
      if (n_values[t * side_dims.size() + i] == 0 || info.name == "GLOBAL_ID" || info.type == mesh::TagType::entity)
        continue;
      Item& item = items_.emplace_back();
      item.is_tag = true;
      item.from = t;
      item.dim = side_dims[i];
      item.field.name = info.name;
    }
  }
}

void SideValues::agree(mpi::Context& context) {
  std::vector<std::vector<std::string>> lists;
  for (Item& item : items_) lists.push_back(std::move(item.values));
  std::string all =
      mpi::reduce_to_root(context, packed(lists), [n = lists.size()](std::string mine, std::string theirs) {
        auto both = unpacked(mine, n);
        const auto more = unpacked(theirs, n);
        for (std::size_t i = 0; i < n; ++i) {
          both[i].insert(both[i].end(), more[i].begin(), more[i].end());
          make_distinct(both[i]);
        }
        return packed(both);
      });
  mpi::broadcast(context, all);
  lists = unpacked(all, lists.size());
  for (std::size_t i = 0; i < items_.size(); ++i) items_[i].values = std::move(lists[i]);
}

std::vector<std::string> SideValues::left_out() const {
  std::vector<std::string> names;
  for (const Item& item : items_)
    if (item.is_left_out)
      names.push_back(fmt::format("{} '{}' on {}, with more than {} different values", item.is_tag ? "tag" : "field",
                                  item.field.name, item.dim == Dim::edge ? "edges" : "faces", max_values));
  return names;
}

void SideValues::add_numbers(const mesh::Mesh& mesh, Dim dim,
                             std::vector<std::pair<std::int32_t, std::int32_t>>& members) const {
  for (const Item& item : items_) {
    if (item.dim != dim || item.is_left_out) continue;
    if (item.is_tag) {
      const mesh::MeshTag& tag = mesh.tags()[item.from];
      const mesh::MeshTag::Values& on = tag.on[mesh::index(dim)];
      std::size_t i = 0;
      for (const LocalId id : on.entities)
        members.emplace_back(value(id), item.number_of(to_string(on.items.value(i++, tag.info.value_bytes()))));
      continue;
    }
    const auto field = std::ranges::find_if(
        mesh.fields(), [&](const auto& one) { return one->name == item.field.name && one->dim == dim; });
    std::vector<std::int32_t> numbers(mesh.n_local(dim));
    for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) numbers[i] = item.number_of(row_of(**field, i));
    exchange::HaloExchange<std::int32_t>(mesh.context(), mesh.halo_plan(dim), numbers, 1).exchange();
    for (std::int32_t i = 0; std::cmp_less(i, numbers.size()); ++i) members.emplace_back(i, numbers[i]);
  }
}

void SideValues::give(Dim dim, const std::function<std::span<const std::int32_t>(std::size_t)>& numbers_of,
                      mesh::LocalMesh& out) const {
  const std::size_t n = out.size(dim);
  for (const Item& item : items_) {
    if (item.dim != dim || item.is_left_out) continue;
    mesh::FieldData* const field = item.is_tag ? nullptr : &out.fields.emplace_back(item.field);
    if (field != nullptr) std::visit([&](auto& values) { values.resize(n * field->n_components); }, field->values);
    for (std::size_t i = 0; i < n; ++i) {
      for (const std::int32_t number : numbers_of(i)) {
        const std::int64_t at = std::int64_t{number} - item.first;
        if (at < 0 || at >= std::ssize(item.values)) continue;
        const std::span<const std::byte> bytes = to_bytes(item.values[at]);
        if (field == nullptr) {
          mesh::MeshTag& tag = out.tags[item.from];
          tag.on[mesh::index(dim)].entities.insert(local_id(i));
          tag.on[mesh::index(dim)].items.add(bytes, tag.info.length_varies);
          continue;
        }
        std::visit(
            [&](auto& values) {
              std::memcpy(reinterpret_cast<std::byte*>(values.data()) + i * bytes.size(), bytes.data(), bytes.size());
            },
            field->values);
      }
    }
  }
}

}  // namespace barrio::adapt::detail
