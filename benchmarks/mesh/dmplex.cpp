// PETSc's DMPlex: builds a mesh from the same parts of the same file by global ids of vertices, then an overlap of
// cells that share a vertex. Lange et al. 2016, "Efficient mesh management in Firedrake using PETSc DMPlex".
#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mesh/peers.hpp"
#include "benchmarks/petsc.hpp"
// Included last: PETSc defines macros with MPI's names.
#include <petscdmplex.h>
#include <petscsf.h>

namespace barrio::bench {
namespace {

/// Owns an object of PETSc.
template <class T, auto destroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(&object_); }
  [[nodiscard]] T get() const noexcept { return object_; }
  /// Return the output pointer for a call that makes an object.
  T* out() noexcept { return &object_; }

 private:
  T object_ = nullptr;
};

/// Points of a mesh at a height, or at a depth: first .. end - 1.
struct Stratum {
  PetscInt first = 0;
  PetscInt end = 0;
};
Stratum cells_of(DM dm) {
  Stratum cells;
  check_petsc(DMPlexGetHeightStratum(dm, 0, &cells.first, &cells.end), "DMPlexGetHeightStratum");
  return cells;
}

class DmPlex : public Peer {
 public:
  explicit DmPlex(bool has_sides) : has_sides_(has_sides) {}

  Phases load(mpi::Context& context, const PeerTask& task) override {
    comm_ = context.comm();
    Laps laps;
    std::vector<GlobalId> nodes;
    std::vector<double> coordinates;
    {
      const files::SharedFile file = files::open_to_read(context, task.file.path);
      agree_after(context, [&] {
        nodes = files::read_ids(file.get(), task.connectivity(), task.first_id, task.cells);
        coordinates = files::read_reals(file.get(), "/tstt/nodes/coordinates", task.vertices);
      });
    }
    // PETSc has 32-bit ids, and the opposite orientation of cells.
    std::vector<PetscInt> cells;
    cells.reserve(nodes.size());
    for (const GlobalId node : nodes) cells.push_back(static_cast<PetscInt>(value(node)));
    const DMPolytopeType type = task.file.is_tets ? DM_POLYTOPE_TETRAHEDRON : DM_POLYTOPE_HEXAHEDRON;
    const auto n_nodes = static_cast<std::size_t>(task.nodes_per_cell());
    for (std::size_t i = 0; i < cells.size(); i += n_nodes)
      check_petsc(DMPlexInvertCell(type, &cells[i]), "DMPlexInvertCell");
    laps.lap("read");
    check_petsc(
        DMPlexCreateFromCellListParallelPetsc(
            comm_, 3, static_cast<PetscInt>(task.cells.count), static_cast<PetscInt>(task.vertices.count),
            static_cast<PetscInt>(task.file.n_vertices), static_cast<PetscInt>(n_nodes),
            has_sides_ ? PETSC_TRUE : PETSC_FALSE, cells.data(), 3, coordinates.data(), nullptr, nullptr, mesh_.out()),
        "DMPlexCreateFromCellListParallelPetsc");
    laps.lap("build");
    // Adjacent are cells that share a vertex.
    check_petsc(DMSetBasicAdjacency(mesh_.get(), PETSC_FALSE, PETSC_TRUE), "DMSetBasicAdjacency");
    if (task.ghost_layers > 0)
      check_petsc(DMPlexDistributeOverlap(mesh_.get(), task.ghost_layers, moves_.out(), ghosted_.out()),
                  "DMPlexDistributeOverlap");
    laps.lap("ghosts");
    return laps.phases();
  }

  PeerCounts count(mpi::Context& context, const PeerTask& task) override {
    find_rows(task);
    const auto is_ghost = [&](PetscInt row) {
      return row < task.cells.first || row >= task.cells.first + task.cells.count;
    };
    std::int64_t n_ghosts = 0;
    std::uint64_t hash = 0;
    for (const PetscInt row : rows_) {
      if (!is_ghost(row)) continue;
      n_ghosts += 1;
      hash += ghost_hash(row, context.rank());
    }
    PeerCounts counts{.n_shared_vertices = mpi::sum(context, n_shared_vertices()),
                      .n_ghosts = mpi::sum(context, n_ghosts),
                      .ghost_hash = mpi::sum(context, hash)};
    if (has_sides_) {
      counts.n_faces = mpi::sum(context, n_owned(2));
      counts.n_edges = mpi::sum(context, n_owned(1));
    }
    return counts;
  }

  std::function<void()> make_exchange(mpi::Context& context) override {
    const DM dm = ghosted();
    const Stratum cells = cells_of(dm);
    check_petsc(PetscSectionCreate(comm_, section_.out()), "PetscSectionCreate");
    check_petsc(PetscSectionSetChart(section_.get(), cells.first, cells.end), "PetscSectionSetChart");
    for (PetscInt cell = cells.first; cell < cells.end; ++cell)
      check_petsc(PetscSectionSetDof(section_.get(), cell, 1), "PetscSectionSetDof");
    check_petsc(PetscSectionSetUp(section_.get()), "PetscSectionSetUp");
    check_petsc(DMSetLocalSection(dm, section_.get()), "DMSetLocalSection");
    check_petsc(DMCreateGlobalVector(dm, global_.out()), "DMCreateGlobalVector");
    check_petsc(DMCreateLocalVector(dm, local_.out()), "DMCreateLocalVector");
    // Only owned values go to the global vector; ghosts receive their owners' values.
    with_local([&](PetscScalar* values) { std::ranges::copy(rows_, values); });
    check_petsc(DMLocalToGlobal(dm, local_.get(), INSERT_VALUES, global_.get()), "DMLocalToGlobal");
    check_petsc(VecSet(local_.get(), -1.0), "VecSet");
    const auto exchange = [this, dm] {
      check_petsc(DMGlobalToLocalBegin(dm, global_.get(), INSERT_VALUES, local_.get()), "DMGlobalToLocalBegin");
      check_petsc(DMGlobalToLocalEnd(dm, global_.get(), INSERT_VALUES, local_.get()), "DMGlobalToLocalEnd");
    };
    exchange();
    bool is_right = true;
    with_local(
        [&](const PetscScalar* values) { is_right = std::ranges::equal(std::span(values, rows_.size()), rows_); });
    agree_after(context, [&] {
      if (!is_right)
        throw Error(ErrorCode::differs, {.subject = "peer 'dmplex'", .cause = "received a wrong value in an exchange"});
    });
    return exchange;
  }

 private:
  /// Return the mesh with overlap. On one rank there is no overlap, and no second mesh.
  [[nodiscard]] DM ghosted() const { return ghosted_.get() != nullptr ? ghosted_.get() : mesh_.get(); }

  /// Find the rows of cells, ghosts included, from the migration of cells.
  void find_rows(const PeerTask& task) {
    const Stratum cells = cells_of(mesh_.get());
    PetscInt first = 0;
    PetscInt end = 0;
    check_petsc(DMPlexGetChart(mesh_.get(), &first, &end), "DMPlexGetChart");
    std::vector<PetscInt> rows(end, -1);
    for (PetscInt cell = cells.first; cell < cells.end; ++cell)
      rows[cell] = static_cast<PetscInt>(task.cells.first) + cell - cells.first;
    if (ghosted_.get() != nullptr) {
      check_petsc(DMPlexGetChart(ghosted_.get(), &first, &end), "DMPlexGetChart");
      std::vector<PetscInt> moved(end, -1);
      check_petsc(PetscSFBcastBegin(moves_.get(), MPIU_INT, rows.data(), moved.data(), MPI_REPLACE),
                  "PetscSFBcastBegin");
      check_petsc(PetscSFBcastEnd(moves_.get(), MPIU_INT, rows.data(), moved.data(), MPI_REPLACE), "PetscSFBcastEnd");
      rows = std::move(moved);
    }
    const Stratum all = cells_of(ghosted());
    rows_.assign(rows.begin() + all.first, rows.begin() + all.end);
  }

  struct Leaves {
    std::vector<PetscInt> points;  ///< owned by another rank
    PetscSF forest = nullptr;
  };
  [[nodiscard]] Leaves leaves() const {
    Leaves leaves;
    PetscInt n_roots = 0;
    PetscInt n = 0;
    const PetscInt* points = nullptr;
    const PetscSFNode* owners = nullptr;
    check_petsc(DMGetPointSF(mesh_.get(), &leaves.forest), "DMGetPointSF");
    check_petsc(PetscSFGetGraph(leaves.forest, &n_roots, &n, &points, &owners), "PetscSFGetGraph");
    for (PetscInt i = 0; i < n; ++i) leaves.points.push_back(points != nullptr ? points[i] : i);
    return leaves;
  }
  [[nodiscard]] Stratum at_depth(PetscInt depth) const {
    Stratum found;
    check_petsc(DMPlexGetDepthStratum(mesh_.get(), depth, &found.first, &found.end), "DMPlexGetDepthStratum");
    return found;
  }
  [[nodiscard]] std::int64_t n_owned(PetscInt depth) const {
    const Stratum found = at_depth(depth);
    return found.end - found.first - std::ranges::count_if(leaves().points, [&](PetscInt point) {
             return point >= found.first && point < found.end;
           });
  }
  /// Count the owned vertices that other ranks have too.
  [[nodiscard]] std::int64_t n_shared_vertices() const {
    const PetscInt* degrees = nullptr;
    const PetscSF forest = leaves().forest;
    PetscInt n_roots = 0;
    check_petsc(PetscSFGetGraph(forest, &n_roots, nullptr, nullptr, nullptr), "PetscSFGetGraph");
    if (n_roots < 0) return 0;  // one rank
    check_petsc(PetscSFComputeDegreeBegin(forest, &degrees), "PetscSFComputeDegreeBegin");
    check_petsc(PetscSFComputeDegreeEnd(forest, &degrees), "PetscSFComputeDegreeEnd");
    const Stratum vertices = at_depth(0);
    return std::count_if(degrees + vertices.first, degrees + vertices.end, [](PetscInt n) { return n > 0; });
  }

  template <class Use>
  void with_local(Use&& use) {
    PetscScalar* values = nullptr;
    check_petsc(VecGetArray(local_.get(), &values), "VecGetArray");
    use(values);
    check_petsc(VecRestoreArray(local_.get(), &values), "VecRestoreArray");
  }

  std::shared_ptr<void> use_ = use_petsc();
  bool has_sides_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Owned<DM, DMDestroy> mesh_;
  Owned<DM, DMDestroy> ghosted_;
  Owned<PetscSF, PetscSFDestroy> moves_;
  Owned<PetscSection, PetscSectionDestroy> section_;
  Owned<Vec, VecDestroy> global_;
  Owned<Vec, VecDestroy> local_;
  std::vector<PetscInt> rows_;  ///< of all local cells, ghosts included
};

}  // namespace

std::vector<PeerKind> dmplex_kinds() {
  return {{.name = "dmplex",
           .about = "PETSc: a mesh of cells and vertices from the same parts, and an overlap of cells",
           .make = [] { return std::make_unique<DmPlex>(false); }},
          {.name = "dmplex-sides",
           .about = "the same with all faces and edges (interpolated); a minute for a million hexes",
           .has_sides = true,
           .make = [] { return std::make_unique<DmPlex>(true); }}};
}

}  // namespace barrio::bench
