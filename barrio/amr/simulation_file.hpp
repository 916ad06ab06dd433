#pragma once

/// @file States of a simulation as a time series for VTK and ParaView.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/amr/output_quantity.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/files/overlapping_amr.hpp"

namespace barrio::amr {

/// Options of a `SimulationFile`; the same on all ranks.
struct SeriesOptions {
  /// Go on with the states of an earlier run under this name, up to the present time; those later are replaced. Else
  /// all are.
  bool goes_on = false;
  bool is_one_file = true;  ///< `close` makes one file of all states
};

/// Series of states of a simulation that VTK and ParaView open: levels of boxes (files::OverlappingAmrFile). All verbs
/// are collective.
///
/// Each state is a file of its own, renamed into place when it is complete: of `run.vtkhdf` these are
/// `run.00000.vtkhdf` and so on, listed in `run.vtkhdf.series`, which ParaView opens. So all complete states remain if
/// a run is killed while it writes the next one. In the end they become one file, `run.vtkhdf`.
template <std::size_t D>
class SimulationFile {
 public:
  /// Begin a series. @param path  ends in .vtkhdf @param quantities  if empty, the conserved variables
  /// @throws AgreedError{failed} if the path cannot be written, or an earlier series cannot be read
  SimulationFile(std::string path, const Simulation<D>& simulation, std::vector<OutputQuantity> quantities = {},
                 const SeriesOptions& options = {});
  /// Add the present state. Memory: one quantity on one block. @throws AgreedError{failed} as FileWriter; the states
  /// before remain
  void write(const Simulation<D>& simulation);
  /// Make one file of the states, and remove theirs. Without it they stay, with the list of them.
  /// Cost: reads and writes all states. @throws AgreedError{failed}; the files of the states stay then
  void close();

  /// Return the number of states, those of an earlier run included.
  [[nodiscard]] std::size_t n_states() const noexcept { return n_earlier_ + states_.size(); }
  /// Return the name of what has the states: the list, or after `close` the one file.
  [[nodiscard]] std::string name() const;

 private:
  struct State {
    std::string name;  // of its file, without the folder
    double time = 0.0;
  };
  [[nodiscard]] std::string list_name() const { return path_ + ".series"; }
  [[nodiscard]] std::string stem() const;
  [[nodiscard]] bool is_of_series(const std::string& name) const;
  [[nodiscard]] std::string in_folder(const std::string& name) const;
  void begin(double time);
  void find_earlier(double time);
  void write_list();
  void remove_states();

  mpi::Context& context_;
  std::string path_;
  std::vector<OutputQuantity> quantities_;
  SeriesOptions options_;
  files::AmrGeometry geometry_;
  std::vector<State> states_;
  std::vector<std::string> replaced_;  // on rank 0: files of an earlier run, removed when a state is written
  std::size_t n_earlier_ = 0;          // first states of the file `path_` that belong to the series
  std::uint64_t bytes_ = 0;            // expected, of all states
  bool is_one_file_ = false;           // it was made
};

extern template class SimulationFile<2>;
extern template class SimulationFile<3>;

}  // namespace barrio::amr
