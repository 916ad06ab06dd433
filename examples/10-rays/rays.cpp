// An X-ray picture of a volume that no rank has completely. Each rank has a slab of voxels and a queue of rays. Rays
// ask the ranks that have their next voxels, ranks with long queues give rays to their neighbours, and finished pixels
// go to the rank that has their row of the picture.
//
//   mpiexec -n 4 rays 96 picture.pgm
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/neighbor_collectives.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/tuple_list.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

using barrio::Rank;
using barrio::exchange::Neighborhood;
using barrio::exchange::Parcels;

namespace {

struct Ray {
  std::int32_t pixel;  // row * n + column
  std::int32_t depth;  // voxels passed
  std::int64_t value;  // sum of densities so far
};

constexpr std::size_t n_batch = 512;     // rays that a rank takes from its queue at once
constexpr std::int32_t n_ahead = 16;     // voxels that a ray asks for at once
constexpr std::size_t n_tolerated = 64;  // surplus over a neighbour that is not worth a message

std::uint64_t mix(std::uint64_t x) {  // scramble 64 bits (SplitMix64)
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Return the density of a grainy ball with a dense, off-centre core, in place of data from a file.
std::int32_t density_at(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t n) {
  const auto square = [](std::int64_t a) { return a * a; };
  const std::int64_t from_middle = square(2 * x + 1 - n) + square(2 * y + 1 - n) + square(2 * z + 1 - n);
  if (25 * from_middle > 16 * n * n) return 0;
  const std::int64_t from_core = square(2 * x + 1 - n + n / 4) + square(2 * y + 1 - n) + square(2 * z + 1 - n);
  const auto grain = static_cast<std::int32_t>(mix(static_cast<std::uint64_t>((z * n + y) * n + x)) % 3);
  return grain + (25 * from_core <= 2 * n * n ? 9 : 1);
}

class Tracer {
 public:
  Tracer(barrio::Context& context, std::int32_t n)
      : context_(context), n_(n), opaque_(2 * std::int64_t{n}), hood_(context, beside(context)) {
    for (std::int32_t z = first(context.rank()); z < first(context.rank() + 1); ++z)
      for (std::int32_t y = 0; y < n; ++y)
        for (std::int32_t x = 0; x < n; ++x) slab_.push_back(density_at(x, y, z, n));
    // Rows of pixels, distributed like slabs: ranks in the middle have most work.
    for (std::int32_t pixel = first(context.rank()) * n; pixel < first(context.rank() + 1) * n; ++pixel)
      queue_.push_back({pixel, 0, 0});
  }

  /// Trace until no rank has a ray left. Collective.
  void trace_all() {
    while (barrio::mpi::sum(context_, static_cast<std::int64_t>(queue_.size())) > 0) {
      balance();
      trace_some();
    }
  }

  /// Return finished pixels, each on the rank that has its row, in any order. Collective.
  [[nodiscard]] auto picture() const {
    barrio::exchange::TupleList<Rank, std::int32_t, std::int64_t> pixels;
    for (const Ray& ray : finished_) pixels.push_back(owner(ray.pixel / n_), ray.pixel, ray.value);
    barrio::exchange::transfer<0>(context_, pixels);
    return pixels;
  }
  [[nodiscard]] std::int64_t n_steps() const { return n_steps_; }

 private:
  /// Return the begin of a rank's slab.
  [[nodiscard]] std::int32_t first(Rank rank) const {
    return static_cast<std::int32_t>((std::int64_t{n_} * rank + context_.size() - 1) / context_.size());
  }
  [[nodiscard]] Rank owner(std::int32_t z) const { return static_cast<Rank>(std::int64_t{z} * context_.size() / n_); }
  static std::vector<Rank> beside(const barrio::Context& context) {
    std::vector<Rank> ranks;
    if (context.rank() > 0) ranks.push_back(context.rank() - 1);
    if (context.rank() + 1 < context.size()) ranks.push_back(context.rank() + 1);
    return ranks;
  }

  /// Give each neighbour with fewer rays a third of the difference.
  void balance() {
    const std::size_t mine = queue_.size();
    const std::vector<std::size_t> theirs = barrio::exchange::neighbor_allgather(hood_, mine);
    Parcels<Ray> given;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (mine <= theirs[i] + n_tolerated) continue;
      const auto some = std::span<const Ray>(queue_).last((mine - theirs[i]) / 3);
      given.add(hood_.neighbours()[i], some);
      queue_.resize(queue_.size() - some.size());
    }
    const Parcels<Ray> taken = barrio::exchange::neighbor_alltoallv(hood_, given);
    queue_.insert(queue_.end(), taken.items.begin(), taken.items.end());
  }

  /// Advance some rays by a few voxels. Collective: this rank may be asked even if it has no rays.
  void trace_some() {
    std::vector<Ray> rays(queue_.end() - static_cast<std::ptrdiff_t>(std::min(n_batch, queue_.size())), queue_.end());
    queue_.resize(queue_.size() - rays.size());
    std::vector<Rank> to;
    std::vector<std::int32_t> voxels;  // indices in the slab of `to`
    for (const Ray& ray : rays)
      for_each_voxel(ray, [&](std::int32_t x, std::int32_t y, std::int32_t z) {
        to.push_back(owner(z));
        voxels.push_back(((z - first(to.back())) * n_ + y) * n_ + x);
      });
    const std::vector<std::int32_t> densities =
        barrio::exchange::ask(context_, to, voxels, [&](std::int32_t voxel) { return slab_[voxel]; });
    std::size_t at = 0;
    for (Ray& ray : rays) {
      for_each_voxel(ray, [&](std::int32_t, std::int32_t, std::int32_t) {
        const std::int32_t density = densities[at++];
        if (ray.value < opaque_) ray.value += density;
      });
      ray.depth += n_ahead;
      n_steps_ += 1;
      (ray.depth < n_ && ray.value < opaque_ ? queue_ : finished_).push_back(ray);
    }
  }

  /// Visit the next voxels of a ray inside the volume. Rays are slightly oblique.
  template <class Visit>
  void for_each_voxel(const Ray& ray, Visit&& visit) const {
    for (std::int32_t z = ray.depth; z < std::min(ray.depth + n_ahead, n_); ++z) {
      const std::int32_t x = ray.pixel % n_ + z / 4 - n_ / 8;
      if (x >= 0 && x < n_) visit(x, ray.pixel / n_, z);
    }
  }

  barrio::Context& context_;
  std::int32_t n_;
  std::int64_t opaque_;  // a ray stops at this value
  Neighborhood hood_;
  std::vector<std::int32_t> slab_;
  std::vector<Ray> queue_;
  std::vector<Ray> finished_;
  std::int64_t n_steps_ = 0;
};

void write(const std::string& path, std::span<const std::int32_t> pixels, std::span<const std::int64_t> values,
           std::int32_t n) {
  std::vector<char> grey(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    grey[pixels[i]] = static_cast<char>(255 - std::min<std::int64_t>(values[i] * 64 / n, 255));
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << n << ' ' << n << "\n255\n";
  file.write(grey.data(), static_cast<std::streamsize>(grey.size()));
  if (!file.flush()) throw barrio::Error(barrio::ErrorCode::failed, {"file '" + path + "'", "cannot be written", ""});
}

void run(barrio::Context& context, int argc, char** argv) {
  const int n = argc == 2 || argc == 3 ? std::atoi(argv[1]) : 0;
  if (n < 8 || n > 1024)
    throw barrio::AgreedError(barrio::ErrorCode::usage,
                              {"rays", "needs 8 to 1024 voxels along an axis [and a file]", "rays 96 picture.pgm"});
  Tracer tracer(context, n);
  tracer.trace_all();
  auto picture = tracer.picture();

  std::uint64_t checksum = 0;
  for (std::size_t i = 0; i < picture.size(); ++i)
    checksum += mix(mix(picture.column<1>()[i]) ^ static_cast<std::uint64_t>(picture.column<2>()[i]));
  std::array<std::uint64_t, 2> all{picture.size(), checksum};
  barrio::mpi::all_reduce(context, std::span<std::uint64_t>(all), MPI_SUM);
  const std::int64_t n_steps = barrio::mpi::sum(context, tracer.n_steps());
  const std::int64_t n_max = barrio::mpi::max(context, tracer.n_steps());
  if (context.is_root()) {
    std::printf("%d^3 voxels, %" PRIu64 " rays, checksum %016" PRIx64 "\n", n, all[0], all[1]);
    std::printf("the busiest rank did %.2f times its share\n",
                static_cast<double>(n_max) * context.size() / static_cast<double>(n_steps));
  }
  if (argc == 3) {  // small enough for one rank
    std::ranges::fill(picture.column<0>(), Rank{0});
    barrio::exchange::transfer<0>(context, picture);
    barrio::agree_after(context, [&] {
      if (context.is_root()) write(argv[2], picture.column<1>(), picture.column<2>(), n);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) { run(context, argc, argv); });
}
