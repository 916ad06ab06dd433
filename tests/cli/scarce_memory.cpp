// A job that reads a mesh, works with it and writes it. Rank SCARCE_RANK runs out of memory at its allocation number
// SCARCE_AT, counting allocations of at least SCARCE_BYTES; with SCARCE_STAYS all later ones fail too. Prints the
// number of such allocations of each rank.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/balance.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

namespace {

std::size_t min_bytes = 4096;
long fails_at = 0;
bool stays = false;
bool is_counting = false;
long n_allocations = 0;

bool fails(std::size_t n) {
  if (!is_counting || n < min_bytes) return false;
  n_allocations += 1;
  return fails_at > 0 && (n_allocations == fails_at || (stays && n_allocations > fails_at));
}

long number(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

void work(barrio::Context& context, const std::string& in, const std::string& out) {
  using namespace barrio;
  min_bytes = number("SCARCE_BYTES", 4096);
  stays = number("SCARCE_STAYS", 0) != 0;
  if (context.rank() == number("SCARCE_RANK", -1)) fails_at = number("SCARCE_AT", 0);
  is_counting = true;
  {
    io::write_h5m(context, io::read_tables(context, in), out + ".h5m");
    mesh::Mesh mesh = io::read(context, in, {.ghost_layers = 1, .without_tags = {}});
    const mesh::Sides sides(mesh, mesh::Dim::face);
    mesh.migrate(mesh::balanced_ranks(mesh));
    io::write(mesh, out + ".vtkhdf");
  }
  is_counting = false;
  std::vector<long> n_of_rank(context.size());
  n_of_rank[context.rank()] = n_allocations;
  mpi::all_reduce(context, std::span<long>(n_of_rank), MPI_SUM);
  if (context.is_root()) fmt::print("{}\n", fmt::join(n_of_rank, " "));
}

}  // namespace

void* operator new(std::size_t n) {
  if (!fails(n))
    if (void* const made = std::malloc(n > 0 ? n : 1)) return made;
  throw std::bad_alloc();
}
// Callers of this form do without the memory: std::stable_sort then sorts in place.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return std::malloc(n > 0 ? n : 1); }
void operator delete(void* some) noexcept { std::free(some); }
void operator delete(void* some, std::size_t) noexcept { std::free(some); }

int main(int argc, char** argv) {
  return barrio::run(
      argc, argv, [&](barrio::Context& context) { work(context, argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : ""); });
}
