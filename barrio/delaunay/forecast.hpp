#pragma once

/// @file Forecast: the expected size of a refinement, before it begins.

#include <cstdint>
#include <string>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Expected size of a refinement, from areas and their bounds.
struct Forecast {
  double n_triangles = 0.0;   ///< 0: unknown, because angles alone decide
  double memory_bytes = 0.0;  ///< of the triangulation at the end
};

/// Estimate the number of triangles of a refinement: 1.55 times the integral of 1 / bound of the area, but not less
/// than there are now. The integral of a size field is found by cutting triangles in four where the field varies. Where
/// angles decide, there are more. Local. Cost: two passes over triangles; with `area_at` at most 65 536 calls beyond
/// one for each triangle
[[nodiscard]] Forecast forecast(const Triangulation& mesh, const RefineOptions& options);

/// Check that an expected refinement fits memory and the 2^30 - 1 triangles that a triangulation can have. Local.
/// @param[in] remedy  how to make it smaller, for the user
/// @throws Error{failed} with the forecast
void check_fits(const Forecast& expected, std::uint64_t available_bytes, const std::string& remedy);

/// Format a forecast: "about 1.5e12 triangles, 66 TiB". Local.
[[nodiscard]] std::string text_of(const Forecast& expected);

/// Return `{"triangles": N, "memory_bytes": M}`, with null for what is unknown.
[[nodiscard]] Json to_json(const Forecast& expected);

}  // namespace barrio::delaunay
