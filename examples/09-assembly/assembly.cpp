// A finite-element code on several ranks: -div grad u = f on the unit cube, u = 0 on its faces, trilinear elements,
// conjugate gradients. Each rank assembles its own elements; vertices between blocks get the sum of all contributions.
// assembly CELLS   CELLS elements along each axis
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/gather_scatter.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

using barrio::GlobalId, barrio::exchange::GatherScatter, barrio::exchange::Sum;

namespace {

using Vector = std::vector<double>;  // a value at each vertex of this rank's block, interface included
using Index = std::array<int, 3>;

/// A block of the cube: elements begin[axis] to end[axis] of n.
struct Block {
  int n;
  Index begin, end;
  [[nodiscard]] int n_vertices(std::size_t axis) const { return end[axis] - begin[axis] + 1; }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(n_vertices(0)) * static_cast<std::size_t>(n_vertices(1)) *
           static_cast<std::size_t>(n_vertices(2));
  }
  /// Return the index of a vertex in the block.
  [[nodiscard]] std::size_t place(int i, int j, int k) const {
    const std::size_t row =
        static_cast<std::size_t>(k) * static_cast<std::size_t>(n_vertices(1)) + static_cast<std::size_t>(j);
    return row * static_cast<std::size_t>(n_vertices(0)) + static_cast<std::size_t>(i);
  }
  template <class Visit>
  void for_each_vertex(Visit&& visit) const {
    for (int k = begin[2]; k <= end[2]; ++k)
      for (int j = begin[1]; j <= end[1]; ++j)
        for (int i = begin[0]; i <= end[0]; ++i) visit(Index{i, j, k});
  }
};

Block make_block(const barrio::Context& context, int n) {
  Index grid{0, 0, 0};
  MPI_Dims_create(context.size(), 3, grid.data());
  const Index at{context.rank() % grid[0], context.rank() / grid[0] % grid[1], context.rank() / (grid[0] * grid[1])};
  Block block{n, {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    block.begin[axis] = n * at[axis] / grid[axis];
    block.end[axis] = n * (at[axis] + 1) / grid[axis];
  }
  return block;
}

/// Return the stiffness matrix of a cube of side h. Corners are 0 or 1 along x, y, z, with x fastest.
std::array<std::array<double, 8>, 8> element_stiffness(double h) {
  const auto one_d = [](int a, int b) { return std::array{a == b ? 1.0 : -1.0, a == b ? 1.0 / 3.0 : 1.0 / 6.0}; };
  std::array<std::array<double, 8>, 8> stiffness{};
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      const auto x = one_d(a & 1, b & 1);  // of slopes, of values
      const auto y = one_d(a >> 1 & 1, b >> 1 & 1);
      const auto z = one_d(a >> 2, b >> 2);
      stiffness[a][b] = h * (x[0] * y[1] * z[1] + x[1] * y[0] * z[1] + x[1] * y[1] * z[0]);
    }
  }
  return stiffness;
}

/// An exact solution and its right-hand side.
struct Known {
  double u, f;
};
Known known_at(double x, double y, double z) {
  const double px = x * x * (1.0 - x);
  const double py = std::sin(std::numbers::pi * y);
  const double pz = z * (1.0 - z);
  const double laplacian =
      (2.0 - 6.0 * x) * py * pz - std::numbers::pi * std::numbers::pi * px * py * pz - 2.0 * px * py;
  return {px * py * pz, -laplacian};
}

class Problem {
 public:
  Problem(barrio::Context& context, int n)
      : context_(context),
        block_(make_block(context, n)),
        h_(1.0 / n),
        stiffness_(element_stiffness(h_)),
        gather_(context, ids()),
        share_(block_.size(), 1.0),
        right_side_(block_.size(), 0.0),
        exact_(block_.size(), 0.0),
        is_inside_(block_.size(), 0.0) {
    gather_.apply(share_, 1, Sum{});  // the number of blocks with the vertex
    for (double& one : share_) one = 1.0 / one;
    std::size_t at = 0;
    block_.for_each_vertex([&](const Index& v) {
      const bool is_inside = std::ranges::all_of(v, [n](int i) { return i > 0 && i < n; });
      const Known known = known_at(v[0] * h_, v[1] * h_, v[2] * h_);
      exact_[at] = known.u;
      is_inside_[at] = is_inside ? 1.0 : 0.0;
      right_side_[at] = is_inside ? h_ * h_ * h_ * known.f : 0.0;
      at += 1;
    });
  }

  /// Compute y = A x. Collective.
  void multiply(const Vector& x, Vector& y) {
    y.assign(x.size(), 0.0);
    for (int k = 0; k + 1 < block_.n_vertices(2); ++k)
      for (int j = 0; j + 1 < block_.n_vertices(1); ++j)
        for (int i = 0; i + 1 < block_.n_vertices(0); ++i) add_element(i, j, k, x, y);
    gather_.apply(y, 1, Sum{});  // add the contributions of other blocks
    for (std::size_t v = 0; v < y.size(); ++v) y[v] *= is_inside_[v];
  }

  /// Return the dot product, in which each vertex counts once. Collective.
  [[nodiscard]] double dot(const Vector& a, const Vector& b) const {
    double sum = 0.0;
    for (std::size_t v = 0; v < a.size(); ++v) sum += share_[v] * a[v] * b[v];
    return barrio::mpi::sum(context_, sum);
  }

  /// Solve by conjugate gradients. Collective. @return number of iterations
  int solve(Vector& x) {
    x.assign(block_.size(), 0.0);
    Vector residual = right_side_;
    Vector direction = residual;
    Vector image;
    double rr = dot(residual, residual);
    const double wanted = 1e-20 * rr;
    int n_iterations = 0;
    for (; rr > wanted; ++n_iterations) {
      multiply(direction, image);
      const double step = rr / dot(direction, image);
      for (std::size_t v = 0; v < x.size(); ++v) {
        x[v] += step * direction[v];
        residual[v] -= step * image[v];
      }
      const double before = std::exchange(rr, dot(residual, residual));
      for (std::size_t v = 0; v < x.size(); ++v) direction[v] = residual[v] + rr / before * direction[v];
    }
    return n_iterations;
  }

  [[nodiscard]] double largest_error(const Vector& x) const {
    double error = 0.0;
    for (std::size_t v = 0; v < x.size(); ++v) error = std::max(error, std::abs(x[v] - exact_[v]));
    return barrio::mpi::max(context_, error);
  }

 private:
  [[nodiscard]] std::vector<GlobalId> ids() const {
    std::vector<GlobalId> ids;
    const std::int64_t n = block_.n + 1;
    block_.for_each_vertex([&](const Index& v) { ids.push_back(GlobalId{(v[2] * n + v[1]) * n + v[0]}); });
    return ids;
  }

  void add_element(int i, int j, int k, const Vector& x, Vector& y) const {
    std::array<std::size_t, 8> corners{};
    for (int c = 0; c < 8; ++c) corners[c] = block_.place(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = 0; b < 8; ++b) y[corners[a]] += stiffness_[a][b] * x[corners[b]];
  }

  barrio::Context& context_;
  Block block_;
  double h_;
  std::array<std::array<double, 8>, 8> stiffness_;
  GatherScatter gather_;
  Vector share_;  // 1 / number of blocks with the vertex
  Vector right_side_;
  Vector exact_;
  Vector is_inside_;  // 1, or 0 on the faces of the cube
};

void run(barrio::Context& context, int argc, char** argv) {
  const int n = argc == 2 ? std::atoi(argv[1]) : 0;
  if (n < 2 || n > 256)
    throw barrio::AgreedError(barrio::ErrorCode::usage,
                              {"assembly", "needs 2 to 256 elements along an axis", "assembly 16"});
  Problem problem(context, n);
  Vector u;
  const int n_iterations = problem.solve(u);
  const double error = problem.largest_error(u);
  if (context.is_root()) std::printf("%d^3 elements, %d iterations, largest error %.6f\n", n, n_iterations, error);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) { run(context, argc, argv); });
}
