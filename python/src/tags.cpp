#include <fmt/format.h>

#include <cstring>

#include "barrio/mesh/sharing_tags.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

using mesh::MeshTag;
using mesh::TagType;

/// Python's MeshTag: keeps the owner of its values alive.
struct SharedTag {
  std::shared_ptr<const void> owner;
  const MeshTag* tag;
};

/// Copy bytes to numbers of the tag's type; bytes and bits stay uint8. @param width  numbers per row; 0: a flat array
nb::object numbers(const mesh::TagInfo& info, std::span<const std::byte> bytes, std::size_t width) {
  const auto as = [&]<class T>(T) -> nb::object {
    auto kept = std::make_unique<std::vector<T>>(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(kept->data(), bytes.data(), kept->size() * sizeof(T));
    const std::size_t n = kept->size();
    const void* const first = address(kept->data());
    const nb::capsule owner(kept.release(), [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
    const std::array<std::size_t, 2> shape{width > 0 ? n / width : n, width};
    return nb::cast(nb::ndarray<nb::numpy, const T>(first, width > 0 ? 2 : 1, shape.data(), owner));
  };
  switch (info.type) {
    case TagType::int32: return as(std::int32_t{});
    case TagType::float64: return as(double{});
    case TagType::entity: return as(std::int64_t{});
    case TagType::bytes:
    case TagType::bits: return as(std::uint8_t{});
  }
  return nb::none();
}

nb::object one_value(const mesh::TagInfo& info, std::span<const std::byte> bytes) {
  return bytes.empty() ? nb::none() : numbers(info, bytes, 0);
}

/// Return the size of one number of a tag.
std::size_t number_bytes(TagType type) {
  switch (type) {
    case TagType::int32: return 4;
    case TagType::float64:
    case TagType::entity: return 8;
    default: return 1;
  }
}

nb::tuple values_on(const SharedTag& self, Dim dim) {
  if (dim < Dim::vertex || dim > Dim::volume) throw_usage(fmt::format("dimension {}", value(dim)), "is not in 0 .. 3");
  const mesh::TagInfo& info = self.tag->info;
  const MeshTag::Values& on = self.tag->on[value(dim)];
  auto ids = copied(on.entities.ids());
  if (!info.length_varies) {
    const std::size_t width = info.value_bytes() / number_bytes(info.type);
    return nb::make_tuple(ids, numbers(info, on.items.bytes, width == 1 ? 0 : width));
  }
  std::vector<std::int64_t> offsets = on.items.offsets;
  if (offsets.empty()) offsets.push_back(0);
  for (std::int64_t& offset : offsets) offset /= number_bytes(info.type);
  return nb::make_tuple(ids, copied(std::move(offsets)), numbers(info, on.items.bytes, 0));
}

}  // namespace

nb::object tag_copy(const MeshTag& tag) {
  auto kept = std::make_shared<const MeshTag>(tag);
  const MeshTag* const all = kept.get();
  return nb::cast(SharedTag{std::move(kept), all});
}

void bind_tags(nb::module_& module, nb::class_<SharedMesh>& shared) {
  nb::class_<SharedTag>(module, "MeshTag", "A tag of a mesh, with the values of this rank's entities.")
      .def_prop_ro(
          "name", [](const SharedTag& self) { return self.tag->info.name; }, "Name, unique in the mesh.")
      .def_prop_ro(
          "type", [](const SharedTag& self) { return std::string(mesh::name(self.tag->info.type)); },
          "int32, float64, entity (4 x 2**60 + index of a set, else dimension x 2**60 + global id), bytes or bits.")
      .def_prop_ro(
          "n_components", [](const SharedTag& self) { return self.tag->info.n_components; },
          "Numbers per value; 1 if lengths vary.")
      .def_prop_ro(
          "length_varies", [](const SharedTag& self) { return self.tag->info.length_varies; },
          "Each value has its own number of components.")
      .def_prop_ro(
          "default", [](const SharedTag& self) { return one_value(self.tag->info, self.tag->info.default_value); },
          nb::sig("def default(self) -> numpy.typing.NDArray[typing.Any] | None"),
          "The value of entities without their own.")
      .def_prop_ro(
          "mesh_value", [](const SharedTag& self) { return one_value(self.tag->info, self.tag->info.mesh_value); },
          nb::sig("def mesh_value(self) -> numpy.typing.NDArray[typing.Any] | None"),
          "The value on the mesh as a whole.")
      .def("values", &values_on, nb::arg("dim"),
           nb::sig("def values(self, dim: Dim) -> tuple[numpy.typing.NDArray[typing.Any], ...]"),
           "Return the values on local entities of a dimension, copies included: (local ids, values), with values of "
           "shape (n,) or (n, n_components); if lengths vary: (local ids, offsets, values).")
      .def("__repr__", [](const SharedTag& self) {
        const mesh::TagInfo& info = self.tag->info;
        return fmt::format("<barrio.MeshTag '{}', {} x {}>", info.name,
                           info.length_varies ? "any" : fmt::format("{}", info.n_components), mesh::name(info.type));
      });
  shared
      .def_prop_ro(
          "tags",
          [](const MeshPointer& self) {
            std::vector<SharedTag> tags;
            for (const MeshTag& tag : self->mesh().tags()) tags.push_back({self, &tag});
            return tags;
          },
          "All tags: the same list on every rank.")
      .def(
          "sharing_tags",
          [](const MeshPointer& self) {
            const auto kept = std::make_shared<const std::vector<MeshTag>>(mesh::sharing_tags(self->mesh()));
            std::vector<SharedTag> tags;
            for (const MeshTag& tag : *kept) tags.push_back({kept, &tag});
            return tags;
          },
          R"(Return the owners and sharers of all entities, as a list of four tags. Local.

status: a sum of 1 (not owned), 2 (shared), 4 (shared by more than two ranks), 8 (ghost); owner: a rank; sharers:
ranks, ascending; interface: for shared entities, the number of the interface. They describe the current state of the
mesh.)")
      .def(
          "has_tag", [](SharedMesh& self, std::string_view name) { return self.mesh().has_tag(name); }, nb::arg("name"),
          "Tell whether the mesh has a tag of this name.")
      .def(
          "tag",
          [](const MeshPointer& self, std::string_view name) { return SharedTag{self, &self->mesh().tag(name)}; },
          nb::arg("name"),
          "Return the tag of this name. Raises UsageError with \"did you mean\" if it does not exist.");
}

}  // namespace barrio::python
