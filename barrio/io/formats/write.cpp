#include "barrio/io/write.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/common/readers.hpp"
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
  for (const mesh::MeshTag& tag : mesh.tags())
    if (detail::is_set_tag(tag.info.name))
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("tag '{}'", tag.info.name),
                                           .cause = "has a name that means something else in .h5m files",
                                           .remedy = "give it another name"});
  write_h5m(mesh.context(), mesh::to_tables(mesh, {.with_fields = options.with_fields}), path, options);
}

WrittenFormat written_format(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".h5m") return WrittenFormat::h5m;
  if (suffix == ".vtkhdf") return WrittenFormat::vtkhdf;
  throw AgreedError(ErrorCode::usage,
                    {.subject = path,
                     .cause = fmt::format("has the suffix '{}', which barrio does not write.{}", suffix,
                                          did_you_mean(suffix, std::vector<std::string>{".h5m", ".vtkhdf"})),
                     .remedy = "use .h5m (for barrio and MOAB) or .vtkhdf (for ParaView)"});
}

void write(const mesh::Mesh& mesh, const std::string& path) {
  if (written_format(path) == WrittenFormat::h5m) {
    write_h5m(mesh, path);
    return;
  }
  VtkhdfOptions options{.with_tags = true};
  for (const auto& field : mesh.fields())
    if (field->dim == mesh::Dim::vertex || field->dim == mesh.cell_dim()) options.fields.push_back(field->name);
  sort_unique(options.fields);  // one name may be on vertices and on cells
  VtkhdfWriter writer(mesh, path, std::move(options));
  writer.close();
}

}  // namespace barrio::io
