#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/cell_weights.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/partition_quality.hpp"
#include "bindings.hpp"

// From file to file, as the commands of the same names do.

namespace barrio::python {
namespace {

/// Run a phase in a context of its own, without the GIL. Collective. @return the counts of the written mesh
template <class Phase>
nb::object with_context(const CommArgument& comm, Phase&& phase) {
  std::string text;
  in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    text = phase(*context).dump();
    context.reset();
  });
  return nb::module_::import_("json").attr("loads")(text);
}

Json counts_of(const mesh::MeshTables& tables) {
  return {{"cells", tables.n_global(tables.top_dim())}, {"vertices", tables.vertices.n_rows}};
}

nb::object convert(const CommArgument& comm, const std::filesystem::path& source, const std::filesystem::path& target,
                   const io::TableOptions& options) {
  return with_context(comm, [&](mpi::Context& context) {
    (void)io::written_format(target.string());  // refuses a suffix before the file is read
    mesh::MeshTables tables = io::read_tables(context, source.string(), options);
    Json counts = counts_of(tables);
    io::write(context, std::move(tables), target.string(), options.partition_tag);
    return counts;
  });
}

nb::object partition(const CommArgument& comm, const std::filesystem::path& source, const std::filesystem::path& target,
                     int parts, const std::string& method, const std::string& weight, bool keep_order,
                     io::TableOptions options) {
  options.may_lack_partition_tag = true;
  return with_context(comm, [&](mpi::Context& context) {
    if (io::written_format(target.string()) != io::WrittenFormat::h5m)
      refuse_together(ErrorCode::usage, target.string(), "cannot hold parts", "write a .h5m file");
    mesh::MeshTables tables = io::read_tables(context, source.string(), options);
    const std::int64_t n_cells = tables.n_global(tables.top_dim());
    if (parts < 1 || parts > n_cells)
      refuse_together(ErrorCode::usage, fmt::format("{} parts", parts),
                      fmt::format("are not from 1 to the {} cells of the mesh", n_cells), "ask for another number");
    const std::vector<std::int64_t> weights = mesh::compute_cell_weights(context, tables, {.tag = weight});
    mesh::partition_cells(context, tables, parts, method, weights);
    Json made = counts_of(tables);
    made.update(mesh::to_json(mesh::partition_quality(context, tables, weights)));
    if (!keep_order) tables = mesh::reorder_by_part(context, std::move(tables));
    io::write_h5m(context, tables, target.string(), {.partition_tag = options.partition_tag});
    return made;
  });
}

io::TableOptions options_of(const std::string& partition_tag, bool to_linear, const std::string& degenerate, int step) {
  return {.partition_tag = partition_tag,
          .to_linear = to_linear,
          .degenerate = mesh::degenerate_named(degenerate),
          .step = step};
}

}  // namespace

void bind_files(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "convert",
      [](const CommArgument& comm, const std::filesystem::path& source, const std::filesystem::path& target,
         const std::string& partition_tag, bool to_linear, const std::string& degenerate,
         int step) { return convert(comm, source, target, options_of(partition_tag, to_linear, degenerate, step)); },
      "comm"_a, "source"_a, "target"_a, nb::kw_only(), "partition_tag"_a = io::default_partition_tag,
      "to_linear"_a = false, "degenerate"_a = "reduce", "step"_a = 0,
      nb::sig("def convert(comm: mpi4py.MPI.Comm, source: str | os.PathLike, target: str | os.PathLike, *, "
              "partition_tag: str = 'PARALLEL_PARTITION', to_linear: bool = False, degenerate: str = 'reduce', step: "
              "int = 0) -> dict[str, typing.Any]"),
      R"(Write a mesh file in another format, .h5m, .vtkhdf, .mesh or .meshb, as `barrio convert` does. Collective over comm.

Returns the numbers of `cells` and `vertices`. The options are those of `read`.)");
  module.def(
      "partition",
      [](const CommArgument& comm, const std::filesystem::path& source, const std::filesystem::path& target, int parts,
         const std::string& method, const std::string& weight, bool keep_order, const std::string& partition_tag,
         bool to_linear, const std::string& degenerate, int step) {
        return partition(comm, source, target, parts, method, weight, keep_order,
                         options_of(partition_tag, to_linear, degenerate, step));
      },
      "comm"_a, "source"_a, "target"_a, "parts"_a, nb::kw_only(), "method"_a = "rcb", "weight"_a = "",
      "keep_order"_a = false, "partition_tag"_a = io::default_partition_tag, "to_linear"_a = false,
      "degenerate"_a = "reduce", "step"_a = 0,
      nb::sig("def partition(comm: mpi4py.MPI.Comm, source: str | os.PathLike, target: str | os.PathLike, parts: int, "
              "*, method: str = 'rcb', weight: str = '', keep_order: bool = False, partition_tag: str = "
              "'PARALLEL_PARTITION', to_linear: bool = False, degenerate: str = 'reduce', step: int = 0) -> dict[str, "
              "typing.Any]"),
      R"(Cut a mesh file into parts and write a .h5m file ordered by part, as `barrio partition` does. Collective over comm.

`method` is rcb, hilbert, metis, ptscotch or hypergraph, `weight` a tag with the work of each cell. Returns the numbers
of `cells` and `vertices` and the quality of the cut: `imbalance`, `cut_sides`, `ghost_cells`, `mean_neighbours` and
others. The file is the same on any number of ranks.)");
}

}  // namespace barrio::python
