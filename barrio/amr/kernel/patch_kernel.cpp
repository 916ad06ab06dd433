#include "barrio/amr/patch_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "barrio/amr/advance/tile.hpp"
#include "barrio/base/error.hpp"

namespace barrio::amr {
namespace detail {

template <std::size_t D>
class PatchWorker final : public Worker<D> {
 public:
  using Box = geometry::IndexBox<D>;

  explicit PatchWorker(const PatchKernel<D>& kernel) : kernel_(kernel) {}

  void advance(const Stage<D>& stage) override {
    const std::int64_t n_variables = std::ssize(kernel_.variables);
    change_.assign(stage.cells.size() * n_variables, 0.0);
    const CellView<D> change = view_of<D>(change_.data(), stage.cells);
    for (std::size_t axis = 0; axis < D; ++axis) {
      Box faces = stage.cells;
      faces.high[axis] += 1;
      fluxes_.resize(faces.size() * n_variables);
      const CellView<D> flux = view_of<D>(fluxes_.data(), faces);
      kernel_.fluxes(stage.u, faces, axis, stage.cell_size, flux);
      hand_out(stage, axis, flux);
      const double over_size = 1.0 / stage.cell_size[axis];
      for_each(stage.cells, [&](int v, const typename Box::Index& at) {
        typename Box::Index above = at;
        above[axis] += 1;
        change(v, at) += over_size * (flux(v, at) - flux(v, above));
      });
    }
    if (kernel_.sources) kernel_.sources(stage.u, stage.cells, stage.cell_size, change);
    for_each(stage.cells, [&](int v, const typename Box::Index& at) {
      const double now = stage.u(v, at) + stage.dt * change(v, at);
      stage.out(v, at) =
          stage.old_weight == 0.0 ? now : stage.old_weight * stage.old(v, at) + (1.0 - stage.old_weight) * now;
    });
  }
  double fastest(const CellView<D>& u, const Box& cells, const std::array<double, D>& cell_size) override {
    return kernel_.fastest(u, cells, cell_size);
  }

 private:
  template <class Visit>
  void for_each(const Box& cells, Visit visit) const {
    for (int v = 0; v < std::ssize(kernel_.variables); ++v)
      for (std::int64_t n = 0; n < cells.size(); ++n) visit(v, cells.at(n));
  }
  /// Copy the wanted planes of fluxes.
  void hand_out(const Stage<D>& stage, std::size_t axis, const CellView<D>& flux) const {
    for (std::ptrdiff_t m = 0; m < Stage<D>::max_planes; ++m) {
      double* const to = stage.planes[axis][m];
      if (to == nullptr) continue;
      Box plane = stage.cells;
      plane.low[axis] += m * stage.plane_step;
      plane.high[axis] = plane.low[axis] + 1;
      for_each(plane,
               [&](int v, const typename Box::Index& at) { to[v * plane.size() + plane.place(at)] = flux(v, at); });
    }
  }
  const PatchKernel<D>& kernel_;
  std::vector<double> change_;
  std::vector<double> fluxes_;
};

template <std::size_t D>
class PatchSystem final : public System<D> {
 public:
  explicit PatchSystem(PatchKernel<D> kernel) : kernel_(std::move(kernel)) {
    if (kernel_.variables.empty() || !kernel_.fluxes || !kernel_.fastest)
      refuse(ErrorCode::usage, "patch kernel", "must have variables, fluxes and the fastest signal");
    if (!kernel_.vector_axis.empty() && kernel_.vector_axis.size() != kernel_.variables.size())
      refuse(ErrorCode::usage, "patch kernel",
             fmt::format("has {} variables, but {} entries of vector_axis", kernel_.variables.size(),
                         kernel_.vector_axis.size()));
  }
  [[nodiscard]] std::string description() const override { return kernel_.description; }
  [[nodiscard]] std::vector<std::string> variables() const override { return kernel_.variables; }
  [[nodiscard]] std::string fault_of(std::span<const double> u) const override {
    return kernel_.fault_of ? kernel_.fault_of(u) : "";
  }
  [[nodiscard]] int n_ghosts() const noexcept override { return kernel_.n_ghosts; }
  [[nodiscard]] bool uses_corners() const noexcept override { return kernel_.uses_corners; }
  [[nodiscard]] double physical_part(std::span<const double> u, std::span<const double> differences) const override {
    if (!kernel_.fault_of) return 1.0;
    std::vector<double> at(u.size());
    for (unsigned corner = 0; corner < 1U << D; ++corner) {
      for (std::size_t v = 0; v < u.size(); ++v) {
        double change = 0.0;
        for (std::size_t k = 0; k < D; ++k)
          change += (corner >> k & 1U) != 0 ? differences[v * D + k] : -differences[v * D + k];
        at[v] = u[v] + change;
      }
      if (!kernel_.fault_of(at).empty()) return 0.0;
    }
    return 1.0;
  }
  [[nodiscard]] double reflected(int variable, std::size_t axis) const noexcept override {
    const bool is_turned = !kernel_.vector_axis.empty() && std::cmp_equal(kernel_.vector_axis[variable], axis);
    return is_turned ? -1.0 : 1.0;
  }
  [[nodiscard]] std::unique_ptr<Worker<D>> make_worker(int) const override {
    return std::make_unique<PatchWorker<D>>(kernel_);
  }

 private:
  PatchKernel<D> kernel_;
};

}  // namespace detail

template <std::size_t D>
std::shared_ptr<const System<D>> make_system(PatchKernel<D> kernel) {
  return std::make_shared<const detail::PatchSystem<D>>(std::move(kernel));
}

template std::shared_ptr<const System<2>> make_system<2>(PatchKernel<2>);
template std::shared_ptr<const System<3>> make_system<3>(PatchKernel<3>);

}  // namespace barrio::amr
