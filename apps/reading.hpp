#pragma once

#include <string>

#include "apps/command.hpp"
#include "barrio/mesh/degenerate.hpp"

namespace barrio::apps {

/// Options of commands that read a mesh.
struct Reading {
  std::string degenerate = "reduce";
  bool to_linear = false;
  int step = 0;

  /// @param about_step  meaning of --step
  void add_to(CLI::App& app, const char* about_step =
                                 "Time step to read, from 1, of Exodus, VTKHDF, XDMF, CF netCDF and CGNS files; "
                                 "0: the last one") {
    app.add_flag("--to-linear", to_linear, "Reduce second-order cells to their corners");
    app.add_option("--degenerate", degenerate,
                   "Cells with one vertex at two corners, as at the poles of a map: keep them, or reduce them to the "
                   "cells that they look like (a quad to a triangle, a hex to a prism, pyramid or tet)")
        ->check(CLI::IsMember({"keep", "reduce"}))
        ->capture_default_str();
    app.add_option("--step", step, about_step)->check(number_from_0())->capture_default_str();
  }
  /// Set them in io::TableOptions or io::ReadOptions.
  template <class Options>
  [[nodiscard]] Options in(Options options) const {
    options.degenerate = mesh::degenerate_named(degenerate);
    options.to_linear = to_linear;
    options.step = step;
    return options;
  }
};

}  // namespace barrio::apps
