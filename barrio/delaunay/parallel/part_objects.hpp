#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/parallel/part_bytes.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/mobile/runtime.hpp"

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
