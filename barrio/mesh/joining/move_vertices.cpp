#include <algorithm>
#include <span>

#include "barrio/mesh/joining/join_rows.hpp"

namespace barrio::mesh::detail {

void move_vertices(mpi::Context& context, const std::vector<MeshTables>& pieces, const NewVertices& vertices,
                   MeshTables& out) {
  const Rank me = context.rank();
  out.vertices = {vertices.n_rows(), context.size()};
  struct Segment {
    std::size_t first;  // place in the slab
    std::span<const double> coordinates;
  };
  std::vector<Segment> segments;
  std::vector<std::vector<double>> kept(pieces.size());  // of each piece, contiguous
  SlabMail mail(context);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    std::int64_t first = -1;
    const std::size_t n = pieces[p].vertices.size(me);
    kept[p].reserve(3 * n);
    for (std::size_t i = 0; i < n;) {
      if (!vertices.stays(p, i)) {
        ++i;
        continue;
      }
      if (first < 0) first = vertices.row(p, i);
      const std::size_t from = i;
      while (i < n && vertices.stays(p, i)) ++i;
      const auto run = std::span(pieces[p].coordinates).subspan(3 * from, 3 * (i - from));
      kept[p].insert(kept[p].end(), run.begin(), run.end());
    }
    if (kept[p].empty()) continue;
    const auto rows = [&](std::size_t at, std::size_t count) {
      return std::span<const double>(kept[p]).subspan(3 * at, 3 * count);
    };
    mail.send(
        -1, out.vertices, first, kept[p].size() / 3,
        [&](MessageWriter& message, std::size_t at, std::size_t count) { message.put(rows(at, count)); },
        [&](std::size_t at, std::size_t count, std::size_t place) { segments.push_back({place, rows(at, count)}); });
  }
  mail.deliver([&](std::int32_t, std::size_t first, std::size_t, MessageReader& in) {
    segments.push_back({first, in.get<double>()});
  });
  out.coordinates.reserve(3 * out.vertices.size(me));
  std::ranges::sort(segments, {}, &Segment::first);
  for (const Segment& segment : segments)
    out.coordinates.insert(out.coordinates.end(), segment.coordinates.begin(), segment.coordinates.end());
}

}  // namespace barrio::mesh::detail
