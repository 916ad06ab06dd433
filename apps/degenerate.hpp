#pragma once

#include <string>

#include "apps/command.hpp"
#include "barrio/mesh/degenerate.hpp"

namespace barrio::apps {

/// Option of commands that read a mesh: treatment of cells with one vertex at two corners.
struct DegenerateOption {
  std::string name = "reduce";

  void add_to(CLI::App& app) {
    app.add_option("--degenerate", name,
                   "Cells with one vertex at two corners, as at the poles of a map: keep them, or reduce them to the "
                   "cells that they look like (a quad to a triangle, a hex to a prism, pyramid or tet)")
        ->check(CLI::IsMember({"keep", "reduce"}))
        ->capture_default_str();
  }
  [[nodiscard]] mesh::Degenerate value() const { return mesh::degenerate_named(name); }
};

}  // namespace barrio::apps
