#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/join.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

using Path = std::filesystem::path;

/// Make a mesh in a context of its own, without the GIL. Collective.
template <class Make>
MeshPointer make_mesh(const CommArgument& comm, Make&& make) {
  return in_own_context(comm, [&](std::unique_ptr<mpi::Context>& context) {
    mesh::Mesh mesh = make(*context);
    return std::make_shared<SharedMesh>(std::move(context), std::move(mesh));
  });
}

MeshPointer read(const CommArgument& comm, const Path& path, int ghost_layers, const std::string& partitioner,
                 mesh::Dim bridge, bool ghost_sides, const std::vector<std::string>& ghost_sets,
                 const std::vector<Rank>& ghost_ranks, const std::string& partition_tag, bool to_linear,
                 const std::string& degenerate, int step) {
  return make_mesh(comm, [&](mpi::Context& context) {
    return io::read(context, path.string(),
                    {.ghost_layers = ghost_layers,
                     .bridge = bridge,
                     .ghost_sides = ghost_sides,
                     .ghost_sets = ghost_sets,
                     .ghost_ranks = ghost_ranks,
                     .partitioner = partitioner,
                     .partition_tag = partition_tag,
                     .to_linear = to_linear,
                     .degenerate = mesh::degenerate_named(degenerate),
                     .step = step});
  });
}

using Point = std::array<double, 3>;

MeshPointer box(const CommArgument& comm, const std::array<std::int64_t, 3>& n, bool tets, const Point& low,
                const Point& high, std::optional<int> parts, int ghost_layers, const std::string& partitioner) {
  return make_mesh(comm, [&](mpi::Context& context) {
    mesh::MeshTables tables = mesh::make_box(context, {.n = n, .low = low, .high = high, .tets = tets});
    mesh::partition_cells(context, tables, parts.value_or(context.size()), partitioner);
    return mesh::Mesh(context, std::move(tables), {.ghost_layers = ghost_layers});
  });
}

nb::object dict_of(const std::string& json) { return nb::module_::import_("json").attr("loads")(json); }

using JointArgument = std::tuple<int, int, double>;

nb::tuple join(const CommArgument& comm, const std::vector<Path>& paths, std::optional<double> tolerance,
               const std::vector<JointArgument>& joints, bool require_conforming, bool within, int ghost_layers,
               const std::string& partitioner) {
  mesh::JoinOptions options{.require_conforming = require_conforming, .within_pieces = within};
  if (tolerance) options.tolerance = *tolerance;
  for (const auto& [a, b, width] : joints) options.joints.push_back({a, b, width});
  std::string report;
  const MeshPointer joined = make_mesh(comm, [&](mpi::Context& context) {
    std::vector<mesh::MeshTables> pieces;
    for (const Path& path : paths) pieces.push_back(io::read_tables(context, path.string()));
    // The pieces' ids identify their own rows only; the whole mesh gets new ones.
    for (mesh::MeshTables& piece : pieces)
      std::erase_if(piece.tags, [](const mesh::TagTable& tag) { return tag.info.name == "GLOBAL_ID"; });
    mesh::Joined whole = mesh::join(context, std::move(pieces), options);
    report = mesh::to_json(whole.report).dump();
    if (whole.tables.n_parts == 0) mesh::partition_cells(context, whole.tables, context.size(), partitioner);
    return mesh::Mesh(context, std::move(whole.tables), {.ghost_layers = ghost_layers});
  });
  return nb::make_tuple(joined, dict_of(report));
}

nb::object inspect(const Path& path, bool with_quality) {
  std::string text;
  {
    const nb::gil_scoped_release unlocked;
    text = io::inspect(path.string(), {.with_quality = with_quality}).dump();
  }
  return dict_of(text);
}

/// A writer with its mesh. A file that was not closed is discarded without waiting for other ranks.
class SharedWriter {
 public:
  SharedWriter(MeshPointer mesh, const Path& path, std::vector<std::string> fields, bool steps, io::Pieces pieces,
               bool tags)
      : mesh_(std::move(mesh)), path_(path.string()), has_steps_(steps) {
    const nb::gil_scoped_release unlocked;
    writer_ = std::make_unique<io::VtkhdfWriter>(
        mesh_->mesh(), path_,
        io::VtkhdfOptions{.pieces = pieces, .fields = std::move(fields), .has_steps = steps, .with_tags = tags});
  }
  ~SharedWriter() { discard(); }

  void write_step(double time, const std::optional<MeshPointer>& mesh) {
    check_open();
    if (!has_steps_) throw_usage(path_, "is not a time series", "make the writer with steps=True");
    MeshPointer former = mesh ? std::exchange(mesh_, *mesh) : mesh_;  // freed when the GIL is held again
    const nb::gil_scoped_release unlocked;
    writer_->write_step(mesh_->mesh(), time);
  }
  void close() {
    if (!writer_) return;
    const nb::gil_scoped_release unlocked;
    writer_->close();
    writer_.reset();
  }
  /// Drop the file as an exception would: C++ does not see Python's exceptions, and perhaps not all ranks failed.
  void discard() noexcept {
    if (!writer_) return;
    struct Unwinding {};
    struct Drop {
      std::unique_ptr<io::VtkhdfWriter>& writer;
      ~Drop() { writer.reset(); }
    };
    try {
      const Drop drop{writer_};
      throw Unwinding{};
    } catch (const Unwinding&) {  // NOLINT: nothing is left to do
    }
  }
  void check_open() const {
    if (!writer_) throw_usage(path_, "is closed already");
  }

 private:
  MeshPointer mesh_;
  std::string path_;
  bool has_steps_;
  std::unique_ptr<io::VtkhdfWriter> writer_;
};

}  // namespace

void bind_io(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "read", &read, "comm"_a, "path"_a, nb::kw_only(), "ghost_layers"_a = 0, "partitioner"_a = "rcb",
      "bridge"_a = mesh::Dim::vertex, "ghost_sides"_a = false, "ghost_sets"_a = std::vector<std::string>{},
      "ghost_ranks"_a = std::vector<Rank>{}, "partition_tag"_a = io::default_partition_tag, "to_linear"_a = false,
      "degenerate"_a = "reduce", "step"_a = 0,
      R"(Read a mesh file (.h5m, Gmsh 4.1, 2.2 and 1.0, Medit, VTK, VTU, PVTU, VTKHDF, Exodus II, CF netCDF grids, CGNS, SU2, XDMF) and build the distributed mesh. Collective over comm.

Parts stored in the file are assigned to ranks in contiguous slices; a file without a partition is cut into one part
per rank. Ghosts share a vertex with the layer before, or an entity of the dimension `bridge`; with `ghost_sides`
their listed faces come too. Second-order cells keep their nodes; `to_linear` reduces them to their corners and
reports what it drops. `ghost_sets` (names, or "material 3") restricts ghosts to these sets, `ghost_ranks` to ghosts
of and for these ranks. Degenerate cells, with one vertex at two corners, as at the poles, become the type that they
look like (a quad becomes a triangle, a hex a prism, pyramid or tet), or stay with `degenerate="keep"`; the log has
their number. `step` is the time step to read of Exodus, VTKHDF, XDMF, CF netCDF and CGNS files, from 1; 0: the last. Raises the same BadInputError or FailedError on all ranks.)");
  module.def("box", &box, "comm"_a, "n"_a = std::array<std::int64_t, 3>{8, 8, 8}, nb::kw_only(), "tets"_a = false,
             "low"_a = Point{0.0, 0.0, 0.0}, "high"_a = Point{1.0, 1.0, 1.0}, "parts"_a = nb::none(),
             "ghost_layers"_a = 0, "partitioner"_a = "rcb",
             R"(Make a box of n[0] x n[1] x n[2] hexes, or six times as many tets. Collective over comm.

The default of `parts` is one part per rank. Sets: the material "box" and the boundaries "x-" to "z+".)");
  module.def("inspect", &inspect, "path"_a, nb::kw_only(), "with_quality"_a = true,
             nb::sig("def inspect(path: str | os.PathLike, *, with_quality: bool = True) -> dict[str, typing.Any]"),
             R"(Describe a mesh file. Local; needs neither mpi4py nor a launcher.

Keys: format, file_bytes, vertices, entities, sets, named_sets, tags, parts, box, quality, unsupported.)");
  module.def(
      "join", &join, "comm"_a, "paths"_a, nb::kw_only(), "tolerance"_a = nb::none(),
      "joints"_a = std::vector<JointArgument>{}, "require_conforming"_a = false, "within"_a = false,
      "ghost_layers"_a = 0, "partitioner"_a = "rcb",
      nb::sig(
          "def join(comm: mpi4py.MPI.Comm, paths: collections.abc.Sequence[str | os.PathLike], *, tolerance: float "
          "| None = None, joints: collections.abc.Sequence[tuple[int, int, float]] = [], require_conforming: bool = "
          "False, within: bool = False, ghost_layers: int = 0, partitioner: str = 'rcb') -> tuple[Mesh, dict[str, "
          "typing.Any]]"),
      R"(Merge mesh files by the positions of their vertices. Collective over comm.

Vertices of different pieces are merged if they are within `tolerance` of each other (None: 1e-8 of the diagonal).
`joints` has tolerances between two pieces, `within` merges vertices of one piece too, and `require_conforming` leaves a
joint open unless every vertex there has exactly one partner. Returns the mesh and a report of the matched, unmatched
and ambiguous vertices of each joint. Parts of the pieces are kept if all pieces have parts.)");
  module.def(
      "write",
      [](SharedMesh& mesh, const Path& path) {
        const nb::gil_scoped_release unlocked;
        io::write(mesh.mesh(), path.string());
      },
      "mesh"_a, "path"_a,
      R"(Write a mesh: with fields and tags as .vtkhdf, for ParaView, or .h5m, a checkpoint; without them as .mesh or .meshb, for Mmg. Collective.

VTKHDF files hold data on vertices and cells, with NaN where a tag has neither value nor default. Medit files hold ids
of sets as references. One notice lists what the format cannot hold. Another suffix raises UsageError. A .h5m file
holds everything: the mesh with the same global ids, and its fields as tags. Any number of ranks can `read` it to
restart.)");

  nb::enum_<io::Pieces>(module, "Pieces", "Meaning of the pieces of a VTKHDF file.")
      .value("parts", io::Pieces::parts, "one piece per part: the file is the same for any number of ranks")
      .value("ranks_with_ghosts", io::Pieces::ranks_with_ghosts,
             "one piece per rank, with ghosts: shows the distribution");

  nb::class_<SharedWriter>(module, "VtkhdfWriter",
                           R"(Write a mesh and fields as VTKHDF, with optional time steps. All methods are collective.

The end of the `with` block closes the file and gives it its name. If the block raises, the new file is discarded and
an old one remains.)")
      .def(nb::init<MeshPointer, const Path&, std::vector<std::string>, bool, io::Pieces, bool>(), "mesh"_a, "path"_a,
           nb::kw_only(), "fields"_a = std::vector<std::string>{}, "steps"_a = false, "pieces"_a = io::Pieces::parts,
           "tags"_a = false)
      .def("write_step", &SharedWriter::write_step, "time"_a, "mesh"_a = nb::none(),
           "Append the current values of the fields as a time step. `mesh`: a new mesh, made by `adopt` or `migrate`, "
           "with the same fields; it is written in full. Unchanged data is not written again.")
      .def("close", &SharedWriter::close, "Complete the file and give it its name. A second call does nothing.")
      .def(
          "__enter__",
          [](nb::handle_t<SharedWriter> self) -> nb::object {
            nb::cast<SharedWriter&>(self).check_open();
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> VtkhdfWriter"))
      .def("__exit__", &leave<SharedWriter>, "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
           nb::sig(leave_signature));
}

}  // namespace barrio::python
