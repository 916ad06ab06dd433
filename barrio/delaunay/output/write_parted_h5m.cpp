#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/output/buffered.hpp"
#include "barrio/delaunay/output/h5m_sets.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/files/h5m_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace {

using detail::buffered;
using detail::edge_table;
using detail::PartRows;
using detail::RowSet;
using detail::triangle_table;
using files::H5mFile;

/// Counts of a part, from a first visit, and where its rows begin.
struct PartCounts {
  struct Chain {
    std::int32_t neighbour = 0;
    Rank rank = 0;
    std::int32_t place = 0;
    std::int64_t n = 0;      // vertices
    std::int64_t first = 0;  // row of the first one
    bool is_owned = false;
  };
  struct Run {
    std::size_t of = 0;  // region of the domain, or place of a marker
    std::int64_t n = 0;
    std::int64_t first = 0;  // row
  };
  std::int64_t n_vertices = 0;      // that the part owns alone
  std::int64_t first_vertex = 0;    // row of the first of these
  std::vector<Chain> chains = {};   // of its interfaces
  std::vector<Run> triangles = {};  // by region of the part
  std::vector<Run> edges = {};      // by marker
};

/// Rows of a part in the tables of the file.
struct PartPlaces {
  std::vector<std::int32_t> vertex;     // row of each vertex
  std::vector<std::int32_t> written;    // vertices that this part writes, by ascending row: owned shared ones first
  std::vector<std::int64_t> triangles;  // row of each
  std::vector<SegmentEdge> edges;       // by marker
  std::vector<std::int64_t> edge_rows;  // of each of them
};

/// First row of the vertices of an interface, as it travels to the other part.
struct ChainRows {
  std::int32_t part = 0;
  std::int32_t interface = 0;
  std::int64_t first = 0;
};

/// Edges on segments of a part, by marker.
std::vector<SegmentEdge> sorted_edges(const Part& part) {
  std::vector<SegmentEdge> edges = detail::edges_of(part);
  std::ranges::stable_sort(edges, {}, &SegmentEdge::marker);
  return edges;
}

/// Places of all parts in a file. Rows do not depend on ranks: vertices come shared ones first, then by part; triangles
/// by region, then by part; edges by marker, then by part. It keeps counts of each part, not rows.
class PartedPlaces {
 public:
  PartedPlaces(mpi::Context& context, const PartedTriangulation& parted)
      : context_(context), parted_(parted), counts_(parted.n_local()) {
    mpi::agree_after(context, [&] { parted.visit([&](std::size_t i, const Part& part) { count(part, counts_[i]); }); });
    place_vertices();
    place_rows();
  }
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
        name = parted_.regions[at].name;
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
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      for (const PartCounts::Run& run : counts_[i].triangles) {
        if (run.n == 0) continue;
        mine.insert(mine.end(), {first_id + run.first, run.n});
        all.end[static_cast<std::size_t>(parted_.first_part) + i] += 2;
      }
    }
    mpi::all_reduce(context_, std::span<std::int64_t>(all.end), MPI_SUM);
    std::partial_sum(all.end.begin(), all.end.end(), all.end.begin());
    exchange::Parcels<std::int64_t> parcels;
    if (!mine.empty()) parcels.add(0, mine);
    all.words = exchange::route(context_, parcels).items;
    return all;
  }
  /// Find the rows of a part of this rank. Local.
  [[nodiscard]] PartPlaces of(std::size_t i, const Part& part) const {
    const PartCounts& counts = counts_[i];
    PartPlaces places;
    std::int64_t next = counts.first_vertex;
    places.vertex.assign(part.mesh.points.size(), -1);
    std::vector<SharedVertex> shared = part.shared;
    std::ranges::sort(shared, {}, &SharedVertex::number);
    for (const SharedVertex& one : shared) {
      places.vertex[one.vertex] = one.number;
      if (one.is_owned) places.written.push_back(one.vertex);
    }
    for (std::size_t f = 0; f < counts.chains.size(); ++f) {
      std::int64_t row = counts.chains[f].first;
      for (const std::int32_t v : detail::chain_of(part, f)) {
        places.vertex[v] = static_cast<std::int32_t>(row++);
        if (counts.chains[f].is_owned) places.written.push_back(v);
      }
      if (counts.chains[f].is_owned) next += counts.chains[f].n;
    }
    for (std::int32_t v = 0; v < std::ssize(places.vertex); ++v) {
      if (places.vertex[v] != -1) continue;
      places.vertex[v] = static_cast<std::int32_t>(next++);
      places.written.push_back(v);
    }
    std::vector<PartCounts::Run> runs = counts.triangles;
    for (const Triangle& t : part.mesh.triangles.items()) places.triangles.push_back(runs[t.region()].first++);
    places.edges = sorted_edges(part);
    for (const PartCounts::Run& run : counts.edges)
      for (std::int64_t k = 0; k < run.n; ++k) places.edge_rows.push_back(run.first + k);
    return places;
  }

 private:
  [[nodiscard]] std::size_t place_of(std::int32_t marker) const {
    if (marker == 0) return 0;
    return std::ranges::lower_bound(parted_.markers, marker) - parted_.markers.begin() + 1;
  }

  void count(const Part& part, PartCounts& counts) const {
    counts.n_vertices = detail::n_owned_alone(part);
    for (std::size_t f = 0; f < part.interfaces.size(); ++f) {
      const Interface& one = part.interfaces[f];
      counts.chains.push_back({.neighbour = one.neighbour,
                               .rank = one.rank,
                               .place = one.place,
                               .n = std::ssize(detail::chain_of(part, f)),
                               .is_owned = detail::owns_chain(part, f)});
    }
    for (const std::int32_t region : part.regions) counts.triangles.push_back({static_cast<std::size_t>(region)});
    for (const Triangle& t : part.mesh.triangles.items()) ++counts.triangles[t.region()].n;
    for (const SegmentEdge& edge : sorted_edges(part)) {
      const std::size_t place = place_of(edge.marker);
      if (counts.edges.empty() || counts.edges.back().of != place) counts.edges.push_back({place});
      ++counts.edges.back().n;
    }
  }

  void place_vertices() {
    std::int64_t n_mine = 0;
    for (const PartCounts& counts : counts_) n_mine += counts.n_vertices;
    std::int64_t next = parted_.n_shared + mpi::exclusive_sum(context_, n_mine);
    n_vertices_ = parted_.n_shared + mpi::sum(context_, n_mine);
    exchange::Neighborhood hood(context_, parted_.neighbours);
    auto round = hood.begin_round<ChainRows>();
    for (PartCounts& counts : counts_) {
      counts.first_vertex = next;
      next += counts.n_vertices;
      std::int64_t row = counts.first_vertex;
      for (PartCounts::Chain& chain : counts.chains) {
        if (!chain.is_owned) continue;
        chain.first = row;
        row += chain.n;
        if (chain.n > 0) round.send(chain.rank, {chain.neighbour, chain.place, chain.first});
      }
    }
    round.close();
    for (const auto& [from, message] : round.received())
      counts_.at(static_cast<std::size_t>(message.part - parted_.first_part)).chains.at(message.interface).first =
          message.first;
  }

  void place_rows() {
    const std::size_t n_regions = parted_.regions.size();
    const std::size_t n_markers = parted_.markers.size() + 1;
    std::vector<std::int64_t> n(n_regions + n_markers, 0);
    for (const PartCounts& counts : counts_) {
      for (const PartCounts::Run& run : counts.triangles) n[run.of] += run.n;
      for (const PartCounts::Run& run : counts.edges) n[n_regions + run.of] += run.n;
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
    for (PartCounts& counts : counts_) {
      for (PartCounts::Run& run : counts.triangles) {
        run.first = n[run.of];
        n[run.of] += run.n;
      }
      for (PartCounts::Run& run : counts.edges) {
        run.first = n[n_regions + run.of];
        n[n_regions + run.of] += run.n;
      }
    }
  }

  mpi::Context& context_;
  const PartedTriangulation& parted_;
  std::vector<PartCounts> counts_;
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
  put_runs<std::int32_t>(
      std::ssize(places.triangles), [&](std::int64_t t) { return places.triangles[t]; },
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

/// An attribute of vertices in the file.
struct AttributeRows {
  files::FileWriter::Rows rows;
  std::size_t first = 0;  // component
  int n = 1;
};

/// Make a dense tag for each attribute. Collective.
std::vector<AttributeRows> make_attributes(H5mFile& file, const PartedTriangulation& parted) {
  std::vector<AttributeRows> made;
  std::size_t first = 0;
  for (const Attribute& attribute : parted.attributes) {
    const auto tag = file.make_tag({.name = attribute.name,
                                    .values = {files::H5mValues::Of::float64, attribute.n_components},
                                    .storage = files::H5mNewTag::Storage::dense});
    made.push_back({file.make_dense(tag, H5mFile::vertices), first, attribute.n_components});
    first += attribute.n_components;
  }
  return made;
}

/// Put the attributes of the vertices that a part writes. Local.
void put_attributes(H5mFile& file, const Part& part, const PartPlaces& places,
                    const std::vector<AttributeRows>& attributes) {
  const Triangulation& mesh = part.mesh;
  const std::size_t width = mesh.attribute_width();
  for (const AttributeRows& one : attributes) {
    put_runs<double>(
        std::ssize(places.written), [&](std::int64_t k) { return places.vertex[places.written[k]]; },
        [&](std::int64_t k, std::vector<double>& values) {
          const auto of_vertex = mesh.attribute_values.items().subspan(places.written[k] * width + one.first, one.n);
          values.insert(values.end(), of_vertex.begin(), of_vertex.end());
        },
        [&](std::int64_t at, std::span<const double> values) {
          file.put_values(one.rows, at, std::ssize(values) / one.n, std::as_bytes(values));
        });
  }
}

}  // namespace

void write_h5m(mpi::Context& context, const PartedTriangulation& parted, const std::string& path) {
  const PartedPlaces places(context, parted);
  const std::vector<RowSet> sets = places.sets();
  constexpr std::int64_t max_ids = std::numeric_limits<std::int32_t>::max();
  mpi::agree_after(context, [&] {
    if (places.n_vertices() + places.n_triangles() + places.n_edges() >= max_ids)
      refuse(ErrorCode::failed, path, "would need more than 2^31 ids of vertices, triangles and edges",
             "write .vtkhdf, or allow larger triangles");
  });
  H5mFile file(context, path,
               {.n_vertices = places.n_vertices(),
                .elements = {{.type = "Tri", .n_nodes = 3, .n = places.n_triangles(), .has_short_ids = true},
                             {.type = "Edge", .n_nodes = 2, .n = places.n_edges(), .has_short_ids = true}},
                .n_sets = std::ssize(sets) + parted.n_parts});
  const std::vector<AttributeRows> attributes = make_attributes(file, parted);
  mpi::agree_after(context, [&] {
    parted.visit([&](std::size_t i, const Part& part) {
      const PartPlaces of_part = places.of(i, part);
      put_part(file, part, of_part);
      put_attributes(file, part, of_part, attributes);
    });
  });
  detail::write_sets(context, file, sets, places.rows_of_parts(file.first_id(triangle_table)));
  detail::write_names(context, file, places.names());
  file.close();
}

}  // namespace barrio::delaunay
