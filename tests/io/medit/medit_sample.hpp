#pragma once

#include <string>
#include <vector>

namespace barrio::test {

/// A keyword of a Medit file with its rows. Implements only the published description of the format.
struct MeditRows {
  std::string keyword;
  int code;
  int n_reals;                            ///< of a row; the others are integers
  std::vector<std::vector<double>> rows;  ///< as in the file: vertices count from 1
};

/// Form of a written file.
struct MeditForm {
  bool is_binary = false;
  int version = 2;
  bool is_swapped = false;  ///< in the byte order of other machines
};

/// Make a tet, a pyramid, a prism and a hex with sides, references and every list of Medit.
std::vector<MeditRows> medit_sample();
/// Make the same for faces in two dimensions.
std::vector<MeditRows> flat_medit_sample();

/// Return the contents of a file.
std::string medit_file(const std::vector<MeditRows>& contents, const MeditForm& form, int dimension = 3);

}  // namespace barrio::test
