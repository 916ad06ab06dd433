#include "barrio/amr/kernel/euler_kernels.hpp"

#include "barrio/amr/kernel/lanes.hpp"

// Finite volumes of second order: density, velocity and pressure at cell faces by a limited parabola (Koren 1993; half
// the error of van Leer's slopes on waves and vortices, for 6 % more time), the HLLC solver (Toro, Spruce, Speares
// 1994) with the wave speeds of Einfeldt 1988, one of the two stages of Heun's method.
//
// One pass over a box, plane by plane: primitive variables two planes ahead; for each row the fluxes through its upper
// faces, while those through the lower ones are kept; and the row's new state. The kept data stays in the cache.
//
// Mirrored states give mirrored fluxes to the last bit, and a state that is constant along two axes gives the result of
// one axis alone: every sum is written so that exchanging left and right exchanges its terms.

namespace barrio::amr::detail::BARRIO_KERNEL_SET {
namespace {

/// State at one side of faces; velocity across the face and along it.
template <int D>
struct Side {
  Lanes density;
  Lanes normal;
  Lanes along[D - 1];
  Lanes pressure;
  Lanes mass_energy;    // per mass
  Lanes speed_squared;  // of sound

  [[gnu::always_inline]] void finish(const Lanes& inverse_density, double gamma, double over_gamma) {
    Lanes square = normal * normal;
    for (int t = 0; t < D - 1; ++t) square += along[t] * along[t];
    const Lanes heat = pressure * inverse_density;
    mass_energy = heat * over_gamma + 0.5 * square;
    speed_squared = gamma * heat;
  }
};

/// Finish both sides. One division gives both reciprocal densities: divisions and roots limit the kernel.
template <int D>
[[gnu::always_inline]] inline void finish(Side<D>& left, Side<D>& right, double gamma) {
  const Lanes inverse = 1.0 / (left.density * right.density);
  const double over_gamma = 1.0 / (gamma - 1.0);
  left.finish(right.density * inverse, gamma, over_gamma);
  right.finish(left.density * inverse, gamma, over_gamma);
}

template <int D>
struct Flux {
  Lanes density;
  Lanes normal;
  Lanes along[D - 1];
  Lanes energy;
  Lanes::mask_type comes_from_left;
};

/// Speeds of the outer waves (Einfeldt 1988).
struct Outer {
  Lanes lowest;
  Lanes highest;
};

template <int D>
[[gnu::always_inline]] inline Outer outer_waves(const Side<D>& left, const Side<D>& right) {
  // Roe's weights, the roots of both densities, each times the sum of both: one root instead of two.
  const Lanes root = sqrt(left.density * right.density);
  const Lanes of_left = left.density + root;
  const Lanes of_right = right.density + root;
  const Lanes inverse = 1.0 / (of_left + of_right);
  const Lanes mean = (of_left * left.normal + of_right * right.normal) * inverse;
  const Lanes jump = right.normal - left.normal;
  const Lanes spread = sqrt((of_left * left.speed_squared + of_right * right.speed_squared) * inverse +
                            0.5 * (of_left * inverse) * (of_right * inverse) * (jump * jump));
  return {min(left.normal - sqrt(left.speed_squared), mean - spread),
          max(right.normal + sqrt(right.speed_squared), mean + spread)};
}

template <int D>
[[gnu::always_inline]] inline Flux<D> hllc(const Side<D>& left, const Side<D>& right) {
  const auto [lowest, highest] = outer_waves(left, right);
  const Lanes mass_left = left.density * (lowest - left.normal);
  const Lanes mass_right = right.density * (highest - right.normal);
  const Lanes contact = ((right.pressure - left.pressure) + (mass_left * left.normal - mass_right * right.normal)) /
                        (mass_left - mass_right);
  const Lanes contact_pressure = 0.5 * ((left.pressure + mass_left * (contact - left.normal)) +
                                        (right.pressure + mass_right * (contact - right.normal)));
  const Lanes::mask_type is_left = contact >= 0.0;
  const Lanes density = select(is_left, left.density, right.density);
  const Lanes normal = select(is_left, left.normal, right.normal);
  const Lanes pressure = select(is_left, left.pressure, right.pressure);
  const Lanes mass_energy = select(is_left, left.mass_energy, right.mass_energy);
  const Lanes mass = select(is_left, mass_left, mass_right);
  // Between the outer waves take the star state; where all waves go one way, the state of the side they come from.
  const Lanes::mask_type is_between = select(is_left, -lowest, highest) > 0.0;
  const Lanes width = select(is_left, lowest, highest) - contact;
  const Lanes inverse_both = 1.0 / (mass * width);
  const Lanes star_density = select(is_between, mass * (mass * inverse_both), density);
  const Lanes speed = select(is_between, contact, normal);
  const Lanes star_pressure = select(is_between, contact_pressure, pressure);
  const Lanes gain = (contact - normal) * (contact + pressure * (width * inverse_both));
  const Lanes star_energy = star_density * select(is_between, mass_energy + gain, mass_energy);
  Flux<D> flux;
  flux.density = star_density * speed;
  flux.normal = flux.density * speed + star_pressure;
  for (int t = 0; t < D - 1; ++t) flux.along[t] = flux.density * select(is_left, left.along[t], right.along[t]);
  flux.energy = (star_energy + star_pressure) * speed;
  flux.comes_from_left = is_left;
  return flux;
}

/// Flux without a contact wave (Harten, Lax, van Leer 1983, with the speeds of Einfeldt): contacts are smeared, and
/// shocks along an axis stay straight.
template <int D>
[[gnu::always_inline]] inline Flux<D> hlle(const Side<D>& left, const Side<D>& right) {
  const Outer outer = outer_waves(left, right);
  const Lanes highest = max(outer.highest, Lanes(0.0));
  const Lanes lowest = min(outer.lowest, Lanes(0.0));
  const Lanes inverse = 1.0 / (highest - lowest);
  const Lanes both = highest * lowest;
  const auto mean = [&](const Lanes& flux_left, const Lanes& flux_right, const Lanes& jump) {
    return ((highest * flux_left - lowest * flux_right) + both * jump) * inverse;
  };
  const Lanes mass_left = left.density * left.normal;
  const Lanes mass_right = right.density * right.normal;
  const Lanes energy_left = left.density * left.mass_energy;
  const Lanes energy_right = right.density * right.mass_energy;
  Flux<D> flux;
  flux.density = mean(mass_left, mass_right, right.density - left.density);
  flux.normal =
      mean(mass_left * left.normal + left.pressure, mass_right * right.normal + right.pressure, mass_right - mass_left);
  for (int t = 0; t < D - 1; ++t)
    flux.along[t] = mean(mass_left * left.along[t], mass_right * right.along[t],
                         right.density * right.along[t] - left.density * left.along[t]);
  flux.energy = mean((energy_left + left.pressure) * left.normal, (energy_right + right.pressure) * right.normal,
                     energy_right - energy_left);
  flux.comes_from_left = flux.density >= 0.0;
  return flux;
}

/// Compute density, velocities, pressure and mass fractions of species of a piece of a row.
template <int D>
void make_primitive_row(const EulerStage& stage, const double* u, std::ptrdiff_t from, double* w, std::ptrdiff_t to,
                        std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    const Lanes density = load(u + i);
    const Lanes inverse = 1.0 / density;
    store(density, w + i);
    Lanes kinetic = 0.0;
    for (int a = 0; a < D; ++a) {
      const Lanes momentum = load(u + (1 + a) * from + i);
      const Lanes velocity = momentum * inverse;
      kinetic += momentum * velocity;
      store(velocity, w + (1 + a) * to + i);
    }
    const Lanes energy = load(u + (1 + D) * from + i);
    store((stage.gamma - 1.0) * (energy - 0.5 * kinetic), w + (1 + D) * to + i);
    for (std::ptrdiff_t s = 0; s < stage.n_species; ++s)
      store(load(u + (2 + D + s) * from + i) * inverse, w + (2 + D + s) * to + i);
  }
}

/// Planes of primitive variables. Only those near the plane that is advanced are kept: they stay in the cache.
template <int D>
class Planes {
 public:
  explicit Planes(const EulerStage& stage) : stage_(stage) {}

  /// Return the density of the first cell of a row.
  [[nodiscard]] const double* row(std::ptrdiff_t j, std::ptrdiff_t k) const { return place(j, k); }

  /// Compute plane k, in place of plane k - 3. Cells beyond edges and corners of the box are not used.
  void make(std::ptrdiff_t k) const {
    constexpr std::ptrdiff_t depth = 2;
    const bool is_beyond_k = k < 0 || k >= stage_.n[2];
    const std::ptrdiff_t n = stage_.n[0];
    const std::ptrdiff_t depth_j = is_beyond_k ? 0 : depth;
    const std::ptrdiff_t to = stage_.primitive.variable;
    for (std::ptrdiff_t j = -depth_j; j < stage_.n[1] + depth_j; ++j) {
      const double* const ghosts = stage_.ghosts.first + k * stage_.ghosts.plane + j * stage_.ghosts.row;
      double* const w = place(j, k);
      if (is_beyond_k || j < 0 || j >= stage_.n[1]) {
        make_primitive_row<D>(stage_, ghosts, stage_.ghosts.variable, w, to, n);
        continue;
      }
      // In this order: a vector that reaches beyond its piece of the row writes only what is computed after it.
      make_primitive_row<D>(stage_, ghosts - depth, stage_.ghosts.variable, w - depth, to, depth);
      make_primitive_row<D>(stage_, stage_.cells.first + k * stage_.cells.plane + j * stage_.cells.row,
                            stage_.cells.variable, w, to, n);
      make_primitive_row<D>(stage_, ghosts + n, stage_.ghosts.variable, w + n, to, depth);
    }
  }

 private:
  [[nodiscard]] double* place(std::ptrdiff_t j, std::ptrdiff_t k) const {
    return stage_.primitive.first + (D == 3 ? (k + 3) % 3 * stage_.primitive.plane : 0) + j * stage_.primitive.row;
  }
  const EulerStage& stage_;
};

/// Reconstruct all variables at the lower and upper faces of a row of cells along an axis, into rows `room` numbers
/// apart. @param below, here, above  primitive density of the first cell and of its neighbours along the axis
template <bool Flattens>
void reconstruct_row(const EulerStage& stage, int axis, std::ptrdiff_t n_variables, const double* below,
                     const double* here, const double* above, std::ptrdiff_t n, double* low, double* high,
                     std::ptrdiff_t room) {
  const std::ptrdiff_t normal = (1 + axis) * stage.primitive.variable;
  const std::ptrdiff_t pressure = (n_variables - stage.n_species - 1) * stage.primitive.variable;
  for (std::ptrdiff_t v = 0; v < n_variables; ++v) {
    const std::ptrdiff_t from = v * stage.primitive.variable;
    for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
      const Lanes value = load(here + from + i);
      const Lanes before = value - load(below + from + i);
      const Lanes after = load(above + from + i) - value;
      // Largest difference: values stay between those of the two cells, and an extremum is flat.
      Lanes limit = select(before * after > 0.0, min(abs(before), abs(after)), Lanes(0.0));
      if constexpr (Flattens) {
        const Lanes pressure_below = load(below + pressure + i);
        const Lanes pressure_above = load(above + pressure + i);
        const Lanes::mask_type is_shock =
            abs(pressure_above - pressure_below) > 2.0 * min(pressure_below, pressure_above) &&
            load(below + normal + i) > load(above + normal + i);
        limit = select(is_shock, Lanes(0.0), limit);
      }
      constexpr double sixth = 1.0 / 6.0;
      const Lanes of_before = sixth * before;
      const Lanes of_after = sixth * after;
      const Lanes both = of_before + of_after;
      store(value - min(max(both + of_before, -limit), limit), low + v * room + i);
      store(value + min(max(both + of_after, -limit), limit), high + v * room + i);
    }
  }
}

/// Compute sinh and cosh of numbers between -2.5 and 2.5, to nine digits.
[[gnu::always_inline]] inline void hyperbolic(const Lanes& x, Lanes& sinh, Lanes& cosh) {
  const Lanes square = x * x;
  Lanes odd = 1.0;
  Lanes even = 1.0;
  for (double n = 18.0; n > 0.0; n -= 2.0) {
    odd = 1.0 + square * (1.0 / ((n + 1.0) * n)) * odd;
    even = 1.0 + square * (1.0 / (n * (n - 1.0))) * even;
  }
  sinh = x * odd;
  cosh = even;
}

/// Sharpen contacts: where one passes through a cell, replace the values at its faces by those of a hyperbolic tangent
/// between the neighbours' values, a step over less than a cell (THINC: Xiao, Honma, Kono 2005). For density, species
/// and the velocities along the contact. A contact is where the density changes by more than a fifth, and the pressure
/// by little (Colella, Woodward 1984, equation 3.2).
void sharpen_row(const EulerStage& stage, int axis, std::ptrdiff_t n_variables, const double* below, const double* here,
                 const double* above, std::ptrdiff_t n, double* low, double* high, std::ptrdiff_t room) {
  constexpr double steepness = 2.5;
  constexpr double over_tanh = 1.0135673098126083;  // of the steepness
  constexpr double over_sinh = 0.16528366985509557;
  const std::ptrdiff_t first_species = n_variables - stage.n_species;
  const std::ptrdiff_t pressure = (first_species - 1) * stage.primitive.variable;
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    const Lanes density_below = load(below + i);
    const Lanes density_above = load(above + i);
    const Lanes lower = min(density_below, density_above);
    const Lanes jump = abs(density_above - density_below);
    Lanes::mask_type is_contact = jump > 0.2 * lower;
    if (none_of(is_contact)) continue;
    const Lanes density = load(here + i);
    const Lanes pressure_below = load(below + pressure + i);
    const Lanes pressure_above = load(above + pressure + i);
    is_contact =
        is_contact && (density - density_below) * (density_above - density) > 0.0 &&
        abs(pressure_above - pressure_below) * lower < 0.1 * stage.gamma * (jump * min(pressure_below, pressure_above));
    if (none_of(is_contact)) continue;
    for (std::ptrdiff_t v = 0; v < n_variables; ++v) {
      if (v == 1 + axis || v == first_species - 1) continue;
      const std::ptrdiff_t from = v * stage.primitive.variable + i;
      const std::ptrdiff_t to = v * room + i;
      const Lanes value = load(here + from);
      const Lanes before = value - load(below + from);
      const Lanes after = load(above + from) - value;
      const Lanes::mask_type is_step = is_contact && before * after > 0.0;
      const Lanes both = before + after;
      const Lanes half = 0.5 * both;
      const Lanes mean = value + 0.5 * (after - before);
      Lanes sinh;
      Lanes cosh;
      hyperbolic(steepness * ((before - after) / select(is_step, both, Lanes(1.0))), sinh, cosh);
      store(select(is_step, mean - half * (over_tanh - over_sinh * (cosh + sinh)), load(low + to)), low + to);
      store(select(is_step, mean + half * (over_tanh - over_sinh * (cosh - sinh)), load(high + to)), high + to);
    }
  }
}

void reconstruct(const EulerStage& stage, int axis, std::ptrdiff_t n_variables, const double* below, const double* here,
                 const double* above, std::ptrdiff_t n, double* low, double* high, std::ptrdiff_t room) {
  if (stage.flattens)
    reconstruct_row<true>(stage, axis, n_variables, below, here, above, n, low, high, room);
  else
    reconstruct_row<false>(stage, axis, n_variables, below, here, above, n, low, high, room);
  if (stage.sharpens) sharpen_row(stage, axis, n_variables, below, here, above, n, low, high, room);
}

/// Compute fluxes through a row of faces from the values on both sides, all in rows `room` numbers apart. A pass of its
/// own: the chain of operations of one vector is long, and the shorter it is, the more of them overlap.
template <int D, int Axis, bool IsHlle>
void flux_row_by(const EulerStage& stage, const double* left_of, const double* right_of, std::ptrdiff_t n, double* to,
                 std::ptrdiff_t room) {
  constexpr int others[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    Side<D> left;
    Side<D> right;
    left.density = load(left_of + i);
    right.density = load(right_of + i);
    left.normal = load(left_of + (1 + Axis) * room + i);
    right.normal = load(right_of + (1 + Axis) * room + i);
    for (int t = 0; t < D - 1; ++t) {
      left.along[t] = load(left_of + (1 + others[Axis][t]) * room + i);
      right.along[t] = load(right_of + (1 + others[Axis][t]) * room + i);
    }
    left.pressure = load(left_of + (1 + D) * room + i);
    right.pressure = load(right_of + (1 + D) * room + i);
    finish(left, right, stage.gamma);
    const Flux<D> flux = IsHlle ? hlle(left, right) : hllc(left, right);
    store(flux.density, to + i);
    store(flux.normal, to + (1 + Axis) * room + i);
    for (int t = 0; t < D - 1; ++t) store(flux.along[t], to + (1 + others[Axis][t]) * room + i);
    store(flux.energy, to + (1 + D) * room + i);
    for (std::ptrdiff_t s = 2 + D; s < 2 + D + stage.n_species; ++s)
      store(flux.density * select(flux.comes_from_left, load(left_of + s * room + i), load(right_of + s * room + i)),
            to + s * room + i);
  }
}

template <int D, int Axis>
void flux_row(const EulerStage& stage, const double* left_of, const double* right_of, std::ptrdiff_t n, double* to,
              std::ptrdiff_t room) {
  (stage.is_hlle ? flux_row_by<D, Axis, true> : flux_row_by<D, Axis, false>)(stage, left_of, right_of, n, to, room);
}

/// Copy a row of fluxes of all variables to a wanted plane.
void keep_row(const double* from, std::ptrdiff_t room, std::ptrdiff_t n_variables, std::ptrdiff_t n, double* to,
              std::ptrdiff_t variable) {
  for (std::ptrdiff_t v = 0; v < n_variables; ++v)
    for (std::ptrdiff_t i = 0; i < n; ++i) to[v * variable + i] = from[v * room + i];
}

void swap(double* (&rows)[2]) {
  double* const first = rows[0];
  rows[0] = rows[1];
  rows[1] = first;
}

/// Return the memory for the fluxes of the plane of faces below a cell, or null if they are not wanted.
double* plane_below(const EulerStage& stage, int axis, std::ptrdiff_t cell) {
  return cell % stage.plane_step[axis] == 0 ? stage.planes[axis][cell / stage.plane_step[axis]] : nullptr;
}

/// Fluxes of a row of cells: through its own faces, and through those below and above it along the other axes.
struct RowFluxes {
  const double* along;
  const double* across_j[2];
  const double* across_k[2];
};

/// Compute the new state of a row of cells.
template <int D>
void advance_row(const EulerStage& stage, std::ptrdiff_t n_variables, std::ptrdiff_t j, std::ptrdiff_t k,
                 const RowFluxes& fluxes) {
  const Lanes over_i = stage.time_over_size[0];
  const Lanes over_j = stage.time_over_size[1];
  const Lanes over_k = stage.time_over_size[2];
  const Lanes of_old = stage.old_weight;
  const Lanes of_new = 1.0 - stage.old_weight;
  const bool reads_old = stage.old_weight != 0.0;
  const std::ptrdiff_t n = stage.n[0];
  for (std::ptrdiff_t v = 0; v < n_variables; ++v) {
    const std::ptrdiff_t at = v * stage.flux_row;
    const double* const u = stage.cells.first + v * stage.cells.variable + k * stage.cells.plane + j * stage.cells.row;
    const double* const old = stage.old.first + v * stage.old.variable + k * stage.old.plane + j * stage.old.row;
    double* const out = stage.out.first + v * stage.out.variable + k * stage.out.plane + j * stage.out.row;
    const auto advance = [&](std::ptrdiff_t i) {
      Lanes change = over_i * (load(fluxes.along + at + i) - load(fluxes.along + at + i + 1)) +
                     over_j * (load(fluxes.across_j[0] + at + i) - load(fluxes.across_j[1] + at + i));
      if constexpr (D == 3) change += over_k * (load(fluxes.across_k[0] + at + i) - load(fluxes.across_k[1] + at + i));
      const Lanes next = load(u + i) + change;
      return reads_old ? of_old * load(old + i) + of_new * next : next;
    };
    std::ptrdiff_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) store(advance(i), out + i);
    // Rows of the state are not padded: the next row follows.
    if (i < n) {
      double rest[n_lanes];
      store(advance(i), rest);
      for (std::ptrdiff_t lane = 0; i + lane < n; ++lane) out[i + lane] = rest[lane];
    }
  }
}

template <int D>
void run_stage(const EulerStage& stage) {
  const Planes<D> planes(stage);
  const std::ptrdiff_t n_variables = 2 + D + stage.n_species;
  const std::ptrdiff_t* const n = stage.n;
  const std::ptrdiff_t room = stage.flux_row;
  const std::ptrdiff_t plane_room = n_variables * room;  // of a row of all variables
  // Rows: fluxes along the first axis; below and above along the second; below and above along the third, for all rows
  // of a plane. Then values at the lower faces of a row of cells, and at its upper faces, which are left values of the
  // next ones: along the second axis, and along the third for all rows of a plane.
  double* const across_i = stage.fluxes;
  double* across_j[2] = {across_i + plane_room, across_i + 2 * plane_room};
  double* across_k[2] = {across_i + 3 * plane_room, across_i + (3 + n[1]) * plane_room};
  double* const low = across_i + (3 + 2 * n[1]) * plane_room;
  double* const high = low + plane_room;
  double* left_j[2] = {high + plane_room, high + 2 * plane_room};
  double* left_k[2] = {high + 3 * plane_room, high + (3 + n[1]) * plane_room};
  if constexpr (D == 3) {
    for (std::ptrdiff_t k = -2; k < 1; ++k) planes.make(k);
    for (std::ptrdiff_t j = 0; j < n[1]; ++j)
      reconstruct(stage, 2, n_variables, planes.row(j, -2), planes.row(j, -1), planes.row(j, 0), n[0], low,
                  left_k[0] + j * plane_room, room);
    planes.make(1);
    for (std::ptrdiff_t j = 0; j < n[1]; ++j) {
      const std::ptrdiff_t at = j * plane_room;
      reconstruct(stage, 2, n_variables, planes.row(j, -1), planes.row(j, 0), planes.row(j, 1), n[0], low,
                  left_k[1] + at, room);
      flux_row<D, 2>(stage, left_k[0] + at, low, n[0], across_k[0] + at, room);
    }
    swap(left_k);
  } else {
    planes.make(0);
  }
  const auto keep_across_k = [&](std::ptrdiff_t k, const double* plane) {
    if (double* const to = plane_below(stage, 2, k); to != nullptr)
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        keep_row(plane + j * plane_room, room, n_variables, n[0], to + j * n[0], n[0] * n[1]);
  };
  if constexpr (D == 3) keep_across_k(0, across_k[0]);
  for (std::ptrdiff_t k = 0; k < n[2]; ++k) {
    if constexpr (D == 3) planes.make(k + 2);
    const auto across_rows = [&](std::ptrdiff_t j, double* to) {
      reconstruct(stage, 1, n_variables, planes.row(j - 1, k), planes.row(j, k), planes.row(j + 1, k), n[0], low, to,
                  room);
    };
    across_rows(-1, left_j[0]);
    across_rows(0, left_j[1]);
    flux_row<D, 1>(stage, left_j[0], low, n[0], across_j[0], room);
    swap(left_j);
    const auto keep_across_j = [&](std::ptrdiff_t j, const double* row) {
      if (double* const to = plane_below(stage, 1, j); to != nullptr)
        keep_row(row, room, n_variables, n[0], to + k * n[0], n[0] * n[2]);
    };
    keep_across_j(0, across_j[0]);
    for (std::ptrdiff_t j = 0; j < n[1]; ++j) {
      const double* const row = planes.row(j, k);
      reconstruct(stage, 0, n_variables, row - 2, row - 1, row, n[0] + 2, low, high, room);
      flux_row<D, 0>(stage, high, low + 1, n[0] + 1, across_i, room);
      across_rows(j + 1, left_j[1]);
      flux_row<D, 1>(stage, left_j[0], low, n[0], across_j[1], room);
      swap(left_j);
      const std::ptrdiff_t at = j * plane_room;
      if constexpr (D == 3) {
        reconstruct(stage, 2, n_variables, row, planes.row(j, k + 1), planes.row(j, k + 2), n[0], low, left_k[1] + at,
                    room);
        flux_row<D, 2>(stage, left_k[0] + at, low, n[0], across_k[1] + at, room);
      }
      advance_row<D>(stage, n_variables, j, k,
                     {across_i, {across_j[0], across_j[1]}, {across_k[0] + at, across_k[1] + at}});
      keep_across_j(j + 1, across_j[1]);
      for (std::ptrdiff_t i = 0; i <= n[0]; i += stage.plane_step[0])
        if (double* const to = plane_below(stage, 0, i); to != nullptr)
          for (std::ptrdiff_t v = 0; v < n_variables; ++v) to[v * n[1] * n[2] + k * n[1] + j] = across_i[v * room + i];
      swap(across_j);
    }
    if constexpr (D == 3) {
      keep_across_k(k + 1, across_k[1]);
      swap(across_k);
      swap(left_k);
    }
  }
}

template <int D>
double fastest(const EulerStage& stage) {
  Lanes highest = 0.0;
  double rest = 0.0;
  Lanes::mask_type is_sound(true);
  for (std::ptrdiff_t k = 0; k < stage.n[2]; ++k) {
    for (std::ptrdiff_t j = 0; j < stage.n[1]; ++j) {
      const double* const u = stage.cells.first + k * stage.cells.plane + j * stage.cells.row;
      for (std::ptrdiff_t i = 0; i < stage.n[0]; i += n_lanes) {
        const Lanes inverse = 1.0 / load(u + i);
        Lanes kinetic = 0.0;
        Lanes velocity[D];
        for (int a = 0; a < D; ++a) {
          const Lanes momentum = load(u + (1 + a) * stage.cells.variable + i);
          velocity[a] = momentum * inverse;
          kinetic += momentum * velocity[a];
        }
        const Lanes energy = load(u + (1 + D) * stage.cells.variable + i);
        const Lanes pressure = (stage.gamma - 1.0) * (energy - 0.5 * kinetic);
        const Lanes::mask_type is_here = load(u + i) > 0.0 && pressure > 0.0;
        const Lanes sound = sqrt(stage.gamma * pressure * inverse);
        Lanes rate = 0.0;
        for (int a = 0; a < D; ++a) rate += (abs(velocity[a]) + sound) * stage.time_over_size[a];
        if (i + n_lanes <= stage.n[0]) {
          is_sound = is_sound && is_here;
          highest = max(highest, rate);
        } else {
          // Ignore lanes behind the row.
          const Lanes of_sound = select(is_here, Lanes(1.0), Lanes(0.0));
          double sound_lanes[n_lanes];
          store(of_sound, sound_lanes);
          for (std::ptrdiff_t lane = 0; i + lane < stage.n[0]; ++lane)
            if (sound_lanes[lane] == 0.0) return -1.0;
          double lanes[n_lanes];
          store(rate, lanes);
          for (std::ptrdiff_t lane = 0; i + lane < stage.n[0]; ++lane)
            if (lanes[lane] > rest) rest = lanes[lane];
        }
      }
    }
  }
  if (!all_of(is_sound)) return -1.0;
  double lanes[n_lanes];
  store(highest, lanes);
  for (const double one : lanes)
    if (one > rest) rest = one;
  return rest;
}

}  // namespace

const EulerKernels euler{run_stage<2>, run_stage<3>, fastest<2>, fastest<3>};

}  // namespace barrio::amr::detail::BARRIO_KERNEL_SET
