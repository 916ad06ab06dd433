#include "barrio/cases/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "barrio/amr/checkpoint.hpp"
#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation_file.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/cases/reading/case.hpp"
#include "barrio/cases/running/cell_formulas.hpp"
#include "barrio/cases/running/slice.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::cases {
namespace {

constexpr RegionName steps_region{"amr.steps"};
constexpr RegionName output_region{"amr.output"};

/// Times of a recurring action.
class Recurring {
 public:
  Recurring(const Every& every, double time) : every_(every) {
    if (every_.time > 0.0) n_ = std::llround(std::floor(time / every_.time * (1.0 + 1e-12))) + 1;
  }
  /// Return the next time at which a step must end.
  [[nodiscard]] double next() const noexcept {
    return every_.time > 0.0 ? static_cast<double>(n_) * every_.time : std::numeric_limits<double>::infinity();
  }
  /// Return how often it was due up to the time of the constructor, that included. @param n_steps  until then
  [[nodiscard]] std::int64_t n_before(std::int64_t n_steps) const noexcept {
    return (every_.time > 0.0 ? n_ - 1 : 0) + (every_.steps > 0 ? n_steps / every_.steps : 0);
  }
  /// Tell whether it is due at the time of the constructor.
  [[nodiscard]] bool is_now(double time, std::int64_t n_steps) const noexcept {
    const bool is_time =
        every_.time > 0.0 && std::abs(static_cast<double>(n_ - 1) * every_.time - time) <= 1e-12 * time;
    return is_time || (every_.steps > 0 && n_steps % every_.steps == 0);
  }
  [[nodiscard]] bool is_due(double time, std::int64_t n_steps) {
    const bool is_step = every_.steps > 0 && n_steps % every_.steps == 0;
    const bool is_time = time >= next();
    if (is_time) ++n_;
    return is_step || is_time;
  }

 private:
  Every every_;
  std::int64_t n_ = 0;
};

volatile std::sig_atomic_t ending_signal = 0;

extern "C" void note_ending(int /*signal*/) { ending_signal = SIGTERM; }

/// Scope in which signals that tell this rank to end are noted, and do not end it.
class EndingScope {
 public:
  EndingScope() {
    ending_signal = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) before_[i] = std::signal(signals[i], note_ending);
  }
  EndingScope(const EndingScope&) = delete;
  EndingScope& operator=(const EndingScope&) = delete;
  ~EndingScope() {
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
  }

 private:
  static constexpr std::array signals{SIGTERM, SIGUSR1};
  std::array<void (*)(int), signals.size()> before_{};
};

template <std::size_t D>
amr::SimulationOptions<D> options_of(const AmrCase& wanted, const std::shared_ptr<const amr::Euler<D>>& euler,
                                     const CellNumbers& numbers) {
  amr::SimulationOptions<D> options;
  for (std::size_t k = 0; k < D; ++k) {
    options.grid.n_cells[k] = wanted.n_cells[k];
    options.grid.low[k] = wanted.low[k];
    options.grid.cell_size[k] = (wanted.high[k] - wanted.low[k]) / static_cast<double>(wanted.n_cells[k]);
    options.grid.is_periodic[k] = wanted.is_periodic[k];
    options.boundary[k] = wanted.boundary[k];
  }
  options.grid.n_levels = wanted.n_levels;
  options.grid.ratio = wanted.ratio;
  options.grid.block_cells = wanted.block_cells;
  const auto state_by = [euler](const std::vector<Formula>& formulas) {
    return [euler, formulas, primitive = std::vector<double>(formulas.size())](
               const std::array<double, D>& x, double time, std::span<double> u) mutable {
      std::array<double, n_place_numbers> place{};
      put_place(x, time, place);
      for (std::size_t i = 0; i < formulas.size(); ++i) primitive[i] = formulas[i](place);
      euler->conserve(primitive, u);
    };
  };
  options.initial = [at_start = state_by(wanted.initial)](const std::array<double, D>& x, std::span<double> u) mutable {
    at_start(x, 0.0, u);
  };
  options.inflow = state_by(wanted.inflow);
  if (wanted.n_levels > 1) options.tag = Tagger<D>(wanted, numbers);
  if (wanted.source.is_any()) options.source = Source<D>(wanted, numbers);
  options.cfl = wanted.cfl;
  options.time_step = wanted.time_step;
  options.is_subcycled = wanted.is_subcycled;
  options.has_reflux = wanted.has_reflux;
  options.regrid_interval = wanted.regrid_interval;
  options.buffer_cells = wanted.buffer_cells;
  options.max_cells = wanted.max_cells;
  if (wanted.max_bytes > 0) options.max_bytes = wanted.max_bytes;
  options.partition = wanted.partition;
  options.weigh_by_time = wanted.weigh_by_time;
  return options;
}

}  // namespace

class CaseRun::Core {
 public:
  Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  virtual ~Core() = default;
  virtual void run(Progress* progress) = 0;
  virtual Json result() = 0;
  [[nodiscard]] virtual double time() const = 0;
  [[nodiscard]] virtual std::int64_t n_steps() const = 0;
  [[nodiscard]] virtual int n_levels() const = 0;
  [[nodiscard]] virtual std::size_t n_axes() const = 0;
  [[nodiscard]] virtual CaseCells cells() const = 0;
  [[nodiscard]] virtual CaseBlocks blocks(int level) const = 0;
};

namespace {

template <std::size_t D>
class RunIn final : public CaseRun::Core {
 public:
  RunIn(mpi::Context& context, AmrCase wanted, std::string name, const std::string& restart)
      : context_(context),
        wanted_(std::move(wanted)),
        name_(std::move(name)),
        euler_(std::make_shared<const amr::Euler<D>>(amr::EulerOptions{.gamma = wanted_.gamma,
                                                                       .n_species = wanted_.n_species,
                                                                       .flattens_shocks = wanted_.flattens_shocks,
                                                                       .falls_back = wanted_.falls_back,
                                                                       .sharpens_contacts = wanted_.sharpens_contacts,
                                                                       .riemann_solver = wanted_.riemann_solver})),
        numbers_(euler_->quantities()),
        is_restarted_(!restart.empty()),
        simulation_(begin(restart)),
        totals_(simulation_.totals()) {
    check_places();
    if (!wanted_.output_file.empty())
      file_.emplace(wanted_.output_file, simulation_, output_quantities(),
                    amr::SeriesOptions{.goes_on = is_restarted_, .is_one_file = wanted_.is_one_file});
  }

  void run(Progress* progress) override {
    constexpr std::int64_t n_units = 1000;
    if (progress != nullptr) progress->begin("barrio amr", n_units);
    const EndingScope scope;
    try {
      Recurring output(wanted_.output_every, simulation_.time());
      Recurring checkpoint(wanted_.checkpoint_every, simulation_.time());
      Recurring series(wanted_.series_every, simulation_.time());
      std::vector<Recurring> slices;
      for (const SliceCase& one : wanted_.slices) slices.emplace_back(one.every, simulation_.time());
      begin_files(output, slices);
      add_to_series();
      while (simulation_.time() < wanted_.end_time && simulation_.n_steps() < wanted_.n_steps) {
        double next = std::min({wanted_.end_time, output.next(), checkpoint.next(), series.next()});
        for (const Recurring& one : slices) next = std::min(next, one.next());
        {
          const Region region(context_.trace(), steps_region);
          simulation_.step(next);
        }
        const double time = simulation_.time();
        const std::int64_t n_steps = simulation_.n_steps();
        const bool is_done = time >= wanted_.end_time || n_steps >= wanted_.n_steps;
        if (!is_done) ended_by_ = find_ending();
        const bool is_end = is_done || !ended_by_.empty();
        if (series.is_due(time, n_steps) || is_end) add_to_series();
        const Region region(context_.trace(), output_region);
        if (output.is_due(time, n_steps) || is_end) write_state();
        for (std::size_t s = 0; s < slices.size(); ++s)
          if (slices[s].is_due(time, n_steps) || is_done) draw(s);
        if ((checkpoint.is_due(time, n_steps) || is_end) && !wanted_.checkpoint_file.empty())
          amr::write_checkpoint(simulation_, wanted_.checkpoint_file);
        if (progress != nullptr) progress->update(std::llround(std::floor(part_done() * n_units)));
        if (!ended_by_.empty()) return;  // there may be no time to make one file
      }
    } catch (const AgreedError&) {
      // The states written so far are complete. If one file of them cannot be made, theirs stay.
      try {
        if (file_) file_->close();
      } catch (const AgreedError& error) {
        context_.log().warning(error.what());
      }
      throw;
    }
    if (file_) file_->close();
  }

  [[nodiscard]] double time() const override { return simulation_.time(); }
  [[nodiscard]] std::int64_t n_steps() const override { return simulation_.n_steps(); }
  [[nodiscard]] int n_levels() const override { return wanted_.n_levels; }
  [[nodiscard]] std::size_t n_axes() const override { return D; }

  [[nodiscard]] CaseCells cells() const override {
    const amr::BlockSpace<D>& space = simulation_.hierarchy().space();
    const std::size_t n = space.block_size();
    CaseCells cells{.n_axes = D, .names = wanted_.quantities};
    std::vector<std::uint8_t> covered(n);
    std::vector<double> numbers(numbers_.n());
    std::vector<double> u(euler_->variables().size());
    for (int level = 0; level < n_levels(); ++level) {
      const std::array<double, D> size = space.cell_size(level);
      for (std::size_t b = 0; b < simulation_.hierarchy().blocks(level).size(); ++b) {
        simulation_.mark_covered(level, b, covered);
        const std::span<const double> values = simulation_.state().values(level, b);
        const geometry::IndexBox<D> box = space.cells(simulation_.hierarchy().blocks(level)[b].at);
        for (std::size_t cell = 0; cell < n; ++cell) {
          if (covered[cell] != 0) continue;
          for (std::size_t v = 0; v < u.size(); ++v) u[v] = values[v * n + cell];
          numbers_.compute(u, numbers);
          const std::array<double, D> centre = space.centre(level, box.at(cell));
          cells.levels.push_back(level);
          cells.centres.insert(cells.centres.end(), centre.begin(), centre.end());
          cells.sizes.insert(cells.sizes.end(), size.begin(), size.end());
          cells.values.insert(cells.values.end(), numbers.begin(), numbers.end());
        }
      }
    }
    return cells;
  }

  [[nodiscard]] CaseBlocks blocks(int level) const override {
    const amr::BlockSpace<D>& space = simulation_.hierarchy().space();
    const std::array<double, D> size = space.cell_size(level);
    CaseBlocks made;
    for (const auto& block : simulation_.hierarchy().blocks(level)) {
      for (std::size_t k = 0; k < D; ++k) {
        const double length = size[k] * space.block_cells();
        const double low = wanted_.low[k] + length * static_cast<double>(block.at[k]);
        made.low.push_back(low);
        made.high.push_back(low + length);
      }
    }
    return made;
  }

  [[nodiscard]] Json result() override {
    Json result = mpi::document(context_, "barrio.amr", 1);
    result["title"] = wanted_.title;
    result["system"] = euler_->description();
    result["grid"] = {{"cells", std::vector(wanted_.n_cells.begin(), wanted_.n_cells.begin() + D)},
                      {"low", std::vector(wanted_.low.begin(), wanted_.low.begin() + D)},
                      {"high", std::vector(wanted_.high.begin(), wanted_.high.begin() + D)},
                      {"ratio", wanted_.ratio},
                      {"block", wanted_.block_cells}};
    result["simulated_time"] = simulation_.time();
    result["steps"] = simulation_.n_steps();
    for (int level = 0; level < wanted_.n_levels; ++level) {
      const std::int64_t n_blocks = simulation_.hierarchy().n_global(level);
      result["levels"].push_back(
          {{"blocks", n_blocks}, {"cells", n_blocks * simulation_.hierarchy().space().block_size()}});
    }
    add_seconds(result);
    add_totals(result);
    result["fallbacks"] = mpi::sum(context_, simulation_.n_fallbacks());
    result["series"] = series_;
    result["is_met"] = true;
    add_errors(result);
    if (!ended_by_.empty()) result["ended_by"] = ended_by_;
    if (file_) result["output"] = {{"file", file_->name()}, {"states", file_->n_states()}};
    if (!wanted_.checkpoint_file.empty()) result["checkpoint"] = wanted_.checkpoint_file;
    result["slices"] = drawn_;
    result["checksum"] = fmt::format("{:016x}", simulation_.checksum());
    result["case"] = name_;
    return result;
  }

 private:
  amr::Simulation<D> begin(const std::string& restart) {
    amr::SimulationOptions<D> options = options_of<D>(wanted_, euler_, numbers_);
    if (restart.empty()) return amr::Simulation<D>(context_, euler_, std::move(options));
    return amr::read_checkpoint<D>(context_, euler_, std::move(options), restart);
  }

  /// Refuse files that cannot be written, before the run.
  void check_places() {
    mpi::agree_after(context_, [&] {
      if (!context_.is_root()) return;
      std::vector<std::string> places{wanted_.output_file, wanted_.checkpoint_file};
      for (const SliceCase& one : wanted_.slices) places.push_back(picture_name(one, 0));
      for (const std::string& place : places)
        if (!place.empty()) check_writable(place);
    });
  }

  std::vector<amr::OutputQuantity> output_quantities() const {
    std::vector<amr::OutputQuantity> all = euler_->quantities();
    if (wanted_.output_quantities.empty()) return all;
    std::vector<amr::OutputQuantity> chosen;
    std::vector<std::string> names;
    for (const amr::OutputQuantity& one : all) names.push_back(one.name);
    for (const std::string& name : wanted_.output_quantities) {
      const auto found = std::ranges::find(names, name);
      if (found == names.end())
        refuse_together(ErrorCode::bad_input, fmt::format("output.quantities: '{}'", name),
                        fmt::format("is not a quantity.{}", did_you_mean(name, names)),
                        fmt::format("give some of {}", fmt::join(names, ", ")));
      chosen.push_back(all[found - names.begin()]);
    }
    return chosen;
  }

  [[nodiscard]] double part_done() const {
    double part = 0.0;
    if (std::isfinite(wanted_.end_time)) part = simulation_.time() / wanted_.end_time;
    if (wanted_.n_steps < std::numeric_limits<std::int64_t>::max())
      part = std::max(part, static_cast<double>(simulation_.n_steps()) / static_cast<double>(wanted_.n_steps));
    return part;
  }

  /// Write the state and draw the pictures of the start. A restarted run goes on with the numbers of the one before,
  /// and does only what was due at its time.
  void begin_files(const Recurring& output, const std::vector<Recurring>& slices) {
    const double time = simulation_.time();
    const std::int64_t n_steps = simulation_.n_steps();
    if (!is_restarted_ || output.is_now(time, n_steps) || (file_ && file_->n_states() == 0)) write_state();
    n_drawn_.resize(slices.size());
    scales_.resize(slices.size());
    for (std::size_t s = 0; s < slices.size(); ++s) {
      if (wanted_.slices[s].every.is_never()) continue;
      const bool is_now = !is_restarted_ || slices[s].is_now(time, n_steps);
      if (is_restarted_) n_drawn_[s] = slices[s].n_before(n_steps) + (is_now ? 0 : 1);
      if (is_now) draw(s);
    }
  }

  /// Tell what ends the run early, on all ranks: a signal that reached one of them, or the time of the first.
  [[nodiscard]] std::string find_ending() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const bool is_late = context_.is_root() && wanted_.wall_time > 0.0 && seconds >= wanted_.wall_time;
    const int found = mpi::max(context_, ending_signal != 0 ? 2 : is_late ? 1 : 0);
    return found == 2 ? "SIGTERM" : found == 1 ? "run.wall_time" : "";
  }

  void write_state() {
    if (file_) file_->write(simulation_);
  }

  static std::string picture_name(const SliceCase& one, std::int64_t number) {
    std::string name = one.file;
    if (const std::size_t at = name.find("{}"); at != std::string::npos)
      name.replace(at, 2, fmt::format("{:04}", number));
    return name;
  }

  void draw(std::size_t s) {
    const SliceCase& one = wanted_.slices[s];
    const auto quantity = std::ranges::find(wanted_.quantities, one.quantity) - wanted_.quantities.begin();
    std::vector<double> values(numbers_.n());
    const Slice slice = cut<D>(simulation_, one, [&](std::span<const double> u) {
      numbers_.compute(u, values);
      return values[quantity];
    });
    const std::string name = picture_name(one, n_drawn_[s]++);
    // The scale of a series is that of its first picture, widened where later ones go beyond it.
    std::optional<Scale>& scale = scales_[s];
    if (!scale) scale = Scale{slice.min, slice.max};
    const double lowest = scale->lowest = one.lowest.value_or(std::min(scale->lowest, slice.min));
    const double highest = scale->highest = one.highest.value_or(std::max(scale->highest, slice.max));
    mpi::agree_after(context_, [&] {
      if (context_.is_root()) write_png(slice, one, lowest, highest, name);
    });
    drawn_.push_back({{"file", name},
                      {"quantity", one.quantity},
                      {"time", simulation_.time()},
                      {"min", lowest},
                      {"max", highest},
                      {"has_boxes", one.has_boxes}});
  }

  /// Integrate functions of cells over the domain, one for each formula.
  template <class Change>
  [[nodiscard]] std::vector<double> integrals(const NamedFormulas& formulas, Change change) {
    std::vector<double> values(n_place_numbers + numbers_.n());
    return simulation_.integrals(static_cast<int>(formulas.size()),
                                 [&](const std::array<double, D>& x, std::span<const double> u, std::span<double> out) {
                                   put_place(x, simulation_.time(), values);
                                   numbers_.compute(u, std::span(values).subspan(n_place_numbers));
                                   for (std::size_t i = 0; i < formulas.size(); ++i) out[i] = change(i, values);
                                 });
  }

  void add_to_series() {
    if (wanted_.integrals.empty()) return;
    const std::vector<double> values = integrals(
        wanted_.integrals, [&](std::size_t i, std::span<const double> of) { return wanted_.integrals[i].second(of); });
    series_["time"].push_back(simulation_.time());
    for (std::size_t i = 0; i < values.size(); ++i) series_[wanted_.integrals[i].first].push_back(values[i]);
  }

  void add_errors(Json& result) {
    if (wanted_.exact.empty()) return;
    std::vector<std::size_t> places;
    for (const auto& [name, formula] : wanted_.exact)
      places.push_back(n_place_numbers + (std::ranges::find(wanted_.quantities, name) - wanted_.quantities.begin()));
    const std::vector<double> errors = integrals(wanted_.exact, [&](std::size_t i, std::span<const double> of) {
      return std::abs(of[places[i]] - wanted_.exact[i].second(of.first(n_place_numbers)));
    });
    double volume = 1.0;
    for (std::size_t k = 0; k < D; ++k) volume *= wanted_.high[k] - wanted_.low[k];
    double squares = 0.0;
    const auto add = [&](const std::string& name, double error) {
      Json one{{"quantity", name}, {"error", error}};
      if (const auto limit = wanted_.max_error.find(name); limit != wanted_.max_error.end()) {
        one["max_error"] = limit->second;
        one["is_met"] = error <= limit->second;
        if (!one["is_met"].get<bool>()) result["is_met"] = false;
      }
      result["errors"].push_back(one);
    };
    for (std::size_t i = 0; i < errors.size(); ++i) {
      add(wanted_.exact[i].first, errors[i] / volume);
      squares += errors[i] * errors[i];
    }
    add("together", std::sqrt(squares) / volume);
  }

  void add_seconds(Json& result) {
    const amr::SimulationSeconds& seconds = simulation_.seconds();
    const double all = mpi::max(context_, seconds.all);
    const auto n_updates = static_cast<double>(mpi::sum(context_, simulation_.n_updates()));
    result["updates"] = n_updates;
    result["seconds"] = all;
    result["updates_per_second"] = all > 0.0 ? n_updates / all : 0.0;
    const auto share = [&](double one) { return all > 0.0 ? mpi::sum(context_, one) / (all * context_.size()) : 0.0; };
    result["shares"] = {{"kernel", share(seconds.kernel)},       {"fill", share(seconds.fill)},
                        {"exchange", share(seconds.exchange)},   {"coarse_fine", share(seconds.coarse_fine)},
                        {"time_step", share(seconds.time_step)}, {"regrid", share(seconds.regrid)}};
  }

  void add_totals(Json& result) {
    const std::vector<std::string> names = euler_->variables();
    const std::vector<double> totals = simulation_.totals();
    for (std::size_t v = 0; v < names.size(); ++v)
      result["totals"].push_back({{"variable", names[v]}, {"begin", totals_[v]}, {"end", totals[v]}});
  }

  mpi::Context& context_;
  AmrCase wanted_;
  std::string name_;
  std::shared_ptr<const amr::Euler<D>> euler_;
  CellNumbers numbers_;
  bool is_restarted_;
  amr::Simulation<D> simulation_;
  std::vector<double> totals_;
  std::optional<amr::SimulationFile<D>> file_;
  std::string ended_by_;  // empty: the run was not ended early
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::int64_t> n_drawn_;
  /// Values of the first and the last colour.
  struct Scale {
    double lowest;
    double highest;
  };
  std::vector<std::optional<Scale>> scales_;  // of each series of pictures
  Json series_ = Json::object();
  Json drawn_ = Json::array();
};

/// Read a file on one rank and send its text to all. Collective. @throws AgreedError{failed}
std::string read_together(mpi::Context& context, const std::string& path) {
  std::string text;
  mpi::agree_after(context, [&] {
    if (!context.is_root()) return;
    std::error_code none;
    if (std::filesystem::is_directory(path, none))
      refuse(ErrorCode::failed, path, "is a folder", "give the name of a case file");
    std::ifstream stream(path, std::ios::binary);
    if (stream) text.assign(std::istreambuf_iterator<char>(stream), {});
    if (!stream) refuse(ErrorCode::failed, path, "cannot be read", "give the name of a case file");
  });
  mpi::broadcast(context, text);
  return text;
}

}  // namespace

CaseRun::CaseRun(mpi::Context& context, const CaseJob& job) {
  const std::string text = job.text.empty() ? read_together(context, job.file) : job.text;
  AmrCase wanted;
  mpi::agree_after(context, [&] { wanted = read_case(job.file, text, job.settings); });
  if (wanted.n_axes == 2)
    core_ = std::make_unique<RunIn<2>>(context, std::move(wanted), job.file, job.restart);
  else
    core_ = std::make_unique<RunIn<3>>(context, std::move(wanted), job.file, job.restart);
}

CaseRun::CaseRun(CaseRun&&) noexcept = default;
CaseRun& CaseRun::operator=(CaseRun&&) noexcept = default;
CaseRun::~CaseRun() = default;

void CaseRun::run(Progress* progress) { core_->run(progress); }
Json CaseRun::result() { return core_->result(); }
double CaseRun::time() const { return core_->time(); }
std::int64_t CaseRun::n_steps() const { return core_->n_steps(); }
int CaseRun::n_levels() const { return core_->n_levels(); }
std::size_t CaseRun::n_axes() const { return core_->n_axes(); }
CaseCells CaseRun::cells() const { return core_->cells(); }
CaseBlocks CaseRun::blocks(int level) const { return core_->blocks(level); }

}  // namespace barrio::cases
