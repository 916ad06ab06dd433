#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace barrio::adapt {

/// Wanted edge length at a point, model units: above 0 and finite everywhere. Called on any rank for any point of the
/// mesh, as often as needed; a point has the same size on every rank.
using SizeFunction = std::function<double(const std::array<double, 3>&)>;

/// Bounds of wanted sizes.
struct SizeLimits {
  double finest = 0.0;
  double largest = std::numeric_limits<double>::infinity();
  /// Of sizes at vertices: from one vertex to the next, sizes grow by no more than this times the length of the edge.
  double growth = std::numeric_limits<double>::infinity();
};

/// Sizes near something: `finest` up to `width` from it, from there on growing by `growth` for each unit of length, up
/// to `largest`.
struct SizeAround {
  double finest = 0.0;
  double width = 0.0;
  double growth = 0.4;  ///< above about 1 the lengths of neighbouring edges differ by more than good cells can have
  double largest = 0.0;

  [[nodiscard]] double at(double distance) const noexcept;
};

/// One size everywhere.
SizeFunction uniform_size(double size);
/// Sizes around the plane x[axis] = at.
SizeFunction size_around_plane(int axis, double at, const SizeAround& sizes);
/// Sizes around the surface of a sphere.
SizeFunction size_around_sphere(const std::array<double, 3>& centre, double radius, const SizeAround& sizes);
/// The smallest of several at each point.
SizeFunction smallest_size(std::span<const SizeFunction> sizes);

/// Read a size from text: `0.1`, `plane,x=0.5,finest=0.01,width=0.02,growth=0.4,largest=0.2` or
/// `sphere,x=0,y=0,z=0,radius=1,finest=0.01,largest=0.2`. Local.
/// @throws Error{usage} naming what is not understood, missing, or no size
SizeFunction parse_size(const std::string& text);

}  // namespace barrio::adapt
