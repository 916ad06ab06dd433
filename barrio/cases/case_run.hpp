#pragma once

/// @file Runs of cases: compressible flow on levels of blocks, described by a TOML file or text.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::cases {

/// Case to run.
struct CaseJob {
  std::string file;                        ///< case file; with `text`, its name in messages
  std::string text = {};                   ///< content in TOML; empty: that of the file
  std::vector<std::string> settings = {};  ///< replace values of the case, in TOML: "grid.levels=2"
  std::string restart = {};                ///< checkpoint to continue from; or empty
};

/// Cells of one rank that no finer ones cover.
struct CaseCells {
  std::size_t n_axes = 0;                 ///< 2 or 3
  std::vector<std::string> names = {};    ///< of the quantities
  std::vector<std::int32_t> levels = {};  ///< of each cell
  std::vector<double> centres = {};       ///< shape (cells, n_axes)
  std::vector<double> sizes = {};         ///< shape (cells, n_axes): lengths along the axes
  std::vector<double> values = {};        ///< shape (cells, quantities)
};

/// Blocks of one rank on one level.
struct CaseBlocks {
  std::vector<double> low = {};   ///< shape (blocks, n_axes)
  std::vector<double> high = {};  ///< shape (blocks, n_axes)
};

/// A case with its state. Collective over the context, which it borrows; move-only.
class CaseRun {
 public:
  /// Read the case and make its initial state, with refined levels.
  /// @throws AgreedError{bad_input} for an invalid case, {usage} for an invalid setting, {failed} for a file that
  /// cannot be read, or if barrio was built without the libraries that cases need; and as amr::Simulation
  CaseRun(mpi::Context& context, const CaseJob& job);
  CaseRun(CaseRun&&) noexcept;
  CaseRun& operator=(CaseRun&&) noexcept;
  ~CaseRun();

  /// Advance to the end of the case, and write its files. Signals that tell this process to end are noted meanwhile:
  /// they end the run after its step. @param progress  or null
  /// @throws AgreedError{failed} for a file that cannot be written, and as amr::Simulation. Files written until then
  /// stay
  void run(Progress* progress = nullptr);
  /// Return a result document; its `is_met` says whether all errors are within their limits.
  [[nodiscard]] Json result();
  [[nodiscard]] double time() const;           ///< local
  [[nodiscard]] std::int64_t n_steps() const;  ///< local
  [[nodiscard]] int n_levels() const;          ///< that the case allows; local
  [[nodiscard]] std::size_t n_axes() const;    ///< 2 or 3; local
  /// Copy the cells of this rank that no finer ones cover, level after level. Local. Cost: memory of the copy
  [[nodiscard]] CaseCells cells() const;
  /// Return the boxes of this rank's blocks. Local. @pre 0 <= level < n_levels()
  [[nodiscard]] CaseBlocks blocks(int level) const;

  class Core;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace barrio::cases
