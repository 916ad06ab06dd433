#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// What arrived in a round, to be compared with what was sent.
struct Tally {
  std::uint64_t n = 0;
  std::uint64_t sum = 0;
  bool operator==(const Tally&) const = default;
};

/// The number a rank sends another in iteration `i`: a number for the pair, and `i` added, so that making it is cheap.
std::uint64_t number_of_pair(Rank from, Rank to);
/// What must arrive at a rank from neighbours that each send `n_iterations` numbers.
Tally expected(const std::vector<Rank>& neighbours, Rank me, std::uint64_t n_iterations);

/// One way to send `n_iterations` numbers of 8 bytes to each neighbour and read as many from each.
class Contender {
 public:
  virtual ~Contender() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Make ready for rounds of so many iterations; not timed. Collective.
  virtual void prepare(std::uint64_t /*n_iterations*/) {}
  /// One round. All ranks take part. @return what arrived here
  virtual Tally round(std::uint64_t n_iterations) = 0;
  /// Messages of one round that this way can take; above it is left out.
  [[nodiscard]] virtual std::uint64_t max_messages() const { return UINT64_MAX; }
};

/// raw: a message per number (Ovcharenko et al. 2012, figure 6). packed: one buffer per neighbour, sizes known.
/// persistent: the same with persistent requests. neighbor: MPI_Neighbor_alltoallv, sizes known. consensus: packed,
/// sizes unknown, MPI_Issend and MPI_Ibarrier (Hoefler et al. 2010). barrio, barrio-intro: Neighborhood rounds.
/// @param packet_bytes  of barrio; 0: as the profile says
std::unique_ptr<Contender> make_contender(const std::string& name, mpi::Context& context,
                                          const std::vector<Rank>& neighbours, std::uint32_t packet_bytes);
/// Those that this MPI can run.
std::vector<std::string> contender_names();

}  // namespace barrio::bench
