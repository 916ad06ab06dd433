#include "barrio/amr/kernel/euler_kernels.hpp"

#include "barrio/amr/kernel/lanes.hpp"

// Finite volumes of second order: van Leer's limited slopes of density, velocity and pressure (van Leer 1979), the HLLC
// solver (Toro, Spruce, Speares 1994) with the wave speeds of Einfeldt 1988, one stage of the two of Heun's method.
//
// A box is passed over once: primitive variables, then plane by plane the fluxes through the upper faces of each row,
// those of the lower ones being kept, and the row's new state. All lies in the cache.
//
// Mirrored states give mirrored fluxes to the last bit, and a state that is the same along two axes gives what one axis
// alone would: every sum is written so that exchanging left and right exchanges its terms.

namespace barrio::amr::detail::BARRIO_KERNEL_SET {
namespace {

/// Van Leer's mean of the differences to both sides: 0 at an extremum.
Lanes limited(const Lanes& below, const Lanes& above) {
  const Lanes product = below * above;
  return select(product > 0.0, 2.0 * product / (below + above), Lanes(0.0));
}

/// Density, velocity across the face and along it, pressure at one side of faces.
template <int D>
struct Side {
  Lanes density;
  Lanes normal;
  Lanes along[D - 1];
  Lanes pressure;
  Lanes energy;
  Lanes speed_squared;  // of sound

  void finish(double gamma) {
    Lanes square = normal * normal;
    for (int t = 0; t < D - 1; ++t) square += along[t] * along[t];
    energy = pressure / (gamma - 1.0) + 0.5 * density * square;
    speed_squared = gamma * pressure / density;
  }
};

template <int D>
struct Flux {
  Lanes density;
  Lanes normal;
  Lanes along[D - 1];
  Lanes energy;
  Lanes::mask_type comes_from_left;
};

template <int D>
Flux<D> hllc(const Side<D>& left, const Side<D>& right) {
  const Lanes root_left = sqrt(left.density);
  const Lanes root_right = sqrt(right.density);
  const Lanes inverse = 1.0 / (root_left + root_right);
  const Lanes mean = (root_left * left.normal + root_right * right.normal) * inverse;
  const Lanes jump = right.normal - left.normal;
  const Lanes spread = sqrt((root_left * left.speed_squared + root_right * right.speed_squared) * inverse +
                            0.5 * (root_left * root_right) * (inverse * inverse) * (jump * jump));
  const Lanes lowest = min(left.normal - sqrt(left.speed_squared), mean - spread);
  const Lanes highest = max(right.normal + sqrt(right.speed_squared), mean + spread);
  const Lanes mass_left = left.density * (lowest - left.normal);
  const Lanes mass_right = right.density * (highest - right.normal);
  const Lanes middle = ((right.pressure - left.pressure) + (mass_left * left.normal - mass_right * right.normal)) /
                       (mass_left - mass_right);
  const Lanes middle_pressure = 0.5 * ((left.pressure + mass_left * (middle - left.normal)) +
                                       (right.pressure + mass_right * (middle - right.normal)));
  const Lanes::mask_type is_left = middle >= 0.0;
  const Lanes density = select(is_left, left.density, right.density);
  const Lanes normal = select(is_left, left.normal, right.normal);
  const Lanes pressure = select(is_left, left.pressure, right.pressure);
  const Lanes energy = select(is_left, left.energy, right.energy);
  const Lanes mass = select(is_left, mass_left, mass_right);
  // Between the waves the state is that of the star region; where all of them go one way it is that of the side.
  const Lanes::mask_type is_between = select(is_left, -lowest, highest) > 0.0;
  const Lanes width = select(is_left, lowest, highest) - middle;
  const Lanes star_density = select(is_between, mass / width, density);
  const Lanes speed = select(is_between, middle, normal);
  const Lanes star_pressure = select(is_between, middle_pressure, pressure);
  const Lanes star_energy =
      select(is_between, star_density * (energy / density + (middle - normal) * (middle + pressure / mass)), energy);
  Flux<D> flux;
  flux.density = star_density * speed;
  flux.normal = flux.density * speed + star_pressure;
  for (int t = 0; t < D - 1; ++t) flux.along[t] = flux.density * select(is_left, left.along[t], right.along[t]);
  flux.energy = (star_energy + star_pressure) * speed;
  flux.comes_from_left = is_left;
  return flux;
}

/// Density, velocities, pressure and parts of species of a piece of a row.
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

/// Primitive variables of the box and its ghosts; those beyond edges and corners are not used.
template <int D>
void make_primitive(const EulerStage& stage) {
  const CellArray& to = stage.primitive;
  constexpr std::ptrdiff_t depth = 2;
  const std::ptrdiff_t depth_k = D == 3 ? depth : 0;
  const std::ptrdiff_t n = stage.n[0];
  for (std::ptrdiff_t k = -depth_k; k < stage.n[2] + depth_k; ++k) {
    for (std::ptrdiff_t j = -depth; j < stage.n[1] + depth; ++j) {
      const bool is_beyond_j = j < 0 || j >= stage.n[1];
      const bool is_beyond_k = k < 0 || k >= stage.n[2];
      if (is_beyond_j && is_beyond_k) continue;
      const double* const ghosts = stage.ghosts.first + k * stage.ghosts.plane + j * stage.ghosts.row;
      double* const w = to.first + k * to.plane + j * to.row;
      if (is_beyond_j || is_beyond_k) {
        make_primitive_row<D>(stage, ghosts, stage.ghosts.variable, w, to.variable, n);
        continue;
      }
      // Vectors reach from the ghosts at both ends into what is written after them.
      make_primitive_row<D>(stage, ghosts - depth, stage.ghosts.variable, w - depth, to.variable, depth);
      make_primitive_row<D>(stage, stage.cells.first + k * stage.cells.plane + j * stage.cells.row,
                            stage.cells.variable, w, to.variable, n);
      make_primitive_row<D>(stage, ghosts + n, stage.ghosts.variable, w + n, to.variable, depth);
    }
  }
}

/// Values of a primitive variable at both sides of faces. @param cell  the one below the first face
/// @param step  to the next cell along the axis across the faces
struct Sides {
  Lanes left;
  Lanes right;
};
Sides at_faces(const double* cell, std::ptrdiff_t step) {
  const Lanes below = load(cell - step);
  const Lanes left = load(cell);
  const Lanes right = load(cell + step);
  const Lanes above = load(cell + 2 * step);
  const Lanes jump = right - left;
  return {left + 0.5 * limited(left - below, jump), right - 0.5 * limited(jump, above - right)};
}

/// Fluxes through a row of faces. @param w  primitive density of the cell below the first face
/// @param to  of the first variable; the others follow `room` numbers apart
template <int D, int Axis>
void flux_row(const EulerStage& stage, const double* w, std::ptrdiff_t n_faces, double* to, std::ptrdiff_t room) {
  const CellArray& cells = stage.primitive;
  const std::ptrdiff_t step = Axis == 0 ? 1 : Axis == 1 ? cells.row : cells.plane;
  constexpr int others[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  for (std::ptrdiff_t i = 0; i < n_faces; i += n_lanes) {
    Side<D> left;
    Side<D> right;
    const auto take = [&](int variable, Lanes& l, Lanes& r) {
      const Sides sides = at_faces(w + variable * cells.variable + i, step);
      l = sides.left;
      r = sides.right;
    };
    take(0, left.density, right.density);
    take(1 + Axis, left.normal, right.normal);
    for (int t = 0; t < D - 1; ++t) take(1 + others[Axis][t], left.along[t], right.along[t]);
    take(1 + D, left.pressure, right.pressure);
    left.finish(stage.gamma);
    right.finish(stage.gamma);
    const Flux<D> flux = hllc(left, right);
    store(flux.density, to + i);
    store(flux.normal, to + (1 + Axis) * room + i);
    for (int t = 0; t < D - 1; ++t) store(flux.along[t], to + (1 + others[Axis][t]) * room + i);
    store(flux.energy, to + (1 + D) * room + i);
    for (std::ptrdiff_t s = 0; s < stage.n_species; ++s) {
      const Sides part = at_faces(w + (2 + D + s) * cells.variable + i, step);
      store(flux.density * select(flux.comes_from_left, part.left, part.right), to + (2 + D + s) * room + i);
    }
  }
}

/// Copy a row of fluxes of all variables to the faces of the box.
void keep_row(const double* from, std::ptrdiff_t room, std::ptrdiff_t n_variables, std::ptrdiff_t n, double* to,
              std::ptrdiff_t variable) {
  for (std::ptrdiff_t v = 0; v < n_variables; ++v)
    for (std::ptrdiff_t i = 0; i < n; ++i) to[v * variable + i] = from[v * room + i];
}

/// Where the fluxes of the plane of faces below a cell are wanted, or null.
double* plane_below(const EulerStage& stage, int axis, std::ptrdiff_t cell) {
  return cell % stage.plane_step[axis] == 0 ? stage.planes[axis][cell / stage.plane_step[axis]] : nullptr;
}

template <int D>
void run_stage(const EulerStage& stage) {
  make_primitive<D>(stage);
  const CellArray& w = stage.primitive;
  const std::ptrdiff_t n_variables = 2 + D + stage.n_species;
  const std::ptrdiff_t* const n = stage.n;
  const std::ptrdiff_t room = stage.flux_row;
  // Rows: along the first axis; below and above along the second; below and above along the third, for all rows of a
  // plane.
  double* const across_i = stage.fluxes;
  double* across_j[2] = {across_i + n_variables * room, across_i + 2 * n_variables * room};
  const std::ptrdiff_t plane_room = n_variables * room;  // of a row
  double* across_k[2] = {across_i + 3 * n_variables * room, across_i + (3 + n[1]) * n_variables * room};
  if constexpr (D == 3)
    for (std::ptrdiff_t j = 0; j < n[1]; ++j)
      flux_row<D, 2>(stage, w.first - w.plane + j * w.row, n[0], across_k[0] + j * plane_room, room);
  const auto keep_across_k = [&](std::ptrdiff_t k, const double* plane) {
    if (double* const to = plane_below(stage, 2, k); to != nullptr)
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        keep_row(plane + j * plane_room, room, n_variables, n[0], to + j * n[0], n[0] * n[1]);
  };
  if constexpr (D == 3) keep_across_k(0, across_k[0]);
  const Lanes over_i = stage.time_over_size[0];
  const Lanes over_j = stage.time_over_size[1];
  const Lanes over_k = stage.time_over_size[2];
  const Lanes of_old = stage.old_weight;
  const Lanes of_new = 1.0 - stage.old_weight;
  const bool reads_old = stage.old_weight != 0.0;
  for (std::ptrdiff_t k = 0; k < n[2]; ++k) {
    const double* const plane = w.first + k * w.plane;
    flux_row<D, 1>(stage, plane - w.row, n[0], across_j[0], room);
    const auto keep_across_j = [&](std::ptrdiff_t j, const double* row) {
      if (double* const to = plane_below(stage, 1, j); to != nullptr)
        keep_row(row, room, n_variables, n[0], to + k * n[0], n[0] * n[2]);
    };
    keep_across_j(0, across_j[0]);
    for (std::ptrdiff_t j = 0; j < n[1]; ++j) {
      const double* const row = plane + j * w.row;
      flux_row<D, 0>(stage, row - 1, n[0] + 1, across_i, room);
      flux_row<D, 1>(stage, row, n[0], across_j[1], room);
      if constexpr (D == 3) flux_row<D, 2>(stage, row, n[0], across_k[1] + j * plane_room, room);
      for (std::ptrdiff_t v = 0; v < n_variables; ++v) {
        const double* const fi = across_i + v * room;
        const double* const fj_low = across_j[0] + v * room;
        const double* const fj_high = across_j[1] + v * room;
        const double* const fk_low = across_k[0] + j * plane_room + v * room;
        const double* const fk_high = across_k[1] + j * plane_room + v * room;
        const double* const u =
            stage.cells.first + v * stage.cells.variable + k * stage.cells.plane + j * stage.cells.row;
        const double* const old = stage.old.first + v * stage.old.variable + k * stage.old.plane + j * stage.old.row;
        double* const out = stage.out.first + v * stage.out.variable + k * stage.out.plane + j * stage.out.row;
        const auto advance = [&](std::ptrdiff_t i) {
          Lanes change = over_i * (load(fi + i) - load(fi + i + 1)) + over_j * (load(fj_low + i) - load(fj_high + i));
          if constexpr (D == 3) change += over_k * (load(fk_low + i) - load(fk_high + i));
          const Lanes next = load(u + i) + change;
          return reads_old ? of_old * load(old + i) + of_new * next : next;
        };
        std::ptrdiff_t i = 0;
        for (; i + n_lanes <= n[0]; i += n_lanes) store(advance(i), out + i);
        // Rows of the state are not padded: what is behind them belongs to the next one.
        if (i < n[0]) {
          double rest[n_lanes];
          store(advance(i), rest);
          for (std::ptrdiff_t lane = 0; i + lane < n[0]; ++lane) out[i + lane] = rest[lane];
        }
      }
      keep_across_j(j + 1, across_j[1]);
      for (std::ptrdiff_t i = 0; i <= n[0]; i += stage.plane_step[0])
        if (double* const to = plane_below(stage, 0, i); to != nullptr)
          for (std::ptrdiff_t v = 0; v < n_variables; ++v) to[v * n[1] * n[2] + k * n[1] + j] = across_i[v * room + i];
      double* const kept = across_j[0];
      across_j[0] = across_j[1];
      across_j[1] = kept;
    }
    if constexpr (D == 3) {
      keep_across_k(k + 1, across_k[1]);
      double* const kept = across_k[0];
      across_k[0] = across_k[1];
      across_k[1] = kept;
    }
  }
}

template <int D>
double fastest(const EulerStage& stage) {
  Lanes most = 0.0;
  double rest = 0.0;
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
        const Lanes sound = sqrt(stage.gamma * pressure * inverse);
        Lanes rate = 0.0;
        for (int a = 0; a < D; ++a) rate += (abs(velocity[a]) + sound) * stage.time_over_size[a];
        if (i + n_lanes <= stage.n[0]) {
          most = max(most, rate);
        } else {
          double lanes[n_lanes];
          store(rate, lanes);
          for (std::ptrdiff_t lane = 0; i + lane < stage.n[0]; ++lane)
            if (lanes[lane] > rest) rest = lanes[lane];
        }
      }
    }
  }
  double lanes[n_lanes];
  store(most, lanes);
  for (const double one : lanes)
    if (one > rest) rest = one;
  return rest;
}

}  // namespace

const EulerKernels euler{run_stage<2>, run_stage<3>, fastest<2>, fastest<3>};

}  // namespace barrio::amr::detail::BARRIO_KERNEL_SET
