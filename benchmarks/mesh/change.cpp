#include "benchmarks/mesh/change.hpp"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

constexpr const char* field_name = "five values";

class Changes {
 public:
  Changes(mpi::Context& context, mesh::Mesh& mesh) : context_(context), mesh_(mesh) {
    auto field = mesh.add_field<double>(field_name, mesh::Dim::vertex, 5);
    const std::vector<GlobalId>& ids = mesh.vertices().global_ids;
    for (std::size_t v = 0; v < ids.size(); ++v)
      for (std::size_t c = 0; c < 5; ++c)
        field.values()[5 * v + c] = static_cast<double>(value(ids[v])) + 0.125 * static_cast<double>(c);
    checksum_ = mesh.checksum();
    checksum_of_field_ = mesh.checksum(*mesh.fields().back());
  }

  /// Time one change, and keep the min. The mesh and the field must be unchanged.
  template <class Change>
  void time(double& shortest, Change&& change) {
    mpi::barrier(context_);
    const double begin = MPI_Wtime();
    change();
    const double seconds = mpi::max(context_, MPI_Wtime() - begin);
    shortest = shortest == 0.0 ? seconds : std::min(shortest, seconds);
    if (mesh_.checksum() == checksum_ && mesh_.checksum(*mesh_.fields().back()) == checksum_of_field_) return;
    refuse_together(ErrorCode::internal, "bench mesh", "made a different mesh by a change",
                    "this is a bug in barrio, please report it");
  }

  /// Run a change. @return peak growth of memory over all ranks, in bytes
  template <class Change>
  double peak_of(Change&& change) {
    ::malloc_trim(0);
    reset_peak_resident_bytes();
    const auto before = static_cast<double>(resident_bytes());
    change();
    return mpi::sum(context_, static_cast<double>(peak_resident_bytes()) - before);
  }

  /// Move own cells from `first` on to the next rank. @return number of cells moved, over all ranks
  std::int64_t move(std::size_t first) {
    const Rank next = (context_.rank() + 1) % context_.size();
    std::vector<Rank> to(mesh_.n_owned(mesh_.cell_dim()), context_.rank());
    for (std::size_t c = first; c < to.size(); ++c) to[c] = next;
    return mesh_.migrate(to);
  }
  [[nodiscard]] std::size_t n_owned() const { return mesh_.n_owned(mesh_.cell_dim()); }

 private:
  mpi::Context& context_;
  mesh::Mesh& mesh_;
  std::uint64_t checksum_ = 0;
  std::uint64_t checksum_of_field_ = 0;
};

}  // namespace

ChangeFigures measure_change(mpi::Context& context, const MeshOptions& options, mesh::Mesh mesh) {
  ChangeFigures figures;
  Changes changes(context, mesh);
  figures.memory_bytes = mpi::sum(context, static_cast<std::int64_t>(mesh.memory_bytes()));
  const auto adopt_again = [&] { mesh = mesh::adopt(context, std::move(mesh).release()); };
  figures.adopt_peak_bytes = changes.peak_of(adopt_again);
  // The order of changes matters: moved cells are stored in more pieces.
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    changes.time(figures.adopt_seconds, adopt_again);
    changes.time(figures.idle_seconds, [&] { changes.move(changes.n_owned()); });
  }
  for (int repeat = 0; repeat < options.n_repeats; ++repeat)
    changes.time(figures.few_seconds,
                 [&] { figures.n_few = changes.move(changes.n_owned() - changes.n_owned() / 100); });
  // The last owned cells are at the border of the rank.
  const auto move_half = [&] { figures.n_half = changes.move(changes.n_owned() / 2); };
  figures.half_peak_bytes = changes.peak_of(move_half);
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) changes.time(figures.half_seconds, move_half);
  figures.n_few = mpi::sum(context, figures.n_few);
  figures.n_half = mpi::sum(context, figures.n_half);
  mesh.validate();
  return figures;
}

}  // namespace barrio::bench
