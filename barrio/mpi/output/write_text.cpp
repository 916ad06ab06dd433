#include "barrio/mpi/write_text.hpp"

#include "barrio/mpi/written_file.hpp"

namespace barrio::mpi {

void write_text(Context& context, const std::string& path, std::string_view piece) {
  WrittenFile file(context, path);
  file.append(piece);
  file.close();
}

}  // namespace barrio::mpi
