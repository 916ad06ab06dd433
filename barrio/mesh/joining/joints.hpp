#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "barrio/mesh/join.hpp"

namespace barrio::mesh::detail {

/// Ids of the vertices of all pieces: piece after piece, rows ascending.
struct PieceIds {
  std::vector<std::int64_t> first;  ///< of each piece, and the end

  explicit PieceIds(const std::vector<MeshTables>& pieces);
  [[nodiscard]] int piece_of(std::int64_t id) const noexcept;
};

/// Finds the vertices to merge: which vertex each one becomes. Collective.
class Joints {
 public:
  Joints(mpi::Context& context, const std::vector<MeshTables>& pieces, const JoinOptions& options);

  /// Return, for each piece and row of this rank's slab, the id of the vertex that it becomes; its own if it stays.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& becomes() const& noexcept { return becomes_; }
  [[nodiscard]] const std::vector<Joint>& list() const& noexcept { return joints_; }

 private:
  struct Match {
    std::int64_t lower;
    std::int64_t higher;
    std::int32_t joint;
    double distance;
  };
  /// A match as seen from one of its two vertices, at that vertex's home.
  struct Partner {
    std::int64_t vertex;
    std::int64_t other;
    std::int32_t joint;
    std::int32_t is_open;  // 1: the joint is left open
    double distance;
  };
  /// One of the vertices that are merged into one.
  struct Member {
    std::int64_t lowest;
    std::int64_t id;
    std::array<double, 3> x;
  };
  void find_joints(const JoinOptions& options);
  std::vector<Match> find_matches();
  void send_home(const std::vector<Match>& matches);
  void judge();
  void merge();
  /// Refuse a tolerance that makes more vertices one than can lie within it. Collective.
  /// @param[in] n_merged  number of vertices of this rank by the id that they become
  void refuse_crowds(const std::map<std::int64_t, std::int64_t>& n_merged);
  void count_chains();
  /// Tell whether every two members have a joint and surely lie within its tolerance. Conservative.
  [[nodiscard]] bool is_tight(std::span<const Member> members) const;
  /// Count the members that are merged with one beyond the tolerance, by joint. Cost: quadratic in the members.
  void count_chained(std::span<const Member> members, std::vector<std::int64_t>& n_chained) const;
  /// Open the joints that are not perfect.
  /// @return whether any changed
  bool open_faulty();
  [[nodiscard]] Rank home_of(std::int64_t id) const;
  [[nodiscard]] std::int64_t& becomes(std::int64_t id);
  [[nodiscard]] const double* position(std::int64_t id) const;
  [[nodiscard]] std::int32_t joint_of(int a, int b) const noexcept;
  void sum_over_ranks();

  mpi::Context& context_;
  const std::vector<MeshTables>& pieces_;
  PieceIds ids_;
  std::vector<Joint> joints_;
  std::vector<std::array<double, 6>> boxes_;          // low, high
  std::vector<std::vector<std::int32_t>> joints_of_;  // by piece
  double grid_ = 1.0;                                 // width of the cells of space
  double widest_tolerance_ = 0.0;
  std::array<double, 3> corner_{};  // lowest of all pieces
  std::vector<Partner> partners_;   // by (vertex, joint, other), of vertices homed here
  std::vector<std::vector<std::int64_t>> becomes_;
};

}  // namespace barrio::mesh::detail
