#include "barrio/exchange/rounds/open_rounds.hpp"

#include "barrio/mpi/check.hpp"

namespace barrio::exchange::detail {
namespace {

template <class T>
int make_key() {
  int key = MPI_KEYVAL_INVALID;
  const auto remove = +[](MPI_Comm, int, void* value, void*) -> int {
    delete static_cast<T*>(value);
    return MPI_SUCCESS;
  };
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &key, nullptr), "MPI_Comm_create_keyval");
  return key;
}

/// Return the value that a communicator has under a key; made at the first call.
template <class T>
T& attribute(MPI_Comm comm, int key) {
  void* found = nullptr;
  int is_there = 0;
  mpi::check(MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &is_there), "MPI_Comm_get_attr");
  if (is_there == 0) {
    found = new T{};
    mpi::check(MPI_Comm_set_attr(comm, key, found), "MPI_Comm_set_attr");
  }
  return *static_cast<T*>(found);
}

}  // namespace

// Static keys are harmless: the state belongs to the communicators.

std::vector<Intake*>& open_rounds(MPI_Comm comm) {
  static const int key = make_key<std::vector<Intake*>>();
  return attribute<std::vector<Intake*>>(comm, key);
}

bool take_in_all(std::span<Intake* const> rounds, const Intake* but) {
  bool is_some = false;
  for (Intake* const one : rounds)
    if (one != but && one->take_in()) is_some = true;
  return is_some;
}

int& n_open_rounds() {
  static const int key = make_key<int>();
  return attribute<int>(MPI_COMM_SELF, key);
}

}  // namespace barrio::exchange::detail
