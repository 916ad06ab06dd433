#include "barrio/io/cgns/join_interfaces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/mesh/join.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using files::Rows;
using mesh::MeshTables;
using mesh::VertexPair;
using Indices = std::array<std::int64_t, 3>;

/// A part of the diagonal of a zone: vertices that are farther apart are not one, whatever the file says.
constexpr double relative_tolerance = 1e-6;

class Joiner {
 public:
  Joiner(mpi::Context& context, const std::string& path, files::Place file, const CgnsCatalog& catalog,
         MeshTables& tables)
      : context_(context), path_(path), file_(file), catalog_(catalog), tables_(tables) {}

  void join(std::vector<ListedSide>& sides) {
    std::vector<std::string> open = catalog_.open_interfaces;
    std::int64_t n_merged = 0;
    if (!catalog_.interfaces.empty()) {
      find_pairs();
      const auto gaps = find_gaps();
      for (std::size_t i = 0; i < gaps.size(); ++i)
        if (gaps[i] > tolerance_of(catalog_.interfaces[i])) open.push_back(apart(catalog_.interfaces[i], gaps[i]));
      std::vector<VertexPair> joined;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const auto of = static_cast<std::size_t>(interface_of_[i]);
        if (gaps[of] <= tolerance_of(catalog_.interfaces[of])) joined.push_back(pairs_[i]);
      }
      const Slabs rows_before = tables_.vertices;
      const mesh::MergedVertices merged = mesh::merge_vertices(context_, tables_, joined, path_);
      n_merged = merged.n_merged;
      translate(sides, rows_before, merged.new_rows);
    }
    tell(open, std::ssize(catalog_.interfaces) + std::ssize(catalog_.open_interfaces) - std::ssize(open), n_merged);
  }

 private:
  [[nodiscard]] const CgnsZone& zone(int place) const { return catalog_.zones[place]; }

  [[nodiscard]] std::vector<std::int64_t> list_of(const CgnsPoints& points, Rows rows) const {
    return points.path.empty() ? std::vector<std::int64_t>() : files::read_integers(file_, points.path, rows);
  }
  /// Return the i-th point of a range: the first index runs first.
  [[nodiscard]] static Indices walk(const CgnsPoints& points, std::int64_t i) {
    Indices at = points.begin;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t along = points.end[d] - points.begin[d];
      const std::int64_t n = std::abs(along) + 1;
      at[d] += along < 0 ? -(i % n) : i % n;
      i /= n;
    }
    return at;
  }
  [[nodiscard]] GlobalId row_of(const CgnsInterface& face, int place, const Indices& point) const {
    const CgnsZone& of = zone(place);
    std::int64_t row = of.first_vertex;
    std::int64_t stride = 1;
    for (int d = 0; d < of.n_indices; ++d) {
      if (point[d] < 1 || point[d] > of.n[d])
        refuse(ErrorCode::bad_input, path_,
               fmt::format("interface '{}' of zone '{}' has index {} = {}, but zone '{}' has 1 to {}", face.name,
                           zone(face.zone).name, "ijk"[d], point[d], of.name, of.n[d]),
               damaged_remedy);
      row += (point[d] - 1) * stride;
      stride *= of.n[d];
    }
    return GlobalId{row};
  }
  [[nodiscard]] Indices donor_point(const CgnsInterface& face, const Indices& point) const {
    Indices there = face.there.begin;
    for (int d = 0; d < zone(face.zone).n_indices; ++d) {
      const std::int64_t along = point[d] - face.here.begin[d];
      there[std::abs(face.transform[d]) - 1] += face.transform[d] < 0 ? -along : along;
    }
    return there;
  }

  /// Make this rank's share of the pairs of all interfaces.
  void find_pairs() {
    std::int64_t n_points = 0;
    for (const CgnsInterface& face : catalog_.interfaces) n_points += face.n;
    const Rows mine = slab_of({n_points, context_.size()}, context_.rank());
    std::int64_t first = 0;
    Status fault;
    for (std::size_t f = 0; f < catalog_.interfaces.size(); ++f) {
      const CgnsInterface& face = catalog_.interfaces[f];
      const Rows rows = overlap(mine, first, face.n);
      first += face.n;
      const auto here = list_of(face.here, rows);
      const auto there = list_of(face.there, rows);
      const Status status = capture([&] { add_pairs(face, rows, here, there); });
      if (status && !fault) fault = status;
      interface_of_.resize(pairs_.size(), static_cast<std::int32_t>(f));
    }
    agree(context_, fault);
  }
  void add_pairs(const CgnsInterface& face, Rows rows, std::span<const std::int64_t> here,
                 std::span<const std::int64_t> there) {
    const auto listed = [&](std::span<const std::int64_t> list, int place, std::int64_t i) {
      Indices at{1, 1, 1};
      const std::size_t n = zone(place).n_indices;
      for (std::size_t d = 0; d < n; ++d) at[d] = list[static_cast<std::size_t>(i) * n + d];
      return at;
    };
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const Indices a = face.here.path.empty() ? walk(face.here, rows.first + i) : listed(here, face.zone, i);
      const Indices b = face.there.path.empty() ? donor_point(face, a) : listed(there, face.donor, i);
      pairs_.push_back({row_of(face, face.zone, a), row_of(face, face.donor, b)});
    }
  }

  /// Find the largest distance between the two vertices of a pair, by interface. Collective.
  [[nodiscard]] std::vector<double> find_gaps() {
    find_boxes();
    std::vector<Rank> to;
    std::vector<GlobalId> wanted;
    for (const VertexPair& pair : pairs_) {
      for (const GlobalId id : {pair.a, pair.b}) {
        to.push_back(tables_.vertices.rank_of(id));
        wanted.push_back(id);
      }
    }
    const std::int64_t first = tables_.vertices.first(context_.rank());
    const auto x = exchange::ask(context_, to, wanted, [&](GlobalId id) {
      const double* at = &tables_.coordinates[3 * (value(id) - first)];
      return std::array<double, 3>{at[0], at[1], at[2]};
    });
    std::vector<double> gaps(catalog_.interfaces.size(), 0.0);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto& a = x[2 * i];
      const auto& b = x[2 * i + 1];
      const double gap = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      double& largest = gaps[interface_of_[i]];
      largest = std::isfinite(gap) ? std::max(largest, gap) : std::numeric_limits<double>::infinity();
    }
    mpi::all_reduce(context_, std::span<double>(gaps), MPI_MAX);
    return gaps;
  }
  void find_boxes() {
    boxes_.assign(6 * catalog_.zones.size(), std::numeric_limits<double>::infinity());  // low, and negated high
    const Rows mine = slab_of(tables_.vertices, context_.rank());
    for (std::size_t z = 0; z < catalog_.zones.size(); ++z) {
      const CgnsZone& of = catalog_.zones[z];
      const Rows rows = overlap(mine, of.first_vertex, of.n_vertices());
      for (std::int64_t i = rows.first; i < rows.first + rows.count; ++i) {
        const double* x = &tables_.coordinates[3 * (of.first_vertex + i - mine.first)];
        for (std::size_t k = 0; k < 3; ++k) {
          boxes_[6 * z + k] = std::min(boxes_[6 * z + k], x[k]);
          boxes_[6 * z + 3 + k] = std::min(boxes_[6 * z + 3 + k], -x[k]);
        }
      }
    }
    mpi::all_reduce(context_, std::span<double>(boxes_), MPI_MIN);
  }
  /// Return the distance at which the vertices of an interface are apart: a part of the smaller zone, but not less than
  /// the digits of the file.
  [[nodiscard]] double tolerance_of(const CgnsInterface& face) const {
    double smallest = std::numeric_limits<double>::infinity();
    double digits = 0.0;
    for (const int place : {face.zone, face.donor}) {
      const double* const box = &boxes_[6 * static_cast<std::size_t>(place)];
      smallest = std::min(smallest, std::hypot(box[0] + box[3], box[1] + box[4], box[2] + box[5]));
      const double last =
          zone(place).is_single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
      for (std::size_t k = 0; k < 6; ++k) digits = std::max(digits, 4.0 * last * std::abs(box[k]));
    }
    return std::max(relative_tolerance * smallest, digits);
  }
  [[nodiscard]] std::string apart(const CgnsInterface& face, double gap) const {
    return fmt::format("interface '{}' of zone '{}' with '{}': its vertices lie up to {:g} apart", face.name,
                       zone(face.zone).name, zone(face.donor).name, gap);
  }

  void translate(std::vector<ListedSide>& sides, const Slabs& rows_before, const std::vector<GlobalId>& new_rows) {
    std::vector<Rank> to;
    std::vector<GlobalId> wanted;
    for (const ListedSide& side : sides) {
      for (std::size_t i = 0; i < side.n_nodes; ++i) {
        to.push_back(rows_before.rank_of(side.nodes[i]));
        wanted.push_back(side.nodes[i]);
      }
    }
    const std::int64_t first = rows_before.first(context_.rank());
    const auto rows = exchange::ask(context_, to, wanted, [&](GlobalId id) { return new_rows[value(id) - first]; });
    auto next = rows.begin();
    for (ListedSide& side : sides)
      for (std::size_t i = 0; i < side.n_nodes; ++i) side.nodes[i] = *next++;
  }

  void tell(const std::vector<std::string>& open, std::int64_t n_joined, std::int64_t n_merged) {
    if (catalog_.zones.size() < 2 && n_joined == 0 && open.empty()) return;
    std::string text = n_joined == 0 ? fmt::format(
                                           "{} has {} zones and lists no 1-to-1 interface that can be joined: "
                                           "zones do not share vertices, even where they meet",
                                           path_, catalog_.zones.size())
                                     : fmt::format(
                                           "{}: zones are joined at {} 1-to-1 interfaces, which merged {} "
                                           "vertices",
                                           path_, n_joined, n_merged);
    if (!open.empty()) {
      constexpr std::size_t n_named = 10;
      text += fmt::format("; {} stay open: {}", open.size(),
                          fmt::join(open.begin(), open.begin() + std::min(open.size(), n_named), "; "));
      if (open.size() > n_named) text += fmt::format("; and {} more", open.size() - n_named);
    }
    if (n_joined == 0 || !open.empty()) text += "; `barrio join --within` merges vertices by position";
    context_.log().notice(text);
  }

  mpi::Context& context_;
  const std::string& path_;
  files::Place file_;
  const CgnsCatalog& catalog_;
  MeshTables& tables_;
  std::vector<VertexPair> pairs_;           // of this rank's slab of all points
  std::vector<std::int32_t> interface_of_;  // of each pair
  std::vector<double> boxes_;               // of zones
};

}  // namespace

void join_interfaces(mpi::Context& context, const std::string& path, files::Place file, const CgnsCatalog& catalog,
                     MeshTables& tables, std::vector<ListedSide>& sides) {
  Joiner(context, path, file, catalog, tables).join(sides);
}

}  // namespace barrio::io::detail
