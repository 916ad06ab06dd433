#pragma once

/// @file Refinement of one domain in parts, on several ranks: parallel constrained Delaunay meshing (PCDM).

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/base/json.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/statistics.hpp"
#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay {

/// Interface of a part: an edge of the decomposition that it shares with another part. Both split it at the same
/// positions.
struct Interface {
  std::array<std::int32_t, 2> ends{};  ///< vertices of the part, the one with the smaller coordinates first
  std::int32_t segment = -1;           ///< of the mesh, if it does not lie on one of the input
  std::int32_t neighbour = 0;          ///< the other part
  std::int32_t rank = 0;               ///< that has it
  std::int32_t place = 0;              ///< of this interface in the list of the other part
};

/// Vertex of the decomposition that several parts have.
struct SharedVertex {
  std::int32_t vertex = 0;  ///< of the part
  std::int32_t number = 0;  ///< among all shared vertices of the domain
  bool is_owned = false;    ///< by the first of the parts that have it
};

/// Part of a domain. Its mesh has rows of its own.
struct Part {
  std::int32_t number = 0;              ///< among the parts of all ranks, from 0
  std::int64_t n_expected = 0;          ///< triangles at the end
  bool is_compact = false;              ///< rows are closed up, which `PartedTriangulation::visit` does
  Triangulation mesh;                   ///< compact after `refine_in_parts`
  std::vector<float> angles;            ///< of segments with others in the whole domain, two each; radians
  std::vector<Interface> interfaces;    ///< with other parts
  std::vector<std::int32_t> chains;     ///< vertices in the interior of interfaces, one interface after the other
  std::vector<std::int32_t> chain_end;  ///< of each interface in `chains`
  std::vector<SharedVertex> shared;     ///< its vertices that other parts have too
  std::vector<std::int32_t> regions;    ///< number in the whole domain of each region of the mesh

  /// Return the bytes that the part holds. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

namespace detail {
class PartedRefinement;
struct PartObjects;
}  // namespace detail

/// A triangulation in parts. Each rank has some, with ascending numbers over the ranks; a rank may have none. Parts are
/// mobile objects: they may lie on the disk, and are then read one after the other. Move-only.
class PartedTriangulation {
 public:
  PartedTriangulation();
  ~PartedTriangulation();
  PartedTriangulation(PartedTriangulation&&) noexcept;
  PartedTriangulation& operator=(PartedTriangulation&&) noexcept;

  std::int32_t n_parts = 0;           ///< of all ranks
  std::int32_t n_shared = 0;          ///< vertices of the decomposition that several parts have
  std::int32_t first_part = 0;        ///< of this rank
  std::vector<Rank> neighbours;       ///< ranks with parts beside those of this rank, ascending
  std::vector<Region> regions;        ///< of the whole domain, the same on all ranks; row 0 stands for no region
  std::vector<std::int32_t> markers;  ///< of segments, without 0, ascending; of the whole domain, the same on all ranks
  std::vector<MarkerName> marker_names;  ///< of some of `markers`; the same on all ranks
  std::vector<Attribute> attributes;     ///< of vertices; the same on all ranks

  /// Return the number of parts of this rank.
  [[nodiscard]] std::size_t n_local() const noexcept;
  /// Visit the parts of this rank, in ascending or descending order. Local. @param visit  called with the place of a
  /// part, and the part, which lives until it returns
  /// @throws Error{failed} if a part cannot be read from the disk. Cost: without a limit of memory none
  void visit(const std::function<void(std::size_t, const Part&)>& visit) const;
  /// Return the bytes of parts that are in memory. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  friend class detail::PartedRefinement;
  std::unique_ptr<detail::PartObjects> parts_;
};

/// Order in which parts follow the splits of others.
enum class PartOrder {
  /// In steps: all splits of a step of all adjacent parts at once. One result on any ranks.
  supersteps,
  /// Each split as soon as it is known. The result meets the same bounds, but depends on time.
  asynchronous,
};

/// Options of `refine_in_parts`.
struct PartOptions {
  /// Number of parts. 0: one for about 50 000 expected triangles, at least 16. It does not depend on the ranks, so the
  /// result does not either.
  std::int32_t n_parts = 0;
  /// Bytes of parts that each rank keeps in memory, if above 0; others lie on the disk. A part in use may exceed it.
  std::uint64_t max_memory_bytes = 0;
  std::string scratch = {};                 ///< folder for parts on the disk
  PartOrder order = PartOrder::supersteps;  ///< decides whether the result depends on time
  /// Seed of a random order in which parts are refined first, if above 0; else they follow a curve, where neighbours
  /// are near. In supersteps the result is the same, but out of core parts come and go more often.
  std::uint64_t shuffle_seed = 0;
  /// Called from time to time on each rank with the number of triangles of its parts.
  std::function<void(std::int64_t)> progress = {};
};

/// Report of a refinement in parts: counts of all ranks.
struct PartReport {
  RefineReport refinement;   ///< sums over all parts, without the decomposition; its limit is the largest of a part
  std::int32_t n_parts = 0;  ///< made: given, or chosen if it was 0
  std::int64_t n_coarse_triangles = 0;    ///< of the decomposition
  std::int64_t n_corridor_points = 0;     ///< added along the cut before it was made
  std::int64_t n_interfaces = 0;          ///< edges between parts, in the decomposition
  std::int64_t n_interface_points = 0;    ///< vertices on them, at the end
  double min_corner = 0.0;                ///< smallest angle of an interface with another one or a segment, degrees
  int n_exchanges = 0;                    ///< steps in which splits were told; asynchronous: 1
  std::int64_t n_parts_told = 0;          ///< parts that split interfaces after the first exchange
  std::int64_t n_messages = 0;            ///< between parts
  std::int64_t n_turns = 0;               ///< in which parts got messages
  double part_imbalance = 0.0;            ///< most triangles of a part over the mean
  double rank_imbalance = 0.0;            ///< most triangles of a rank over the mean
  double seconds_of_decomposition = 0.0;  ///< of the slowest rank, with the dealing of parts
  double seconds_of_first_step = 0.0;     ///< of the slowest rank
  double seconds_of_other_steps = 0.0;    ///< of the slowest rank: following the splits of others
  double seconds_of_run = 0.0;            ///< both, with messages and waits
  double seconds_computing = 0.0;         ///< refining, of an average rank
  double seconds_of_disk = 0.0;           ///< transfers of the disk, of an average rank; some run while it refines
  double seconds_waiting_for_disk = 0.0;  ///< waiting for these transfers, of an average rank
  /// Most bytes in memory of a rank, all and by owner; nothing without a limit.
  std::vector<std::pair<std::string, std::uint64_t>> max_memory = {};
  std::uint64_t bytes_written = 0;   ///< to the disk, by all ranks
  std::uint64_t bytes_finished = 0;  ///< of those written: of parts that were as they are in the end, most likely
  std::uint64_t bytes_read = 0;      ///< from the disk, by all ranks
};

/// Refine a triangulation in parts: cut the domain along edges of a coarse mesh, refine each part on its rank, and
/// exchange splits of the edges between parts until both sides of each agree. Collective.
///
/// In supersteps, the default, the result depends on the triangulation, the options and the number of parts, not on the
/// number of ranks. Triangles meet the bounds of `refine`; edges between parts need not be Delaunay.
/// @param mesh  from `triangulate`, on rank 0, not refined or compact; ignored on others
/// @param options  the same on all ranks. `moves_points` is refused, as is a limit of triangles
/// @throws AgreedError{usage} as refine, {bad_input} as refine; {failed} if the min angle is not reached, since parts
/// that end early do not match, or if the scratch file cannot be written or read; {internal} if two parts split an edge
/// differently Cost: decomposition on rank 0, linear in the mesh there, which is in memory twice; then that of refine,
/// divided by ranks; two or three exchanges of messages between adjacent parts Source: Chew,
/// Chrisochoides and Sukup 1997; Chernikov and Chrisochoides 2008 (TOMS 872)
[[nodiscard]] PartedTriangulation refine_in_parts(mpi::Context& context, Triangulation mesh,
                                                  const RefineOptions& options, const PartOptions& part_options,
                                                  PartReport& report);

/// Totals of all parts.
struct PartedSummary {
  std::int64_t n_vertices = 0;   ///< those that parts share count once
  std::int64_t n_triangles = 0;  ///< of all parts
  std::int64_t n_regions = 0;    ///< that have triangles
  ShapeStatistics shape;         ///< of the triangles of all parts
  std::uint64_t checksum = 0;    ///< that of `checksum` for the whole: it depends on the mesh, not on ranks
};

/// Compute the totals of all parts. Collective. @throws AgreedError{failed} if a part cannot be read from the disk
/// Cost: a visit of all parts, some 50 ns a triangle
[[nodiscard]] PartedSummary summarize(mpi::Context& context, const PartedTriangulation& parted);

/// Check each part as `validate` does, and that the two sides of each interface have the same vertices. Collective.
/// @throws AgreedError{internal} naming the part
void validate(mpi::Context& context, const PartedTriangulation& parted);

/// Return counts, times and memory as JSON, without `refinement`. Local.
[[nodiscard]] Json to_json(const PartReport& report);

}  // namespace barrio::delaunay
