#include "barrio/exchange/detail/open_rounds.hpp"

#include "barrio/mpi/check.hpp"

namespace barrio::exchange::detail {
namespace {

int make_key() {
  int key = MPI_KEYVAL_INVALID;
  const auto remove = +[](MPI_Comm, int, void* rounds, void*) -> int {
    delete static_cast<std::vector<PacketCore*>*>(rounds);
    return MPI_SUCCESS;
  };
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &key, nullptr), "MPI_Comm_create_keyval");
  return key;
}

}  // namespace

std::vector<PacketCore*>& open_rounds(MPI_Comm comm) {
  static const int key = make_key();  // a name, not a state: the state belongs to the communicator
  void* found = nullptr;
  int is_there = 0;
  mpi::check(MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &is_there), "MPI_Comm_get_attr");
  if (is_there == 0) {
    found = new std::vector<PacketCore*>;
    mpi::check(MPI_Comm_set_attr(comm, key, found), "MPI_Comm_set_attr");
  }
  return *static_cast<std::vector<PacketCore*>*>(found);
}

}  // namespace barrio::exchange::detail
