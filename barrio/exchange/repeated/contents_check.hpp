#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/exchange/repeated/wires.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Check that both ends of each pair exchange the same contents: in the first round each rank sends a word to each peer
/// ahead of its messages, and receives messages only when the words of all peers have come. So contents of another
/// kind never reach the caller's memory. One thread posts and tests, one sends.
class ContentsCheck {
 public:
  /// @param contents  description, the same on all ranks
  ContentsCheck(mpi::Context& context, const Wires& wires, int tag, const std::string& contents);
  ContentsCheck(const ContentsCheck&) = delete;
  ContentsCheck& operator=(const ContentsCheck&) = delete;

  void post_receives();
  void send();
  /// Test the words of the peers. @return whether all have come
  [[nodiscard]] bool test();
  /// @throws Error{usage} naming the lowest rank that exchanges other contents @pre test()
  void throw_misfit() const;
  [[nodiscard]] bool has_misfit() const noexcept;
  [[nodiscard]] std::vector<MPI_Request>& sends() noexcept { return sends_; }
  [[nodiscard]] std::vector<MPI_Request>& receives() noexcept { return receives_; }
  /// Count the words that are sent or received.
  [[nodiscard]] std::size_t n_sent() const noexcept { return out_.size(); }
  [[nodiscard]] std::size_t n_received() const noexcept { return in_.size(); }
  static constexpr std::size_t word_bytes = 128;

 private:
  struct Word {
    std::uint64_t magic = 0;
    std::uint64_t hash = 0;  // of the whole description
    std::uint64_t n_bytes = 0;
    std::uint32_t n_messages = 0;
    std::uint32_t length = 0;
    std::array<char, 96> text{};
    [[nodiscard]] std::string contents() const;
  };
  static_assert(sizeof(Word) == word_bytes);
  struct Peer {
    Rank rank = 0;
    Word word;
  };
  [[nodiscard]] bool is_fit(std::size_t peer) const noexcept;

  mpi::Context& context_;
  int tag_;
  std::vector<Peer> out_;
  std::vector<Peer> in_;        // as this rank expects them
  std::vector<Word> received_;  // of the same peers
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

}  // namespace barrio::exchange::detail
