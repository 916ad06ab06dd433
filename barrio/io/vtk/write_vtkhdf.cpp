#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/vtk/vtkhdf_arrays.hpp"
#include "barrio/io/vtk/vtkhdf_tags.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

// Layout: the group /VTKHDF with one row per piece in NumberOfPoints, NumberOfCells, NumberOfConnectivityIds, and the
// pieces' points, cells and data one after the other. With time steps, the group Steps says for each step where its
// values begin; offsets that stay the same make steps share the geometry. See the VTK file format documentation.

namespace barrio::io {
namespace {

using detail::array_name;
using detail::VtkhdfArrays;
using detail::VtkhdfPiece;
using files::FileWriter;
using mesh::CellType;
using mesh::Dim;
using mesh::EntityTable;
using mesh::FieldData;
using mesh::Mesh;

constexpr RegionName vtkhdf_region{"io.write"};

/// What VTK has for a cell: its number, and how many of the nodes it takes.
struct VtkCell {
  int number;
  std::size_t n_nodes;
};

/// A kind that VTK lacks, such as the pyramid of 14 nodes, is written as the largest kind of fewer nodes; a knife as a
/// hex. VTK has all others with corners alone. @param n_nodes  of the cell
VtkCell vtk_cell(CellType type, std::size_t n_nodes) {
  switch (type) {
    case CellType::polygon: return {7, n_nodes};
    case CellType::knife: return {12, 8};
    case CellType::polyhedron: return {42, n_nodes};
    default: break;
  }
  int n = static_cast<int>(n_nodes);
  while (detail::vtk_number(type, n) == 0) --n;  // ends at the corners
  return {detail::vtk_number(type, n), static_cast<std::size_t>(n)};
}

/// Points of a cell as VTK has them: a knife is a hex of which two points are the same.
std::span<const LocalId> vtk_points(CellType type, std::span<const LocalId> nodes, std::vector<LocalId>& room) {
  if (type == CellType::knife) {
    room.assign(nodes.begin(), nodes.begin() + 7);
    room.push_back(nodes[5]);
    return room;
  }
  if (mesh::topology(type).n_corners == 0) return mesh::distinct_corners(type, nodes, room);
  const VtkCell cell = vtk_cell(type, nodes.size());
  const auto order = detail::vtk_kind(cell.number)->order;
  if (order.empty()) return nodes.first(cell.n_nodes);
  room.resize(cell.n_nodes);
  for (std::size_t i = 0; i < cell.n_nodes; ++i) room[order[i]] = nodes[i];
  return room;
}

/// Cells of one part, or of the rank with its ghosts, by global id; and the points they use, by global id.
std::vector<VtkhdfPiece> make_pieces(const Mesh& mesh, Pieces kind) {
  const EntityTable& cells = mesh.cells();
  std::vector<VtkhdfPiece> pieces;
  if (kind == Pieces::parts) {
    pieces.resize(mesh.parts().size());
    for (std::size_t c = 0; c < cells.n_owned; ++c)
      pieces[mesh.cell_parts()[c] - barrio::value(mesh.parts().first)].cells.push_back(local_id(c));
  } else {
    pieces.resize(1);
    for (std::size_t c = 0; c < cells.size(); ++c) pieces[0].cells.push_back(local_id(c));
  }
  std::vector<LocalId> room;
  for (VtkhdfPiece& piece : pieces) {
    std::sort(piece.cells.begin(), piece.cells.end(),
              [&](LocalId a, LocalId b) { return cells.global_ids[index(a)] < cells.global_ids[index(b)]; });
    for (const LocalId c : piece.cells) {
      // All nodes, also those that VTK's cell has no place for.
      const auto points = mesh::topology(cells.type(index(c))).n_corners > 0
                              ? cells.nodes_of(index(c))
                              : vtk_points(cells.type(index(c)), cells.nodes_of(index(c)), room);
      piece.points.insert(piece.points.end(), points.begin(), points.end());
    }
    const auto& ids = mesh.vertices().global_ids;
    const auto by_id = [&](LocalId a, LocalId b) { return ids[index(a)] < ids[index(b)]; };
    std::sort(piece.points.begin(), piece.points.end(), by_id);
    piece.points.erase(std::unique(piece.points.begin(), piece.points.end()), piece.points.end());
  }
  return pieces;
}

}  // namespace

class VtkhdfWriter::Core {
 public:
  Core(const Mesh& mesh, const std::string& path, VtkhdfOptions options)
      : mesh_(mesh),
        context_(mesh.context()),
        path_(path),
        options_(std::move(options)),
        pieces_(make_pieces(mesh, options_.pieces)) {
    find_fields();
    check_names(point_fields_);
    check_names(cell_fields_);
    choose_tags();
    count();
    tell_of_lost_nodes();
    // Estimate: points and cells once, vertex fields for some steps; more steps make the file grow.
    const auto bytes = static_cast<std::uint64_t>(n_points_) * (24 + 8 * point_fields_.size()) +
                       static_cast<std::uint64_t>(n_cells_) * 80 + 65536;
    file_ = std::make_unique<FileWriter>(context_, path, bytes);
    arrays_.emplace(*file_, pieces_, VtkhdfArrays::Rows{n_points_, first_point_},
                    VtkhdfArrays::Rows{n_cells_, first_cell_});
    write_geometry();
    write_cell_data();
    for (const detail::TagArray& tag : tags_.arrays) arrays_->write_once(detail::values_of(mesh_, tag));
    if (!options_.has_steps) {
      for (const FieldData* field : point_fields_) arrays_->write_once(*field);
    }
  }
  ~Core() {
    if (file_ && context_.is_root()) context_.log().warning(path_ + " was not closed and is discarded");
  }

  void write_step(double time) {
    const Region region(context_.trace(), vtkhdf_region);
    BARRIO_ASSERT(cheap, options_.has_steps && "write_step() needs has_steps");
    times_.push_back(time);
    for (const FieldData* field : point_fields_) arrays_->write_step(*field, times_.size() - 1);
  }

  void close() {
    if (options_.has_steps) write_steps();
    file_->close();
    file_.reset();
  }

 private:
  void find_fields() {
    for (const std::string& wanted : options_.fields) {
      std::vector<std::string> known;
      bool found = false;
      for (const auto& field : mesh_.fields()) {
        if (field->dim != Dim::vertex && field->dim != mesh_.cell_dim()) continue;
        known.push_back(field->name);
        if (field->name != wanted) continue;
        (field->dim == Dim::vertex ? point_fields_ : cell_fields_).push_back(field.get());
        found = true;
      }
      if (!found) {
        throw AgreedError(ErrorCode::usage,
                          {.subject = fmt::format("field '{}'", wanted),
                           .cause = "is not a vertex or cell field of the mesh." + did_you_mean(wanted, known)});
      }
    }
  }

  /// Two arrays of one name would spoil the file. @throws AgreedError{usage}
  static void check_names(const std::vector<const FieldData*>& fields) {
    std::vector<std::string> names;
    for (const FieldData* field : fields) {
      if (std::ranges::find(names, array_name(field->name)) != names.end())
        throw AgreedError(ErrorCode::usage, {.subject = fmt::format("field '{}'", field->name),
                                             .cause = fmt::format("is written as '{}', and so is another one or the "
                                                                  "same once more",
                                                                  array_name(field->name)),
                                             .remedy = "give each field once, and a name of its own"});
      names.push_back(array_name(field->name));
    }
  }

  void choose_tags() {
    if (!options_.with_tags) return;
    std::vector<const FieldData*> fields = point_fields_;
    fields.insert(fields.end(), cell_fields_.begin(), cell_fields_.end());
    tags_ = detail::choose_tags(mesh_, fields);
    if (!tags_.notice.empty()) context_.log().notice(fmt::format("{}: {}", path_, tags_.notice));
  }

  /// Where this rank's pieces begin among all.
  void count() {
    std::array<std::int64_t, 6> n{std::ssize(pieces_), 0, 0, 0, 0, 0};
    std::vector<LocalId> room;
    const EntityTable& cells = mesh_.cells();
    for (const VtkhdfPiece& piece : pieces_) {
      n[1] += piece.points.size();
      n[2] += piece.cells.size();
      for (const LocalId c : piece.cells) {
        const auto nodes = cells.nodes_of(index(c));
        n[3] += std::ssize(vtk_points(cells.type(index(c)), nodes, room));
        if (cells.type(index(c)) != CellType::polyhedron) continue;
        mesh::for_each_loop(nodes, [&](std::span<const LocalId> face) {
          n[4] += 1;
          n[5] += std::ssize(face);
        });
      }
    }
    std::array<std::int64_t, 6> before = n;
    mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    n_pieces_ = n[0];
    n_points_ = n[1];
    n_cells_ = n[2];
    n_nodes_ = n[3];
    n_faces_ = n[4];
    n_face_nodes_ = n[5];
    first_piece_ = before[0];
    first_point_ = before[1];
    first_cell_ = before[2];
    first_node_ = before[3];
    first_face_ = before[4];
    first_face_node_ = before[5];
  }

  /// Say which cells are written with fewer nodes than they have.
  void tell_of_lost_nodes() {
    const EntityTable& cells = mesh_.cells();
    std::array<std::int64_t, mesh::n_cell_types> n{};
    for (std::size_t c = 0; c < cells.n_owned; ++c)
      if (mesh::topology(cells.type(c)).n_corners > 0 && cells.type(c) != CellType::knife &&
          vtk_cell(cells.type(c), cells.nodes_of(c).size()).n_nodes < cells.nodes_of(c).size())
        n[static_cast<std::size_t>(cells.type(c))] += 1;
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    for (std::size_t type = 0; type < n.size(); ++type)
      if (n[type] > 0 && context_.is_root())
        context_.log().warning(
            fmt::format("{}: VTK has no cell for the nodes of {} {}: they are drawn with fewer; the others are points "
                        "of the file with their values",
                        path_, n[type], mesh::topology(static_cast<CellType>(type)).plural));
  }

  void write_geometry() {
    const Region region(context_.trace(), vtkhdf_region);
    file_->make_group("/VTKHDF");
    const std::array<std::int64_t, 2> version{2, n_faces_ > 0 ? 4 : 0};  // polyhedra came with 2.4
    file_->write_attribute("/VTKHDF", "Version", version);
    file_->write_attribute("/VTKHDF", "Type", "UnstructuredGrid");
    std::vector<std::int64_t> points;
    std::vector<std::int64_t> cells;
    std::vector<std::int64_t> nodes;
    std::vector<double> x;
    std::vector<std::int64_t> connectivity;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> types;
    std::vector<LocalId> room;
    const EntityTable& table = mesh_.cells();
    for (const VtkhdfPiece& piece : pieces_) {
      points.push_back(piece.points.size());
      cells.push_back(piece.cells.size());
      for (const LocalId p : piece.points)
        x.insert(x.end(), &mesh_.vertices().coordinates[3 * index(p)], &mesh_.vertices().coordinates[3 * index(p)] + 3);
      std::int64_t at = 0;
      offsets.push_back(0);
      for (const LocalId c : piece.cells) {
        const CellType type = table.type(index(c));
        for (const LocalId node : vtk_points(type, table.nodes_of(index(c)), room)) {
          connectivity.push_back(place_in(piece, node));
          ++at;
        }
        offsets.push_back(at);
        types.push_back(static_cast<std::uint8_t>(vtk_cell(type, table.nodes_of(index(c)).size()).number));
      }
      nodes.push_back(at);
    }
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfPoints", n_pieces_, 0, first_piece_, points);
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfCells", n_pieces_, 0, first_piece_, cells);
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfConnectivityIds", n_pieces_, 0, first_piece_, nodes);
    file_->write_rows<double>("/VTKHDF/Points", n_points_, 3, first_point_, x);
    file_->write_rows<std::int64_t>("/VTKHDF/Connectivity", n_nodes_, 0, first_node_, connectivity);
    file_->write_rows<std::int64_t>("/VTKHDF/Offsets", n_cells_ + n_pieces_, 0, first_cell_ + first_piece_, offsets);
    file_->write_rows<std::uint8_t>("/VTKHDF/Types", n_cells_, 0, first_cell_, types);
    if (n_faces_ > 0) write_polyhedra();
  }

  /// Faces of polyhedra, each with its cell: a face between two stands twice.
  void write_polyhedra() {
    std::vector<std::int64_t> n_faces;
    std::vector<std::int64_t> n_nodes;
    std::vector<std::int64_t> nodes;
    std::vector<std::int64_t> ends;  // of faces in `nodes`, and of cells in `faces`: from 0 in each piece
    std::vector<std::int64_t> cell_ends;
    std::vector<std::int64_t> faces;
    const EntityTable& table = mesh_.cells();
    for (const VtkhdfPiece& piece : pieces_) {
      const std::size_t first_node = nodes.size();
      std::int64_t n = 0;
      ends.push_back(0);
      cell_ends.push_back(0);
      for (const LocalId c : piece.cells) {
        if (table.type(index(c)) == CellType::polyhedron)
          mesh::for_each_loop(table.nodes_of(index(c)), [&](std::span<const LocalId> face) {
            for (const LocalId node : face) nodes.push_back(place_in(piece, node));
            ends.push_back(nodes.size() - first_node);
            faces.push_back(n++);
          });
        cell_ends.push_back(n);
      }
      n_faces.push_back(n);
      n_nodes.push_back(nodes.size() - first_node);
    }
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfFaces", n_pieces_, 0, first_piece_, n_faces);
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfFaceConnectivityIds", n_pieces_, 0, first_piece_, n_nodes);
    file_->write_rows<std::int64_t>("/VTKHDF/NumberOfPolyhedronToFaceIds", n_pieces_, 0, first_piece_, n_faces);
    file_->write_rows<std::int64_t>("/VTKHDF/FaceConnectivity", n_face_nodes_, 0, first_face_node_, nodes);
    file_->write_rows<std::int64_t>("/VTKHDF/FaceOffsets", n_faces_ + n_pieces_, 0, first_face_ + first_piece_, ends);
    file_->write_rows<std::int64_t>("/VTKHDF/PolyhedronToFaces", n_faces_, 0, first_face_, faces);
    file_->write_rows<std::int64_t>("/VTKHDF/PolyhedronOffsets", n_cells_ + n_pieces_, 0, first_cell_ + first_piece_,
                                    cell_ends);
  }

  /// Place of a vertex among the points of a piece, which has it.
  [[nodiscard]] std::int64_t place_in(const VtkhdfPiece& piece, LocalId node) const {
    const auto& ids = mesh_.vertices().global_ids;
    return std::ranges::lower_bound(piece.points, ids[index(node)], {}, [&](LocalId v) { return ids[index(v)]; }) -
           piece.points.begin();
  }

  /// Write an array of barrio's own, unless a field or a tag has its name.
  template <class T>
  void write_of_cells(const std::string& name, const std::vector<T>& of_local) {
    const bool is_taken =
        tags_.has(mesh_.cell_dim(), name) ||
        std::ranges::any_of(cell_fields_, [&](const auto* field) { return array_name(field->name) == name; });
    if (!is_taken) arrays_->write_once<T>(name, mesh_.cell_dim(), 1, of_local);
  }

  void write_cell_data() {
    const std::size_t n = mesh_.cells().size();
    write_of_cells<std::int32_t>("part", {mesh_.cell_parts().begin(), mesh_.cell_parts().end()});
    std::vector<std::int32_t> material(n, 0);
    for (const mesh::MeshSet& set : mesh_.sets()) {
      if (set.info.kind != mesh::SetKind::material) continue;
      for (const LocalId c : set.entities[index(mesh_.cell_dim())]) material[index(c)] = set.info.id;
    }
    write_of_cells<std::int32_t>("material", material);
    if (options_.pieces == Pieces::ranks_with_ghosts) {
      write_of_cells<std::int32_t>("owner", mesh_.cells().owners.to_vector());
      constexpr std::uint8_t duplicate_cell = 1;
      std::vector<std::uint8_t> ghost(n, 0);
      std::vector<std::int32_t> holder(n, context_.rank());
      for (std::size_t c = mesh_.cells().n_owned; c < n; ++c) ghost[c] = duplicate_cell;
      write_of_cells<std::uint8_t>("vtkGhostType", ghost);
      write_of_cells<std::int32_t>("rank", holder);
    }
    for (const FieldData* field : cell_fields_) arrays_->write_once(*field);
  }

  void write_steps() {
    const std::int64_t n = times_.size();
    file_->make_group("/VTKHDF/Steps");
    file_->write_attribute("/VTKHDF/Steps", "NSteps", n);
    file_->write_small<double>("/VTKHDF/Steps/Values", times_);
    const std::vector<std::int64_t> zeros(times_.size(), 0);
    const std::vector<std::int64_t> pieces(times_.size(), n_pieces_);
    file_->write_small<std::int64_t>("/VTKHDF/Steps/PartOffsets", zeros);
    file_->write_small<std::int64_t>("/VTKHDF/Steps/NumberOfParts", pieces);
    file_->write_small<std::int64_t>("/VTKHDF/Steps/PointOffsets", zeros);
    file_->write_small<std::int64_t>("/VTKHDF/Steps/CellOffsets", zeros, 1);
    file_->write_small<std::int64_t>("/VTKHDF/Steps/ConnectivityIdOffsets", zeros, 1);
    arrays_->write_offsets(point_fields_, times_.size());
  }

  const Mesh& mesh_;
  mpi::Context& context_;
  std::string path_;
  VtkhdfOptions options_;
  std::vector<VtkhdfPiece> pieces_;
  std::vector<const FieldData*> point_fields_;
  std::vector<const FieldData*> cell_fields_;
  detail::ChosenTags tags_;
  std::vector<double> times_;
  std::int64_t n_pieces_ = 0;
  std::int64_t n_points_ = 0;
  std::int64_t n_cells_ = 0;
  std::int64_t n_nodes_ = 0;
  std::int64_t n_faces_ = 0;  // of polyhedra
  std::int64_t n_face_nodes_ = 0;
  std::int64_t first_piece_ = 0;
  std::int64_t first_point_ = 0;
  std::int64_t first_cell_ = 0;
  std::int64_t first_node_ = 0;
  std::int64_t first_face_ = 0;
  std::int64_t first_face_node_ = 0;
  std::unique_ptr<FileWriter> file_;
  std::optional<VtkhdfArrays> arrays_;
};

VtkhdfWriter::VtkhdfWriter(const Mesh& mesh, const std::string& path, VtkhdfOptions options)
    : core_(std::make_unique<Core>(mesh, path, std::move(options))) {}
VtkhdfWriter::~VtkhdfWriter() = default;
void VtkhdfWriter::write_step(double time) { core_->write_step(time); }
void VtkhdfWriter::close() { core_->close(); }

}  // namespace barrio::io
