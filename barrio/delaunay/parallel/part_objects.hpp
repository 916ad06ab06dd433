#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/parted.hpp"
#include "barrio/mobile/packing.hpp"
#include "barrio/mobile/runtime.hpp"

template <>
struct barrio::mobile::Fields<barrio::delaunay::Region> {
  template <class Visit>
  static void list(delaunay::Region& region, Visit& visit) {
    visit("attribute", region.attribute);
    visit("max_area", region.max_area);
    visit("number", region.number);
    visit("name", region.name);
  }
};

template <>
struct barrio::mobile::Fields<barrio::delaunay::Attribute> {
  template <class Visit>
  static void list(delaunay::Attribute& attribute, Visit& visit) {
    visit("name", attribute.name);
    visit("components", attribute.n_components);
  }
};

/// Fields that refinement needs: the numbers and markers of input points stay behind.
template <>
struct barrio::mobile::Fields<barrio::delaunay::Triangulation> {
  template <class Visit>
  static void list(delaunay::Triangulation& mesh, Visit& visit) {
    visit("points", mesh.points);
    visit("infos", mesh.infos);
    visit("triangles", mesh.triangles);
    visit("segments", mesh.segments);
    visit("regions", mesh.regions);
    visit("attributes", mesh.attributes);
    visit("attribute_values", mesh.attribute_values);
    visit("first_unused_triangle", mesh.first_unused_triangle);
    visit("first_unused_vertex", mesh.first_unused_vertex);
    visit("unused_triangles", mesh.n_unused_triangles);
    visit("unused_vertices", mesh.n_unused_vertices);
  }
};

template <>
struct barrio::mobile::Fields<barrio::delaunay::Part> {
  template <class Visit>
  static void list(delaunay::Part& part, Visit& visit) {
    visit("number", part.number);
    visit("expected", part.n_expected);
    visit("is_compact", part.is_compact);
    visit("mesh", part.mesh);
    visit("angles", part.angles);
    visit("interfaces", part.interfaces);
    visit("chains", part.chains);
    visit("chain_end", part.chain_end);
    visit("shared", part.shared);
    visit("regions", part.regions);
  }
};

namespace barrio::delaunay::detail {

/// Parts of a rank: mobile objects, by ascending number.
struct PartObjects {
  PartObjects(mpi::Context& context, std::uint64_t max_memory_bytes, const std::string& scratch)
      : runtime(context, {.max_memory_bytes = max_memory_bytes, .scratch = scratch}) {
    runtime.add_type<Part>("part");
  }
  mobile::Runtime runtime;
  std::vector<mobile::MobilePtr<Part>> names;
};

}  // namespace barrio::delaunay::detail
