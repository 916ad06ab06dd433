#pragma once

/// @file Wanted edge lengths as functions of a point, and their text form.

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace barrio::adapt {

/// Wanted edge length at a point, model units. Must be above 0 and finite everywhere, and the same on every rank.
/// Called on any rank for any point of the mesh, any number of times.
using SizeFunction = std::function<double(const std::array<double, 3>&)>;

/// Bounds of wanted sizes.
struct SizeLimits {
  double min_size = 0.0;                                      ///< model units; 0: no bound
  double max_size = std::numeric_limits<double>::infinity();  ///< model units; above min_size
  /// For sizes at vertices: largest increase from a vertex to the next, over the length of the edge between them.
  double growth = std::numeric_limits<double>::infinity();
};

/// Sizes near a surface: `min_size` up to `width` from it, then growing by `growth` per unit of length, up to
/// `max_size`.
struct SizeAround {
  double min_size = 0.0;  ///< model units, above 0
  double width = 0.0;     ///< model units, at least 0
  double growth = 0.4;    ///< above about 1 neighbouring edges differ too much in length for good cells
  double max_size = 0.0;  ///< model units, at least min_size

  /// Return the size at a distance from the surface. Local.
  [[nodiscard]] double at(double distance) const noexcept;
};

/// Make a size that is the same everywhere. Local.
SizeFunction uniform_size(double size);
/// Make sizes around the plane x[axis] = at. Local.
SizeFunction size_around_plane(int axis, double at, const SizeAround& sizes);
/// Make sizes around the surface of a sphere. Local.
SizeFunction size_around_sphere(const std::array<double, 3>& centre, double radius, const SizeAround& sizes);
/// Make a size that is the smallest of several at each point. Local. @pre there is at least one
SizeFunction smallest_size(std::span<const SizeFunction> sizes);

/// Read a size from text: `0.1`, `plane,x=0.5,min_size=0.01,width=0.02,growth=0.4,max_size=0.2` or
/// `sphere,x=0,y=0,z=0,radius=1,min_size=0.01,max_size=0.2`. Local.
/// @throws Error{usage} naming the word that is unknown, missing or invalid
SizeFunction parse_size(const std::string& text);

}  // namespace barrio::adapt
