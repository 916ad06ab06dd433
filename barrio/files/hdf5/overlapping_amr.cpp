#include "barrio/files/overlapping_amr.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// The groups /VTKHDF/Level0, Level1, ... have the boxes of a level in sequence, as first and last index along each
// axis, and the cells of these boxes in the same order. In a series the group Steps gives the first rows of boxes and
// arrays for each step and level.

namespace barrio::files {
namespace {

constexpr std::int64_t numbers_of_box = 6;

std::string group_of(std::size_t level) { return fmt::format("Level{}", level); }

std::string text_of(const OverlappingAmrFile::Box& box) {
  return fmt::format("box from {}, {}, {} to {}, {}, {}", box.low[0], box.low[1], box.low[2], box.high[0], box.high[1],
                     box.high[2]);
}

}  // namespace

OverlappingAmrFile::OverlappingAmrFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes,
                                       const AmrGeometry& geometry, bool has_steps)
    : context_(context),
      path_(path),
      has_steps_(has_steps),
      spacing_(geometry.spacing),
      file_(context, path, expected_bytes),
      levels_(geometry.spacing.size()) {
  if (levels_.empty()) refuse_together(ErrorCode::usage, path_, "must have at least one level");
  for (std::size_t level = 0; level < levels_.size(); ++level)
    for (const double step : spacing_[level])
      if (!(std::isfinite(step) && step > 0.0))
        refuse_together(ErrorCode::usage, fmt::format("{}: level {}", path_, level),
                        fmt::format("must have a positive, finite cell size, but has {}", step));
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    const double ratio = std::round(spacing_[level - 1][0] / spacing_[level][0]);
    for (std::size_t k = 0; k < 3; ++k)
      if (ratio < 1.0 || std::abs(spacing_[level][k] * ratio - spacing_[level - 1][k]) > 1e-9 * spacing_[level - 1][k])
        refuse_together(ErrorCode::usage, fmt::format("{}: level {}", path_, level),
                        fmt::format("has cells of {} along axis {}, but level {} of {}", spacing_[level][k], k,
                                    level - 1, spacing_[level - 1][k]),
                        "the refinement ratio must be an integer, the same along each axis");
  }
  file_.make_group("/VTKHDF");
  file_.write_attribute("/VTKHDF", "Version", std::array<std::int64_t, 2>{2, 3});
  file_.write_attribute("/VTKHDF", "Type", "OverlappingAMR");
  file_.write_attribute("/VTKHDF", "GridDescription", "XYZ");
  file_.write_attribute("/VTKHDF", "Origin", std::span<const double>(geometry.origin));
}

void OverlappingAmrFile::make_level(std::size_t level) {
  const std::string group = "/VTKHDF/" + group_of(level);
  file_.make_group(group);
  file_.write_attribute(group, "Spacing", std::span<const double>(spacing_[level]));
}

void OverlappingAmrFile::make_boxes(std::span<const std::vector<Box>> boxes) {
  agree_after(context_, [&] {
    if (boxes.size() != levels_.size())
      refuse(ErrorCode::usage, path_, fmt::format("is given boxes of {} levels, but has {}", boxes.size(), n_levels()));
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (std::size_t level = 0; level < boxes.size(); ++level) {
      for (const Box& box : boxes[level]) {
        const std::string subject = fmt::format("{}: level {}: {}", path_, level, text_of(box));
        if (box.empty()) refuse(ErrorCode::usage, subject, "must have at least one cell");
        for (std::size_t k = 0; k < 3; ++k)
          if (box.low[k] < -most || box.high[k] > most) refuse(ErrorCode::usage, subject, "has indices beyond 32 bits");
      }
    }
  });
  if (n_of_boxes_ > 0 && !has_steps_) refuse_together(ErrorCode::usage, path_, "has boxes already", "ask for a series");
  std::vector<std::int64_t> mine(2 * n_levels(), 0);
  for (std::size_t level = 0; level < n_levels(); ++level) {
    mine[2 * level] = std::ssize(boxes[level]);
    for (const Box& box : boxes[level]) mine[2 * level + 1] += box.size();
  }
  std::vector<std::int64_t> before = mine;
  std::vector<std::int64_t> all = mine;
  mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
  mpi::all_reduce(context_, std::span<std::int64_t>(all), MPI_SUM);
  n_of_boxes_ += 1;
  for (std::size_t l = 0; l < n_levels(); ++l) {
    Level& level = levels_[l];
    level.n_boxes = all[2 * l];
    level.n_cells = all[2 * l + 1];
    level.first.assign(1, before[2 * l + 1]);
    for (const Box& box : boxes[l]) level.first.push_back(level.first.back() + box.size());
    level.boxes.first = level.boxes.n;
    // Readers stop at the first missing level, so a level without boxes in all steps so far is not written.
    if (level.n_boxes == 0 && l > 0) continue;
    if (level.boxes.n == 0 && !level.boxes.rows) make_level(l);
    level.boxes.append(file_, "/VTKHDF/" + group_of(l) + "/AMRBox", FileWriter::native_type<std::int32_t>(),
                       numbers_of_box, level.n_boxes, has_steps_);
    std::vector<std::int32_t> numbers;
    for (const Box& box : boxes[l])
      for (std::size_t k = 0; k < 3; ++k)
        for (const std::int64_t index : {box.low[k], box.high[k] - 1})
          numbers.push_back(static_cast<std::int32_t>(index));
    file_.put_rows(level.boxes.rows, level.boxes.first + before[2 * l], std::span<const std::int32_t>(numbers));
  }
}

OverlappingAmrFile::ArrayRows OverlappingAmrFile::make_array(const std::string& name, hid_t type, int width) {
  const std::string subject = fmt::format("{}: array '{}'", path_, name);
  if (n_of_boxes_ == 0) refuse_together(ErrorCode::usage, subject, "is given before boxes");
  if (name.empty() || name.find_first_of("/.") != std::string::npos)
    refuse_together(ErrorCode::usage, subject, "has a name that HDF5 does not accept", "use one without / and .");
  if (width < 1)
    refuse_together(ErrorCode::usage, subject, fmt::format("has {} numbers per cell, but needs at least 1", width));
  const auto [known, is_new] = arrays_.try_emplace(name);
  Array& array = known->second;
  if (is_new && !times_.empty())
    refuse_together(ErrorCode::usage, subject, "is new", "give all arrays in the first step");
  if (!is_new && !has_steps_) refuse_together(ErrorCode::usage, subject, "is given twice", "ask for a series");
  if (!is_new && (array.width != width || array.number_bytes != H5Tget_size(type)))
    refuse_together(ErrorCode::usage, subject, "has another type or another number of components than before");
  array.width = width;
  array.number_bytes = H5Tget_size(type);
  array.n_of_boxes = n_of_boxes_;
  array.columns.resize(n_levels());
  array.offsets.resize(n_levels());
  for (std::size_t l = 0; l < n_levels(); ++l) {
    Column& column = array.columns[l];
    column.first = column.n;
    if (levels_[l].n_boxes == 0 && l > 0) continue;
    column.append(file_, fmt::format("/VTKHDF/{}/CellData/{}", group_of(l), name), type, width > 1 ? width : 0,
                  levels_[l].n_cells, has_steps_);
  }
  return ArrayRows(name);
}

OverlappingAmrFile::Place OverlappingAmrFile::place_of(const ArrayRows& array, std::size_t level, std::size_t box,
                                                       std::int64_t n_values) {
  const Array& rows = arrays_.at(array.name_);
  Status fault = capture([&] {
    const std::string subject = fmt::format("{}: array '{}'", path_, array.name_);
    if (level >= n_levels() || box + 1 >= levels_[level].first.size())
      refuse(ErrorCode::usage, subject,
             fmt::format("is put on box {} of level {}, which this rank does not have", box, level));
    if (rows.n_of_boxes != n_of_boxes_)
      refuse(ErrorCode::usage, subject, "was made for other boxes than the current ones", "make it again");
    const std::int64_t wanted = (levels_[level].first[box + 1] - levels_[level].first[box]) * rows.width;
    if (n_values != wanted)
      refuse(ErrorCode::usage, subject,
             fmt::format("has {} numbers for box {} of level {}, but needs {}", n_values, box, level, wanted));
  });
  if (fault) {
    file_.keep_fault(std::move(fault));
    return {nullptr, 0};
  }
  const Column& column = rows.columns[level];
  return {&column, column.first + levels_[level].first[box]};
}

void OverlappingAmrFile::end_step(double time) {
  if (!has_steps_) refuse_together(ErrorCode::usage, path_, "is not a series", "ask for one");
  if (n_of_boxes_ == 0) refuse_together(ErrorCode::usage, path_, "has a step without boxes");
  for (auto& [name, array] : arrays_) {
    if (array.n_of_boxes != n_of_boxes_)
      refuse_together(ErrorCode::usage, fmt::format("{}: array '{}'", path_, name), "belongs to the previous boxes",
                      "give it again after new boxes");
    for (std::size_t l = 0; l < n_levels(); ++l) array.offsets[l].push_back(array.columns[l].first);
  }
  for (Level& level : levels_) {
    level.firsts.push_back(level.boxes.first);
    level.counts.push_back(level.n_boxes);
  }
  times_.push_back(time);
}

void OverlappingAmrFile::write_steps() {
  file_.make_group("/VTKHDF/Steps");
  file_.write_attribute("/VTKHDF/Steps", "NSteps", std::ssize(times_));
  file_.write_small<double>("/VTKHDF/Steps/Values", times_);
  for (std::size_t l = 0; l < n_levels(); ++l) {
    if (!levels_[l].boxes.rows) continue;
    const std::string group = "/VTKHDF/Steps/" + group_of(l);
    file_.write_small<std::int64_t>(group + "/AMRBoxOffsets", levels_[l].firsts);
    file_.write_small<std::int64_t>(group + "/NumberOfAMRBoxes", levels_[l].counts);
    for (const auto& [name, array] : arrays_)
      file_.write_small<std::int64_t>(group + "/CellDataOffsets/" + name, array.offsets[l]);
  }
}

void OverlappingAmrFile::close() {
  if (has_steps_) write_steps();
  file_.close();
}

}  // namespace barrio::files
