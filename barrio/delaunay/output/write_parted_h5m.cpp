#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/sort_unique.hpp"
#include "barrio/delaunay/output/buffered.hpp"
#include "barrio/delaunay/output/h5m_sets.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/files/h5m_file.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace {

using detail::buffered;
using detail::edge_table;
using detail::PartRows;
using detail::RowSet;
using detail::triangle_table;
using files::H5mFile;

/// Rows of a part in the tables of the file.
struct PartPlaces {
  std::vector<std::int32_t> vertex;     // row of each vertex
  std::vector<std::int32_t> written;    // vertices that this part writes, by ascending row: owned shared ones first
  std::vector<std::int64_t> triangles;  // first row, by region of the part
  std::vector<SegmentEdge> edges;       // by marker
  std::vector<std::int64_t> edge_rows;  // of each of them
};

/// First row of the vertices of an interface, as it travels to the other part.
struct ChainRows {
  std::int32_t part = 0;
  std::int32_t interface = 0;
  std::int64_t first = 0;
};

/// Places of all parts of this rank in a file. Rows do not depend on ranks: vertices come shared ones first, then by
/// part; triangles by region, then by part; edges by marker, then by part.
class PartedPlaces {
 public:
  PartedPlaces(mpi::Context& context, const PartedTriangulation& parted) : context_(context), parted_(parted) {
    places_.resize(parted.parts.size());
    place_vertices();
    place_rows();
  }
  [[nodiscard]] const PartPlaces& of(std::size_t i) const noexcept { return places_[i]; }
  [[nodiscard]] std::int64_t n_vertices() const noexcept { return n_vertices_; }
  [[nodiscard]] std::int64_t n_triangles() const noexcept { return first_triangle_.back(); }
  [[nodiscard]] std::int64_t n_edges() const noexcept { return first_edge_.back(); }
  /// List the sets of regions and markers that are not empty.
  [[nodiscard]] std::vector<RowSet> sets() const {
    std::vector<RowSet> sets;
    for (std::size_t r = 1; r < parted_.regions.size(); ++r)
      if (const std::int64_t n = first_triangle_[r + 1] - first_triangle_[r]; n > 0)
        sets.push_back(
            {triangle_table, first_triangle_[r], n, parted_.regions[r].number, parted_.regions[r].attribute});
    for (std::size_t m = 1; m + 1 < first_edge_.size(); ++m)
      if (const std::int64_t n = first_edge_[m + 1] - first_edge_[m]; n > 0)
        sets.push_back({edge_table, first_edge_[m], n, parted_.markers[m - 1], 0.0});
    return sets;
  }
  /// Return the names of these sets.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const RowSet& set : sets()) {
      std::string& name = names.emplace_back();
      if (set.table == triangle_table) {
        const auto at = std::ranges::upper_bound(first_triangle_, set.first) - first_triangle_.begin() - 1;
        name = parted_.regions[static_cast<std::size_t>(at)].name;
      } else if (const auto found = std::ranges::find(parted_.marker_names, set.id, &MarkerName::marker);
                 found != parted_.marker_names.end()) {
        name = found->name;
      }
    }
    return names;
  }
  /// Collect the rows of all parts. Collective.
  [[nodiscard]] PartRows rows_of_parts(std::int64_t first_id) const {
    PartRows all;
    all.end.assign(parted_.n_parts, 0);
    std::vector<std::int64_t> mine;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Part& part = parted_.parts[i];
      const std::vector<std::int64_t> n = triangles_by_region(part);
      for (std::size_t r = 0; r < n.size(); ++r) {
        if (n[r] == 0) continue;
        mine.insert(mine.end(), {first_id + places_[i].triangles[r], n[r]});
        all.end[part.number] += 2;
      }
    }
    mpi::all_reduce(context_, std::span<std::int64_t>(all.end), MPI_SUM);
    std::partial_sum(all.end.begin(), all.end.end(), all.end.begin());
    exchange::Parcels<std::int64_t> parcels;
    if (!mine.empty()) parcels.add(0, mine);
    all.words = exchange::route(context_, parcels).items;
    return all;
  }

 private:
  [[nodiscard]] static std::vector<std::int64_t> triangles_by_region(const Part& part) {
    std::vector<std::int64_t> n(part.mesh.regions.size(), 0);
    for (const Triangle& t : part.mesh.triangles.items()) ++n[t.region()];
    return n;
  }
  [[nodiscard]] std::size_t place_of(std::int32_t marker) const {
    if (marker == 0) return 0;
    return std::ranges::lower_bound(parted_.markers, marker) - parted_.markers.begin() + 1;
  }

  void place_vertices() {
    std::int64_t next = 0;
    for (const Part& part : parted_.parts) next += detail::n_owned_alone(part);
    const std::int64_t n_mine = next;
    next = parted_.n_shared + mpi::exclusive_sum(context_, n_mine);
    n_vertices_ = parted_.n_shared + mpi::sum(context_, n_mine);
    std::vector<Rank> ranks;
    for (const Part& part : parted_.parts)
      for (const Interface& one : part.interfaces)
        if (one.rank != context_.rank()) ranks.push_back(one.rank);
    sort_unique(ranks);
    exchange::Neighborhood hood(context_, ranks);
    auto round = hood.begin_round<ChainRows>();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Part& part = parted_.parts[i];
      PartPlaces& places = places_[i];
      places.vertex.assign(part.mesh.points.size(), -1);
      std::vector<SharedVertex> shared = part.shared;
      std::ranges::sort(shared, {}, &SharedVertex::number);
      for (const SharedVertex& one : shared) {
        places.vertex[one.vertex] = one.number;
        if (one.is_owned) places.written.push_back(one.vertex);
      }
      constexpr std::int32_t of_other = -2;
      for (std::size_t f = 0; f < part.interfaces.size(); ++f) {
        const auto chain = detail::chain_of(part, f);
        if (!detail::owns_chain(part, f)) {
          for (const std::int32_t v : chain) places.vertex[v] = of_other;
          continue;
        }
        if (!chain.empty())
          round.send(part.interfaces[f].rank, {part.interfaces[f].neighbour, part.interfaces[f].place, next});
        for (const std::int32_t v : chain) {
          places.vertex[v] = static_cast<std::int32_t>(next++);
          places.written.push_back(v);
        }
      }
      for (std::int32_t v = 0; v < std::ssize(places.vertex); ++v) {
        if (places.vertex[v] != -1) continue;
        places.vertex[v] = static_cast<std::int32_t>(next++);
        places.written.push_back(v);
      }
    }
    round.close();
    for (const auto& [from, message] : round.received()) {
      const auto i = static_cast<std::size_t>(message.part - parted_.parts[0].number);
      std::int64_t row = message.first;
      for (const std::int32_t v : detail::chain_of(parted_.parts.at(i), message.interface))
        places_[i].vertex[v] = static_cast<std::int32_t>(row++);
    }
  }

  void place_rows() {
    const std::size_t n_regions = parted_.regions.size();
    const std::size_t n_markers = parted_.markers.size() + 1;
    std::vector<std::int64_t> n(n_regions + n_markers, 0);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Part& part = parted_.parts[i];
      places_[i].edges = detail::edges_of(part);
      std::ranges::stable_sort(places_[i].edges, {}, &SegmentEdge::marker);
      const std::vector<std::int64_t> of_part = triangles_by_region(part);
      for (std::size_t r = 0; r < of_part.size(); ++r) n[part.regions[r]] += of_part[r];
      for (const SegmentEdge& edge : places_[i].edges) ++n[n_regions + place_of(edge.marker)];
    }
    std::vector<std::int64_t> totals = n;
    mpi::all_reduce(context_, std::span<std::int64_t>(totals), MPI_SUM);
    mpi::exclusive_sum(context_, std::span<std::int64_t>(n));
    first_triangle_.assign(1, 0);
    for (std::size_t r = 0; r < n_regions; ++r) first_triangle_.push_back(first_triangle_.back() + totals[r]);
    first_edge_.assign(1, 0);
    for (std::size_t m = 0; m < n_markers; ++m) first_edge_.push_back(first_edge_.back() + totals[n_regions + m]);
    for (std::size_t r = 0; r < n_regions; ++r) n[r] += first_triangle_[r];
    for (std::size_t m = 0; m < n_markers; ++m) n[n_regions + m] += first_edge_[m];
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Part& part = parted_.parts[i];
      const std::vector<std::int64_t> of_part = triangles_by_region(part);
      for (std::size_t r = 0; r < of_part.size(); ++r) {
        places_[i].triangles.push_back(n[part.regions[r]]);
        n[part.regions[r]] += of_part[r];
      }
      for (const SegmentEdge& edge : places_[i].edges)
        places_[i].edge_rows.push_back(n[n_regions + place_of(edge.marker)]++);
    }
  }

  mpi::Context& context_;
  const PartedTriangulation& parted_;
  std::vector<PartPlaces> places_;
  std::int64_t n_vertices_ = 0;
  std::vector<std::int64_t> first_triangle_;  // by region
  std::vector<std::int64_t> first_edge_;      // by marker
};

/// Put rows of equal width that lie in runs of consecutive rows of a table.
/// @param row_of  row in the table of item i @param make  appends item i @param put  as for `buffered`
template <class T, class RowOf, class Make, class Put>
void put_runs(std::int64_t n, RowOf&& row_of, Make&& make, Put&& put) {
  for (std::int64_t begin = 0; begin < n;) {
    std::int64_t end = begin + 1;
    while (end < n && row_of(end) == row_of(end - 1) + 1) ++end;
    const std::int64_t first = row_of(begin);
    buffered<T>(
        end - begin, [&](std::int64_t i, std::vector<T>& items) { make(begin + i, items); },
        [&](std::int64_t at, std::span<const T> items) { put(first + at, items); });
    begin = end;
  }
}

/// Put vertices, triangles and edges of a part. Local.
void put_part(H5mFile& file, const Part& part, const PartPlaces& places) {
  const Triangulation& mesh = part.mesh;
  const auto first_vertex = static_cast<std::int32_t>(file.first_id(H5mFile::vertices));
  put_runs<double>(
      std::ssize(places.written), [&](std::int64_t i) { return places.vertex[places.written[i]]; },
      [&](std::int64_t i, std::vector<double>& x) {
        const Point& p = mesh.points[places.written[i]];
        x.insert(x.end(), {p[0], p[1], 0.0});
      },
      [&](std::int64_t first, std::span<const double> x) { file.put_vertices(first, x); });
  // triangles are sorted by region, and so are their rows
  std::vector<std::int64_t> next = places.triangles;
  std::vector<std::int64_t> row(mesh.triangles.size());
  for (std::size_t t = 0; t < row.size(); ++t) row[t] = next[mesh.triangles[t].region()]++;
  put_runs<std::int32_t>(
      std::ssize(row), [&](std::int64_t t) { return row[t]; },
      [&](std::int64_t t, std::vector<std::int32_t>& ids) {
        for (const std::int32_t v : mesh.triangles[t].vertices) ids.push_back(first_vertex + places.vertex[v]);
      },
      [&](std::int64_t first, std::span<const std::int32_t> ids) { file.put_elements(triangle_table, first, ids); });
  put_runs<std::int32_t>(
      std::ssize(places.edges), [&](std::int64_t e) { return places.edge_rows[e]; },
      [&](std::int64_t e, std::vector<std::int32_t>& ids) {
        for (const std::int32_t v : places.edges[e].ends) ids.push_back(first_vertex + places.vertex[v]);
      },
      [&](std::int64_t first, std::span<const std::int32_t> ids) { file.put_elements(edge_table, first, ids); });
}

/// Write each attribute as a dense tag on vertices. Collective.
void write_attributes(H5mFile& file, const PartedTriangulation& parted, const PartedPlaces& places) {
  std::size_t first = 0;
  for (const Attribute& attribute : parted.attributes) {
    const std::size_t n = attribute.n_components;
    const auto tag = file.make_tag({.name = attribute.name,
                                    .values = {files::H5mValues::Of::float64, attribute.n_components},
                                    .storage = files::H5mNewTag::Storage::dense});
    const auto rows = file.make_dense(tag, H5mFile::vertices);
    for (std::size_t i = 0; i < parted.parts.size(); ++i) {
      const Triangulation& mesh = parted.parts[i].mesh;
      const std::size_t width = mesh.attribute_width();
      const PartPlaces& of_part = places.of(i);
      put_runs<double>(
          std::ssize(of_part.written), [&](std::int64_t k) { return of_part.vertex[of_part.written[k]]; },
          [&](std::int64_t k, std::vector<double>& values) {
            const auto of_vertex = mesh.attribute_values.items().subspan(of_part.written[k] * width + first, n);
            values.insert(values.end(), of_vertex.begin(), of_vertex.end());
          },
          [&](std::int64_t at, std::span<const double> values) {
            file.put_values(rows, at, std::ssize(values) / attribute.n_components, std::as_bytes(values));
          });
    }
    first += n;
  }
}

}  // namespace

void write_h5m(mpi::Context& context, const PartedTriangulation& parted, const std::string& path) {
  const PartedPlaces places(context, parted);
  const std::vector<RowSet> sets = places.sets();
  H5mFile file(context, path,
               {.n_vertices = places.n_vertices(),
                .elements = {{.type = "Tri", .n_nodes = 3, .n = places.n_triangles(), .has_short_ids = true},
                             {.type = "Edge", .n_nodes = 2, .n = places.n_edges(), .has_short_ids = true}},
                .n_sets = std::ssize(sets) + parted.n_parts});
  for (std::size_t i = 0; i < parted.parts.size(); ++i) put_part(file, parted.parts[i], places.of(i));
  write_attributes(file, parted, places);
  detail::write_sets(context, file, sets, places.rows_of_parts(file.first_id(triangle_table)));
  detail::write_names(context, file, places.names());
  file.close();
}

}  // namespace barrio::delaunay
