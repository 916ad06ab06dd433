#pragma once

#include <hdf5.h>

#include <string>

namespace barrio::files::detail {

/// A guard that keeps HDF5 from printing its error stack while it lives; barrio reports errors itself.
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

/// Return the innermost message on HDF5's error stack.
std::string hdf5_says();

}  // namespace barrio::files::detail
