// Write three steps of three levels of boxes, with positions as values, for test_overlapping_amr.py:
//
//   write_levels FILE
//
// Level 0 is a cube of 8 cells along each axis, cut into one slab per rank. From step 1 on, a cube of finer cells moves
// along x, in two boxes on the first and the last rank. In step 2 the last rank has a still finer box inside.
#include <algorithm>

#include "barrio/files/overlapping_amr.hpp"
#include "barrio/mpi/run.hpp"

int main(int argc, char** argv) {
  using namespace barrio;
  using Box = files::OverlappingAmrFile::Box;
  return run(argc, argv, [&](Context& context) {
    files::OverlappingAmrFile file(
        context, argv[1], 1 << 20,
        {.origin = {1.0, 2.0, 3.0}, .spacing = {{0.5, 0.5, 1.0}, {0.25, 0.25, 0.5}, {0.125, 0.125, 0.25}}}, true);
    const std::int64_t rank = context.rank();
    const std::int64_t n = context.size();
    for (const std::int64_t step : {0, 1, 2}) {
      std::vector<std::vector<Box>> boxes(3);
      const Box slab{{0, 0, 8 * rank / n}, {8, 8, 8 * (rank + 1) / n}};
      if (!slab.empty()) boxes[0].push_back(slab);
      const std::int64_t x = 4 + 2 * step;
      if (step > 0 && rank == 0) boxes[1].push_back({{x, 4, 4}, {x + 4, 12, 12}});
      if (step > 0 && rank == n - 1) boxes[1].push_back({{x + 4, 4, 4}, {x + 8, 12, 12}});
      if (step == 2 && rank == n - 1) boxes[2].push_back({{20, 12, 12}, {24, 14, 20}});
      file.make_boxes(boxes);
      const auto place = file.make_array<double>("place", 3);
      const auto number = file.make_array<float>("number");
      for (std::size_t level = 0; level < boxes.size(); ++level) {
        for (std::size_t b = 0; b < boxes[level].size(); ++b) {
          std::vector<double> places;
          std::vector<float> numbers;
          for (std::int64_t at = 0; at < boxes[level][b].size(); ++at) {
            for (const std::int64_t i : boxes[level][b].at(at)) places.push_back(static_cast<double>(i));
            numbers.push_back(static_cast<float>(static_cast<std::int64_t>(level) + 10 * step));
          }
          file.put_array<double>(place, level, b, places);
          file.put_array<float>(number, level, b, numbers);
        }
      }
      file.end_step(0.5 * static_cast<double>(step));
    }
    file.close();
  });
}
