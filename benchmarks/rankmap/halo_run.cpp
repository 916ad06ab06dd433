#include "benchmarks/rankmap/halo_run.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "benchmarks/rankmap/halo_files.hpp"

namespace barrio::bench {
namespace {

constexpr std::size_t values_per_point = 5;

/// Return a distinct value for each position of each message; exact in a double.
double value_of(Rank from, Rank to, int level, std::size_t i) {
  return static_cast<double>(i) + 1e7 * (level + 4.0 * (from + 1e4 * to));
}

/// Points, requests and buffers of a rank on one level.
class LevelHalo {
 public:
  LevelHalo(mpi::Context& context, const std::string& folder, int level)
      : context_(context),
        level_(level),
        halo_(read_level(level_path(folder, level), context.rank(), context.size())),
        sent_(n_values(halo_.to)),
        received_(n_values(halo_.from)) {
    for_messages(halo_.to, sent_, [&](Rank to, std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(context_.rank(), to, level_, i);
    });
  }

  [[nodiscard]] const RankHalo& halo() const& { return halo_; }
  const RankHalo& halo() const&& = delete;

  void exchange() {
    requests_.clear();
    for_messages(halo_.from, received_, [&](Rank from, std::span<double> values) {
      mpi::check(MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, from, level_, context_.comm(),
                           &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Irecv");
    });
    for_messages(halo_.to, sent_, [&](Rank to, std::span<double> values) {
      mpi::check(MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, to, level_, context_.comm(),
                           &requests_.emplace_back(MPI_REQUEST_NULL)),
                 "MPI_Isend");
    });
    mpi::check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  void check_contents() {
    for_messages(halo_.from, received_, [&](Rank from, std::span<const double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == value_of(from, context_.rank(), level_, i)) continue;
        throw Error(ErrorCode::differs,
                    {.subject = fmt::format("level {}", level_),
                     .cause = fmt::format("value {} of the message from rank {} is {}", i, from, values[i])});
      }
    });
  }

 private:
  static std::size_t n_values(std::span<const HaloPartner> partners) {
    std::size_t n_points = 0;
    for (const HaloPartner& partner : partners) n_points += static_cast<std::size_t>(partner.n_points);
    return values_per_point * n_points;
  }

  template <class Visit>
  static void for_messages(std::span<const HaloPartner> partners, std::span<double> buffer, const Visit& visit) {
    for (const HaloPartner& partner : partners) {
      const std::size_t n = values_per_point * static_cast<std::size_t>(partner.n_points);
      visit(partner.rank, buffer.first(n));
      buffer = buffer.subspan(n);
    }
  }

  mpi::Context& context_;
  int level_;
  RankHalo halo_;
  std::vector<double> sent_, received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

Json run_halo(mpi::Context& context, const HaloRunOptions& options) {
  std::vector<LevelHalo> levels;
  for (int level = 0; level < n_levels_of(options.cycle); ++level) levels.emplace_back(context, options.folder, level);
  const double seconds_per_point = options.compute_seconds / levels.front().halo().mean_points;

  const std::vector<int> visits = visits_of(options.cycle);
  double computed = 0.0;
  const auto iterate = [&](int n) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < n; ++i) {
      for (const int visit : visits) {
        LevelHalo& level = levels[static_cast<std::size_t>(visit)];
        const double before = MPI_Wtime();
        smpi_execute(seconds_per_point * level.halo().n_points);
        computed += MPI_Wtime() - before;
        level.exchange();
      }
    }
    return MPI_Wtime() - begin;
  };
  iterate(1);
  for (LevelHalo& level : levels) level.check_contents();

  computed = 0.0;
  double seconds_in_step = 0.0;
  for (int i = 0; i < options.n_in_step; ++i) {
    mpi::barrier(context);
    seconds_in_step += mpi::max(context, iterate(1));
  }
  mpi::barrier(context);
  const double seconds_free = mpi::max(context, iterate(options.n_free));

  Json document = mpi::document(context, "barrio.bench.rankmap_halo", 1);
  document["cycle"] = name_of(options.cycle);
  document["seconds_in_step"] = seconds_in_step / options.n_in_step;
  document["seconds_free"] = seconds_free / options.n_free;
  document["seconds_computing"] = mpi::max(context, computed) / (options.n_in_step + options.n_free);
  return document;
}

}  // namespace barrio::bench
