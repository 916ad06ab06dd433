#include "barrio/mesh/box_halo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/mesh/structured/box_regions.hpp"
#include "barrio/mesh/structured/box_rows.hpp"

namespace barrio::mesh {

template <std::size_t D>
geometry::IndexBox<D> places_with_ghosts(const BoxLayout<D>& layout, std::size_t box, Centering centering,
                                         const BoxHaloOptions& options) noexcept {
  geometry::IndexBox<D> cells = layout.boxes()[box].grown(options.ghosts);
  for (std::size_t k = 0; k < D && !options.has_outside; ++k) {
    if (layout.is_periodic()[k]) continue;
    cells.low[k] = std::max(cells.low[k], layout.domain().low[k]);
    cells.high[k] = std::min(cells.high[k], layout.domain().high[k]);
  }
  return places(cells, centering);
}
template geometry::IndexBox<2> places_with_ghosts(const BoxLayout<2>&, std::size_t, Centering,
                                                  const BoxHaloOptions&) noexcept;
template geometry::IndexBox<3> places_with_ghosts(const BoxLayout<3>&, std::size_t, Centering,
                                                  const BoxHaloOptions&) noexcept;

template <std::size_t D>
struct BoxHalo<D>::Body {
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;
  using Neighbour = typename BoxLayout<D>::Neighbour;

  Body(std::shared_ptr<const BoxLayout<D>> shared, std::vector<BoxField> given, const BoxHaloOptions& how)
      : layout(std::move(shared)), fields(std::move(given)), options(how) {
    check();
    find_pieces();
    make_exchange();
  }

  void check() const;
  void find_pieces();
  /// Find the regions that a box sends to a neighbour, or the other way round. @param source, target  cells of the
  /// sending and the receiving box, in the indices of this rank's box
  void find_regions(std::size_t field, const Box& source, const Box& target, std::span<const Box> others,
                    std::vector<Box>& regions) const;
  void make_exchange();
  [[nodiscard]] Box array_of(std::size_t field, std::size_t box) const {
    return places_with_ghosts(*layout, box, fields[field].centering(), options);
  }
  [[nodiscard]] detail::BoxRows<D> rows_of(std::size_t field, std::size_t box, const Box& region) const {
    return detail::BoxRows<D>(array_of(field, box), region, fields[field].place_bytes());
  }
  /// Visit the rows of a piece in all its arrays. @param visit  takes the first byte of a row and its size
  template <class Visit>
  void for_each_row(const detail::BoxPiece<D>& piece, Visit&& visit) const {
    const BoxField& field = fields[piece.field];
    const std::span<std::byte> values = field.boxes()[piece.box];
    for (std::size_t a = 0; a < field.n_arrays(); ++a) {
      std::byte* const array = values.data() + a * (values.size() / field.n_arrays());
      piece.rows.for_each([&](const auto& row) { visit(array + piece.rows.at(row), piece.rows.row_bytes); });
    }
  }
  [[nodiscard]] std::string contents() const;
  void pack(std::size_t message) const;
  void unpack(std::size_t message);
  void copy_here() const;
  std::optional<std::int32_t> take_ready(bool waits);

  std::shared_ptr<const BoxLayout<D>> layout;
  std::vector<BoxField> fields;
  BoxHaloOptions options;
  std::vector<detail::BoxMessage<D>> sent;
  std::vector<detail::BoxMessage<D>> received;
  std::vector<detail::BoxCopy<D>> copies;
  std::vector<std::byte> arriving;
  std::vector<std::size_t> arriving_first;          ///< byte of each message
  std::vector<std::vector<std::int32_t>> boxes_of;  ///< boxes to which a message brings ghosts
  std::vector<std::int32_t> interior;
  std::vector<std::int32_t> fringe;
  std::vector<std::int32_t> n_messages_of;  ///< number of messages that bring ghosts to each box
  std::vector<std::int32_t> n_missing;      ///< number of them still missing in this round
  std::vector<std::int32_t> ready;          ///< boxes whose last message has arrived, not handed out yet
  std::size_t n_handed_out = 0;
  std::unique_ptr<exchange::RepeatedExchange> exchange;
};

template <std::size_t D>
void BoxHalo<D>::Body::check() const {
  const auto refuse_field = [](std::size_t field, const std::string& cause, const std::string& remedy) {
    refuse(ErrorCode::usage, fmt::format("field {} of a halo of boxes", field), cause, remedy);
  };
  if (options.ghosts < 0)
    refuse(ErrorCode::usage, fmt::format("{} layers of ghosts", options.ghosts), "must be at least 0");
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const bool is_of_cells = fields[f].centering() == Centering::cell;
    if (static_cast<std::size_t>(fields[f].centering()) >= D + 2)
      refuse_field(f, fmt::format("lies on faces across an axis beyond the {} of the layout", D), "");
    if (options.ghosts + (is_of_cells || options.ghosts == 0 ? 0 : 1) > layout->reach())
      refuse_field(f,
                   fmt::format("has {} layers of ghosts, but neighbours are known only within {} cells", options.ghosts,
                               layout->reach()),
                   "make the layout with a longer reach: the number of layers, plus one for vertices and faces");
    if (fields[f].boxes().size() != layout->boxes().size())
      refuse_field(f,
                   fmt::format("has arrays for {} boxes, but this rank has {}", fields[f].boxes().size(),
                               layout->boxes().size()),
                   "give one array for each box");
    for (std::size_t b = 0; b < layout->boxes().size(); ++b) {
      const std::size_t wanted = array_of(f, b).size() * fields[f].place_bytes() * fields[f].n_arrays();
      if (fields[f].boxes()[b].size() != wanted)
        refuse_field(f,
                     fmt::format("has {} bytes for box {}, but its places with ghosts take {}",
                                 fields[f].boxes()[b].size(), b, wanted),
                     "see places_with_ghosts()");
    }
  }
}

template <std::size_t D>
void BoxHalo<D>::Body::find_regions(std::size_t field, const Box& source, const Box& target,
                                    std::span<const Box> others, std::vector<Box>& regions) const {
  // The layers may extend beyond the domain; no source has places there.
  const Centering centering = fields[field].centering();
  const Box own = places(target, centering);
  for (const Box& part :
       detail::owned_places<D>(source, places(target.grown(options.ghosts), centering), centering, others))
    geometry::subtract(part, own, regions);
}

template <std::size_t D>
void BoxHalo<D>::Body::find_pieces() {
  const Rank me = layout->context().rank();
  struct Found {
    Rank peer;
    std::int32_t target;  // receiving box, sending box, and the shift of the sending box as seen from the receiving one
    std::int32_t source;
    Index shift;
    detail::BoxPiece<D> piece;
  };
  std::vector<Found> out;
  std::vector<Found> in;
  std::vector<Box> regions;
  std::vector<Box> others;
  for (std::int32_t here = 0; here < std::ssize(layout->boxes()); ++here) {
    const Box& mine = layout->boxes()[here];
    // All boxes that may share a place with both this one and a neighbour, in the indices of this one.
    others.assign(1, mine);
    for (const Neighbour& one : layout->neighbours_of(here)) others.push_back(one.cells);
    std::ranges::sort(others, {}, &Box::low);
    for (const Neighbour& one : layout->neighbours_of(here)) {
      Index back{};
      for (std::size_t k = 0; k < D; ++k) back[k] = -one.shift[k];
      for (std::uint32_t field = 0; field < fields.size(); ++field) {
        regions.clear();
        find_regions(field, one.cells, mine, others, regions);
        for (const Box& region : regions) {
          const detail::BoxRows<D> rows = rows_of(field, here, region);
          if (one.rank != me) {
            in.push_back({one.rank, here, one.other, one.shift, {field, here, rows}});
          } else {
            copies.push_back({field, one.other, here, rows_of(field, one.other, region.shifted(back)), rows});
          }
        }
        if (one.rank == me) continue;
        regions.clear();
        find_regions(field, mine, one.cells, others, regions);
        for (const Box& region : regions)
          out.push_back({one.rank, one.other, here, back, {field, here, rows_of(field, here, region)}});
      }
    }
  }
  const auto make_messages = [&](std::vector<Found>& found, std::vector<detail::BoxMessage<D>>& messages) {
    std::ranges::stable_sort(found, {}, [](const Found& one) {
      return std::tuple(one.peer, one.target, one.source, one.shift, one.piece.field);
    });
    for (const Found& one : found) {
      if (messages.empty() || messages.back().peer != one.peer)
        messages.push_back({.peer = one.peer, .n_bytes = 0, .pieces = {}});
      messages.back().pieces.push_back(one.piece);
      messages.back().n_bytes += one.piece.rows.n_bytes() * fields[one.piece.field].n_arrays();
    }
  };
  make_messages(out, sent);
  make_messages(in, received);
}

template <std::size_t D>
void BoxHalo<D>::Body::make_exchange() {
  n_messages_of.assign(layout->boxes().size(), 0);
  std::size_t n_bytes = 0;
  for (const detail::BoxMessage<D>& message : received) {
    arriving_first.push_back(n_bytes);
    n_bytes += message.n_bytes;
    std::vector<std::int32_t>& boxes = boxes_of.emplace_back();
    for (const detail::BoxPiece<D>& piece : message.pieces) boxes.push_back(piece.box);
    std::ranges::sort(boxes);
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
    for (const std::int32_t box : boxes) n_messages_of[box] += 1;
  }
  arriving.resize(n_bytes);
  for (std::int32_t b = 0; b < std::ssize(n_messages_of); ++b) (n_messages_of[b] == 0 ? interior : fringe).push_back(b);
  ready.reserve(fringe.size());
  std::vector<exchange::Outgoing> outgoing;
  std::vector<exchange::Incoming> incoming;
  for (const detail::BoxMessage<D>& message : sent) outgoing.push_back({message.peer, message.n_bytes});
  for (std::size_t i = 0; i < received.size(); ++i)
    incoming.push_back({received[i].peer, std::span(arriving).subspan(arriving_first[i], received[i].n_bytes)});
  exchange::RepeatedExchangeOptions how = options.exchange;
  if (how.contents.empty()) how.contents = contents();
  if (how.message_class.empty()) {
    std::size_t place_bytes = 0;
    for (const BoxField& field : fields) place_bytes += field.place_bytes() * field.n_arrays();
    how.message_class = fmt::format("boxes of {} axes, {} layers of {} bytes", D, options.ghosts, place_bytes);
  }
  exchange = std::make_unique<exchange::RepeatedExchange>(layout->context(), outgoing, incoming, layout->tags(), how);
}

template <std::size_t D>
std::string BoxHalo<D>::Body::contents() const {
  std::vector<std::string> all;
  for (const BoxField& field : fields) {
    const std::string& type = field.type().name;
    all.push_back(field.n_components() == 1 ? type : fmt::format("{} x {}", field.n_components(), type));
  }
  return fmt::format("{} layer{} of ghosts of boxes, {}", options.ghosts, options.ghosts == 1 ? "" : "s",
                     fmt::join(all, " and "));
}

template <std::size_t D>
void BoxHalo<D>::Body::pack(std::size_t message) const {
  std::byte* to = exchange->outgoing(message).data();
  for (const detail::BoxPiece<D>& piece : sent[message].pieces) {
    for_each_row(piece, [&](const std::byte* row, std::size_t n_bytes) {
      detail::copy_row(to, row, n_bytes);
      to += n_bytes;
    });
  }
}

template <std::size_t D>
void BoxHalo<D>::Body::unpack(std::size_t message) {
  const std::byte* from = arriving.data() + arriving_first[message];
  for (const detail::BoxPiece<D>& piece : received[message].pieces) {
    for_each_row(piece, [&](std::byte* row, std::size_t n_bytes) {
      detail::copy_row(row, from, n_bytes);
      from += n_bytes;
    });
  }
  for (const std::int32_t box : boxes_of[message])
    if (--n_missing[box] == 0) ready.push_back(box);
}

template <std::size_t D>
void BoxHalo<D>::Body::copy_here() const {
  for (const detail::BoxCopy<D>& copy : copies) {
    const BoxField& field = fields[copy.field];
    const std::span<std::byte> source = field.boxes()[copy.from_box];
    const std::span<std::byte> target = field.boxes()[copy.to_box];
    for (std::size_t a = 0; a < field.n_arrays(); ++a) {
      const std::byte* const from = source.data() + a * (source.size() / field.n_arrays());
      std::byte* const to = target.data() + a * (target.size() / field.n_arrays());
      copy.to.for_each([&](const auto& row) {
        detail::copy_row(to + copy.to.at(row), from + copy.from.at(row), copy.to.row_bytes);
      });
    }
  }
}

template <std::size_t D>
std::optional<std::int32_t> BoxHalo<D>::Body::take_ready(bool waits) {
  while (n_handed_out == ready.size()) {
    if (n_handed_out == fringe.size()) return std::nullopt;
    const std::optional<std::size_t> message = waits ? exchange->wait_for_arrived() : exchange->next_arrived();
    if (!message) return std::nullopt;
    unpack(*message);
  }
  return ready[n_handed_out++];
}

template <std::size_t D>
BoxHalo<D>::BoxHalo(std::shared_ptr<const BoxLayout<D>> layout, std::vector<BoxField> fields,
                    const BoxHaloOptions& options)
    : body_(std::make_unique<Body>(std::move(layout), std::move(fields), options)) {}
template <std::size_t D>
BoxHalo<D>::BoxHalo(BoxHalo&&) noexcept = default;
template <std::size_t D>
BoxHalo<D>::~BoxHalo() = default;

template <std::size_t D>
bool BoxHalo<D>::fits(std::span<const BoxField> fields) const noexcept {
  return std::ranges::equal(fields, body_->fields, [](const BoxField& a, const BoxField& b) {
    return a.type() == b.type() && a.n_components() == b.n_components() && a.n_arrays() == b.n_arrays() &&
           a.centering() == b.centering();
  });
}

template <std::size_t D>
void BoxHalo<D>::set_fields(std::vector<BoxField> fields) {
  Body& body = *body_;
  BARRIO_ASSERT(cheap, !body.exchange->is_travelling() && "set_fields() between begin() and end()");
  if (!fits(fields))
    refuse(ErrorCode::usage, "fields of a halo of boxes", "must have the types and components of those before",
           "make another BoxHalo");
  std::swap(body.fields, fields);
  body.check();
}

template <std::size_t D>
void BoxHalo<D>::begin() {
  Body& body = *body_;
  body.n_missing = body.n_messages_of;
  body.ready.clear();
  body.n_handed_out = 0;
  body.exchange->begin([&](std::size_t message) { body.pack(message); });
  body.copy_here();
}

template <std::size_t D>
bool BoxHalo<D>::progress() {
  return body_->exchange->progress();
}

template <std::size_t D>
void BoxHalo<D>::end() {
  body_->exchange->end([this](std::size_t message) { body_->unpack(message); });
}

template <std::size_t D>
std::span<const std::int32_t> BoxHalo<D>::interior() const& noexcept {
  return body_->interior;
}
template <std::size_t D>
std::span<const std::int32_t> BoxHalo<D>::fringe() const& noexcept {
  return body_->fringe;
}
template <std::size_t D>
std::optional<std::int32_t> BoxHalo<D>::next_ready() {
  return body_->take_ready(false);
}
template <std::size_t D>
std::optional<std::int32_t> BoxHalo<D>::wait_for_ready() {
  return body_->take_ready(true);
}
template <std::size_t D>
const BoxLayout<D>& BoxHalo<D>::layout() const& noexcept {
  return *body_->layout;
}
template <std::size_t D>
const exchange::RepeatedExchangeStatistics& BoxHalo<D>::statistics() const& noexcept {
  return body_->exchange->statistics();
}
template <std::size_t D>
std::size_t BoxHalo<D>::n_messages() const noexcept {
  return body_->sent.size();
}
template <std::size_t D>
std::uint64_t BoxHalo<D>::n_bytes_sent() const noexcept {
  std::uint64_t n_bytes = 0;
  for (const detail::BoxMessage<D>& message : body_->sent) n_bytes += message.n_bytes;
  return n_bytes;
}
template <std::size_t D>
std::uint64_t BoxHalo<D>::memory_bytes() const noexcept {
  const Body& body = *body_;
  std::uint64_t bytes = sizeof body + barrio::memory_bytes(body.copies) + barrio::memory_bytes(body.arriving) +
                        body.exchange->memory_bytes();
  for (const std::vector<detail::BoxMessage<D>>* messages : {&body.sent, &body.received})
    for (const detail::BoxMessage<D>& message : *messages) bytes += barrio::memory_bytes(message.pieces);
  for (const std::vector<std::int32_t>& boxes : body.boxes_of) bytes += barrio::memory_bytes(boxes);
  for (const BoxField& field : body.fields) bytes += field.boxes().size() * sizeof(std::span<std::byte>);
  return bytes;
}

template class BoxHalo<2>;
template class BoxHalo<3>;

}  // namespace barrio::mesh
