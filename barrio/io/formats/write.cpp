#include "barrio/io/write.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_tables.hpp"

namespace barrio::io {

void write_h5m(const mesh::Mesh& mesh, const std::string& path, const H5mOptions& options) {
  for (const auto& field : mesh.fields()) {
    const std::string& name = field->name;
    const bool has_meaning = detail::is_set_tag(name) || name == detail::name_tag || name == detail::global_id_tag ||
                             name == options.partition_tag;
    if (!options.with_fields || !has_meaning) continue;
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("field '{}'", name),
                                         .cause = "has a name that is reserved in .h5m files",
                                         .remedy = "give it another name, or save without fields"});
  }
  for (const mesh::MeshTag& tag : mesh.tags())
    if (detail::is_set_tag(tag.info.name))
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("tag '{}'", tag.info.name),
                                           .cause = "has a name that is reserved in .h5m files",
                                           .remedy = "give it another name"});
  write_h5m(mesh.context(), mesh::to_tables(mesh, {.with_fields = options.with_fields}), path, options);
}

WrittenFormat written_format(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".h5m") return WrittenFormat::h5m;
  if (suffix == ".vtkhdf") return WrittenFormat::vtkhdf;
  if (suffix == ".mesh" || suffix == ".meshb") return WrittenFormat::medit;
  throw AgreedError(
      ErrorCode::usage,
      {.subject = path,
       .cause = fmt::format("has the suffix '{}', which barrio does not write.{}", suffix,
                            did_you_mean(suffix, std::vector<std::string>{".h5m", ".vtkhdf", ".mesh", ".meshb"})),
       .remedy = "use .h5m (for barrio and MOAB), .vtkhdf (for ParaView), .mesh or .meshb (for Medit and Mmg)"});
}

namespace {

void write_as_medit(const mesh::Mesh& mesh, const std::string& path) {
  std::vector<std::string> fields;
  for (const auto& field : mesh.fields()) fields.push_back(fmt::format("'{}'", field->name));
  if (!fields.empty())
    mesh.context().log().notice(fmt::format("{}: Medit cannot hold fields: {}", path, fmt::join(fields, ", ")));
  mesh::MeshTables tables = mesh::to_tables(mesh, {.with_fields = false});
  tables.n_parts = 0;  // these are the parts of the ranks
  write_medit(mesh.context(), tables, path);
}

}  // namespace

void write(const mesh::Mesh& mesh, const std::string& path) {
  const WrittenFormat format = written_format(path);
  if (format == WrittenFormat::h5m) {
    write_h5m(mesh, path);
    return;
  }
  if (format == WrittenFormat::medit) {
    write_as_medit(mesh, path);
    return;
  }
  VtkhdfOptions options{.with_tags = true};
  for (const auto& field : mesh.fields())
    if (field->dim == mesh::Dim::vertex || field->dim == mesh.cell_dim()) options.fields.push_back(field->name);
  sort_unique(options.fields);  // one name may be both on vertices and on cells
  VtkhdfWriter writer(mesh, path, std::move(options));
  writer.close();
}

void write(mpi::Context& context, mesh::MeshTables tables, const std::string& path, const std::string& partition_tag) {
  const WrittenFormat format = written_format(path);
  if (format == WrittenFormat::h5m) {
    write_h5m(context, tables, path, {.partition_tag = partition_tag});
  } else if (format == WrittenFormat::medit) {
    write_medit(context, tables, path);
  } else {
    if (tables.n_parts == 0) mesh::partition_cells(context, tables, context.size());
    write(mesh::Mesh(context, std::move(tables)), path);
  }
}

}  // namespace barrio::io
