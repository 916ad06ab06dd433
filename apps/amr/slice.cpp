#include "apps/amr/slice.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::apps {
namespace {

using Color = std::array<double, 3>;

/// Frame of a picture: its pixels in a plane of the domain, in cells of the finest level.
struct Frame {
  std::array<std::size_t, 2> axes;
  std::array<std::int64_t, 2> n_pixels;
  std::array<double, 2> cells_of_pixel;
};

template <std::size_t D>
Frame frame_of(const amr::BlockSpace<D>& space, std::size_t axis) {
  Frame frame{};
  std::size_t n = 0;
  for (std::size_t k = 0; k < D; ++k)
    if (D == 2 || k != axis) frame.axes[n++] = k;
  const auto domain = space.domain(space.n_levels() - 1);
  const std::array<double, D> size = space.cell_size(space.n_levels() - 1);
  std::array<double, 2> extent{};
  for (std::size_t a = 0; a < 2; ++a)
    extent[a] = static_cast<double>(domain.extent(frame.axes[a])) * size[frame.axes[a]];
  // Pixels are square. Their size is the smaller side of a finest cell, within limits for the whole picture.
  constexpr double max_pixels = 1600.0;
  constexpr double few_pixels = 900.0;
  const double longest = std::max(extent[0], extent[1]);
  double pixel = std::max(std::min(size[frame.axes[0]], size[frame.axes[1]]), longest / max_pixels);
  if (longest / pixel < few_pixels) pixel /= std::ceil(few_pixels * pixel / longest);
  for (std::size_t a = 0; a < 2; ++a) {
    frame.n_pixels[a] = std::max<std::int64_t>(1, std::llround(extent[a] / pixel));
    frame.cells_of_pixel[a] =
        static_cast<double>(domain.extent(frame.axes[a])) / static_cast<double>(frame.n_pixels[a]);
  }
  return frame;
}

Color color_at(double part) {
  // Dark to light in steps of about equal lightness.
  static constexpr std::array<Color, 7> stops{{{0.05, 0.03, 0.20},
                                               {0.20, 0.12, 0.48},
                                               {0.14, 0.33, 0.62},
                                               {0.08, 0.53, 0.60},
                                               {0.22, 0.71, 0.47},
                                               {0.66, 0.84, 0.30},
                                               {0.99, 0.95, 0.62}}};
  const double at = std::clamp(part, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double rest = at - static_cast<double>(i);
  Color color;
  for (std::size_t c = 0; c < 3; ++c) color[c] = (1.0 - rest) * stops[i][c] + rest * stops[i + 1][c];
  return color;
}

/// Return the colour of the outlines of a level's blocks.
Color color_of_level(int level) {
  static constexpr std::array<Color, 4> colors{
      {{0.62, 0.62, 0.66}, {1.0, 1.0, 1.0}, {1.0, 0.72, 0.25}, {1.0, 0.36, 0.32}}};
  return colors[std::min<std::size_t>(static_cast<std::size_t>(level), colors.size() - 1)];
}

/// Paints the pixels of a slice that lie in this rank's cells.
template <std::size_t D>
class Painter {
 public:
  Painter(const amr::Simulation<D>& simulation, const SliceCase& wanted)
      : simulation_(simulation),
        space_(simulation.hierarchy().space()),
        wanted_(wanted),
        frame_(frame_of(space_, wanted.axis)) {
    slice_.width = frame_.n_pixels[0];
    slice_.height = frame_.n_pixels[1];
    slice_.values.assign(slice_.width * slice_.height, 0.0);
    slice_.outlines.assign(slice_.width * slice_.height, 0);
  }

  Slice paint(const std::function<double(std::span<const double>)>& quantity) {
    ratio_ = space_.domain(space_.n_levels() - 1).high[0] / space_.domain(0).high[0];
    for (int level = 0; level < space_.n_levels(); ++level, ratio_ /= space_.ratio())
      for (std::size_t b = 0; b < simulation_.hierarchy().blocks(level).size(); ++b) paint_block(level, b, quantity);
    return std::move(slice_);
  }

 private:
  using Box = geometry::IndexBox<D>;
  /// Ranges of pixels along both axes, without their ends.
  using Pixels = std::array<std::pair<std::int64_t, std::int64_t>, 2>;

  void paint_block(int level, std::size_t block, const std::function<double(std::span<const double>)>& quantity) {
    const Box cells = space_.cells(simulation_.hierarchy().blocks(level)[block].at);
    auto at = cells.low;
    if constexpr (D == 3) {
      const double place = (wanted_.place - space_.options().low[wanted_.axis]) / space_.cell_size(level)[wanted_.axis];
      at[wanted_.axis] = static_cast<std::int64_t>(std::floor(place));
      if (!cells.contains(at)) return;
    }
    const auto n_variables = static_cast<std::size_t>(simulation_.state().n_components());
    std::vector<double> u(n_variables);
    std::vector<std::uint8_t> is_covered(cells.size());
    simulation_.mark_covered(level, block, is_covered);
    const std::span<const double> state = simulation_.state().values(level, block);
    const Pixels pixels = pixels_of(cells);
    for (std::int64_t j = pixels[1].first; j < pixels[1].second; ++j) {
      at[frame_.axes[1]] = cell_at(1, j, cells);
      for (std::int64_t i = pixels[0].first; i < pixels[0].second; ++i) {
        at[frame_.axes[0]] = cell_at(0, i, cells);
        const auto place = static_cast<std::size_t>(cells.place(at));
        if (is_covered[place] != 0) continue;
        for (std::size_t v = 0; v < n_variables; ++v) u[v] = state[v * is_covered.size() + place];
        slice_.values[j * slice_.width + i] = quantity(u);
      }
    }
    outline(pixels, static_cast<std::uint8_t>(level + 1));
  }

  /// Return the pixels whose centres lie in cells.
  [[nodiscard]] Pixels pixels_of(const Box& cells) const {
    Pixels pixels;
    for (std::size_t a = 0; a < 2; ++a)
      pixels[a] = {first_pixel(a, cells.low[frame_.axes[a]]), first_pixel(a, cells.high[frame_.axes[a]])};
    return pixels;
  }
  [[nodiscard]] std::int64_t first_pixel(std::size_t a, std::int64_t cell) const {
    const double at = static_cast<double>(cell * ratio_) / frame_.cells_of_pixel[a] - 0.5;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at)), 0, frame_.n_pixels[a]);
  }
  [[nodiscard]] std::int64_t cell_at(std::size_t a, std::int64_t pixel, const Box& cells) const {
    const double finest = (static_cast<double>(pixel) + 0.5) * frame_.cells_of_pixel[a];
    const auto cell = static_cast<std::int64_t>(finest / static_cast<double>(ratio_));
    return std::clamp(cell, cells.low[frame_.axes[a]], cells.high[frame_.axes[a]] - 1);
  }
  /// Outline a block. Its upper sides are where a neighbour has its lower sides: both draw one line.
  void outline(const Pixels& pixels, std::uint8_t mark) {
    const auto put = [&](std::int64_t i, std::int64_t j) {
      if (i >= slice_.width || j >= slice_.height) return;
      std::uint8_t& there = slice_.outlines[j * slice_.width + i];
      there = std::max(there, mark);
    };
    for (std::int64_t j = pixels[1].first; j <= pixels[1].second; ++j)
      for (const std::int64_t i : {pixels[0].first, pixels[0].second}) put(i, j);
    for (std::int64_t i = pixels[0].first; i <= pixels[0].second; ++i)
      for (const std::int64_t j : {pixels[1].first, pixels[1].second}) put(i, j);
  }

  const amr::Simulation<D>& simulation_;
  const amr::BlockSpace<D>& space_;
  const SliceCase& wanted_;
  Frame frame_;
  std::int64_t ratio_ = 1;  // of cell sizes: the current level to the finest
  Slice slice_;
};

}  // namespace

template <std::size_t D>
Slice cut(const amr::Simulation<D>& simulation, const SliceCase& wanted,
          const std::function<double(std::span<const double>)>& quantity) {
  Slice slice = Painter<D>(simulation, wanted).paint(quantity);
  // Each pixel lies in one cell, on one rank: the sum has one term.
  mpi::all_reduce(simulation.hierarchy().context(), std::span(slice.values), MPI_SUM);
  mpi::all_reduce(simulation.hierarchy().context(), std::span(slice.outlines), MPI_MAX);
  const auto [min, max] = std::ranges::minmax(slice.values);
  slice.min = min;
  slice.max = max;
  return slice;
}

void write_png(const Slice& slice, const SliceCase& wanted, const std::string& path) {
  const double lowest = wanted.lowest.value_or(slice.min);
  const double span = wanted.highest.value_or(slice.max) - lowest;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(3 * slice.values.size());
  for (std::int64_t j = slice.height; j-- > 0;) {
    for (std::int64_t i = 0; i < slice.width; ++i) {
      const std::int64_t n = j * slice.width + i;
      Color color = color_at(span > 0.0 ? (slice.values[n] - lowest) / span : 0.5);
      if (wanted.has_boxes && slice.outlines[n] > 0) {
        constexpr double opacity = 0.55;
        const Color line = color_of_level(slice.outlines[n] - 1);
        for (std::size_t c = 0; c < 3; ++c) color[c] = (1.0 - opacity) * color[c] + opacity * line[c];
      }
      for (const double c : color) pixels.push_back(static_cast<std::uint8_t>(std::lround(255.0 * c)));
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(slice.width);
  image.height = static_cast<png_uint_32>(slice.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    refuse(ErrorCode::failed, path, image.message);
  bytes.resize(size);
  write_file_atomically(path, bytes);
}

template Slice cut<2>(const amr::Simulation<2>&, const SliceCase&,
                      const std::function<double(std::span<const double>)>&);
template Slice cut<3>(const amr::Simulation<3>&, const SliceCase&,
                      const std::function<double(std::span<const double>)>&);

}  // namespace barrio::apps
