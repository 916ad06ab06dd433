// Heat in a rod of pieces: each is an object that tells the next ones its ends, and goes on as soon as it has theirs.
// rod PIECES STEPS [BYTES FOLDER]: with a limit of memory for each rank, the rest lies on the disk
#include <barrio/base/hash.hpp>
#include <barrio/mobile/runtime.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

using barrio::mobile::MobilePtr, barrio::mobile::Turn;

namespace {

/// Piece of the rod, with a cell of the next piece at each end.
struct Piece {
  int step = 0;
  std::vector<double> heat = std::vector<double>(10'002);
  std::vector<MobilePtr<Piece>> next;        // left and right, or null
  std::vector<std::vector<double>> ends{2};  // that have come from there: of this step, and of the one after

  template <class Visit>
  void fields(Visit& visit) {
    visit("step", step);
    visit("heat", heat);
    visit("next", next);
    visit("ends", ends);
  }
};

struct Meet {
  MobilePtr<Piece> left, right;
};
struct End {
  int side;
  double heat;
};

void tell_ends(Turn& turn, const Piece& piece) {
  if (piece.next[0]) turn.send(piece.next[0], End{1, piece.heat[1]});
  if (piece.next[1]) turn.send(piece.next[1], End{0, piece.heat[piece.heat.size() - 2]});
}

/// Compute steps as long as the ends of the pieces beside this one are here.
void go_on(Turn& turn, Piece& piece, int n_steps) {
  const auto is_here = [&](std::size_t side) { return !piece.next[side] || !piece.ends[side].empty(); };
  while (!piece.next.empty() && piece.step < n_steps && is_here(0) && is_here(1)) {
    for (const std::size_t side : {0U, 1U}) {
      if (!piece.next[side]) continue;
      (side == 0 ? piece.heat.front() : piece.heat.back()) = piece.ends[side].front();
      piece.ends[side].erase(piece.ends[side].begin());
    }
    double left = piece.heat[0];
    for (std::size_t k = 1; k + 1 < piece.heat.size(); ++k) {
      const double here = piece.heat[k];
      piece.heat[k] += 0.25 * (left - 2 * here + piece.heat[k + 1]);
      left = here;
    }
    piece.step += 1;
    tell_ends(turn, piece);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const int n_pieces = argc > 1 ? std::atoi(argv[1]) : 40;
    const int n_steps = argc > 2 ? std::atoi(argv[2]) : 50;
    barrio::mobile::Runtime runtime(context, {.max_memory_bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0,
                                              .scratch = argc > 4 ? argv[4] : "."});
    runtime.add_type<Piece>("piece");
    runtime.on<Piece, Meet>([&](Turn& turn, Piece& piece, const Meet& message) {
      piece.next = {message.left, message.right};
      tell_ends(turn, piece);
      go_on(turn, piece, n_steps);
    });
    runtime.on<Piece, End>([&](Turn& turn, Piece& piece, const End& end) {
      piece.ends[end.side].push_back(end.heat);
      go_on(turn, piece, n_steps);
    });
    if (context.is_root()) {  // makes all pieces, in runs on the ranks, and tells each those beside it
      std::vector<MobilePtr<Piece>> pieces(1);
      for (int p = 0; p < n_pieces; ++p) {
        Piece piece;
        if (p == 0) piece.heat.front() = 1000;  // the hot end
        pieces.push_back(runtime.make_on(p * context.size() / n_pieces, std::move(piece)));
      }
      pieces.emplace_back();
      for (std::size_t p = 1; p + 1 < pieces.size(); ++p) runtime.send(pieces[p], Meet{pieces[p - 1], pieces[p + 1]});
    }
    runtime.run();  // until no rank has a message left

    double heat = 0;
    for (const auto& one : runtime.objects<Piece>())
      runtime.visit(one, [&](const Piece& piece) {
        for (std::size_t k = 1; k + 1 < piece.heat.size(); ++k) heat += piece.heat[k];
      });
    heat = barrio::mpi::sum(context, heat);
    const auto n_messages = barrio::mpi::sum(context, runtime.statistics().handled_messages);
    const auto n_loads = barrio::mpi::sum(context, runtime.statistics().loads);
    if (context.is_root())
      std::printf("%s messages, %s loads from the disk, heat %.9f\n", std::to_string(n_messages).c_str(),
                  std::to_string(n_loads).c_str(), heat);
  });
}
