#include "barrio/io/write.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/io/detail/readers.hpp"
#include "barrio/mesh/to_tables.hpp"

namespace barrio::io {

void write_h5m(const mesh::Mesh& mesh, const std::string& path, const H5mOptions& options) {
  for (const auto& field : mesh.fields()) {
    const std::string& name = field->name;
    const bool has_meaning = detail::is_set_tag(name) || name == detail::name_tag || name == detail::global_id_tag ||
                             name == options.partition_tag;
    if (!options.with_fields || !has_meaning) continue;
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("field '{}'", name),
                                         .cause = "has a name that means something else in .h5m files",
                                         .remedy = "give it another name, or save without fields"});
  }
  write_h5m(mesh.context(), mesh::to_tables(mesh, {.with_fields = options.with_fields}), path, options);
}

void write(const mesh::Mesh& mesh, const std::string& path) {
  if (path.ends_with(".h5m")) {
    write_h5m(mesh, path);
    return;
  }
  VtkhdfOptions options;
  for (const auto& field : mesh.fields())
    if (field->dim == mesh::Dim::vertex || field->dim == mesh.cell_dim()) options.fields.push_back(field->name);
  VtkhdfWriter writer(mesh, path, std::move(options));
  writer.close();
}

}  // namespace barrio::io
