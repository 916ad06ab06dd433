#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/files/vtkhdf.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/vtkhdf/vtkhdf_tags.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

// Converts a mesh to the arrays of files::VtkhdfFile.

namespace barrio::io {
namespace detail {

/// Points and cells of this rank that form one piece.
struct VtkhdfPiece {
  std::vector<LocalId> points;
  std::vector<LocalId> cells;
};

}  // namespace detail
namespace {

using detail::array_name;
using detail::VtkhdfPiece;
using files::VtkhdfFile;
using mesh::CellType;
using mesh::Dim;
using mesh::EntityTable;
using mesh::FieldData;
using mesh::Mesh;

constexpr RegionName vtkhdf_region{"io.write"};

/// VTK's counterpart of a cell: its number, and how many of the nodes it takes.
struct VtkCell {
  int number;
  std::size_t n_nodes;
};

/// Return VTK's cell for a type. A kind that VTK lacks, such as the pyramid of 14 nodes, is written as the largest kind
/// with fewer nodes; a knife as a hex. VTK has all other types with corners alone. @param n_nodes  of the cell
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

/// Return the points of a cell in VTK's form: a knife is a hex of which two points are the same.
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

/// Make the pieces: cells of one part, or of the rank with its ghosts, by global id; and the points they use, by global
/// id.
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
      // All nodes, even those that VTK's cell does not take.
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
      : mesh_(&mesh), context_(mesh.context()), path_(path), options_(std::move(options)) {
    look_at_mesh();
    tell_of_lost_nodes();
    if (!tags_.notice.empty()) context_.log().notice(fmt::format("{}: {}", path_, tags_.notice));
    // Estimate: points and cells once, vertex fields for some steps; more steps make the file grow.
    const std::uint64_t bytes = n_points_ * (24 + 8 * point_fields_.size()) + n_cells_ * 80 + 65536;
    file_ = std::make_unique<VtkhdfFile>(context_, path, bytes, options_.has_steps);
    write_mesh();
    if (!options_.has_steps) write_fields();
  }
  ~Core() {
    if (file_ && context_.is_root()) context_.log().warning(path_ + " was not closed and is discarded");
  }

  void write_step(double time) { write_step(*mesh_, time); }
  void write_step(const Mesh& mesh, double time) {
    const Region region(context_.trace(), vtkhdf_region);
    BARRIO_ASSERT(cheap, options_.has_steps && "write_step() needs has_steps");
    if (&mesh != mesh_ || mesh.revision() != revision_) {
      mesh_ = &mesh;
      look_at_mesh();
      write_mesh();
    }
    write_fields();
    file_->end_step(time);
  }

  void close() {
    file_->close();
    file_.reset();
  }

 private:
  void look_at_mesh() {
    revision_ = mesh_->revision();
    pieces_ = make_pieces(*mesh_, options_.pieces);
    find_fields();
    check_names(point_fields_);
    check_names(cell_fields_);
    choose_tags();
    std::array<std::int64_t, 4> n{0, 0, 0, std::ssize(pieces_)};
    for (const VtkhdfPiece& piece : pieces_) {
      n[0] += std::ssize(piece.points);
      n[1] += std::ssize(piece.cells);
      for (const LocalId c : piece.cells) n[2] += mesh_->cells().type(index(c)) == CellType::polyhedron ? 1 : 0;
    }
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    n_points_ = n[0];
    n_cells_ = n[1];
    has_polyhedra_ = n[2] > 0;
    has_ids_ = n[3] > 1 || options_.has_steps;  // later steps may have more pieces
    // VTK's reader, and so ParaView, gives one piece of each later step after a step that has one. So there are two.
    if (options_.has_steps && n[3] == 1 && !pieces_.empty()) pieces_.emplace_back();
  }

  void find_fields() {
    point_fields_.clear();
    cell_fields_.clear();
    for (const std::string& wanted : options_.fields) {
      std::vector<std::string> known;
      bool found = false;
      for (const auto& field : mesh_->fields()) {
        if (field->dim != Dim::vertex && field->dim != mesh_->cell_dim()) continue;
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

  /// Refuse two arrays of one name, which would corrupt the file. @throws AgreedError{usage}
  static void check_names(const std::vector<const FieldData*>& fields) {
    std::vector<std::string> names;
    for (const FieldData* field : fields) {
      if (std::ranges::find(names, array_name(field->name)) != names.end())
        throw AgreedError(ErrorCode::usage, {.subject = fmt::format("field '{}'", field->name),
                                             .cause = fmt::format("is written as '{}', and so is another field or the "
                                                                  "same field again",
                                                                  array_name(field->name)),
                                             .remedy = "give each field once, under a name of its own"});
      names.push_back(array_name(field->name));
    }
  }

  void choose_tags() {
    if (!options_.with_tags) return;
    std::vector<const FieldData*> fields = point_fields_;
    fields.insert(fields.end(), cell_fields_.begin(), cell_fields_.end());
    tags_ = detail::choose_tags(*mesh_, fields);
  }

  /// Report the cells that are written with fewer nodes than they have.
  void tell_of_lost_nodes() {
    const EntityTable& cells = mesh_->cells();
    std::array<std::int64_t, mesh::n_cell_types> n{};
    for (std::size_t c = 0; c < cells.n_owned; ++c)
      if (mesh::topology(cells.type(c)).n_corners > 0 && cells.type(c) != CellType::knife &&
          vtk_cell(cells.type(c), cells.nodes_of(c).size()).n_nodes < cells.nodes_of(c).size())
        n[static_cast<std::size_t>(cells.type(c))] += 1;
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    for (std::size_t type = 0; type < n.size(); ++type)
      if (n[type] > 0 && context_.is_root())
        context_.log().warning(fmt::format(
            "{}: VTK has no cell type for the nodes of {} {}: they are drawn with fewer; the others remain as "
            "points with their values",
            path_, n[type], mesh::topology(static_cast<CellType>(type)).plural));
  }

  void write_mesh() {
    const Region region(context_.trace(), vtkhdf_region);
    std::vector<std::int64_t> points;
    std::vector<std::int64_t> cells;
    std::vector<std::int64_t> nodes;
    std::vector<double> x;
    std::vector<std::int64_t> connectivity;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> types;
    std::vector<LocalId> room;
    const EntityTable& table = mesh_->cells();
    const std::vector<double>& coordinates = mesh_->vertices().coordinates;
    for (const VtkhdfPiece& piece : pieces_) {
      points.push_back(std::ssize(piece.points));
      cells.push_back(std::ssize(piece.cells));
      for (const LocalId p : piece.points)
        x.insert(x.end(), &coordinates[3 * index(p)], &coordinates[3 * index(p)] + 3);
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
    files::VtkhdfSizes sizes{.n_points = points, .n_cells = cells, .n_nodes = nodes};
    files::VtkhdfArrays arrays{.points = x, .connectivity = connectivity, .offsets = offsets, .types = types};
    Polyhedra polyhedra;
    if (has_polyhedra_) {
      polyhedra = find_polyhedra();
      sizes.n_faces = polyhedra.n_faces;
      sizes.n_face_nodes = polyhedra.n_nodes;
      arrays.face_nodes = polyhedra.nodes;
      arrays.face_offsets = polyhedra.ends;
      arrays.cell_faces = polyhedra.faces;
      arrays.cell_offsets = polyhedra.cell_ends;
    }
    file_->write_grid(sizes, arrays);
    write_cell_data();
    if (has_ids_) {
      write_ids(Dim::vertex, "GlobalPointIds", mesh_->vertices().global_ids);
      write_ids(mesh_->cell_dim(), "GlobalCellIds", mesh_->cells().global_ids);
    }
    for (const detail::TagArray& tag : tags_.arrays) write(detail::values_of(*mesh_, tag));
  }

  /// Faces of polyhedra, each with its cell: a face between two cells is listed twice.
  struct Polyhedra {
    std::vector<std::int64_t> n_faces;
    std::vector<std::int64_t> n_nodes;
    std::vector<std::int64_t> nodes;
    std::vector<std::int64_t> ends;  // of faces in `nodes`, and of cells in `faces`: from 0 in each piece
    std::vector<std::int64_t> cell_ends;
    std::vector<std::int64_t> faces;
  };
  [[nodiscard]] Polyhedra find_polyhedra() const {
    Polyhedra out;
    const EntityTable& table = mesh_->cells();
    for (const VtkhdfPiece& piece : pieces_) {
      const std::size_t first_node = out.nodes.size();
      std::int64_t n = 0;
      out.ends.push_back(0);
      out.cell_ends.push_back(0);
      for (const LocalId c : piece.cells) {
        if (table.type(index(c)) == CellType::polyhedron)
          mesh::for_each_loop(table.nodes_of(index(c)), [&](std::span<const LocalId> face) {
            for (const LocalId node : face) out.nodes.push_back(place_in(piece, node));
            out.ends.push_back(out.nodes.size() - first_node);
            out.faces.push_back(n++);
          });
        out.cell_ends.push_back(n);
      }
      out.n_faces.push_back(n);
      out.n_nodes.push_back(out.nodes.size() - first_node);
    }
    return out;
  }

  /// Return the index of a vertex among the points of a piece. @pre the piece has it
  [[nodiscard]] std::int64_t place_in(const VtkhdfPiece& piece, LocalId node) const {
    const auto& ids = mesh_->vertices().global_ids;
    return std::ranges::lower_bound(piece.points, ids[index(node)], {}, [&](LocalId v) { return ids[index(v)]; }) -
           piece.points.begin();
  }

  /// @param[in] of_local  shape (n_local(dim), n_components)
  template <class T>
  void write(const std::string& name, Dim dim, int n_components, const std::vector<T>& of_local) {
    const std::size_t width = n_components;
    std::vector<T> rows;
    for (const VtkhdfPiece& piece : pieces_)
      for (const LocalId id : dim == Dim::vertex ? piece.points : piece.cells)
        for (std::size_t k = 0; k < width; ++k) rows.push_back(of_local[index(id) * width + k]);
    const auto of = dim == Dim::vertex ? VtkhdfFile::Of::points : VtkhdfFile::Of::cells;
    file_->write_array(of, name, n_components, std::span<const T>(rows));
  }
  void write(const FieldData& field) {
    std::visit([&](const auto& values) { write(array_name(field.name), field.dim, field.n_components, values); },
               field.values);
  }
  void write_fields() {
    for (const FieldData* field : point_fields_) write(*field);
    for (const FieldData* field : cell_fields_) write(*field);
  }

  /// Tell whether a field or a tag has the name of an array.
  [[nodiscard]] bool is_taken(Dim dim, const std::string& name) const {
    const auto& fields = dim == Dim::vertex ? point_fields_ : cell_fields_;
    return tags_.has(dim, name) ||
           std::ranges::any_of(fields, [&](const auto* field) { return array_name(field->name) == name; });
  }
  /// Write an array of barrio's own, unless its name is taken.
  template <class T>
  void write_of_cells(const std::string& name, const std::vector<T>& of_local) {
    if (!is_taken(mesh_->cell_dim(), name)) write<T>(name, mesh_->cell_dim(), 1, of_local);
  }

  /// Write the ids that make one mesh of several pieces, marked as VTK marks them.
  void write_ids(Dim dim, const std::string& name, std::span<const GlobalId> ids) {
    if (is_taken(dim, name)) return;
    std::vector<std::int64_t> numbers;
    for (const GlobalId id : ids) numbers.push_back(barrio::value(id));
    write(name, dim, 1, numbers);
    file_->mark_ids(dim == Dim::vertex ? VtkhdfFile::Of::points : VtkhdfFile::Of::cells, name);
  }

  void write_cell_data() {
    const std::size_t n = mesh_->cells().size();
    write_of_cells<std::int32_t>("part", {mesh_->cell_parts().begin(), mesh_->cell_parts().end()});
    std::vector<std::int32_t> material(n, -1);  // 0 may be the id of a material
    const std::vector<std::int32_t> numbers = detail::material_numbers(*mesh_);
    for (std::size_t s = 0; s < numbers.size(); ++s) {
      const mesh::MeshSet& set = mesh_->sets()[s];
      if (set.info.kind != mesh::SetKind::material) continue;
      for (const LocalId c : set.entities[index(mesh_->cell_dim())]) material[index(c)] = numbers[s];
    }
    write_of_cells<std::int32_t>("material", material);
    if (options_.pieces == Pieces::ranks_with_ghosts) {
      write_of_cells<std::int32_t>("owner", mesh_->cells().owners.to_vector());
      constexpr std::uint8_t duplicate_cell = 1;
      std::vector<std::uint8_t> ghost(n, 0);
      std::vector<std::int32_t> holder(n, context_.rank());
      for (std::size_t c = mesh_->cells().n_owned; c < n; ++c) ghost[c] = duplicate_cell;
      write_of_cells<std::uint8_t>("vtkGhostType", ghost);
      write_of_cells<std::int32_t>("rank", holder);
    }
  }

  const Mesh* mesh_;
  mpi::Context& context_;
  std::string path_;
  VtkhdfOptions options_;
  std::uint64_t revision_ = 0;  // of the mesh, at the last look at it
  std::vector<VtkhdfPiece> pieces_;
  std::vector<const FieldData*> point_fields_;
  std::vector<const FieldData*> cell_fields_;
  detail::ChosenTags tags_;
  std::int64_t n_points_ = 0;
  std::int64_t n_cells_ = 0;
  bool has_polyhedra_ = false;
  bool has_ids_ = false;
  std::unique_ptr<VtkhdfFile> file_;
};

VtkhdfWriter::VtkhdfWriter(const Mesh& mesh, const std::string& path, VtkhdfOptions options)
    : core_(std::make_unique<Core>(mesh, path, std::move(options))) {}
VtkhdfWriter::~VtkhdfWriter() = default;
void VtkhdfWriter::write_step(double time) { core_->write_step(time); }
void VtkhdfWriter::write_step(const Mesh& mesh, double time) { core_->write_step(mesh, time); }
void VtkhdfWriter::close() { core_->close(); }

}  // namespace barrio::io
