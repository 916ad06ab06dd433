#include "barrio/exchange/detail/gather_core.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "barrio/base/assert.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/packet.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

// Contributions and results: two ranks may send each other both, and a fast one begins anew while a slow one ends.
// Within one tag, order keeps exchanges apart.
constexpr int n_gather_tags = 2;

}  // namespace

GatherCore::GatherCore(mpi::Context& context, GatherPlan plan, GatherMethod method)
    : context_(context), plan_(std::move(plan)), method_(method), tags_(context.take_tags(n_gather_tags)) {}

GatherCore::~GatherCore() {
  if (!is_travelling_ || requests_.empty()) return;
  if (std::uncaught_exceptions() > 0) {
    new Buffer(std::move(in_));  // MPI may still write there
    new Buffer(std::move(out_));
    return;
  }
  BARRIO_ASSERT(cheap, !is_travelling_ && "a gather-scatter was dropped between begin() and end()");
}

void GatherCore::start(std::size_t slot_bytes) {
  BARRIO_ASSERT(cheap, !is_travelling_ && "begin() again before end()");
  is_travelling_ = true;
  slot_bytes_ = slot_bytes;
  partials_.resize(plan_.n_slots() * slot_bytes);
  const bool is_pairwise = method_ == GatherMethod::pairwise;
  in_.resize((is_pairwise ? plan_.all : plan_.down).slots.size() * slot_bytes);
  out_.resize((is_pairwise ? plan_.all : plan_.up).slots.size() * slot_bytes);
}

void GatherCore::send() {
  if (method_ == GatherMethod::pairwise) {
    const std::size_t n = plan_.all.peers.size();
    requests_.assign(2 * n, MPI_REQUEST_NULL);
    post_receives(plan_.all, in_, tags_.first, std::span(requests_).first(n));
    pack(plan_.all, out_);
    post_sends(plan_.all, out_, tags_.first, std::span(requests_).subspan(n));
    return;
  }
  pack(plan_.up, out_);
  if (method_ == GatherMethod::crystal) return;
  const std::size_t n = plan_.down.peers.size();
  requests_.assign(n + plan_.up.peers.size(), MPI_REQUEST_NULL);
  post_receives(plan_.down, in_, tags_.first, std::span(requests_).first(n));
  post_sends(plan_.up, out_, tags_.first, std::span(requests_).subspan(n));
}

const GatherFold& GatherCore::receive() {
  if (method_ == GatherMethod::crystal) {
    route(plan_.up, out_, plan_.down, in_);
    return plan_.down_fold;
  }
  const bool is_pairwise = method_ == GatherMethod::pairwise;
  const std::size_t n = (is_pairwise ? plan_.all : plan_.down).peers.size();
  mpi::wait_all(std::span(requests_).first(n), context_.wait_policy());
  return is_pairwise ? plan_.all_fold : plan_.down_fold;
}

void GatherCore::finish() {
  if (method_ != GatherMethod::crystal) mpi::wait_all(requests_, context_.wait_policy());
  if (method_ != GatherMethod::pairwise) {
    // What came is combined and what was sent has left: both buffers serve the way back.
    pack(plan_.down, in_);
    if (method_ == GatherMethod::crystal) {
      route(plan_.down, in_, plan_.up, out_);
    } else {
      const std::size_t n = plan_.up.peers.size();
      post_receives(plan_.up, out_, tags_.first + 1, std::span(requests_).first(n));
      post_sends(plan_.down, in_, tags_.first + 1, std::span(requests_).subspan(n));
      mpi::wait_all(requests_, context_.wait_policy());
    }
    unpack(plan_.up, out_);
  }
  is_travelling_ = false;
}

void GatherCore::pack(const GatherEdges& edges, Buffer& buffer) const {
  std::byte* to = buffer.data();
  for (const LocalId slot : edges.slots) {
    std::memcpy(to, partials_.data() + index(slot) * slot_bytes_, slot_bytes_);
    to += slot_bytes_;
  }
}

void GatherCore::unpack(const GatherEdges& edges, const Buffer& buffer) {
  const std::byte* from = buffer.data();
  for (const LocalId slot : edges.slots) {
    std::memcpy(partials_.data() + index(slot) * slot_bytes_, from, slot_bytes_);
    from += slot_bytes_;
  }
}

void GatherCore::post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::size_t n_bytes = (edges.offsets[peer + 1] - edges.offsets[peer]) * slot_bytes_;
    mpi::check(MPI_Irecv(buffer.data() + edges.offsets[peer] * slot_bytes_, mpi::detail::checked_bytes(n_bytes),
                         MPI_BYTE, edges.peers[peer], tag, context_.comm(), &requests[peer]),
               "MPI_Irecv");
    context_.counters().messages_received += 1;
    context_.counters().bytes_received += n_bytes;
  }
}

void GatherCore::post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::size_t n_bytes = (edges.offsets[peer + 1] - edges.offsets[peer]) * slot_bytes_;
    mpi::check(MPI_Isend(buffer.data() + edges.offsets[peer] * slot_bytes_, mpi::detail::checked_bytes(n_bytes),
                         MPI_BYTE, edges.peers[peer], tag, context_.comm(), &requests[peer]),
               "MPI_Isend");
    context_.counters().messages_sent += 1;
    context_.counters().bytes_sent += n_bytes;
  }
}

void GatherCore::route(const GatherEdges& out, const Buffer& sent, const GatherEdges& in, Buffer& received) {
  const auto bytes_to = [&](const GatherEdges& edges, std::size_t peer) {
    return (edges.offsets[peer + 1] - edges.offsets[peer]) * slot_bytes_;
  };
  std::size_t n_words = 0;
  for (std::size_t peer = 0; peer < out.peers.size(); ++peer) n_words += n_head_words + words_of(bytes_to(out, peer));
  std::vector<std::uint64_t> words(n_words);
  std::size_t at = 0;
  for (std::size_t peer = 0; peer < out.peers.size(); ++peer) {
    const std::size_t n_bytes = bytes_to(out, peer);
    words[at] = static_cast<std::uint64_t>(out.peers[peer]) << 32U | static_cast<std::uint64_t>(context_.rank());
    words[at + 1] = n_bytes;
    std::memcpy(words.data() + at + n_head_words, sent.data() + out.offsets[peer] * slot_bytes_, n_bytes);
    at += n_head_words + words_of(n_bytes);
  }
  words = route_words(context_, std::move(words));
  for (at = 0; at < words.size(); at += n_head_words + words_of(words[at + 1])) {
    const auto from = static_cast<Rank>(words[at] & 0xffffffffU);
    const auto peer = static_cast<std::size_t>(std::ranges::lower_bound(in.peers, from) - in.peers.begin());
    BARRIO_ASSERT(cheap, peer < in.peers.size() && in.peers[peer] == from && bytes_to(in, peer) == words[at + 1], from);
    std::memcpy(received.data() + in.offsets[peer] * slot_bytes_, words.data() + at + n_head_words, words[at + 1]);
  }
}

void GatherCore::drop_other_methods() {
  if (method_ == GatherMethod::pairwise) {
    plan_.up = {};
    plan_.down = {};
    plan_.down_fold = {};
  } else {
    plan_.all = {};
    plan_.all_fold = {};
  }
}

std::uint64_t GatherCore::memory_bytes() const noexcept {
  return plan_.memory_bytes() + barrio::memory_bytes(partials_) + barrio::memory_bytes(in_) +
         barrio::memory_bytes(out_) + barrio::memory_bytes(requests_);
}

}  // namespace barrio::exchange::detail
