#include "barrio/exchange/repeated/contents_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::uint64_t magic = 0xBA44'10C0'17E4'75ED;

std::uint64_t hash_of(std::string_view text) {
  Hash64 hash;
  for (const char letter : text) hash.add(static_cast<std::uint64_t>(letter));
  return hash.value();
}

}  // namespace

std::string ContentsCheck::Word::contents() const { return {text.data(), std::min<std::size_t>(length, text.size())}; }

ContentsCheck::ContentsCheck(mpi::Context& context, const Wires& wires, int tag, const std::string& contents)
    : context_(context), tag_(tag) {
  Word word{.magic = magic, .hash = hash_of(contents), .length = static_cast<std::uint32_t>(contents.size())};
  std::copy_n(contents.begin(), std::min(contents.size(), word.text.size()), word.text.begin());
  const auto peers_of = [&](const std::vector<Wire>& all, auto&& bytes_of) {
    std::vector<Peer> peers;
    for (const Wire& wire : all) {
      if (wire.peer == context.rank()) continue;
      auto at = std::ranges::lower_bound(peers, wire.peer, {}, &Peer::rank);
      if (at == peers.end() || at->rank != wire.peer) at = peers.insert(at, {wire.peer, word});
      at->word.n_messages += static_cast<std::uint32_t>(wire.messages.size());
      for (const std::size_t i : wire.messages) at->word.n_bytes += bytes_of(i);
    }
    return peers;
  };
  out_ = peers_of(wires.out, [&](std::size_t i) { return wires.outgoing(i).size(); });
  in_ = peers_of(wires.in, [&](std::size_t i) { return wires.incoming(i).size(); });
  received_.resize(in_.size());
  receives_.assign(in_.size(), MPI_REQUEST_NULL);
  sends_.assign(out_.size(), MPI_REQUEST_NULL);
}

void ContentsCheck::post_receives() {
  for (std::size_t i = 0; i < in_.size(); ++i)
    mpi::check(MPI_Irecv(&received_[i], sizeof(Word), MPI_BYTE, in_[i].rank, tag_, context_.comm(), &receives_[i]),
               "MPI_Irecv");
}

void ContentsCheck::send() {
  for (std::size_t i = 0; i < out_.size(); ++i)
    mpi::check(MPI_Isend(&out_[i].word, sizeof(Word), MPI_BYTE, out_[i].rank, tag_, context_.comm(), &sends_[i]),
               "MPI_Isend");
}

bool ContentsCheck::test() {
  int done = 1;
  if (receives_.empty()) return true;
  const int code = MPI_Testall(mpi::as_count(receives_.size()), receives_.data(), &done, MPI_STATUSES_IGNORE);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE || error_class == MPI_ERR_IN_STATUS)
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("the exchange of {}", out_.empty() ? "bytes" : out_[0].word.contents()),
                 .cause = "got a message of another one",
                 .remedy = "begin the exchanges of one tag in the same order on all ranks"});
  mpi::check(code, "MPI_Testall");
  return done != 0;
}

bool ContentsCheck::is_fit(std::size_t peer) const noexcept {
  const Word& theirs = received_[peer];
  const Word& mine = in_[peer].word;
  return theirs.magic == mine.magic && theirs.hash == mine.hash && theirs.n_bytes == mine.n_bytes &&
         theirs.n_messages == mine.n_messages;
}

bool ContentsCheck::has_misfit() const noexcept {
  for (std::size_t i = 0; i < in_.size(); ++i)
    if (!is_fit(i)) return true;
  return false;
}

void ContentsCheck::throw_misfit() const {
  for (std::size_t i = 0; i < in_.size(); ++i) {
    if (is_fit(i)) continue;
    const Word& theirs = received_[i];
    const Word& mine = in_[i].word;
    const std::string subject = fmt::format("message from rank {}", in_[i].rank);
    if (theirs.magic != magic)
      throw Error(ErrorCode::usage, {.subject = subject,
                                     .cause = fmt::format("belongs to another exchange than the one of {}, which "
                                                          "begins on this rank",
                                                          mine.contents()),
                                     .remedy = "begin the exchanges of one tag in the same order on all ranks"});
    if (theirs.hash != mine.hash)
      throw Error(ErrorCode::usage,
                  {.subject = subject,
                   .cause = fmt::format("belongs to an exchange of {}, but this rank exchanges {}", theirs.contents(),
                                        mine.contents()),
                   .remedy = "exchange the same fields, of the same types, in the same order on all ranks"});
    throw Error(
        ErrorCode::usage,
        {.subject = subject,
         .cause = fmt::format("belongs to an exchange of {} whose messages to this rank are {} of {} bytes in "
                              "all, but this rank expects {} of {}",
                              mine.contents(), theirs.n_messages, theirs.n_bytes, mine.n_messages, mine.n_bytes),
         .remedy = "list the same messages on both sides"});
  }
}

}  // namespace barrio::exchange::detail
