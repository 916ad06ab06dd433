#include <array>

#include "barrio/base/version.hpp"
#include "bindings.hpp"

namespace {

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), length);
  while (!version.empty() && (version.back() == '\0' || version.back() == '\n' || version.back() == ' '))
    version.pop_back();
  return version;
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "Bindings of the C++ library barrio. Use them through the package `barrio`.";
  module.def("mpi_library", &mpi_library,
             "Return the name and version of the MPI that barrio is linked to. Local; works before MPI_Init.");
  module.def("commit", &barrio::commit,
             "Return the commit that barrio was built from, with \"+\" if the tree had changes.");
  barrio::python::bind_errors(module);
  barrio::python::bind_mesh(module);
  barrio::python::bind_io(module);
  barrio::python::bind_files(module);
  barrio::python::bind_structured(module);
  barrio::python::bind_exchange(module);
  barrio::python::bind_transfer(module);
  barrio::python::bind_gather(module);
  barrio::python::bind_probe(module);
  barrio::python::bind_rankmap(module);
  barrio::python::bind_delaunay(module);
  barrio::python::bind_adapt(module);
  barrio::python::bind_amr(module);
}
