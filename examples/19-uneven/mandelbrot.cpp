// Area of the Mandelbrot set by squares that divide where its boundary is. Nobody knows before where the work will be:
// all of it begins as one object of one rank, and spreads by itself. mandelbrot [LEVELS [stay]]
#include <barrio/mobile/runtime.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>

using barrio::mobile::MobilePtr, barrio::mobile::Turn;

namespace {

constexpr int n_points = 16;          // in a square, in each direction
constexpr int max_iterations = 2000;  // of a point that does not escape

/// Sum of what all squares find; it stays where it was made.
struct Sum {
  std::int64_t n_inside = 0;
  std::int64_t n_squares = 0;
};
/// Square of the plane, which ends when it has divided or counted.
struct Square {
  int level = 0;
  std::int64_t x = 0, y = 0;  // in units of its own size
  MobilePtr<Sum> sum;
};
struct Count {};
struct Found {
  std::int64_t n_inside;  // in points of the last level
};

bool is_inside(std::complex<double> c) {
  std::complex<double> z = 0;
  for (int i = 0; i < max_iterations; ++i) {
    z = z * z + c;
    if (std::norm(z) > 4) return false;
  }
  return true;
}

int count_inside(const Square& square) {
  const double size = 4.0 / static_cast<double>(1 << square.level);
  int n = 0;
  for (int i = 0; i < n_points; ++i)
    for (int j = 0; j < n_points; ++j)
      n += is_inside({-2 + size * (static_cast<double>(square.x) + (i + 0.5) / n_points),
                      -2 + size * (static_cast<double>(square.y) + (j + 0.5) / n_points)})
               ? 1
               : 0;
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const int n_levels = argc > 1 ? std::atoi(argv[1]) : 7;
    const bool balancing = argc < 3;  // stay: on the first rank
    barrio::mobile::Runtime runtime(context, {.migration = true, .balancing = balancing});
    runtime.add_type<Sum>("sum");
    runtime.add_type<Square>("square");
    runtime.on<Sum, Found>([](Turn&, Sum& sum, const Found& found) {
      sum.n_inside += found.n_inside;
      sum.n_squares += 1;
    });
    runtime.on<Square, Count>([&](Turn& turn, Square& square, const Count&) {
      const int n = count_inside(square);
      const bool is_mixed = (n > 0 && n < n_points * n_points) || square.level < 3;
      if (is_mixed && square.level < n_levels) {
        for (const std::int64_t i : {0, 1})
          for (const std::int64_t j : {0, 1}) {
            const auto part =
                turn.runtime().make(Square{square.level + 1, 2 * square.x + i, 2 * square.y + j, square.sum});
            turn.send(part, Count{});
          }
      } else {
        turn.send(square.sum, Found{std::int64_t{n} << 2 * (n_levels - square.level)});
      }
      turn.destroy();
    });

    MobilePtr<Sum> sum;
    if (context.is_root()) {
      sum = runtime.make(Sum{});
      runtime.send(runtime.make(Square{0, 0, 0, sum}), Count{});
    }
    runtime.run();

    const double most = barrio::mpi::max(context, runtime.statistics().handler_seconds);
    const double all = barrio::mpi::sum(context, runtime.statistics().handler_seconds);
    const auto n_migrations = barrio::mpi::sum(context, runtime.statistics().migrations);
    std::int64_t n_inside = 0;
    std::int64_t n_squares = 0;
    for (const auto one : runtime.objects<Sum>())
      runtime.visit(one, [&](const Sum& found) {
        n_inside = found.n_inside;
        n_squares = found.n_squares;
      });
    n_inside = barrio::mpi::sum(context, n_inside);
    n_squares = barrio::mpi::sum(context, n_squares);
    const double point = 4.0 / (n_points * static_cast<double>(1 << n_levels));
    if (context.is_root())
      std::printf("%s squares, %s points inside, area %.6f; %s migrations, the busiest rank has %.2f of its share\n",
                  std::to_string(n_squares).c_str(), std::to_string(n_inside).c_str(),
                  static_cast<double>(n_inside) * point * point, std::to_string(n_migrations).c_str(),
                  all > 0 ? most / all * context.size() : 0.0);
  });
}
