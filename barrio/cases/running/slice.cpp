#include "barrio/cases/running/slice.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::cases {
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
  std::array<double, 2> n_cells{};
  std::array<double, 2> extent{};
  for (std::size_t a = 0; a < 2; ++a) {
    n_cells[a] = static_cast<double>(domain.extent(frame.axes[a]));
    extent[a] = n_cells[a] * size[frame.axes[a]];
  }
  // Pixels are square. Their size is the smaller side of a finest cell, within limits for the whole picture.
  constexpr double max_pixels = 1600.0;
  constexpr double few_pixels = 900.0;
  const double longest = std::max(extent[0], extent[1]);
  double pixel = std::max(std::min(size[frame.axes[0]], size[frame.axes[1]]), longest / max_pixels);
  if (longest / pixel < few_pixels) pixel /= std::ceil(few_pixels * pixel / longest);
  for (std::size_t a = 0; a < 2; ++a) {
    frame.n_pixels[a] = std::max<std::int64_t>(1, std::llround(extent[a] / pixel));
    frame.cells_of_pixel[a] = n_cells[a] / static_cast<double>(frame.n_pixels[a]);
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
  constexpr double last = stops.size() - 1;
  const double at = std::clamp(part, 0.0, 1.0) * last;
  const std::size_t i = std::min<std::size_t>(std::llround(std::floor(at)), stops.size() - 2);
  const double rest = at - static_cast<double>(i);
  Color color;
  for (std::size_t c = 0; c < 3; ++c) color[c] = (1.0 - rest) * stops[i][c] + rest * stops[i + 1][c];
  return color;
}

/// Return the colour of the outlines of a level's blocks.
Color color_of_level(int level) {
  static constexpr std::array<Color, 4> colors{
      {{0.62, 0.62, 0.66}, {1.0, 1.0, 1.0}, {1.0, 0.72, 0.25}, {1.0, 0.36, 0.32}}};
  return colors[std::min<std::size_t>(level, colors.size() - 1)];
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
      at[wanted_.axis] = std::llround(std::floor(place));
      if (!cells.contains(at)) return;
    }
    const std::size_t n_variables = simulation_.state().n_components();
    std::vector<double> u(n_variables);
    std::vector<std::uint8_t> is_covered(cells.size());
    simulation_.mark_covered(level, block, is_covered);
    const std::span<const double> state = simulation_.state().values(level, block);
    const Pixels pixels = pixels_of(cells);
    for (std::int64_t j = pixels[1].first; j < pixels[1].second; ++j) {
      at[frame_.axes[1]] = cell_at(1, j, cells);
      for (std::int64_t i = pixels[0].first; i < pixels[0].second; ++i) {
        at[frame_.axes[0]] = cell_at(0, i, cells);
        const std::size_t place = cells.place(at);
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
    return std::clamp<std::int64_t>(std::llround(std::ceil(at)), 0, frame_.n_pixels[a]);
  }
  [[nodiscard]] std::int64_t cell_at(std::size_t a, std::int64_t pixel, const Box& cells) const {
    const double finest = (static_cast<double>(pixel) + 0.5) * frame_.cells_of_pixel[a];
    const std::int64_t cell = std::llround(std::trunc(finest / static_cast<double>(ratio_)));
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

namespace {

/// Picture of pixels of three bytes, the highest row first.
class Picture {
 public:
  Picture(std::int64_t width, std::int64_t height, const Color& background)
      : width_(width), height_(height), pixels_(3 * width * height) {
    for (std::int64_t j = 0; j < height; ++j)
      for (std::int64_t i = 0; i < width; ++i) put(i, j, background);
  }
  void put(std::int64_t i, std::int64_t j, const Color& color) {
    if (i < 0 || i >= width_ || j < 0 || j >= height_) return;
    for (std::size_t c = 0; c < 3; ++c)
      pixels_[3 * (j * width_ + i) + c] = static_cast<std::uint8_t>(std::lround(255.0 * color[c]));
  }
  /// Write the characters of numbers. @param i, j  the upper left corner
  void write(const std::string& text, std::int64_t i, std::int64_t j, const Color& color) {
    for (const char c : text) {
      const auto found = std::ranges::find(characters, c, &Character::name);
      for (std::int64_t y = 0; found != characters.end() && y < 7 * scale; ++y)
        for (std::int64_t x = 0; x < 5 * scale; ++x)
          if ((found->rows[y / scale] >> (4 - x / scale) & 1U) != 0) put(i + x, j + y, color);
      i += advance;
    }
  }
  [[nodiscard]] std::string png(const std::string& path) const {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string bytes(size, '\0');
    if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels_.data(), 0, nullptr) == 0)
      refuse(ErrorCode::failed, path, image.message);
    bytes.resize(size);
    return bytes;
  }

  static constexpr std::int64_t scale = 2;            // pixels of a dot
  static constexpr std::int64_t advance = 6 * scale;  // from one character to the next
  static constexpr std::int64_t line = 7 * scale;

 private:
  /// Character of 5 x 7 dots, the left one in bit 4.
  struct Character {
    char name;
    std::array<std::uint8_t, 7> rows;
  };
  static constexpr std::array<Character, 14> characters{{{'0', {14, 17, 19, 21, 25, 17, 14}},
                                                         {'1', {4, 12, 4, 4, 4, 4, 14}},
                                                         {'2', {14, 17, 1, 2, 4, 8, 31}},
                                                         {'3', {31, 2, 4, 2, 1, 17, 14}},
                                                         {'4', {2, 6, 10, 18, 31, 2, 2}},
                                                         {'5', {31, 16, 30, 1, 1, 17, 14}},
                                                         {'6', {6, 8, 16, 30, 17, 17, 14}},
                                                         {'7', {31, 1, 2, 4, 8, 8, 8}},
                                                         {'8', {14, 17, 17, 14, 17, 17, 14}},
                                                         {'9', {14, 17, 17, 15, 1, 2, 12}},
                                                         {'.', {0, 0, 0, 0, 0, 12, 12}},
                                                         {'-', {0, 0, 0, 31, 0, 0, 0}},
                                                         {'+', {0, 4, 4, 31, 4, 4, 0}},
                                                         {'e', {0, 0, 14, 17, 31, 16, 14}}}};
  std::int64_t width_;
  std::int64_t height_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

void write_png(const Slice& slice, const SliceCase& wanted, double lowest, double highest, const std::string& path) {
  constexpr Color paper{1.0, 1.0, 1.0};
  constexpr Color ink{0.1, 0.1, 0.12};
  constexpr std::int64_t gap = 12;
  constexpr std::int64_t bar = 22;
  constexpr std::int64_t digits = 10;
  const std::int64_t legend = 2 * gap + bar + gap / 2 + digits * Picture::advance;
  const std::int64_t height = std::max<std::int64_t>(slice.height, 6 * Picture::line);
  Picture picture(slice.width + legend, height, paper);
  const double span = highest - lowest;
  for (std::int64_t j = 0; j < slice.height; ++j) {
    for (std::int64_t i = 0; i < slice.width; ++i) {
      const std::int64_t n = j * slice.width + i;
      Color color = color_at(span > 0.0 ? (slice.values[n] - lowest) / span : 0.5);
      if (wanted.has_boxes && slice.outlines[n] > 0) {
        constexpr double opacity = 0.55;
        const Color outline = color_of_level(slice.outlines[n] - 1);
        for (std::size_t c = 0; c < 3; ++c) color[c] = (1.0 - opacity) * color[c] + opacity * outline[c];
      }
      picture.put(i, slice.height - 1 - j, color);
    }
  }
  // The bar beside the picture, with the values of five of its colours.
  const std::int64_t left = slice.width + gap;
  const std::int64_t top = Picture::line / 2;
  const std::int64_t length = height - Picture::line;
  constexpr int n_marks = 5;
  const auto last = static_cast<double>(length - 1);
  for (std::int64_t j = 0; j < length; ++j)
    for (std::int64_t i = 0; i < bar; ++i)
      picture.put(left + i, top + j, color_at(span > 0.0 ? 1.0 - static_cast<double>(j) / last : 0.5));
  for (int mark = 0; mark < n_marks; ++mark) {
    const double part = 1.0 * mark / (n_marks - 1);
    const std::int64_t at = top + std::llround((1.0 - part) * last);
    for (std::int64_t i = 0; i < gap / 2; ++i) picture.put(left + bar + i, at, ink);
    picture.write(fmt::format("{:.4g}", lowest + part * span), left + bar + gap, at - Picture::line / 2, ink);
  }
  write_file_atomically(path, picture.png(path));
}

template Slice cut<2>(const amr::Simulation<2>&, const SliceCase&,
                      const std::function<double(std::span<const double>)>&);
template Slice cut<3>(const amr::Simulation<3>&, const SliceCase&,
                      const std::function<double(std::span<const double>)>&);

}  // namespace barrio::cases
