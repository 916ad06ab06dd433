#include "barrio/mpi/comm.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <string_view>

#include "barrio/base/hash.hpp"

namespace barrio::mpi {

Comm Comm::duplicate(MPI_Comm source) {
  Comm made;
  check(MPI_Comm_dup(source, &made.comm_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(made.comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

Comm Comm::split(MPI_Comm source, int colour, int key) {
  Comm made;
  check(MPI_Comm_split(source, colour, key, &made.comm_), "MPI_Comm_split");
  if (made) check(MPI_Comm_set_errhandler(made.comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

Comm Comm::split_by_host(MPI_Comm source, int key) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  Hash64 hash;
  for (const char c : std::string_view(name.data(), length))
    hash.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  constexpr std::uint64_t largest_colour = 0x7fffffff;
  return split(source, hash.value() & largest_colour, key);
}

Comm Comm::split_shared(MPI_Comm source, int key) {
#ifdef BARRIO_MPI_SMPI
  // The simulator's MPI_Comm_split_type ignores its host list; the processor names follow it.
  return split_by_host(source, key);
#else
  Comm made;
  check(MPI_Comm_split_type(source, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &made.comm_), "MPI_Comm_split_type");
  check(MPI_Comm_set_errhandler(made.comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
#endif
}

Comm::~Comm() {
  // Freeing communicates; during unwinding other ranks may never arrive.
  if (comm_ == MPI_COMM_NULL || std::uncaught_exceptions() > 0) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
}

void Comm::close() {
  if (comm_ != MPI_COMM_NULL) check(MPI_Comm_free(&comm_), "MPI_Comm_free");
  comm_ = MPI_COMM_NULL;
}

Rank Comm::rank() const {
  int rank = 0;
  check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  return rank;
}

int Comm::size() const {
  int size = 0;
  check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  return size;
}

}  // namespace barrio::mpi
