#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrio/amr/advance/tile.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::amr::detail {

/// Plan of the ghosts of a level's blocks: the source of each, and the exchange with other ranks. Each round has one
/// message a peer, with all variables of all blocks.
template <std::size_t D>
class GhostPlan {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;
  enum class From : std::uint8_t {
    block,    ///< a block of this rank
    message,  ///< a block of another rank
    coarse,   ///< no block is there: interpolation from the coarser level
    outside,  ///< beyond the domain: boundary condition
    unused,   ///< the system does not read them
  };
  struct Source {
    From from = From::outside;
    std::int32_t block = -1;
    std::ptrdiff_t offset = 0;  ///< of a message: in the received numbers
    Index shift{};              ///< of a block: add it to a ghost's index to find the cell there
  };

  /// Construct. Local, except that all ranks must take the tag in the same order.
  GhostPlan(const Hierarchy<D>& hierarchy, int level, int n_ghosts, bool has_corners, int n_variables,
            const exchange::RepeatedExchangeOptions& options);

  [[nodiscard]] const Source& source(std::size_t block, int direction) const noexcept {
    return sources_[block][direction];
  }
  /// Tell whether ghosts of a block in any direction come from the coarser level.
  [[nodiscard]] bool has_coarse(std::size_t block) const noexcept { return has_coarse_[block]; }
  /// Return the blocks whose ghosts need no message.
  [[nodiscard]] std::span<const std::int32_t> interior() const noexcept { return interior_; }

  /// Begin a round: send the ghosts that others need. @param blocks  values of each
  void begin(std::span<double* const> blocks);
  void progress() { exchange_->progress(); }
  /// Wait for a block whose messages have all arrived in this round. @return nothing if all were handed out
  [[nodiscard]] std::optional<std::int32_t> wait_for_ready();
  void end();

  /// Copy the ghosts of a direction from a block or a message into a tile. @param ghosts  their cells
  void fill(std::size_t block, int direction, const Box& ghosts, std::span<double* const> blocks,
            const CellView<D>& tile) const;

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Sent {
    std::uint64_t key;  // of the block that needs the ghosts
    std::int32_t direction;
    std::int32_t block;
    Rank to;
  };
  struct Needed {
    std::uint64_t key;
    std::int32_t direction;
    std::int32_t block;
    Rank from;
  };
  void find_sources(bool has_corners, std::vector<Sent>& sent, std::vector<Needed>& needed);
  void make_messages(std::vector<Sent> sent, std::vector<Needed> needed,
                     const exchange::RepeatedExchangeOptions& options);
  [[nodiscard]] std::ptrdiff_t numbers_of(int direction) const noexcept;

  const Hierarchy<D>* hierarchy_;
  int level_;
  int n_ghosts_;
  int n_variables_;
  std::vector<std::array<Source, n_directions<D>>> sources_;
  std::vector<bool> has_coarse_;
  std::vector<std::int32_t> interior_;
  std::vector<Sent> sent_;                       // by peer, in the order of the message
  std::vector<std::size_t> first_sent_;          // of each peer
  std::vector<std::vector<std::int32_t>> wait_;  // for each message, the blocks that need it
  std::vector<std::int32_t> n_messages_;         // number that each block needs
  std::vector<std::int32_t> n_open_;             // number still missing in this round
  std::vector<std::int32_t> ready_;
  std::vector<double> received_;
  std::optional<exchange::RepeatedExchange> exchange_;
};

extern template class GhostPlan<2>;
extern template class GhostPlan<3>;

}  // namespace barrio::amr::detail
