#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "barrio/base/error.hpp"
#include "barrio/files/overlapping_amr.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::files {

OverlappingAmrSteps::OverlappingAmrSteps(mpi::Context& context, std::string path)
    : context_(context), path_(std::move(path)) {
  agree_after(context_, [&] { open(); });
}

void OverlappingAmrSteps::open() {
  file_ = open_to_read(path_);
  const std::string steps = "/VTKHDF/Steps";
  if (!has(file_.get(), steps + "/Values")) refuse(ErrorCode::bad_input, path_, "is not a series of VTKHDF");
  times_ = read_reals(file_.get(), steps + "/Values");
  for (std::size_t l = 0; has(file_.get(), fmt::format("/VTKHDF/Level{}", l)); ++l) {
    Level& level = levels_.emplace_back();
    level.group = fmt::format("/VTKHDF/Level{}", l);
    const std::string of_level = fmt::format("{}/Level{}", steps, l);
    level.first_box = read_integers(file_.get(), of_level + "/AMRBoxOffsets");
    level.n_boxes = read_integers(file_.get(), of_level + "/NumberOfAMRBoxes");
    level.arrays = names_in(file_.get(), level.group + "/CellData");
    bool is_whole = level.first_box.size() == times_.size() && level.n_boxes.size() == times_.size();
    for (const std::string& name : level.arrays) {
      level.first_row.push_back(read_integers(file_.get(), of_level + "/CellDataOffsets/" + name));
      is_whole = is_whole && level.first_row.back().size() == times_.size();
    }
    if (!is_whole) refuse(ErrorCode::bad_input, path_, fmt::format("has other steps on level {}", l));
  }
  if (levels_.empty()) refuse(ErrorCode::bad_input, path_, "has no level of boxes");
}

/// Read this rank's share of the boxes of a level.
std::vector<OverlappingAmrFile::Box> OverlappingAmrSteps::read_boxes(const Level& level, std::size_t step) const {
  const std::int64_t n = level.n_boxes[step];
  const std::int64_t first = n * context_.rank() / context_.size();
  const std::int64_t end = n * (context_.rank() + 1) / context_.size();
  std::vector<Box> boxes(end - first);
  const std::vector<std::int64_t> numbers =
      read_integers(file_.get(), level.group + "/AMRBox", Rows{level.first_box[step] + first, end - first});
  if (std::ssize(numbers) != 6 * (end - first))
    refuse(ErrorCode::bad_input, path_ + ": " + level.group + "/AMRBox", "must have six numbers a box");
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    for (std::size_t k = 0; k < 3; ++k) {
      boxes[b].low[k] = numbers[6 * b + 2 * k];
      boxes[b].high[k] = numbers[6 * b + 2 * k + 1] + 1;
    }
  }
  return boxes;
}

void OverlappingAmrSteps::copy(std::size_t step, OverlappingAmrFile& to) const {
  std::vector<std::vector<Box>> boxes(std::max(levels_.size(), to.n_levels()));
  agree_after(context_, [&] {
    for (std::size_t l = 0; l < levels_.size(); ++l) boxes[l] = read_boxes(levels_[l], step);
  });
  std::vector<std::int64_t> before;
  for (const auto& of_level : boxes) {
    std::int64_t& n = before.emplace_back(0);
    for (const Box& box : of_level) n += box.size();
  }
  mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
  to.make_boxes(boxes);
  for (std::size_t a = 0; a < levels_[0].arrays.size(); ++a) {
    const std::string& name = levels_[0].arrays[a];
    int width = 1;
    agree_after(context_, [&] {
      const auto shape = extents(file_.get(), levels_[0].group + "/CellData/" + name);
      width = shape.size() == 2 ? static_cast<int>(shape[1]) : 1;
    });
    const auto rows = to.make_array<double>(name, width);
    agree_after(context_, [&] {
      for (std::size_t l = 0; l < levels_.size(); ++l) {
        const Level& level = levels_[l];
        const auto at = std::ranges::find(level.arrays, name);
        if (at == level.arrays.end()) refuse(ErrorCode::bad_input, path_ + ": " + level.group, "lacks " + name);
        std::int64_t row = level.first_row[at - level.arrays.begin()][step] + before[l];
        for (std::size_t b = 0; b < boxes[l].size(); ++b) {
          const NativeValues found =
              read_native(file_.get(), level.group + "/CellData/" + name, Rows{row, boxes[l][b].size()});
          if (found.kind != NativeValues::Kind::real || found.number_bytes != sizeof(double))
            refuse(ErrorCode::bad_input, path_ + ": " + name, "does not have reals of 64 bits");
          std::vector<double> values(found.bytes.size() / sizeof(double));
          if (!values.empty()) std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
          to.put_array<double>(rows, l, b, values);
          row += boxes[l][b].size();
        }
      }
    });
  }
  to.end_step(times_[step]);
}

}  // namespace barrio::files
