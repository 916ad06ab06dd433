#include "barrio/exchange/detail/gather_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
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

std::size_t GatherCore::message_bytes(const GatherEdges& edges, std::size_t peer) const noexcept {
  return sizeof kind_ + (edges.offsets[peer + 1] - edges.offsets[peer]) * slot_bytes_;
}

std::size_t GatherCore::message_place(const GatherEdges& edges, std::size_t peer) const noexcept {
  // 16 for the rounding, 16 for the kind, of which 8 are used.
  constexpr std::size_t unit = 16;
  const std::size_t slots = (edges.offsets[peer] * slot_bytes_ + unit - 1) / unit * unit;
  return slots + 2 * unit * peer + unit - sizeof kind_;
}

std::size_t GatherCore::buffer_bytes(const GatherEdges& edges) const noexcept {
  return edges.peers.empty()
             ? 0
             : message_place(edges, edges.peers.size() - 1) + message_bytes(edges, edges.peers.size() - 1);
}

void GatherCore::find_contributions(const GatherEdges& edges, const GatherFold& fold) {
  std::vector<const std::byte*> of_row(edges.slots.size());
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::byte* at = in_.data() + message_place(edges, peer) + sizeof kind_;
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, at += slot_bytes_)
      of_row[row] = at;
  }
  contributions_.resize(fold.rows.size());
  for (std::size_t k = 0; k < fold.rows.size(); ++k)
    contributions_[k] = fold.rows[k] == GatherFold::own ? nullptr : of_row[fold.rows[k]];
}

void GatherCore::start(const MessageKind& kind, std::size_t n_components) {
  BARRIO_ASSERT(cheap, !is_travelling_ && "begin() again before end()");
  is_travelling_ = true;
  kind_ = kind;
  misfit_.reset();
  const std::size_t slot_bytes = kind.n_bytes * n_components;
  const bool is_pairwise = method_ == GatherMethod::pairwise;
  const GatherEdges& in = is_pairwise ? plan_.all : plan_.down;
  const bool is_as_before = slot_bytes == slot_bytes_ && method_ == planned_method_;
  if (is_as_before) return;
  slot_bytes_ = slot_bytes;
  planned_method_ = method_;
  partials_.resize(plan_.n_slots() * slot_bytes);
  in_.resize(buffer_bytes(in));
  out_.resize(buffer_bytes(is_pairwise ? plan_.all : plan_.up));
  find_contributions(in, is_pairwise ? plan_.all_fold : plan_.down_fold);
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
  const GatherEdges& edges = is_pairwise ? plan_.all : plan_.down;
  complete_receives(edges, in_, std::span(requests_).first(edges.peers.size()));
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
      complete_receives(plan_.up, out_, std::span(requests_).first(n));
      mpi::wait_all(requests_, context_.wait_policy());
    }
    unpack(plan_.up, out_);
  }
  is_travelling_ = false;
  if (!misfit_) return;
  const std::string subject = fmt::format("what rank {} sent", misfit_->from);
  if (misfit_->kind != kind_) refuse_kind(subject, misfit_->kind, kind_);
  throw Error(ErrorCode::usage, {.subject = subject,
                                 .cause = fmt::format("has not {} bytes for each shared id", slot_bytes_),
                                 .remedy = "give as many components on all ranks"});
}

void GatherCore::pack(const GatherEdges& edges, Buffer& buffer) const {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    std::byte* to = buffer.data() + message_place(edges, peer);
    std::memcpy(to, &kind_, sizeof kind_);
    to += sizeof kind_;
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, to += slot_bytes_)
      std::memcpy(to, partials_.data() + index(edges.slots[row]) * slot_bytes_, slot_bytes_);
  }
}

void GatherCore::unpack(const GatherEdges& edges, const Buffer& buffer) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::byte* from = buffer.data() + message_place(edges, peer) + sizeof kind_;
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, from += slot_bytes_)
      std::memcpy(partials_.data() + index(edges.slots[row]) * slot_bytes_, from, slot_bytes_);
  }
}

void GatherCore::post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::size_t n_bytes = message_bytes(edges, peer);
    mpi::check(MPI_Irecv(buffer.data() + message_place(edges, peer), mpi::detail::checked_bytes(n_bytes), MPI_BYTE,
                         edges.peers[peer], tag, context_.comm(), &requests[peer]),
               "MPI_Irecv");
    context_.counters().messages_received += 1;
    context_.counters().bytes_received += n_bytes;
  }
}

void GatherCore::post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::size_t n_bytes = message_bytes(edges, peer);
    mpi::check(MPI_Isend(buffer.data() + message_place(edges, peer), mpi::detail::checked_bytes(n_bytes), MPI_BYTE,
                         edges.peers[peer], tag, context_.comm(), &requests[peer]),
               "MPI_Isend");
    context_.counters().messages_sent += 1;
    context_.counters().bytes_sent += n_bytes;
  }
}

void GatherCore::complete_receives(const GatherEdges& edges, const Buffer& buffer, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    MPI_Status status{};
    int n_bytes = -1;
    try {
      mpi::wait(requests[peer], context_.wait_policy(), &status);
      mpi::check(MPI_Get_count(&status, MPI_BYTE, &n_bytes), "MPI_Get_count");
    } catch (const Error&) {
      n_bytes = -1;  // longer than what was expected, and cut
    }
    check_message(edges.peers[peer], buffer.data() + message_place(edges, peer),
                  std::cmp_equal(n_bytes, message_bytes(edges, peer)));
  }
}

void GatherCore::check_message(Rank from, const std::byte* message, bool has_right_length) {
  MessageKind kind{};
  std::memcpy(&kind, message, sizeof kind);
  if (kind == kind_ && has_right_length) return;
  if (!misfit_ || from < misfit_->from) misfit_ = Misfit{from, kind};
}

void GatherCore::route(const GatherEdges& out, const Buffer& sent, const GatherEdges& in, Buffer& received) {
  std::size_t n_words = 0;
  for (std::size_t peer = 0; peer < out.peers.size(); ++peer)
    n_words += n_head_words + words_of(message_bytes(out, peer));
  std::vector<std::uint64_t> words(n_words);
  std::size_t at = 0;
  for (std::size_t peer = 0; peer < out.peers.size(); ++peer) {
    const std::size_t n_bytes = message_bytes(out, peer);
    words[at] = static_cast<std::uint64_t>(out.peers[peer]) << 32U | static_cast<std::uint64_t>(context_.rank());
    words[at + 1] = n_bytes;
    std::memcpy(words.data() + at + n_head_words, sent.data() + message_place(out, peer), n_bytes);
    at += n_head_words + words_of(n_bytes);
  }
  words = route_words(context_, std::move(words));
  for (at = 0; at < words.size(); at += n_head_words + words_of(entry_bytes(words[at + 1]))) {
    const auto from = static_cast<Rank>(words[at] & 0xffffffffU);
    const auto peer = static_cast<std::size_t>(std::ranges::lower_bound(in.peers, from) - in.peers.begin());
    BARRIO_ASSERT(cheap, peer < in.peers.size() && in.peers[peer] == from, from);
    const std::size_t n_bytes = entry_bytes(words[at + 1]);
    std::byte* const place = received.data() + message_place(in, peer);
    std::memcpy(place, words.data() + at + n_head_words, std::min(n_bytes, message_bytes(in, peer)));
    check_message(from, place, n_bytes == message_bytes(in, peer));
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
         barrio::memory_bytes(out_) + barrio::memory_bytes(contributions_) + barrio::memory_bytes(requests_);
}

}  // namespace barrio::exchange::detail
