// Advection across a periodic square, on boxes of 16 x 16 cells that are distributed to ranks along a Hilbert curve.
// Boxes with all neighbours on this rank are computed while messages travel, each other box as soon as its last
// message has arrived. Any number of ranks prints the same result.
//
//   mpirun -n 4 boxes [BOXES_A_SIDE] [STEPS]
#include <algorithm>
#include <array>
#include <barrio/base/hash.hpp>
#include <barrio/geometry/hilbert_place.hpp>
#include <barrio/mesh/box_halo.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

using barrio::mesh::BoxField, barrio::mesh::BoxHalo, barrio::mesh::BoxLayout, barrio::mesh::Centering;

namespace {

using Box = barrio::geometry::IndexBox<2>;

constexpr std::int64_t width = 16;  // cells along a side of a box
constexpr double courant = 0.4;     // cells per step that the field moves along each axis

/// Return this rank's contiguous range of the boxes along the curve.
std::vector<Box> boxes_of_rank(barrio::Context& context, std::int64_t n_a_side) {
  const int n_bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_a_side - 1))));
  std::vector<std::pair<std::uint64_t, Box>> along;
  for (std::int64_t j = 0; j < n_a_side; ++j) {
    for (std::int64_t i = 0; i < n_a_side; ++i) {
      const std::array<std::uint64_t, 2> cell{static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)};
      along.emplace_back(barrio::geometry::hilbert_place(cell, n_bits),
                         Box{{i * width, j * width}, {(i + 1) * width, (j + 1) * width}});
    }
  }
  std::ranges::sort(along, {}, [](const auto& one) { return one.first; });
  const std::int64_t n = std::ssize(along);
  std::vector<Box> mine;
  for (std::int64_t b = n * context.rank() / context.size(); b < n * (context.rank() + 1) / context.size(); ++b)
    mine.push_back(along[b].second);
  return mine;
}

/// Advance by one upwind step. @param[in] now, next  values of the box with a layer of ghosts
void advance(const Box& box, const std::vector<double>& now, std::vector<double>& next) {
  const Box with_ghosts = box.grown(1);
  const std::int64_t row = with_ghosts.extent(0);
  for (std::int64_t j = box.low[1]; j < box.high[1]; ++j) {
    for (std::int64_t i = box.low[0]; i < box.high[0]; ++i) {
      const std::int64_t at = with_ghosts.place({i, j});
      next[at] = now[at] - courant * (now[at] - now[at - 1]) - courant * (now[at] - now[at - row]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const std::int64_t n_a_side = argc > 1 ? std::atoll(argv[1]) : 8;
    const int n_steps = argc > 2 ? std::atoi(argv[2]) : 100;
    const std::int64_t n = n_a_side * width;

    const auto layout = std::make_shared<const BoxLayout<2>>(
        context, Box{{0, 0}, {n, n}}, boxes_of_rank(context, n_a_side),
        barrio::mesh::BoxLayoutOptions<2>{.is_periodic = {true, true}, .reach = 1});
    std::vector<std::vector<double>> now;
    for (const Box& box : layout->boxes()) {
      const Box with_ghosts = box.grown(1);
      std::vector<double>& values = now.emplace_back(with_ghosts.size());
      for (std::int64_t at = 0; at < with_ghosts.size(); ++at) {
        const auto [i, j] = with_ghosts.at(at);
        const double phase = 2.0 * std::numbers::pi / static_cast<double>(n);
        values[at] = std::sin(phase * static_cast<double>(i)) * std::cos(phase * static_cast<double>(j));
      }
    }
    std::vector<std::vector<double>> next = now;

    // Two halos, since the arrays alternate.
    const auto halo_of = [&](std::vector<std::vector<double>>& values) {
      const std::vector<std::span<double>> spans(values.begin(), values.end());
      return BoxHalo<2>(layout, {BoxField::by_place<double>(Centering::cell, spans)});
    };
    std::array halos{halo_of(now), halo_of(next)};

    for (int step = 0; step < n_steps; ++step) {
      BoxHalo<2>& halo = halos[step % 2];
      halo.begin();
      for (const std::int32_t box : halo.interior()) {
        advance(layout->boxes()[box], now[box], next[box]);
        halo.progress();
      }
      while (const auto box = halo.wait_for_ready()) advance(layout->boxes()[*box], now[*box], next[*box]);
      halo.end();
      now.swap(next);
    }

    std::uint64_t checksum = 0;
    double highest = -1.0;
    for (std::size_t b = 0; b < now.size(); ++b) {
      const Box& box = layout->boxes()[b];
      for (std::int64_t c = 0; c < box.size(); ++c) {
        const double value = now[b][box.grown(1).place(box.at(c))];
        checksum += barrio::Hash64().add(layout->domain().place(box.at(c))).add(value).value();
        highest = std::max(highest, value);
      }
    }
    checksum = barrio::mpi::sum(context, checksum);
    highest = barrio::mpi::max(context, highest);
    if (context.is_root())
      std::printf("%lld cells, %d steps: at most %.6f, checksum %016llx\n",
                  static_cast<long long>(layout->domain().size()), n_steps, highest,
                  static_cast<unsigned long long>(checksum));
  });
}
