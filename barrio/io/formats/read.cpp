#include "barrio/io/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/io/common/file_watch.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/io/formats/known_formats.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/to_linear.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

constexpr RegionName read_region{"io.read"};
constexpr RegionName partition_region{"io.partition"};

/// Remove tags by name; "*" names all.
void leave_out(mesh::MeshTables& tables, const std::vector<std::string>& names) {
  std::erase_if(tables.tags, [&](const mesh::TagTable& tag) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name == "*" || name == tag.info.name; });
  });
}

/// Read a file that must not change during the read. Rank 0 watches it for all.
template <class Read>
mesh::MeshTables read_unchanged(mpi::Context& context, const std::string& path, Read&& read) {
  std::optional<detail::FileWatch> watch;
  if (context.is_root()) watch.emplace(path);
  const auto check = [&] {
    if (watch) watch->check();
  };
  std::optional<AgreedError> fault;
  try {
    mesh::MeshTables tables = read();
    agree_after(context, check);
    return tables;
  } catch (const AgreedError& error) {
    fault = error;
  }
  agree(context, watch ? watch->explain(*fault) : Status());  // whichever rank met the fault, rank 0 knows the cause
  const bool has_path = fault->subject().find(path) != std::string::npos;
  if (fault->code() != ErrorCode::bad_input || (has_path && !fault->remedy().empty())) throw AgreedError(*fault);
  // The name of a dataset does not identify its file: add the path.
  const ErrorText text{.subject = has_path ? fault->subject() : fmt::format("{}: {}", path, fault->subject()),
                       .cause = fault->cause(),
                       .remedy = fault->remedy().empty() ? damaged_remedy : fault->remedy()};
  throw AgreedError(Error(fault->code(), text), fault->first_rank());
}

/// Keep or reduce degenerate cells, and log their number. Collective.
void see_to_degenerate(mpi::Context& context, mesh::MeshTables& tables, const std::string& path,
                       mesh::Degenerate degenerate) {
  const mesh::Dim top = tables.top_dim();
  const bool reduces = degenerate == mesh::Degenerate::reduce;
  const mesh::DegenerateCells cells =
      reduces ? mesh::reduce_degenerate(context, tables) : mesh::count_degenerate(context, tables);
  const char* why = reduces && !cells.kept.empty() ? "; no type fits those" : "";
  context.log().notice(fmt::format("{}: cells had one vertex at two corners or more: {}{}", path, cells.text(), why));
  if (tables.top_dim() != top)
    throw AgreedError(ErrorCode::bad_input, {.subject = path,
                                             .cause = "has only cells that have collapsed below their dimension",
                                             .remedy = "check the vertices of its cells"});
}

void cut_to_corners(mpi::Context& context, mesh::MeshTables& tables, const std::string& path) {
  mesh::LinearReport dropped;
  tables = mesh::to_linear(context, std::move(tables), dropped);
  if (dropped.n_cells > 0)
    context.log().notice(
        fmt::format("{}: {} cells and sides of second order are cut to their corners; {} vertices that "
                    "were not corners are dropped, with their sets and tags",
                    path, dropped.n_cells, dropped.n_vertices));
}

/// Read tables. @param keeps_numbers  GLOBAL_ID among the tags to leave out means one that repeats the order of the
/// file
mesh::MeshTables read_known(mpi::Context& context, const std::string& path, TableOptions options, bool keeps_numbers) {
  const Region region(context.trace(), read_region);
  auto format = Format::h5m;
  mesh::MeshTables tables = read_unchanged(context, path, [&] {
    agree_after(context, [&] {
      if (context.is_root()) format = detect_format(path);
    });
    mpi::broadcast(context, std::span(&format, 1));
    if (format != Format::h5m && options.partition_tag != default_partition_tag && !options.may_lack_partition_tag) {
      throw AgreedError(ErrorCode::usage,
                        {.subject = path,
                         .cause = fmt::format("has no partition '{}': only .h5m files have partitions with names",
                                              options.partition_tag),
                         .remedy = "partition it first: barrio partition IN -n P --tag NAME -o OUT"});
    }
    constexpr std::array with_steps{Format::exodus, Format::climate, Format::cgns, Format::vtkhdf, Format::xdmf};
    const bool may_have_steps = std::ranges::find(with_steps, format) != with_steps.end();
    if (!may_have_steps && options.step != 0) detail::chosen_step(context, path, options.step, 0);
    if (keeps_numbers && std::erase(options.without_tags, detail::global_id_tag) > 0)
      options.without_row_numbers = true;
    return detail::known_format(format).read(context, path, options);
  });
  if (format != Format::h5m) leave_out(tables, options.without_tags);
  const bool has_degenerate = mesh::validate_all_but_degenerate(context, tables, path);
  if (options.to_linear) cut_to_corners(context, tables, path);
  if (has_degenerate) see_to_degenerate(context, tables, path, options.degenerate);
  return tables;
}

}  // namespace

mesh::MeshTables read_tables(mpi::Context& context, const std::string& path, const TableOptions& options) {
  return read_known(context, path, options, false);
}

mesh::Mesh read(mpi::Context& context, const std::string& path, ReadOptions options) {
  mesh::check_partitioner(options.partitioner);  // also if the file has parts
  mesh::MeshTables tables = read_known(context, path,
                                       {.without_tags = options.without_tags,
                                        .partition_tag = options.partition_tag,
                                        .to_linear = options.to_linear,
                                        .degenerate = options.degenerate,
                                        .step = options.step},
                                       true);
  if (tables.n_parts == 0) {
    const Region region(context.trace(), partition_region);
    context.log().info(
        fmt::format("{} has no partition: cutting it into {} parts by {}", path, context.size(), options.partitioner));
    mesh::partition_cells(context, tables, context.size(), options.partitioner);
  } else if (tables.n_parts < context.size()) {
    const std::int64_t n_empty = context.size() - tables.n_parts;
    context.log().notice(
        fmt::format("{} has {} part{} for {} ranks: {} empty; 'barrio partition {} -n {} -o OUTPUT' cuts it anew", path,
                    tables.n_parts, tables.n_parts == 1 ? "" : "s", context.size(),
                    n_empty == 1 ? "1 rank stays" : fmt::format("{} ranks stay", n_empty), path, context.size()));
  }
  return {context,
          std::move(tables),
          {.ghost_layers = options.ghost_layers,
           .bridge = options.bridge,
           .ghost_sides = options.ghost_sides,
           .ghost_sets = std::move(options.ghost_sets),
           .ghost_ranks = std::move(options.ghost_ranks)}};
}

}  // namespace barrio::io
