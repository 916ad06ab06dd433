#include "barrio/adapt/size_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/sizes/check.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/adjacency.hpp"
#include "barrio/mesh/reduce_field.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt {
namespace {

using mesh::Dim;

detail::Point place(const mesh::Mesh& mesh, LocalId v) {
  const double* x = &mesh.vertices().coordinates[3 * index(v)];
  return {x[0], x[1], x[2]};
}

/// Values at vertices; all sharers and copies agree on the minimum over the sharers.
class SharedMinimum {
 public:
  explicit SharedMinimum(const mesh::Mesh& mesh)
      : mesh_(mesh),
        data_{"", Dim::vertex, 1, std::vector<double>(mesh.n_local(Dim::vertex), HUGE_VAL)},
        field_(data_),
        halo_(mesh.plan(field_)) {}

  [[nodiscard]] std::span<double> values() const noexcept { return field_.values(); }
  void update_copies() { halo_.exchange(); }
  /// Give all sharers and copies the minimum over the sharers. Collective.
  void agree() { mesh::reduce_over_sharers(mesh_, field_, halo_, exchange::Reduction::min); }

 private:
  const mesh::Mesh& mesh_;
  mesh::FieldData data_;
  mesh::Field<double> field_;
  exchange::HaloExchange<double> halo_;
};

/// Limit of growth: lowers the sizes of vertices to what their neighbours allow, from the smallest on.
class Growth {
 public:
  Growth(const mesh::Mesh& mesh, std::span<double> sizes, double growth)
      : mesh_(mesh), cells_(mesh::around_vertices(mesh, mesh.cell_dim())), sizes_(sizes), growth_(growth) {}

  void add(std::size_t v) { open_.emplace(sizes_[v], local_id(v)); }
  /// Local. Cost: O(n log n).
  void run() {
    while (!open_.empty()) {
      const auto [size, v] = open_.top();
      open_.pop();
      if (size > sizes_[index(v)]) continue;  // it was lowered since
      for (const LocalId c : cells_[v])
        for (const LocalId w : mesh_.cells().nodes_of(index(c))) lower(w, size + growth_ * distance(v, w));
    }
  }

 private:
  void lower(LocalId v, double size) {
    if (size >= sizes_[index(v)]) return;
    sizes_[index(v)] = size;
    open_.emplace(size, v);
  }
  [[nodiscard]] double distance(LocalId a, LocalId b) const {
    using detail::operator-;
    const detail::Point d = place(mesh_, b) - place(mesh_, a);
    return std::sqrt(detail::dot(d, d));
  }

  using Open = std::pair<double, LocalId>;
  const mesh::Mesh& mesh_;
  mesh::Adjacency cells_;
  std::span<double> sizes_;
  double growth_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

double volume_of(const mesh::Mesh& mesh, std::size_t cell) {
  const auto nodes = mesh.cells().nodes_of(cell);
  return std::abs(detail::volume6(place(mesh, nodes[0]), place(mesh, nodes[1]), place(mesh, nodes[2]),
                                  place(mesh, nodes[3]))) /
         6;
}

/// Return the present size of a cell: the edge of the regular tetrahedron of its volume, or its longest edge if it is
/// of another type.
double size_now(const mesh::Mesh& mesh, std::size_t cell) {
  const mesh::CellType type = mesh.cells().type(cell);
  if (type == mesh::CellType::tet) return std::cbrt(6 * std::sqrt(2.0) * volume_of(mesh, cell));
  double longest = 0.0;
  mesh::for_each_side(Dim::edge, type, mesh.cells().nodes_of(cell), [&](std::span<const LocalId> ends) {
    const detail::Point a = place(mesh, ends[0]);
    const detail::Point b = place(mesh, ends[1]);
    longest = std::max(longest, std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]));
  });
  return longest;
}

}  // namespace

void detail::check(const SizeLimits& limits) {
  const std::string subject =
      fmt::format("limits of sizes from {} to {}, growth {}", limits.min_size, limits.max_size, limits.growth);
  if (!(limits.min_size >= 0) || !(limits.max_size > limits.min_size))
    refuse(ErrorCode::usage, subject, "must have a min_size of at least 0 and below max_size");
  if (!(limits.growth > 0)) refuse(ErrorCode::usage, subject, "must have a growth above 0");
}

std::vector<double> sizes_from_errors(const mesh::Mesh& mesh, std::span<const double> errors,
                                      const ErrorTarget& target) {
  SharedMinimum sizes(mesh);
  mpi::agree_after(mesh.context(), [&] {
    if (!(target.error > 0) || !(target.order > 0) || !(target.max_change >= 1))
      refuse(ErrorCode::usage,
             fmt::format("error {} of order {}, change by {} at most", target.error, target.order, target.max_change),
             "must have an error and an order above 0, and a change of at least 1");
    const std::size_t n = mesh.n_owned(mesh.cell_dim());
    if (errors.size() != n)
      refuse(ErrorCode::usage, fmt::format("{} errors", errors.size()),
             fmt::format("must be one for each of {} cells", n));
    for (std::size_t c = 0; c < n; ++c) {
      const auto nodes = mesh.cells().nodes_of(c);
      if (!(errors[c] >= 0) || !std::isfinite(errors[c]))
        refuse(ErrorCode::bad_input, fmt::format("error {} of cell {}", errors[c], value(mesh.cells().id(c))),
               "must be at least 0 and finite");
      const bool may_change = mesh.cells().type(c) == mesh::CellType::tet;
      const double factor = may_change ? std::pow(target.error / errors[c], 1 / target.order) : 1.0;
      const double size = size_now(mesh, c) * std::clamp(factor, 1 / target.max_change, target.max_change);
      for (const LocalId v : nodes) sizes.values()[index(v)] = std::min(sizes.values()[index(v)], size);
    }
  });
  sizes.agree();
  return {sizes.values().begin(), sizes.values().end()};
}

void limit_sizes(const mesh::Mesh& mesh, std::span<double> sizes, const SizeLimits& limits) {
  mpi::Context& context = mesh.context();
  SharedMinimum lowest(mesh);
  mpi::agree_after(context, [&] {
    detail::check(limits);
    if (sizes.size() != mesh.n_local(Dim::vertex))
      refuse(ErrorCode::usage, fmt::format("{} sizes", sizes.size()),
             fmt::format("must be one for each of {} local vertices", mesh.n_local(Dim::vertex)));
    std::ranges::transform(sizes, lowest.values().begin(),
                           [&](double size) { return std::clamp(size, limits.min_size, limits.max_size); });
  });
  lowest.update_copies();
  if (std::isfinite(limits.growth)) {
    Growth growth(mesh, lowest.values(), limits.growth);
    for (std::size_t v = 0; v < sizes.size(); ++v) growth.add(v);
    std::vector<double> before;
    std::int64_t n_lowered = 1;
    while (n_lowered > 0) {
      growth.run();
      before.assign(lowest.values().begin(), lowest.values().end());
      lowest.agree();
      n_lowered = 0;
      for (std::size_t v = 0; v < sizes.size(); ++v) {
        if (lowest.values()[v] >= before[v]) continue;
        growth.add(v);
        n_lowered += 1;
      }
      n_lowered = mpi::sum(context, n_lowered);
    }
  }
  std::ranges::copy(lowest.values(), sizes.begin());
}

std::vector<double> real_values(const mesh::Mesh& mesh, const std::string& name, Dim dim) {
  const std::size_t n = mesh.n_owned(dim);
  std::vector<double> values(n);
  const std::string where = dim == Dim::vertex ? "vertices" : "cells";
  mpi::agree_after(mesh.context(), [&] {
    std::vector<std::string> known;
    for (const auto& field : mesh.fields()) {
      if (field->dim == dim) known.push_back(field->name);
      if (field->name != name || field->dim != dim) continue;
      const std::string subject = fmt::format("field '{}'", name);
      if (field->n_components != 1)
        refuse(ErrorCode::usage, subject, "has more than one number for each of the " + where);
      std::visit(
          [&]<class T>(const std::vector<T>& from) {
            if constexpr (std::is_floating_point_v<T>)
              std::copy_n(from.begin(), n, values.begin());
            else
              refuse(ErrorCode::usage, subject, "has integers, but must have reals");
          },
          field->values);
      return;
    }
    for (const mesh::MeshTag& one : mesh.tags()) known.push_back(one.info.name);
    const auto tag = std::ranges::find(mesh.tags(), name, [](const mesh::MeshTag& one) { return one.info.name; });
    const std::string subject = fmt::format("'{}'", name);
    if (tag == mesh.tags().end())
      refuse(ErrorCode::usage, subject,
             fmt::format("is neither a field nor a tag on the {} of the mesh.{}", where, did_you_mean(name, known)));
    if (tag->info.type != mesh::TagType::float64 || tag->info.n_components != 1 || tag->info.length_varies)
      refuse(ErrorCode::usage, subject,
             fmt::format("is a tag of {} {}, but must be of one real number",
                         tag->info.length_varies ? "any number of" : std::to_string(tag->info.n_components),
                         mesh::name(tag->info.type)));
    for (std::size_t i = 0; i < n; ++i) {
      const auto bytes = tag->value(dim, local_id(i));
      if (bytes.empty()) refuse(ErrorCode::usage, subject, fmt::format("has no value on some of the {}", where));
      std::memcpy(&values[i], bytes.data(), sizeof(double));
    }
  });
  return values;
}

}  // namespace barrio::adapt
