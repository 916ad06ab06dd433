#pragma once

#include <cstdint>
#include <vector>

namespace particles {

/// Particles walk on a ring of sites. Each rank owns a slab of the ring and the particles in it.
constexpr std::int64_t n_sites = 1024;
constexpr std::int64_t n_particles = 8000;
constexpr std::int64_t farthest = 160;  // sites in one step: the slab width with 6 ranks
constexpr int n_steps = 40;

struct Particle {
  std::int64_t id;
  std::int64_t site;
};

/// Scramble 64 bits (SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Move a particle by -farthest to farthest sites, a function of its id and the step only.
inline void move(Particle& particle, int step) {
  const std::uint64_t word = mix(static_cast<std::uint64_t>(particle.id * n_steps + step));
  const auto distance = static_cast<std::int64_t>(word % (2 * farthest + 1)) - farthest;
  particle.site = (particle.site + distance + n_sites) % n_sites;
}

inline int owner(std::int64_t site, int n_ranks) { return static_cast<int>(site * n_ranks / n_sites); }

/// Return the particles that start in the slab of a rank.
inline std::vector<Particle> at_start(int rank, int n_ranks) {
  std::vector<Particle> mine;
  for (std::int64_t id = 0; id < n_particles; ++id)
    if (owner(id * n_sites / n_particles, n_ranks) == rank) mine.push_back({id, id * n_sites / n_particles});
  return mine;
}

/// Return the ranks of the adjacent slabs: two, one or none.
inline std::vector<int> beside(int rank, int n_ranks) {
  const int left = (rank + n_ranks - 1) % n_ranks;
  const int right = (rank + 1) % n_ranks;
  if (n_ranks == 1) return {};
  if (left == right) return {left};
  return {left, right};
}

/// Return a checksum that does not depend on the order of particles; sum it over ranks.
inline std::uint64_t checksum(const std::vector<Particle>& mine) {
  std::uint64_t sum = 0;
  for (const Particle& particle : mine)
    sum += mix(mix(static_cast<std::uint64_t>(particle.id)) ^ static_cast<std::uint64_t>(particle.site));
  return sum;
}

}  // namespace particles
