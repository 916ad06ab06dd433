#pragma once

/// @file Fields made from the values of tags.

#include <optional>
#include <string>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Options of `tag_as_field`, the same on all ranks.
struct TagFieldOptions {
  int n_components = 1;             ///< that the tag must have
  std::optional<double> fill = {};  ///< for entities without a value, if the tag has no default
};

/// Add a field with the name and the values of a tag, on all local entities of a dimension. Collective.
///
/// Restores a field that a checkpoint stored as a tag (`to_tables`): double from float64 or int32, int32 from int32,
/// and float and int64 from values of float64 or int32 that they hold exactly.
/// @throws AgreedError{usage} describing the tag: if no tag has that name; if it has another number of components,
/// values of varying length or values that are not numbers; if it has no values on the dimension, or some entities lack
/// one and there is neither default nor fill; if T cannot hold a value; if the field already exists
/// Cost: one reduction of four numbers; time and memory O(n_local).
template <class T>
Field<T> tag_as_field(Mesh& mesh, const std::string& name, Dim dim, const TagFieldOptions& options = {});

/// Use the instantiation in the library, as for each type that a field may have.
extern template Field<double> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
extern template Field<float> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
extern template Field<std::int32_t> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);
extern template Field<std::int64_t> tag_as_field(Mesh&, const std::string&, Dim, const TagFieldOptions&);

}  // namespace barrio::mesh
