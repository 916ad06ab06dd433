#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "barrio/files/h5m.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_tags.hpp"

namespace barrio::io::detail {

/// Plan of the read of a file: its tables, and the meaning of its sets. Small, except for O(sets).
struct H5mPlan {
  files::H5mCatalog catalog;
  files::H5mSetList list;
  std::vector<files::H5mSetValue> partition;                           // set -> part value
  std::array<std::vector<files::H5mSetValue>, set_tags.size()> kinds;  // set -> id
  std::vector<files::H5mSetValue> global_ids;                          // of sets, for geometry sets
  std::vector<std::pair<std::int64_t, std::string>> names;
  std::vector<TagPlan> tags;
  bool has_parts_on_elements = false;          // known to rank 0 alone
  std::vector<TagPlan> partition_on_elements;  // the tag whose values on elements are their parts; empty without one
};

/// Plan the read. Collective: rank 0 looks at the file, and tells the others.
/// @throws AgreedError{bad_input} if the file is not a sound .h5m file, or has elements that are not supported; {usage}
/// if it has no partition of that name
H5mPlan make_plan(mpi::Context& context, const std::string& path, const TableOptions& options);

}  // namespace barrio::io::detail
