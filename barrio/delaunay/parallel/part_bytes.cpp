#include "barrio/delaunay/parallel/part_bytes.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "barrio/base/error.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Write arrays one after the other, each after its length; or count their bytes, if there is no place for them.
class Packer {
 public:
  explicit Packer(std::byte* to) : to_(to) {}
  [[nodiscard]] std::size_t n_bytes() const noexcept { return n_; }

  template <class Array>
  void array(const Array& items) {
    using T = std::remove_cvref_t<decltype(*items.data())>;
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uint64_t n = items.size();
    append(&n, sizeof(n));
    append(items.data(), n * sizeof(T));
  }
  template <class T>
  void value(const T& one) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&one, sizeof(T));
  }

 private:
  void append(const void* from, std::size_t n) noexcept {
    if (to_ != nullptr && n > 0) std::memcpy(to_ + n_, from, n);
    n_ += n;
  }
  std::byte* to_;
  std::size_t n_ = 0;
};

/// Read what a packer has written, in the same order.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class Array>
  void array(Array& items) {
    using T = std::remove_cvref_t<decltype(*items.data())>;
    std::uint64_t n = 0;
    value(n);
    if (n > bytes_.size() / sizeof(T)) refuse_bytes();
    items.resize(n);
    if (n > 0) std::memcpy(items.data(), bytes_.data(), n * sizeof(T));
    bytes_ = bytes_.subspan(n * sizeof(T));
  }
  template <class T>
  void value(T& one) {
    if (bytes_.size() < sizeof(T)) refuse_bytes();
    std::memcpy(&one, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
  }
  void check_end() const {
    if (!bytes_.empty()) refuse_bytes();
  }

 private:
  [[noreturn]] static void refuse_bytes() { refuse(ErrorCode::internal, "bytes", "are not those of a part"); }
  std::span<const std::byte> bytes_;
};

/// Packed region: parts have no names.
struct PackedRegion {
  double attribute;
  double max_area;
  std::int64_t number;
};

/// Visit the members of a part that are packed as they are.
template <class Visitor, class PartType>
void visit(Visitor& visitor, PartType& part) {
  auto& mesh = part.mesh;
  visitor.value(part.number);
  visitor.value(part.n_expected);
  visitor.value(part.is_compact);
  visitor.array(mesh.points);
  visitor.array(mesh.infos);
  visitor.array(mesh.triangles);
  visitor.array(mesh.segments);
  visitor.array(mesh.attribute_values);
  visitor.value(mesh.first_unused_triangle);
  visitor.value(mesh.first_unused_vertex);
  visitor.value(mesh.n_unused_triangles);
  visitor.value(mesh.n_unused_vertices);
  visitor.array(part.angles);
  visitor.array(part.interfaces);
  visitor.array(part.chains);
  visitor.array(part.chain_end);
  visitor.array(part.shared);
  visitor.array(part.regions);
}

}  // namespace

std::size_t pack(const Part& part, std::byte* to) {
  Packer packer(to);
  visit(packer, part);
  std::vector<PackedRegion> regions;
  for (const Region& region : part.mesh.regions) regions.push_back({region.attribute, region.max_area, region.number});
  packer.array(regions);
  std::vector<std::int32_t> n_components;
  std::string names;
  for (const Attribute& attribute : part.mesh.attributes) {
    n_components.push_back(attribute.n_components);
    names += attribute.name;
    names.push_back('\0');
  }
  packer.array(n_components);
  packer.array(names);
  return packer.n_bytes();
}

Part unpack(std::span<const std::byte> bytes) {
  Part part;
  Unpacker unpacker(bytes);
  visit(unpacker, part);
  std::vector<PackedRegion> regions;
  unpacker.array(regions);
  for (const PackedRegion& region : regions)
    part.mesh.regions.push_back({.attribute = region.attribute,
                                 .max_area = region.max_area,
                                 .number = static_cast<std::int32_t>(region.number),
                                 .name = {}});
  std::vector<std::int32_t> n_components;
  std::string names;
  unpacker.array(n_components);
  unpacker.array(names);
  unpacker.check_end();
  std::size_t at = 0;
  for (const std::int32_t n : n_components) {
    const std::size_t end = names.find('\0', at);
    part.mesh.attributes.push_back({names.substr(at, end - at), n});
    at = end + 1;
  }
  return part;
}

}  // namespace barrio::delaunay::detail
