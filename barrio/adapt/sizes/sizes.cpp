#include "barrio/adapt/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::adapt {
namespace {

/// Read a number that is the whole text.
std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(x)) return {};
  return x;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t first = 0;
  for (std::size_t end = 0; end != std::string::npos; first = end + 1) {
    end = text.find(',', first);
    words.push_back(text.substr(first, end - first));
  }
  return words;
}

/// Parameters of a size: the name=number pairs of its text.
class Parameters {
 public:
  Parameters(const std::string& text, std::span<const std::string> words, std::vector<std::string> known)
      : text_(text) {
    for (const std::string& word : words) {
      const std::size_t at = word.find('=');
      const std::string name = word.substr(0, at);
      if (std::ranges::find(known, name) == known.end())
        refuse(ErrorCode::usage, subject(), fmt::format("has no parameter '{}'.{}", name, did_you_mean(name, known)),
               fmt::format("its parameters are {}", fmt::join(known, ", ")));
      const std::optional<double> value = at == std::string::npos ? std::nullopt : number(word.substr(at + 1));
      if (!value) refuse(ErrorCode::usage, subject(), fmt::format("must give a number for '{}'", name));
      if (!values_.emplace(name, *value).second)
        refuse(ErrorCode::usage, subject(), fmt::format("gives '{}' twice", name));
    }
  }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] double get(const std::string& name, std::optional<double> by_default = {}) const {
    const auto at = values_.find(name);
    if (at != values_.end()) return at->second;
    if (!by_default) refuse(ErrorCode::usage, subject(), fmt::format("must give '{}'", name));
    return *by_default;
  }
  [[nodiscard]] double above_zero(const std::string& name) const {
    const double x = get(name);
    if (x <= 0) refuse(ErrorCode::usage, subject(), fmt::format("gives {} = {}, which must be above 0", name, x));
    return x;
  }
  [[nodiscard]] SizeAround around() const {
    const SizeAround sizes{above_zero("min_size"), get("width", 0.0), get("growth", SizeAround{}.growth),
                           above_zero("max_size")};
    if (sizes.max_size < sizes.min_size)
      refuse(ErrorCode::usage, subject(), fmt::format("must have a max_size of at least min_size, {}", sizes.min_size));
    if (sizes.width < 0 || sizes.growth < 0)
      refuse(ErrorCode::usage, subject(), "must have a width and a growth of at least 0");
    return sizes;
  }

 private:
  [[nodiscard]] std::string subject() const { return fmt::format("size '{}'", text_); }
  std::string text_;
  std::map<std::string, double> values_;
};

}  // namespace

double SizeAround::at(double distance) const noexcept {
  return std::clamp(min_size + growth * std::max(distance - width, 0.0), min_size, max_size);
}

SizeFunction uniform_size(double size) {
  return [size](const std::array<double, 3>&) { return size; };
}

SizeFunction size_around_plane(int axis, double at, const SizeAround& sizes) {
  return [axis, at, sizes](const std::array<double, 3>& x) { return sizes.at(std::abs(x[axis] - at)); };
}

SizeFunction size_around_sphere(const std::array<double, 3>& centre, double radius, const SizeAround& sizes) {
  return [centre, radius, sizes](const std::array<double, 3>& x) {
    double square = 0;
    for (std::size_t i = 0; i < 3; ++i) square += (x[i] - centre[i]) * (x[i] - centre[i]);
    return sizes.at(std::abs(std::sqrt(square) - radius));
  };
}

SizeFunction smallest_size(std::span<const SizeFunction> sizes) {
  if (sizes.size() == 1) return sizes[0];
  return [all = std::vector<SizeFunction>(sizes.begin(), sizes.end())](const std::array<double, 3>& x) {
    double smallest = all[0](x);
    for (std::size_t i = 1; i < all.size(); ++i) smallest = std::min(smallest, all[i](x));
    return smallest;
  };
}

SizeFunction parse_size(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  const std::string subject = fmt::format("size '{}'", text);
  if (const std::optional<double> size = number(text)) {
    if (*size <= 0) refuse(ErrorCode::usage, subject, "must be above 0");
    return uniform_size(*size);
  }
  const std::span<const std::string> rest = std::span(words).subspan(1);
  if (words[0] == "plane") {
    const Parameters given(text, rest, {"x", "y", "z", "min_size", "width", "growth", "max_size"});
    std::optional<int> axis;
    for (int i = 0; i < 3; ++i) {
      if (!given.has(std::string(1, "xyz"[i]))) continue;
      if (axis) refuse(ErrorCode::usage, subject, "gives more than one of x, y, z", "give one of them");
      axis = i;
    }
    if (!axis)
      refuse(ErrorCode::usage, subject, "must give one of x, y, z",
             "for example plane,x=0.5,min_size=0.01,max_size=0.2");
    return size_around_plane(*axis, given.get(std::string(1, "xyz"[*axis])), given.around());
  }
  if (words[0] == "sphere") {
    const Parameters given(text, rest, {"x", "y", "z", "radius", "min_size", "width", "growth", "max_size"});
    const double radius = given.get("radius");
    if (radius < 0) refuse(ErrorCode::usage, subject, "must have a radius of at least 0");
    return size_around_sphere({given.get("x"), given.get("y"), given.get("z")}, radius, given.around());
  }
  refuse(ErrorCode::usage, subject, "is unknown." + did_you_mean(words[0], std::vector<std::string>{"plane", "sphere"}),
         "give a number, plane,... or sphere,...");
}

}  // namespace barrio::adapt
