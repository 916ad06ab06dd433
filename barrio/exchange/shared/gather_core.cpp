#include "barrio/exchange/detail/gather_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

// One for contributions, one for results: two ranks may send each other both, and a fast one may begin the next
// exchange while a slow one ends. Within one tag, message order keeps exchanges apart.
constexpr int n_gather_tags = 2;

const char* name(Combines combine) {
  switch (combine) {
    case Combines::sum: return "Sum";
    case Combines::product: return "Product";
    case Combines::min: return "Min";
    case Combines::max: return "Max";
    case Combines::function: break;
  }
  return "a function of its own";
}

}  // namespace

GatherCore::GatherCore(mpi::Context& context, GatherPlan plan, GatherMethod method)
    : context_(context), plan_(std::move(plan)), method_(method), tags_(context.take_tags(n_gather_tags)) {}

GatherCore::~GatherCore() {
  if (is_travelling_ && !requests_.empty()) {
    if (std::uncaught_exceptions() > 0) {
      new Buffer(std::move(in_));  // leaked: MPI may still write there
      new Buffer(std::move(out_));
      return;
    }
    BARRIO_ASSERT(cheap, !is_travelling_ && "a gather-scatter was dropped between begin() and end()");
  }
  free_requests();
}

void GatherCore::free_requests() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL && finalized == 0) MPI_Request_free(&request);
  requests_.clear();
}

std::size_t GatherCore::message_bytes(const GatherEdges& edges, std::size_t peer) const noexcept {
  return head_bytes + (edges.offsets[peer + 1] - edges.offsets[peer]) * slot_bytes_;
}

std::size_t GatherCore::buffer_bytes(const GatherEdges& edges) const noexcept {
  if (edges.peers.empty()) return 0;
  const std::size_t last = edges.peers.size() - 1;
  return message_place(edges, last, slot_bytes_) + message_bytes(edges, last);
}

void GatherCore::find_contributions(const GatherEdges& edges, const GatherFold& fold) {
  std::vector<const std::byte*> of_row(edges.slots.size());
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::byte* at = in_.data() + slots_place(edges, peer);
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, at += slot_bytes_)
      of_row[row] = at;
  }
  contributions_.resize(fold.rows.size());
  for (std::size_t i = 0; i < fold.slots.size(); ++i) {
    const std::byte* other = nullptr;
    std::size_t own = 0;
    for (std::size_t k = fold.offsets[i]; k < fold.offsets[i + 1]; ++k) {
      const bool is_own = fold.rows[k] == GatherFold::own;
      contributions_[k] = is_own ? nullptr : of_row[fold.rows[k]];
      if (is_own) {
        own = k;
      } else {
        other = contributions_[k];
      }
    }
    // The slot to a sharer has the same place in out_ as the slot from it in in_.
    if (method_ == GatherMethod::pairwise) contributions_[own] = out_.data() + (other - in_.data());
  }
}

void GatherCore::start(const MessageKind& kind, std::size_t n_components, Combines combine) {
  BARRIO_ASSERT(cheap, !is_travelling_ && "begin() again before end()");
  is_travelling_ = true;
  kind_ = kind;
  combine_ = combine;
  misfit_.reset();
  const std::size_t slot_bytes = kind.n_bytes * n_components;
  if (slot_bytes != slot_bytes_ || method_ != planned_method_) lay_out(slot_bytes);
}

void GatherCore::lay_out(std::size_t slot_bytes) {
  slot_bytes_ = slot_bytes;
  planned_method_ = method_;
  const bool is_pairwise = method_ == GatherMethod::pairwise;
  const GatherEdges& in = is_pairwise ? plan_.all : plan_.down;
  free_requests();
  if (!is_direct()) partials_.resize(plan_.n_slots() * slot_bytes);
  in_.resize(buffer_bytes(in));
  out_.resize(buffer_bytes(is_pairwise ? plan_.all : plan_.up));
  find_contributions(in, is_pairwise ? plan_.all_fold : plan_.down_fold);
#ifndef BARRIO_MPI_SMPI  // the simulator does not restart requests
  if (!is_pairwise) return;
  const std::size_t n = in.peers.size();
  requests_.assign(2 * n, MPI_REQUEST_NULL);
  for (std::size_t peer = 0; peer < n; ++peer) {
    const int n_bytes = mpi::as_count(message_bytes(in, peer));
    const std::size_t place = message_place(in, peer, slot_bytes_);
    mpi::check(MPI_Recv_init(in_.data() + place, n_bytes, MPI_BYTE, in.peers[peer], tags_.first, context_.comm(),
                             &requests_[peer]),
               "MPI_Recv_init");
    mpi::check(MPI_Send_init(out_.data() + place, n_bytes, MPI_BYTE, in.peers[peer], tags_.first, context_.comm(),
                             &requests_[n + peer]),
               "MPI_Send_init");
  }
#endif
}

void GatherCore::count(const GatherEdges& edges, bool receives) noexcept {
  mpi::Counters& counters = context_.counters();
  const std::uint64_t n_messages = edges.peers.size();
  const std::uint64_t n_bytes = n_messages * head_bytes + edges.slots.size() * slot_bytes_;
  (receives ? counters.messages_received : counters.messages_sent) += n_messages;
  (receives ? counters.bytes_received : counters.bytes_sent) += n_bytes;
}

void GatherCore::start_pairwise(bool receives) {
  const std::size_t n = plan_.all.peers.size();
#ifdef BARRIO_MPI_SMPI
  requests_.resize(2 * n, MPI_REQUEST_NULL);
  if (receives) {
    post_receives(plan_.all, in_, tags_.first, std::span(requests_).first(n));
  } else {
    post_sends(plan_.all, out_, tags_.first, std::span(requests_).subspan(n));
  }
#else
  if (n > 0) mpi::check(MPI_Startall(static_cast<int>(n), requests_.data() + (receives ? 0 : n)), "MPI_Startall");
  count(plan_.all, receives);
#endif
}

void GatherCore::send() {
  if (method_ == GatherMethod::pairwise) {
    for (std::size_t peer = 0; peer < plan_.all.peers.size(); ++peer) {
      const std::size_t place = message_place(plan_.all, peer, slot_bytes_);
      put_head(out_.data() + place);
      std::memset(in_.data() + place, 0, head_bytes);  // stays zero if MPI cannot deliver the message
    }
    start_pairwise(true);
    start_pairwise(false);
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
  complete(requests_);
  check_messages(edges, in_);
  return is_pairwise ? plan_.all_fold : plan_.down_fold;
}

void GatherCore::finish() {
  if (method_ != GatherMethod::pairwise) {
    // Contributions are combined and sends are done: both buffers are free for the way back.
    pack(plan_.down, in_);
    if (method_ == GatherMethod::crystal) {
      route(plan_.down, in_, plan_.up, out_);
    } else {
      const std::size_t n = plan_.up.peers.size();
      post_receives(plan_.up, out_, tags_.first + 1, std::span(requests_).first(n));
      post_sends(plan_.down, in_, tags_.first + 1, std::span(requests_).subspan(n));
      complete(requests_);
      check_messages(plan_.up, out_);
    }
    unpack(plan_.up, out_);
  }
  is_travelling_ = false;
  if (!misfit_) return;
  const std::string subject = fmt::format("message from rank {}", misfit_->from);
  if (misfit_->head.kind != kind_) refuse_kind(subject, misfit_->head.kind, kind_);
  if (misfit_->head.combine != combine_)
    throw Error(ErrorCode::usage, {.subject = subject,
                                   .cause = fmt::format("combines by {}, but this rank by {}",
                                                        name(misfit_->head.combine), name(combine_)),
                                   .remedy = "use the same operator on all ranks"});
  throw Error(ErrorCode::usage, {.subject = subject,
                                 .cause = fmt::format("must have {} bytes for each shared id", slot_bytes_),
                                 .remedy = "give the same number of components on all ranks"});
}

void GatherCore::put_head(std::byte* message) const noexcept {
  const Head head{kind_, static_cast<std::uint32_t>(slot_bytes_), combine_};
  std::memcpy(message, &head, sizeof head);
}

void GatherCore::pack(const GatherEdges& edges, Buffer& buffer) const {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    put_head(buffer.data() + message_place(edges, peer, slot_bytes_));
    std::byte* to = buffer.data() + slots_place(edges, peer);
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, to += slot_bytes_)
      std::memcpy(to, partials_.data() + index(edges.slots[row]) * slot_bytes_, slot_bytes_);
  }
}

void GatherCore::unpack(const GatherEdges& edges, const Buffer& buffer) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    const std::byte* from = buffer.data() + slots_place(edges, peer);
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row, from += slot_bytes_)
      std::memcpy(partials_.data() + index(edges.slots[row]) * slot_bytes_, from, slot_bytes_);
  }
}

void GatherCore::post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer)
    mpi::check(
        MPI_Irecv(buffer.data() + message_place(edges, peer, slot_bytes_), mpi::as_count(message_bytes(edges, peer)),
                  MPI_BYTE, edges.peers[peer], tag, context_.comm(), &requests[peer]),
        "MPI_Irecv");
  count(edges, true);
}

void GatherCore::post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer)
    mpi::check(
        MPI_Isend(buffer.data() + message_place(edges, peer, slot_bytes_), mpi::as_count(message_bytes(edges, peer)),
                  MPI_BYTE, edges.peers[peer], tag, context_.comm(), &requests[peer]),
        "MPI_Isend");
  count(edges, false);
}

void GatherCore::complete(std::span<MPI_Request> requests) {
  try {
    mpi::wait_all(requests, context_.wait_policy());
    return;
  } catch (const Error&) {
    // A message was longer than its buffer. Its head arrived nevertheless; wait for the others one by one.
  }
  for (MPI_Request& request : requests) {
    try {
      mpi::wait(request, context_.wait_policy());
    } catch (const Error&) {
      continue;
    }
  }
}

void GatherCore::check_messages(const GatherEdges& edges, const Buffer& buffer) {
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer)
    check_message(edges.peers[peer], buffer.data() + message_place(edges, peer, slot_bytes_));
}

void GatherCore::check_message(Rank from, const std::byte* message) {
  Head head{};
  std::memcpy(&head, message, sizeof head);
  if (head == Head{kind_, static_cast<std::uint32_t>(slot_bytes_), combine_}) return;
  if (!misfit_ || from < misfit_->from) misfit_ = Misfit{from, head};
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
    std::memcpy(words.data() + at + n_head_words, sent.data() + message_place(out, peer, slot_bytes_), n_bytes);
    at += n_head_words + words_of(n_bytes);
  }
  words = route_words(context_, std::move(words));
  for (at = 0; at < words.size(); at += n_head_words + words_of(entry_bytes(words[at + 1]))) {
    const auto from = static_cast<Rank>(words[at] & 0xffffffffU);
    const std::size_t peer = std::ranges::lower_bound(in.peers, from) - in.peers.begin();
    BARRIO_ASSERT(cheap, peer < in.peers.size() && in.peers[peer] == from, from);
    const std::size_t n_bytes = entry_bytes(words[at + 1]);
    std::byte* const place = received.data() + message_place(in, peer, slot_bytes_);
    std::memcpy(place, words.data() + at + n_head_words, std::min(n_bytes, message_bytes(in, peer)));
    check_message(from, place);
  }
}

void GatherCore::drop_other_methods() {
  if (method_ == GatherMethod::pairwise) {
    free_memory(plan_.up);
    free_memory(plan_.down);
    free_memory(plan_.down_fold);
  } else {
    free_memory(plan_.all);
    free_memory(plan_.all_pairs);
    free_memory(plan_.all_fold);
  }
}

std::uint64_t GatherCore::memory_bytes() const noexcept {
  return plan_.memory_bytes() + barrio::memory_bytes(partials_) + barrio::memory_bytes(in_) +
         barrio::memory_bytes(out_) + barrio::memory_bytes(contributions_) + barrio::memory_bytes(requests_);
}

}  // namespace barrio::exchange::detail
