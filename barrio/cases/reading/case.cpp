#include "barrio/cases/reading/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "barrio/base/text.hpp"
#include "barrio/cases/reading/case_table.hpp"
#include "barrio/cases/reading/renamed_keys.hpp"

namespace barrio::cases {
namespace {

constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};

int whole_within(const CaseTable& table, const std::string& key, int otherwise, int min, int max) {
  const std::int64_t value = table.whole(key, otherwise);
  if (value < min || value > max) table.refuse(key, fmt::format("is {}, but must be from {} to {}", value, min, max));
  return static_cast<int>(value);
}

double positive(const CaseTable& table, const std::string& key, double otherwise) {
  const double value = table.number(key, otherwise);
  if (!(value > 0.0)) table.refuse(key, fmt::format("is {}, but must be above 0", value));
  return value;
}

Formula formula_of(const CaseTable& table, const std::string& key, const std::string& text,
                   std::span<const std::string> names, const Abbreviations& let) {
  return table.about(key, [&] { return Formula(text, names, let); });
}

Every read_every(const CaseTable& table) {
  Every every;
  if (table.has("every")) every.time = positive(table, "every", 0.0);
  if (table.has("every_steps")) {
    every.steps = table.whole("every_steps", 0);
    if (every.steps < 1) table.refuse("every_steps", "must be above 0");
  }
  return every;
}

void read_grid(const CaseTable& grid, AmrCase& made) {
  grid.expect({"cells", "low", "high", "levels", "ratio", "block"});
  const std::vector<std::int64_t> cells = grid.wholes("cells");
  if (cells.size() < 2 || cells.size() > 3)
    grid.refuse("cells", cells.empty() ? "is missing" : fmt::format("has {} numbers", cells.size()),
                "give the number of cells of the coarsest level along each of two or three axes");
  made.n_axes = cells.size();
  std::vector<double> low = grid.numbers("low");
  if (low.empty()) low.assign(made.n_axes, 0.0);
  const std::vector<double> high = grid.numbers("high");
  if (low.size() != made.n_axes)
    grid.refuse("low", fmt::format("has {} numbers, but must have {} as cells", low.size(), made.n_axes));
  if (high.size() != made.n_axes)
    grid.refuse("high", fmt::format("has {} numbers, but must have {} as cells", high.size(), made.n_axes),
                "give the upper corner of the domain");
  for (std::size_t k = 0; k < made.n_axes; ++k) {
    made.n_cells[k] = cells[k];
    made.low[k] = low[k];
    made.high[k] = high[k];
    if (!(std::isfinite(low[k]) && std::isfinite(high[k]) && high[k] > low[k]))
      grid.refuse("high",
                  fmt::format("{} along {} must be above the lower corner, {}", high[k], axis_names[k], low[k]));
  }
  constexpr int max_levels = 20;
  constexpr int max_block = 128;
  made.n_levels = whole_within(grid, "levels", 1, 1, max_levels);
  made.ratio = whole_within(grid, "ratio", 2, 2, 4);
  made.block_cells = whole_within(grid, "block", 16, 8, max_block);
  for (const std::int64_t n : cells)
    if (n < 1 || n % made.block_cells != 0)
      grid.refuse("cells", fmt::format("{} must be a multiple of the {} cells of a block", n, made.block_cells),
                  "change cells or block");
}

void read_boundary(const CaseTable& boundary, AmrCase& made) {
  boundary.expect({"x", "y", "z"});
  if (made.n_axes == 2 && boundary.has("z")) boundary.refuse("z", "is given, but the grid has two axes");
  const std::vector<std::string> known{"outflow", "wall", "inflow", "periodic"};
  for (std::size_t k = 0; k < made.n_axes; ++k) {
    const std::string axis = axis_names[k];
    std::vector<std::string> both = boundary.texts(axis);
    if (both.empty()) both = {"outflow"};
    if (both.size() == 1) both.push_back(both[0]);
    if (both.size() != 2)
      boundary.refuse(axis, fmt::format("has {} texts, but must have one, or one for each face", both.size()));
    for (std::size_t side = 0; side < 2; ++side) {
      if (const std::string now = present_spelling(both[side]); !now.empty())
        boundary.refuse(axis, fmt::format("'{}' is spelt '{}'", both[side], now));
      if (std::ranges::find(known, both[side]) == known.end())
        boundary.refuse(axis,
                        fmt::format("'{}' is not a boundary condition.{}", both[side], did_you_mean(both[side], known)),
                        fmt::format("give one of {}", fmt::join(known, ", ")));
      made.boundary[k][side] = both[side] == "wall"     ? amr::BoundaryCondition::wall
                               : both[side] == "inflow" ? amr::BoundaryCondition::inflow
                                                        : amr::BoundaryCondition::outflow;
    }
    made.is_periodic[k] = both[0] == "periodic";
    if ((both[0] == "periodic") != (both[1] == "periodic"))
      boundary.refuse(axis, "is periodic at one face only", "make both faces periodic");
  }
}

/// Read the formulas of density, velocity, pressure and species.
std::vector<Formula> read_state(const CaseTable& state, const AmrCase& made, const Abbreviations& let) {
  std::vector<std::string> known{"density", "velocity", "pressure"};
  for (int s = 0; s < made.n_species; ++s) known.push_back(fmt::format("species_{}", s + 1));
  state.expect(known);
  const std::vector<std::string> names = AmrCase::place_names();
  std::vector<Formula> all;
  const auto add = [&](const std::string& key, const std::string& text) {
    all.push_back(formula_of(state, key, text, names, let));
  };
  const auto needed = [&](const std::string& key) {
    std::string text = state.formula(key, "");
    if (text.empty()) state.refuse(key, "is missing", "give a formula of x, y, z and t, or a number");
    return text;
  };
  add("density", needed("density"));
  std::vector<std::string> velocity = state.formulas("velocity");
  if (velocity.empty()) velocity.assign(made.n_axes, "0");
  if (velocity.size() != made.n_axes)
    state.refuse("velocity",
                 fmt::format("has {} formulas, but must have one for each of {} axes", velocity.size(), made.n_axes));
  for (const std::string& one : velocity) add("velocity", one);
  add("pressure", needed("pressure"));
  for (int s = 0; s < made.n_species; ++s) {
    const std::string key = fmt::format("species_{}", s + 1);
    add(key, needed(key));
  }
  return all;
}

int quantity_of(const CaseTable& table, const std::string& key, const AmrCase& made, const std::string& name) {
  const auto found = std::ranges::find(made.quantities, name);
  if (found == made.quantities.end())
    table.refuse(key, fmt::format("'{}' is not a quantity of a cell.{}", name, did_you_mean(name, made.quantities)),
                 fmt::format("give one of {}", fmt::join(made.quantities, ", ")));
  return static_cast<int>(found - made.quantities.begin());
}

void read_source(const CaseTable& source, AmrCase& made, const Abbreviations& let) {
  std::vector<std::string> known{"acceleration", "heating"};
  for (int s = 1; s <= made.n_species; ++s) known.push_back(fmt::format("species_{}", s));
  source.expect(known);
  const std::vector<std::string> names = made.cell_names();
  const std::vector<std::string> acceleration = source.formulas("acceleration");
  if (!acceleration.empty() && acceleration.size() != made.n_axes)
    source.refuse("acceleration", fmt::format("has {} formulas, but must have one for each of {} axes",
                                              acceleration.size(), made.n_axes));
  for (const std::string& one : acceleration)
    made.source.acceleration.push_back(formula_of(source, "acceleration", one, names, let));
  if (source.has("heating"))
    made.source.heating = formula_of(source, "heating", source.formula("heating", ""), names, let);
  for (int s = 1; s <= made.n_species; ++s) {
    const std::string key = fmt::format("species_{}", s);
    if (source.has(key))
      made.source.species.emplace_back(s, formula_of(source, key, source.formula(key, ""), names, let));
  }
}

void read_refine(const CaseTable& refine, AmrCase& made, const Abbreviations& let) {
  refine.expect({"jump", "relative_jump", "where", "interval", "buffer", "max_cells", "max_bytes"});
  const auto read_jumps = [&](const std::string& key, std::vector<std::pair<int, double>>& jumps) {
    const CaseTable of = refine.table(key);
    for (const std::string& name : of.keys())
      jumps.emplace_back(quantity_of(of, name, made, name), positive(of, name, 0.0));
  };
  read_jumps("jump", made.jumps);
  read_jumps("relative_jump", made.relative_jumps);
  if (refine.has("where")) {
    std::vector<std::string> names = made.cell_names();
    names.emplace_back("level");
    made.where = formula_of(refine, "where", refine.formula("where", ""), names, let);
  }
  constexpr int max_interval = 1'000'000;
  made.regrid_interval = whole_within(refine, "interval", 8, 1, max_interval);
  made.buffer_cells =
      whole_within(refine, "buffer", std::min(4, made.block_cells / made.ratio), 0, made.block_cells / made.ratio);
  made.max_cells = refine.whole("max_cells", std::numeric_limits<std::int64_t>::max());
  if (made.max_cells < 1) refine.refuse("max_cells", "must be above 0");
  made.max_bytes = refine.whole("max_bytes", 0);
  if (refine.has("max_bytes") && made.max_bytes < 1) refine.refuse("max_bytes", "must be above 0");
  if (made.n_levels > 1 && made.jumps.empty() && made.relative_jumps.empty() && !made.where)
    refine.refuse("jump", "is missing: more than one level needs a criterion to refine",
                  "give jump, relative_jump or where, or use one level");
}

void read_run(const CaseTable& run, AmrCase& made) {
  run.expect(
      {"end_time", "steps", "cfl", "time_step", "wall_time", "subcycling", "reflux", "partition", "weigh_by_time"});
  if (run.has("end_time")) made.end_time = positive(run, "end_time", 0.0);
  if (run.has("steps")) {
    made.n_steps = run.whole("steps", 0);
    if (made.n_steps < 0) run.refuse("steps", "must be at least 0");
  }
  if (!run.has("end_time") && !run.has("steps"))
    run.refuse("end_time", "is missing, and so is steps", "give one of them, or both");
  made.cfl = positive(run, "cfl", 0.4);
  if (made.cfl > 1.0)
    run.refuse("cfl", fmt::format("is {}, but must not be above 1", made.cfl),
               "a signal must not pass more than a cell in a step");
  if (run.has("time_step")) made.time_step = positive(run, "time_step", 0.0);
  if (run.has("wall_time")) made.wall_time = positive(run, "wall_time", 0.0);
  made.is_subcycled = run.flag("subcycling", true);
  made.has_reflux = run.flag("reflux", true);
  const std::string partition = run.text("partition", "by_level");
  if (partition != "composite" && partition != "by_level")
    run.refuse("partition", fmt::format("'{}' is not a partition", partition), "give by_level or composite");
  made.weigh_by_time = run.flag("weigh_by_time", false);
  made.partition = partition == "composite" ? amr::Partition::composite : amr::Partition::by_level;
}

void read_slice(const CaseTable& slice, AmrCase& made) {
  slice.expect({"file", "quantity", "axis", "at", "range", "boxes", "every", "every_steps"});
  SliceCase one;
  one.file = slice.text("file", "");
  if (!one.file.ends_with(".png")) slice.refuse("file", fmt::format("'{}' must end in .png", one.file));
  one.every = read_every(slice);
  if (!one.every.is_never() && one.file.find("{}") == std::string::npos)
    slice.refuse("file", "must have {} for the number of the picture", "for example slice-{}.png");
  one.quantity = slice.text("quantity", "density");
  (void)quantity_of(slice, "quantity", made, one.quantity);
  if (made.n_axes == 3) {
    const std::string axis = slice.text("axis", "z");
    const auto found = std::ranges::find(axis_names, axis);
    if (found == axis_names.end()) slice.refuse("axis", fmt::format("'{}' must be x, y or z", axis));
    one.axis = found - axis_names.begin();
    one.place = slice.number("at", 0.5 * (made.low[one.axis] + made.high[one.axis]));
    if (!(one.place >= made.low[one.axis] && one.place < made.high[one.axis]))
      slice.refuse("at", fmt::format("{} must be in the domain", one.place));
  }
  if (slice.has("range")) {
    const std::vector<double> range = slice.numbers("range");
    if (range.size() != 2 || !(range[0] < range[1]))
      slice.refuse("range", "must be the values of the first and the last colour, the last larger");
    one.lowest = range[0];
    one.highest = range[1];
  }
  one.has_boxes = slice.flag("boxes", true);
  made.slices.push_back(one);
}

/// Refuse the last slice if another one has the name of its file.
void refuse_used(const CaseTable& slice, const AmrCase& made) {
  const std::string& name = made.slices.back().file;
  const auto others = std::span(made.slices).first(made.slices.size() - 1);
  if (std::ranges::find(others, name, &SliceCase::file) != others.end())
    slice.refuse("file", fmt::format("'{}' is written by another slice too", name));
}

void read_output(const CaseTable& whole, AmrCase& made) {
  const CaseTable output = whole.table("output");
  output.expect({"file", "quantities", "every", "every_steps", "one_file"});
  made.output_file = output.text("file", "");
  made.output_every = read_every(output);
  made.is_one_file = output.flag("one_file", true);
  made.output_quantities = output.texts("quantities");
  if (output.has("file") && !made.output_file.ends_with(".vtkhdf"))
    output.refuse("file", fmt::format("'{}' must end in .vtkhdf", made.output_file));
  const CaseTable checkpoint = whole.table("checkpoint");
  checkpoint.expect({"file", "every", "every_steps"});
  made.checkpoint_file = checkpoint.text("file", "");
  made.checkpoint_every = read_every(checkpoint);
  if (made.checkpoint_file.empty() && !made.checkpoint_every.is_never()) checkpoint.refuse("file", "is missing");
  if (checkpoint.has("file") && made.checkpoint_file.empty()) checkpoint.refuse("file", "is empty");
  for (const CaseTable& slice : whole.tables("slice")) {
    read_slice(slice, made);
    refuse_used(slice, made);
  }
  if (!made.checkpoint_file.empty() && made.checkpoint_file == made.output_file)
    checkpoint.refuse("file", fmt::format("'{}' is written by [output] too", made.checkpoint_file));
}

void read_measures(const CaseTable& whole, AmrCase& made, const Abbreviations& let) {
  const CaseTable series = whole.table("series");
  series.expect({"integrals", "every", "every_steps"});
  made.series_every = read_every(series);
  const CaseTable integrals = series.table("integrals");
  const std::vector<std::string> names = made.cell_names();
  if (integrals.has("time")) integrals.refuse("time", "is a column that every series has", "choose another name");
  for (const std::string& name : integrals.keys())
    made.integrals.emplace_back(name, formula_of(integrals, name, integrals.formula(name, ""), names, let));
  const CaseTable exact = whole.table("exact");
  const CaseTable limits = exact.table("max_error");
  for (const std::string& name : exact.keys()) {
    if (name == "max_error") continue;
    if (present_spelling(name) == "max_error") exact.refuse(name, "is spelt max_error");
    (void)quantity_of(exact, name, made, name);
    made.exact.emplace_back(name, formula_of(exact, name, exact.formula(name, ""), AmrCase::place_names(), let));
  }
  for (const std::string& name : limits.keys()) {
    if (name != "together" && !exact.has(name))
      limits.refuse(name, "has no exact solution", "give its formula in [exact]");
    made.max_error[name] = positive(limits, name, 0.0);
  }
}

/// Read the names of [let]; a formula may use the names above it.
Abbreviations read_let(const CaseTable& table) {
  Abbreviations let;
  // A name that formulas have anyway would be replaced in all of them without a word.
  for (const std::string& name : table.keys()) {
    const std::vector<std::string> places = AmrCase::place_names();
    constexpr std::array taken{"density", "velocity_x", "velocity_y", "velocity_z", "pressure", "level"};
    if (std::ranges::find(places, name) != places.end() || std::ranges::find(taken, name) != taken.end() ||
        name.starts_with("species_"))
      table.refuse(name, "is a name that formulas have", "choose another one");
    let[name] = expand(table.formula(name, ""), let);
  }
  return let;
}

}  // namespace

std::vector<std::string> AmrCase::cell_names() const {
  std::vector<std::string> names = place_names();
  names.insert(names.end(), quantities.begin(), quantities.end());
  return names;
}

AmrCase read_case(const std::string& file, const std::string& text, const std::vector<std::string>& settings) {
  const CaseTable whole = parse_case(file, text, settings);
  whole.expect({"title", "grid", "boundary", "gas", "let", "initial", "inflow", "source", "refine", "run", "output",
                "checkpoint", "slice", "series", "exact"});
  AmrCase made;
  made.title = whole.text("title", file);
  const Abbreviations let = read_let(whole.table("let"));
  read_grid(whole.table("grid"), made);
  read_boundary(whole.table("boundary"), made);
  const CaseTable gas = whole.table("gas");
  gas.expect({"gamma", "species", "flatten_shocks", "first_order_fallback", "sharpen_contacts", "riemann"});
  made.gamma = gas.number("gamma", 1.4);
  if (!(made.gamma > 1.0)) gas.refuse("gamma", fmt::format("is {}, but must be above 1", made.gamma));
  constexpr int max_species = 16;
  made.n_species = whole_within(gas, "species", 0, 0, max_species);
  made.flattens_shocks = gas.flag("flatten_shocks", false);
  made.falls_back = gas.flag("first_order_fallback", true);
  made.sharpens_contacts = gas.flag("sharpen_contacts", false);
  const std::string riemann = gas.text("riemann", "hllc");
  if (riemann != "hllc" && riemann != "hlle" && riemann != "hybrid")
    gas.refuse("riemann", fmt::format("'{}' is not a Riemann solver", riemann), "give hllc, hlle or hybrid");
  made.riemann_solver = riemann == "hllc"   ? amr::RiemannSolver::hllc
                        : riemann == "hlle" ? amr::RiemannSolver::hlle
                                            : amr::RiemannSolver::hybrid;
  made.quantities = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
  for (int s = 0; s < made.n_species; ++s) made.quantities.push_back(fmt::format("species_{}", s + 1));
  if (!whole.has("initial")) whole.refuse("initial", "is missing", "give density and pressure at the start");
  made.initial = read_state(whole.table("initial"), made, let);
  made.inflow = whole.has("inflow") ? read_state(whole.table("inflow"), made, let) : made.initial;
  read_source(whole.table("source"), made, let);
  read_refine(whole.table("refine"), made, let);
  read_run(whole.table("run"), made);
  read_output(whole, made);
  read_measures(whole, made, let);
  return made;
}

}  // namespace barrio::cases
