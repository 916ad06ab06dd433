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

/// Ratio of the pressures within two cells from which a cell may have to fall back to first order.
constexpr double steep_ratio = 10.0;

/// Least and largest pressure of a plane, by lanes.
struct Extremes {
  Lanes low = 1e300;
  Lanes high = 0.0;

  [[gnu::always_inline]] void add(const Lanes& pressure) {
    low = min(low, pressure);
    high = max(high, pressure);
  }
};

/// Compute density, velocities, pressure and mass fractions of species of a piece of a row.
/// @param[in,out] extremes  of the pressure, those of whole vectors
template <int D>
void make_primitive_row(const EulerStage& stage, const double* u, std::ptrdiff_t from, double* w, std::ptrdiff_t to,
                        std::ptrdiff_t n, Extremes& extremes) {
  Extremes here = extremes;
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
    const Lanes pressure = (stage.gamma - 1.0) * (energy - 0.5 * kinetic);
    store(pressure, w + (1 + D) * to + i);
    here.add(pressure);
    for (std::ptrdiff_t s = 0; s < stage.n_species; ++s)
      store(load(u + (2 + D + s) * from + i) * inverse, w + (2 + D + s) * to + i);
  }
  extremes = here;
}

/// Planes of primitive variables. Only those near the plane that is advanced are kept: they stay in the cache.
template <int D>
class Planes {
 public:
  explicit Planes(const EulerStage& stage) : stage_(stage) {}

  /// Return the density of the first cell of a row.
  [[nodiscard]] const double* row(std::ptrdiff_t j, std::ptrdiff_t k) const { return place(j, k); }

  /// Compute plane k, in place of plane k - 3. Cells beyond edges and corners of the box are used by a hybrid solver
  /// only.
  void make(std::ptrdiff_t k) {
    constexpr std::ptrdiff_t depth = 2;
    const std::ptrdiff_t pressure = (1 + D) * stage_.primitive.variable;
    Extremes extremes;
    Extremes none;  // of pieces that are shorter than a vector
    const bool is_beyond_k = k < 0 || k >= stage_.n[2];
    const std::ptrdiff_t n = stage_.n[0];
    const std::ptrdiff_t depth_j = is_beyond_k && !stage_.is_hybrid ? 0 : depth;
    const std::ptrdiff_t edge = stage_.is_hybrid ? depth : 0;
    const std::ptrdiff_t to = stage_.primitive.variable;
    for (std::ptrdiff_t j = -depth_j; j < stage_.n[1] + depth_j; ++j) {
      const double* const ghosts = stage_.ghosts.first + k * stage_.ghosts.plane + j * stage_.ghosts.row;
      double* const w = place(j, k);
      if (is_beyond_k || j < 0 || j >= stage_.n[1]) {
        make_primitive_row<D>(stage_, ghosts - edge, stage_.ghosts.variable, w - edge, to, n + 2 * edge, extremes);
        continue;
      }
      // In this order: a vector that reaches beyond its piece of the row writes only what is computed after it.
      make_primitive_row<D>(stage_, ghosts - depth, stage_.ghosts.variable, w - depth, to, depth, none);
      make_primitive_row<D>(stage_, stage_.cells.first + k * stage_.cells.plane + j * stage_.cells.row,
                            stage_.cells.variable, w, to, n, extremes);
      make_primitive_row<D>(stage_, ghosts + n, stage_.ghosts.variable, w + n, to, depth, none);
      extremes.add(load(w - depth + pressure));
      extremes.add(load(w + n + depth - n_lanes + pressure));
    }
    extremes_[D == 3 ? (k + 3) % 3 : 0] = extremes;
  }
  /// Tell whether there may be a strong shock anywhere in the planes that are kept.
  [[nodiscard]] bool may_have_shock() const {
    if (!stage_.falls_back) return false;
    double low = 1e300;
    double high = 0.0;
    for (const Extremes& plane : extremes_) {
      double lows[n_lanes];
      double highs[n_lanes];
      store(plane.low, lows);
      store(plane.high, highs);
      for (std::ptrdiff_t lane = 0; lane < n_lanes; ++lane) {
        if (lows[lane] < low) low = lows[lane];
        if (highs[lane] > high) high = highs[lane];
      }
    }
    return high > steep_ratio * low;
  }

 private:
  [[nodiscard]] double* place(std::ptrdiff_t j, std::ptrdiff_t k) const {
    return stage_.primitive.first + (D == 3 ? (k + 3) % 3 * stage_.primitive.plane : 0) + j * stage_.primitive.row;
  }
  const EulerStage& stage_;
  Extremes extremes_[D == 3 ? 3 : 1];
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

constexpr int others[3][2] = {{1, 2}, {0, 2}, {0, 1}};  // axes along the faces across each axis

/// Load the states at one side of faces. @param room  numbers between variables
template <int D, int Axis>
[[gnu::always_inline]] inline Side<D> load_side(const double* from, std::ptrdiff_t room, std::ptrdiff_t i) {
  Side<D> side;
  side.density = load(from + i);
  side.normal = load(from + (1 + Axis) * room + i);
  for (int t = 0; t < D - 1; ++t) side.along[t] = load(from + (1 + others[Axis][t]) * room + i);
  side.pressure = load(from + (1 + D) * room + i);
  return side;
}

/// Tell where a strong shock may be: ten times the pressure within two cells.
[[gnu::always_inline]] inline Lanes::mask_type is_steep(const double* pressure_below, const double* pressure_above) {
  const Lanes below = load(pressure_below);
  const Lanes above = load(pressure_above);
  return max(below, above) > steep_ratio * min(below, above);
}

/// Fall back to first order where the fluxes through the two faces of a cell across the axis would take most of its
/// internal energy in the part of the step that is the axis's own, beside neighbours that are of first order. A step is
/// the mean of such steps of all axes, so none of them may leave a negative one. Depends on the cell and its two
/// neighbours alone: blocks that share a face agree.
template <int D, int Axis>
void fall_back_row(const EulerStage& stage, const double* below, const double* here, const double* above,
                   std::ptrdiff_t n, double* low, double* high, std::ptrdiff_t room) {
  constexpr double kept = 0.1;  // of the least internal energy of the three cells
  const std::ptrdiff_t from = stage.primitive.variable;
  const std::ptrdiff_t pressure = (1 + D) * from;
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    const Lanes::mask_type is_here = is_steep(below + pressure + i, above + pressure + i);
    if (none_of(is_here)) continue;
    Side<D> of_below = load_side<D, Axis>(below, from, i);
    Side<D> of_low = load_side<D, Axis>(low, room, i);
    Side<D> of_high = load_side<D, Axis>(high, room, i);
    Side<D> of_above = load_side<D, Axis>(above, from, i);
    Side<D> cell = load_side<D, Axis>(here, from, i);
    Side<D> same = cell;
    finish(of_below, of_low, stage.gamma);
    finish(of_high, of_above, stage.gamma);
    finish(cell, same, stage.gamma);
    const Flux<D> in = stage.is_hlle ? hlle(of_below, of_low) : hllc(of_below, of_low);
    const Flux<D> out = stage.is_hlle ? hlle(of_high, of_above) : hllc(of_high, of_above);
    const Lanes sound = sqrt(cell.speed_squared);
    const Lanes own = abs(cell.normal) + sound;
    Lanes rates = stage.time_over_size[Axis] * own;
    for (int t = 0; t < D - 1; ++t) rates += stage.time_over_size[others[Axis][t]] * (abs(cell.along[t]) + sound);
    const Lanes step = rates / own;
    const Lanes density = cell.density + step * (in.density - out.density);
    const Lanes normal = cell.density * cell.normal + step * (in.normal - out.normal);
    Lanes squares = normal * normal;
    for (int t = 0; t < D - 1; ++t) {
      const Lanes along = cell.density * cell.along[t] + step * (in.along[t] - out.along[t]);
      squares += along * along;
    }
    const Lanes energy = cell.density * cell.mass_energy + step * (in.energy - out.energy);
    const Lanes least = min(cell.pressure, min(of_below.pressure, of_above.pressure));
    const Lanes left = (stage.gamma - 1.0) * (energy - 0.5 * squares / density);
    const Lanes::mask_type is_first_order = is_here && !(density > 0.0 && left > kept * least);
    if (none_of(is_first_order)) continue;
    for (std::ptrdiff_t v = 0; v < 2 + D + stage.n_species; ++v) {
      const Lanes value = load(here + v * from + i);
      store(select(is_first_order, value, load(low + v * room + i)), low + v * room + i);
      store(select(is_first_order, value, load(high + v * room + i)), high + v * room + i);
    }
    for (std::ptrdiff_t lane = 0; lane < n_lanes && i + lane < n; ++lane)
      *stage.n_fallbacks += is_first_order[lane] ? 1 : 0;
  }
}

/// Tell whether a strong shock may be anywhere in a row.
inline bool has_steep(const double* pressure_below, const double* pressure_above, std::ptrdiff_t n) {
  Lanes::mask_type is_anywhere(false);
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes)
    is_anywhere = is_anywhere || is_steep(pressure_below + i, pressure_above + i);
  return any_of(is_anywhere);
}

/// @param may_have_shock  as Planes::may_have_shock
template <int D, int Axis>
void reconstruct(const EulerStage& stage, bool may_have_shock, const double* below, const double* here,
                 const double* above, std::ptrdiff_t n, double* low, double* high, std::ptrdiff_t room) {
  const std::ptrdiff_t n_variables = 2 + D + stage.n_species;
  if (stage.flattens)
    reconstruct_row<true>(stage, Axis, n_variables, below, here, above, n, low, high, room);
  else
    reconstruct_row<false>(stage, Axis, n_variables, below, here, above, n, low, high, room);
  if (stage.sharpens) sharpen_row(stage, Axis, n_variables, below, here, above, n, low, high, room);
  const std::ptrdiff_t pressure = (1 + D) * stage.primitive.variable;
  if (may_have_shock && has_steep(below + pressure, above + pressure, n))
    fall_back_row<D, Axis>(stage, below, here, above, n, low, high, room);
}

/// Compute fluxes through a row of faces from the values on both sides, all in rows `room` numbers apart. A pass of its
/// own: the chain of operations of one vector is long, and the shorter it is, the more of them overlap.
template <int D, int Axis, bool IsHlle>
void flux_row_by(const EulerStage& stage, const double* left_of, const double* right_of, std::ptrdiff_t n, double* to,
                 std::ptrdiff_t room) {
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    Side<D> left = load_side<D, Axis>(left_of, room, i);
    Side<D> right = load_side<D, Axis>(right_of, room, i);
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

/// Note where a strong shock crosses a row of cells: three times the pressure within two cells, and gas that is
/// compressed. @param below, above  density of the first cells of the neighbouring rows @param to  1 where it does;
/// else it stays
inline void note_shocks(const EulerStage& stage, int axis, std::ptrdiff_t pressure, const double* below,
                        const double* above, std::ptrdiff_t n, double* to) {
  const std::ptrdiff_t normal = (1 + axis) * stage.primitive.variable;
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    const Lanes lower = load(below + pressure + i);
    const Lanes upper = load(above + pressure + i);
    const Lanes::mask_type is_shock =
        abs(upper - lower) > 2.0 * min(lower, upper) && load(below + normal + i) > load(above + normal + i);
    store(select(is_shock, Lanes(1.0), load(to + i)), to + i);
  }
}

/// Replace fluxes by those of HLLE where a shock crosses the cell at one side of the face along another axis: the
/// contact wave of HLLC would let it become crooked there (Quirk 1994).
template <int D, int Axis>
void blend_row(const EulerStage& stage, const double* shocks_left, const double* shocks_right, const double* left_of,
               const double* right_of, std::ptrdiff_t n, double* to, std::ptrdiff_t room) {
  for (std::ptrdiff_t i = 0; i < n; i += n_lanes) {
    const Lanes::mask_type is_along = load(shocks_left + i) + load(shocks_right + i) > 0.0;
    if (none_of(is_along)) continue;
    Side<D> left = load_side<D, Axis>(left_of, room, i);
    Side<D> right = load_side<D, Axis>(right_of, room, i);
    finish(left, right, stage.gamma);
    const Flux<D> flux = hlle(left, right);
    const auto put = [&](const Lanes& value, std::ptrdiff_t v) {
      store(select(is_along, value, load(to + v * room + i)), to + v * room + i);
    };
    put(flux.density, 0);
    put(flux.normal, 1 + Axis);
    for (int t = 0; t < D - 1; ++t) put(flux.along[t], 1 + others[Axis][t]);
    put(flux.energy, 1 + D);
    for (std::ptrdiff_t s = 2 + D; s < 2 + D + stage.n_species; ++s)
      put(flux.density * select(flux.comes_from_left, load(left_of + s * room + i), load(right_of + s * room + i)), s);
  }
}

/// Let nothing but pressure pass through a row of faces at a wall.
template <int D, int Axis>
void close_row(const EulerStage& stage, std::ptrdiff_t n, double* fluxes, std::ptrdiff_t room) {
  for (std::ptrdiff_t v = 0; v < 2 + D + stage.n_species; ++v)
    for (std::ptrdiff_t i = 0; v != 1 + Axis && i < n; ++i) fluxes[v * room + i] = 0.0;
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

/// Cells that strong shocks cross along the faces across each axis, in two planes of rows with one cell around them.
template <int D>
class Shocks {
 public:
  Shocks(const EulerStage& stage, const Planes<D>& planes) : stage_(stage), planes_(planes) {}

  /// Return the notes of a row, from the cell below its first one: 1 where a shock runs along another axis.
  [[nodiscard]] const double* row(int across, std::ptrdiff_t j, std::ptrdiff_t k) const { return place(across, j, k); }
  /// Note the shocks of plane k, in place of plane k - 2. The planes below and above it must be made.
  void note(std::ptrdiff_t k) const {
    if (!stage_.is_hybrid) return;
    for (std::ptrdiff_t j = -1; j <= stage_.n[1]; ++j) {
      for (int across = 0; across < D; ++across) {
        double* const to = place(across, j, k);
        for (std::ptrdiff_t i = 0; i < stage_.flux_row; ++i) to[i] = 0.0;
        const double* const here = planes_.row(j, k) - 1;
        if (across != 0) note(0, here - 1, here + 1, to);
        if (across != 1) note(1, planes_.row(j - 1, k) - 1, planes_.row(j + 1, k) - 1, to);
        if constexpr (D == 3)
          if (across != 2) note(2, planes_.row(j, k - 1) - 1, planes_.row(j, k + 1) - 1, to);
      }
    }
  }

 private:
  void note(int axis, const double* below, const double* above, double* to) const {
    note_shocks(stage_, axis, (1 + D) * stage_.primitive.variable, below, above, stage_.n[0] + 2, to);
  }
  [[nodiscard]] double* place(int across, std::ptrdiff_t j, std::ptrdiff_t k) const {
    return stage_.shocks + ((std::ptrdiff_t{across} * 2 + (k + 2) % 2) * (stage_.n[1] + 2) + j + 1) * stage_.flux_row;
  }
  const EulerStage& stage_;
  const Planes<D>& planes_;
};

/// One pass over a box, plane by plane and row by row.
template <int D>
class Sweep {
 public:
  explicit Sweep(const EulerStage& stage)
      : stage_(stage),
        room_(stage.flux_row),
        plane_room_((2 + D + stage.n_species) * room_),
        planes_(stage),
        shocks_(stage, planes_) {}

  void run() {
    const std::ptrdiff_t* const n = stage_.n;
    begin();
    for (std::ptrdiff_t k = 0; k < n[2]; ++k) {
      if constexpr (D == 3) make_plane(k + 2);
      across_rows(-1, k, left_j_[0]);
      across_rows(0, k, left_j_[1]);
      flux_across_j(0, k, across_j_[0]);
      swap(left_j_);
      keep_across_j(0, k, across_j_[0]);
      for (std::ptrdiff_t j = 0; j < n[1]; ++j) {
        const double* const row = planes_.row(j, k);
        reconstruct<D, 0>(stage_, may_have_shock_, row - 2, row - 1, row, n[0] + 2, low_, high_, room_);
        flux_across_i(j, k);
        across_rows(j + 1, k, left_j_[1]);
        flux_across_j(j + 1, k, across_j_[1]);
        swap(left_j_);
        const std::ptrdiff_t at = j * plane_room_;
        if constexpr (D == 3) {
          reconstruct<D, 2>(stage_, may_have_shock_, row, planes_.row(j, k + 1), planes_.row(j, k + 2), n[0], low_,
                            left_k_[1] + at, room_);
          flux_across_k(j, k + 1, left_k_[0] + at, across_k_[1] + at);
        }
        advance_row<D>(stage_, 2 + D + stage_.n_species, j, k,
                       {across_i_, {across_j_[0], across_j_[1]}, {across_k_[0] + at, across_k_[1] + at}});
        keep_across_j(j + 1, k, across_j_[1]);
        keep_across_i(j, k);
        swap(across_j_);
      }
      if constexpr (D == 3) {
        keep_across_k(k + 1, across_k_[1]);
        swap(across_k_);
        swap(left_k_);
      }
    }
  }

 private:
  void make_plane(std::ptrdiff_t k) {
    planes_.make(k);
    may_have_shock_ = planes_.may_have_shock();
    shocks_.note(k - 1);
  }
  /// Make the first planes, and the fluxes through the faces below the box.
  void begin() {
    if constexpr (D == 3) {
      const std::ptrdiff_t* const n = stage_.n;
      planes_.make(-2);
      planes_.make(-1);
      make_plane(0);
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        reconstruct<D, 2>(stage_, may_have_shock_, planes_.row(j, -2), planes_.row(j, -1), planes_.row(j, 0), n[0],
                          low_, left_k_[0] + j * plane_room_, room_);
      make_plane(1);
      for (std::ptrdiff_t j = 0; j < n[1]; ++j) {
        const std::ptrdiff_t at = j * plane_room_;
        reconstruct<D, 2>(stage_, may_have_shock_, planes_.row(j, -1), planes_.row(j, 0), planes_.row(j, 1), n[0], low_,
                          left_k_[1] + at, room_);
        flux_across_k(j, 0, left_k_[0] + at, across_k_[0] + at);
      }
      swap(left_k_);
      keep_across_k(0, across_k_[0]);
    } else {
      planes_.make(0);
      may_have_shock_ = planes_.may_have_shock();
      shocks_.note(0);
    }
  }
  void across_rows(std::ptrdiff_t j, std::ptrdiff_t k, double* to) {
    reconstruct<D, 1>(stage_, may_have_shock_, planes_.row(j - 1, k), planes_.row(j, k), planes_.row(j + 1, k),
                      stage_.n[0], low_, to, room_);
  }

  // Fluxes across k between cells of planes k - 1 and k, and across j between rows j - 1 and j.

  void flux_across_k(std::ptrdiff_t j, std::ptrdiff_t k, const double* left, double* to) {
    if constexpr (D == 3) {
      const std::ptrdiff_t n = stage_.n[0];
      flux_row<D, 2>(stage_, left, low_, n, to, room_);
      if (stage_.is_hybrid)
        blend_row<D, 2>(stage_, shocks_.row(2, j, k - 1) + 1, shocks_.row(2, j, k) + 1, left, low_, n, to, room_);
      if ((k == 0 && stage_.is_wall[2][0]) || (k == stage_.n[2] && stage_.is_wall[2][1]))
        close_row<D, 2>(stage_, n, to, room_);
    }
  }
  void flux_across_j(std::ptrdiff_t j, std::ptrdiff_t k, double* to) {
    const std::ptrdiff_t n = stage_.n[0];
    flux_row<D, 1>(stage_, left_j_[0], low_, n, to, room_);
    if (stage_.is_hybrid)
      blend_row<D, 1>(stage_, shocks_.row(1, j - 1, k) + 1, shocks_.row(1, j, k) + 1, left_j_[0], low_, n, to, room_);
    if ((j == 0 && stage_.is_wall[1][0]) || (j == stage_.n[1] && stage_.is_wall[1][1]))
      close_row<D, 1>(stage_, n, to, room_);
  }
  void flux_across_i(std::ptrdiff_t j, std::ptrdiff_t k) {
    const std::ptrdiff_t n = stage_.n[0];
    flux_row<D, 0>(stage_, high_, low_ + 1, n + 1, across_i_, room_);
    if (stage_.is_hybrid)
      blend_row<D, 0>(stage_, shocks_.row(0, j, k), shocks_.row(0, j, k) + 1, high_, low_ + 1, n + 1, across_i_, room_);
    if (stage_.is_wall[0][0]) close_row<D, 0>(stage_, 1, across_i_, room_);
    if (stage_.is_wall[0][1]) close_row<D, 0>(stage_, 1, across_i_ + n, room_);
  }

  void keep_across_k(std::ptrdiff_t k, const double* plane) {
    const std::ptrdiff_t* const n = stage_.n;
    if (double* const to = plane_below(stage_, 2, k); to != nullptr)
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        keep_row(plane + j * plane_room_, room_, 2 + D + stage_.n_species, n[0], to + j * n[0], n[0] * n[1]);
  }
  void keep_across_j(std::ptrdiff_t j, std::ptrdiff_t k, const double* row) {
    const std::ptrdiff_t* const n = stage_.n;
    if (double* const to = plane_below(stage_, 1, j); to != nullptr)
      keep_row(row, room_, 2 + D + stage_.n_species, n[0], to + k * n[0], n[0] * n[2]);
  }
  void keep_across_i(std::ptrdiff_t j, std::ptrdiff_t k) {
    const std::ptrdiff_t* const n = stage_.n;
    for (std::ptrdiff_t i = 0; i <= n[0]; i += stage_.plane_step[0])
      if (double* const to = plane_below(stage_, 0, i); to != nullptr)
        for (std::ptrdiff_t v = 0; v < 2 + D + stage_.n_species; ++v)
          to[v * n[1] * n[2] + k * n[1] + j] = across_i_[v * room_ + i];
  }

  const EulerStage& stage_;
  const std::ptrdiff_t room_;
  const std::ptrdiff_t plane_room_;  // of a row of all variables
  Planes<D> planes_;
  Shocks<D> shocks_;
  bool may_have_shock_ = false;
  // Rows: fluxes along the first axis; below and above along the second; below and above along the third, for all rows
  // of a plane. Then values at the lower faces of a row of cells, and at its upper faces, which are left values of the
  // next ones: along the second axis, and along the third for all rows of a plane.
  double* const across_i_ = stage_.fluxes;
  double* across_j_[2] = {across_i_ + plane_room_, across_i_ + 2 * plane_room_};
  double* across_k_[2] = {across_i_ + 3 * plane_room_, across_i_ + (3 + stage_.n[1]) * plane_room_};
  double* const low_ = across_i_ + (3 + 2 * stage_.n[1]) * plane_room_;
  double* const high_ = low_ + plane_room_;
  double* left_j_[2] = {high_ + plane_room_, high_ + 2 * plane_room_};
  double* left_k_[2] = {high_ + 3 * plane_room_, high_ + (3 + stage_.n[1]) * plane_room_};
};

template <int D>
void run_stage(const EulerStage& stage) {
  Sweep<D>(stage).run();
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
