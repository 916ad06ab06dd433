#pragma once

#include <hdf5.h>

#include <string>

namespace barrio::files::detail {

/// Keep HDF5 from printing its error stack while this object lives; barrio says what is wrong in its own words.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// The innermost message on HDF5's error stack.
std::string hdf5_says();

}  // namespace barrio::files::detail
