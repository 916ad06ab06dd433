#include "conduction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace heat {

using barrio::Dim;
using barrio::index;
using barrio::LocalId;

namespace {

using Vector = std::array<double, 3>;

Vector minus(const double* a, const double* b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Contribution of a tet to a row.
struct Term {
  barrio::GlobalId column_id;
  barrio::GlobalId cell_id;
  LocalId column;
  double value;
};

}  // namespace

Conduction::Conduction(const barrio::Mesh& mesh) : is_fixed_(mesh.n_owned(Dim::vertex), 0) {
  const auto& vertices = mesh.vertices();
  const auto& cells = mesh.cells();
  const std::size_t n_rows = vertices.n_owned;

  // Cells around each owned vertex.
  std::vector<std::size_t> first(n_rows + 1, 0);
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const LocalId v : cells.nodes_of(c))
      if (index(v) < n_rows) first[index(v) + 1] += 1;
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::size_t> around(first.back());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const LocalId v : cells.nodes_of(c))
      if (index(v) < n_rows) around[next[index(v)]++] = c;

  offsets_.push_back(0);
  std::vector<Term> terms;
  for (std::size_t row = 0; row < n_rows; ++row) {
    terms.clear();
    std::sort(around.begin() + static_cast<std::ptrdiff_t>(first[row]),
              around.begin() + static_cast<std::ptrdiff_t>(first[row + 1]),
              [&](std::size_t a, std::size_t b) { return cells.global_ids[a] < cells.global_ids[b]; });
    double mass = 0.0;
    for (std::size_t k = first[row]; k < first[row + 1]; ++k) {
      const std::size_t c = around[k];
      const auto nodes = cells.nodes_of(c);
      std::array<const double*, 4> x{};
      for (std::size_t n = 0; n < 4; ++n) x[n] = &vertices.coordinates[3 * index(nodes[n])];
      const Vector a = minus(x[1], x[0]);
      const Vector b = minus(x[2], x[0]);
      const Vector d = minus(x[3], x[0]);
      const double six_volumes = dot(a, cross(b, d));
      // Gradients of the four shape functions, times six volumes.
      std::array<Vector, 4> gradient{Vector{}, cross(b, d), cross(d, a), cross(a, b)};
      for (std::size_t i = 0; i < 3; ++i) gradient[0][i] = -(gradient[1][i] + gradient[2][i] + gradient[3][i]);
      const std::size_t me = std::find(nodes.begin(), nodes.end(), barrio::local_id(row)) - nodes.begin();
      for (std::size_t n = 0; n < 4; ++n)
        terms.push_back({vertices.global_ids[index(nodes[n])], cells.global_ids[c], nodes[n],
                         dot(gradient[me], gradient[n]) / (6.0 * six_volumes)});
      mass += six_volumes / 24.0;
    }
    std::sort(terms.begin(), terms.end(), [](const Term& p, const Term& q) {
      return p.column_id != q.column_id ? p.column_id < q.column_id : p.cell_id < q.cell_id;
    });
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (t == 0 || terms[t].column_id != terms[t - 1].column_id) {
        columns_.push_back(terms[t].column);
        entries_.push_back(0.0);
      }
      entries_.back() += terms[t].value;
    }
    offsets_.push_back(columns_.size());
    mass_.push_back(mass);
  }
}

void Conduction::compute_rate(barrio::mesh::LocalRange rows, const double* temperature, double* rate) const {
  for (std::size_t row = index(rows.first); row < index(rows.last); ++row) {
    double flux = 0.0;
    for (auto e = static_cast<std::size_t>(offsets_[row]); e < static_cast<std::size_t>(offsets_[row + 1]); ++e)
      flux += entries_[e] * temperature[index(columns_[e])];
    rate[row] = is_fixed_[row] != 0 ? 0.0 : -flux / mass_[row];
  }
}

double Conduction::local_spectral_bound() const {
  double bound = 0.0;
  for (std::size_t row = 0; row < mass_.size(); ++row) {
    double sum = 0.0;
    for (auto e = static_cast<std::size_t>(offsets_[row]); e < static_cast<std::size_t>(offsets_[row + 1]); ++e)
      sum += std::abs(entries_[e]);
    bound = std::max(bound, sum / mass_[row]);
  }
  return bound;
}

}  // namespace heat
