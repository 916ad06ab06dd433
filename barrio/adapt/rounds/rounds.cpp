#include "barrio/adapt/rounds/rounds.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "barrio/adapt/kernel/locate.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

constexpr RegionName border_region{"adapt.border"};
constexpr RegionName pass_region{"adapt.pass"};
constexpr RegionName exchange_region{"adapt.exchange"};

/// Tell whether a tetrahedron has all vertices of a candidate.
bool is_in_cavity(const Tet& tet, const Candidate& candidate) noexcept {
  return std::ranges::all_of(candidate.of, [&](Slot v) { return v == no_slot || tet.has(v); });
}

}  // namespace

Rounds::Rounds(mpi::Context& context, Tets& mesh, const Sizes& sizes, const Limits& limits,
               std::chrono::steady_clock::time_point end)
    : context_(context), mesh_(mesh), sizes_(sizes), limits_(limits), end_(end), border_(mesh, context.rank()) {
  border_.find_all();
  if (context.size() > 1)
    hood_.emplace(context, border_.neighbours(),
                  exchange::NeighborhoodOptions{.delivery = exchange::Delivery::by_rank});
}

std::span<const Rank> Rounds::neighbours() {
  if (context_.size() > 1) border_.update();
  return border_.neighbours();
}

void Rounds::activate_all() {
  for (Vertex& v : mesh_.vertices)
    if (v.tet != no_slot) v.active |= collapses | splits | swaps;
  for (Slot t = 0; t < std::ssize(mesh_.tets); ++t) {
    const Tet& tet = mesh_.tets[t];
    if (tet.is_free()) continue;
    note_wants(mesh_, t, limits_);
    if (tet.quality < limits_.bad)
      for (const Slot v : tet.v) mesh_.vertices[v].active |= smooths;
  }
}

void Rounds::activate(std::span<const Slot> tets) {
  constexpr std::uint8_t all = collapses | splits | swaps | smooths;
  for (const Slot t : tets) {
    for (const Slot v : mesh_.tets[t].v) mesh_.vertices[v].active |= all;
    note_wants(mesh_, t, limits_);
  }
}

std::int64_t Rounds::run(Operator& op, OperatorCounts& counts) {
  round_ += 1;
  counts.n_rounds += 1;
  const std::int64_t n_before = counts.n_applied;
  const bool has_others = context_.size() > 1;
  if (has_others) {
    const Region region(context_.trace(), border_region);
    border_.update();
    hood_->set_neighbours(border_.neighbours());
    news_.assign(border_.neighbours().size(), {});
    n_told_.assign(border_.neighbours().size(), 0);
    announced_.assign(border_.neighbours().size(), {});
  }
  collect(op, counts);
  if (has_others) {
    const Region region(context_.trace(), exchange_region);
    announce();
  }
  sort_items();
  for (;;) {
    counts.n_passes += 1;
    const std::int64_t n_waiting = run_pass(op, counts);
    const bool ends = sizes_.has_fault() || is_late(0);
    std::array<std::int64_t, 3> totals{n_waiting, counts.n_applied - n_before, ends ? 1 : 0};
    if (has_others) {
      const Region region(context_.trace(), exchange_region);
      exchange_news();
      mpi::all_reduce(context_, std::span<std::int64_t>(totals), MPI_SUM);
    }
    if (totals[0] > 0) continue;
    must_stop_ = totals[2] > 0;
    return totals[1];
  }
}

void Rounds::collect(Operator& op, OperatorCounts& counts) {
  candidates_.clear();
  const std::uint8_t bit = op.activity();
  for (Slot v = 0; v < std::ssize(mesh_.vertices) && !is_late(v); ++v) {
    Vertex& vertex = mesh_.vertices[v];
    if ((vertex.active & bit) == 0 || vertex.owner != context_.rank()) continue;
    // A candidate that is applied, or skipped because its cavity changed, makes its vertices active again.
    vertex.active &= ~bit;
    if ((vertex.active & wanted(op.activity())) == 0) continue;
    op.propose(v, round_, candidates_);
  }
  counts.n_candidates += candidates_.size();
  items_.clear();
  told_.clear();
  for (const Candidate& candidate : candidates_) items_.push_back({candidate});
}

bool Rounds::is_before(const Candidate& a, const Candidate& b) const noexcept {
  if (a.order != b.order) return a.order < b.order;
  for (std::size_t i = 0; i < 3; ++i) {
    const Key one = a.of[i] < 0 ? Key{} : mesh_.key(a.of[i]);
    const Key other = b.of[i] < 0 ? Key{} : mesh_.key(b.of[i]);
    if (one != other) return one < other;
  }
  return false;
}

/// Find the neighbours that see any of these tetrahedra.
void Rounds::find_others(std::span<const Slot> cavity) {
  others_.clear();
  const std::span<const Rank> neighbours = border_.neighbours();
  for (const Slot t : cavity)
    for (const Slot v : mesh_.tets[t].v)
      if (const Rank owner = mesh_.vertices[v].owner; owner != context_.rank())
        others_.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(neighbours, owner) - neighbours.begin()));
  sort_unique(others_);
}

/// Find this rank's tetrahedra that have all vertices of a candidate: the visible part of its cavity.
void Rounds::find_visible_cavity(const Candidate& candidate, std::vector<Slot>& out) {
  out.clear();
  std::span<const Slot> known = border_.around(candidate.of[0]);
  // Around a hub there are many: look at the other vertices, of which this rank may own some.
  constexpr std::size_t many = 256;
  for (std::size_t i = 1; i < 3 && known.size() > many && candidate.of[i] != no_slot; ++i) {
    const Slot v = candidate.of[i];
    if (mesh_.vertices[v].owner == context_.rank()) {
      mesh_.star(v, star_);
      known = star_;
    } else if (border_.around(v).size() < known.size()) {
      known = border_.around(v);
    }
  }
  for (const Slot t : known)
    if (is_in_cavity(mesh_.tets[t], candidate)) out.push_back(t);
}

/// Find the cavity of a candidate of this rank. @param star  that of its first vertex
void Rounds::find_own_cavity(const Candidate& candidate, std::span<const Slot> star, std::vector<Slot>& out) {
  constexpr std::size_t many = 256;
  out.clear();
  if (star.size() > many && candidate.of[1] != no_slot) {
    mesh_.ring(candidate.tet, candidate.of[0], candidate.of[1], ring_);
    star = ring_.tets;
  }
  std::ranges::copy_if(star, std::back_inserter(out), [&](Slot t) { return is_in_cavity(mesh_.tets[t], candidate); });
}

void Rounds::announce() {
  exchange::Round<Announced> round = hood_->begin_round<Announced>();
  const std::span<const Rank> neighbours = border_.neighbours();
  std::vector<Slot>& star = change_.cavity;
  Slot centre = no_slot;  // candidates of one vertex are consecutive
  for (Item& item : items_) {
    const Candidate& candidate = item.candidate;
    if (!border_.is_met(candidate.of[0])) continue;
    if (std::exchange(centre, candidate.of[0]) != candidate.of[0]) mesh_.star(candidate.of[0], star);
    find_own_cavity(candidate, star, cavity_);
    find_others(cavity_);
    if (others_.empty()) continue;
    Announced one{candidate.order, {}};
    for (std::size_t i = 0; i < 3; ++i)
      if (candidate.of[i] >= 0) one.keys[i] = mesh_.key(candidate.of[i]);
    item.told = static_cast<std::int32_t>(told_.size());
    item.n_told = static_cast<std::int32_t>(others_.size());
    for (const std::uint32_t other : others_) {
      told_.push_back({other, n_told_[other]++});
      round.send(neighbours[other], one);
    }
  }
  round.close();
  for (const auto& [from, one] : round.received())
    take_announced(one, std::ranges::lower_bound(neighbours, from) - neighbours.begin());
}

void Rounds::take_announced(const Announced& one, std::size_t neighbour) {
  Item item{{one.order, {}, no_slot}, static_cast<std::int32_t>(neighbour)};
  for (std::size_t i = 0; i < 3; ++i) item.candidate.of[i] = one.keys[i] == Key{} ? no_slot : border_.find(one.keys[i]);
  items_.push_back(item);
}

void Rounds::sort_items() {
  // Note the places in the announcements before sorting: items of a neighbour are still in the order of arrival.
  std::vector<std::uint32_t> next(announced_.size(), 0);
  for (Item& item : items_)
    if (item.neighbour >= 0) item.told = next[item.neighbour]++;
  std::sort(items_.begin(), items_.end(),
            [&](const Item& a, const Item& b) { return is_before(a.candidate, b.candidate); });
  open_.resize(items_.size());
  std::iota(open_.begin(), open_.end(), 0U);
  for (std::size_t n = 0; n < announced_.size(); ++n) announced_[n].resize(next[n]);
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i].neighbour >= 0) announced_[items_[i].neighbour][items_[i].told] = i;
}

void Rounds::reserve_foreign(const Candidate& candidate) {
  find_visible_cavity(candidate, cavity_);
  for (const Slot t : cavity_) mesh_.tets[t].reserved = pass_;
}

/// Prefetch the tetrahedra of a candidate that comes soon: consecutive candidates are far apart in memory.
void Rounds::fetch_ahead(std::size_t i) const noexcept {
  constexpr std::size_t soon = 4;
  if (i + 2 * soon >= open_.size()) return;
  if (const Slot t = items_[open_[i + 2 * soon]].candidate.tet; t >= 0) __builtin_prefetch(&mesh_.tets[t]);
  const Slot t = items_[open_[i + soon]].candidate.tet;
  if (t < 0) return;
  for (const Slot other : mesh_.tets[t].across)
    if (other >= 0) __builtin_prefetch(&mesh_.tets[other >> 2]);
  for (const Slot v : mesh_.tets[t].v)
    if (v >= 0) __builtin_prefetch(&mesh_.vertices[v]);
}

std::int64_t Rounds::run_pass(Operator& op, OperatorCounts& counts) {
  const Region region(context_.trace(), pass_region);
  pass_ += 1;
  std::int64_t n_waiting = 0;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Item& item = items_[open_[i]];
    fetch_ahead(i);
    if (item.is_decided) continue;  // by a neighbour
    if (item.neighbour >= 0) {
      reserve_foreign(item.candidate);
      continue;
    }
    item.is_decided = is_late(i) ? refuse(item) : decide(op, item, counts);
    if (!item.is_decided) n_waiting += 1;
  }
  std::erase_if(open_, [&](std::uint32_t i) { return items_[i].is_decided; });
  return n_waiting;
}

/// Tell whether a change would touch something frozen: a tetrahedron of the cavity, or a face with all vertices of the
/// candidate.
bool Rounds::is_frozen(const Candidate& candidate, std::span<const Slot> cavity) const noexcept {
  return std::ranges::any_of(cavity, [&](Slot t) {
    const Tet& tet = mesh_.tets[t];
    if ((tet.cell_membership & frozen_cell) != 0) return true;
    for (std::size_t f = 0; f < 4; ++f) {
      if ((tet.face_membership[f] & frozen_face) == 0) continue;
      if (std::ranges::none_of(candidate.of, [&](Slot v) { return v == tet.v[f]; })) return true;
    }
    return false;
  });
}

/// Decide about a candidate of this rank. @return false if it has to wait for an earlier one
bool Rounds::decide(Operator& op, Item& item, OperatorCounts& counts) {
  change_.cavity.clear();
  change_.made.clear();
  change_.removed = no_slot;
  change_.moved = no_slot;
  change_.adds_vertex = false;
  if (op.find_cavity(item.candidate, round_, change_)) {
    if (std::ranges::any_of(change_.cavity, [&](Slot t) { return mesh_.tets[t].reserved == pass_; })) {
      for (const Slot t : change_.cavity) mesh_.tets[t].reserved = pass_;
      return false;
    }
    counts.n_decided += 1;
    const bool may_change = !mesh_.has_frozen || !is_frozen(item.candidate, change_.cavity);
    if (may_change && op.decide(item.candidate, round_, change_)) {
      commit(item);
      counts.n_applied += 1;
      return true;
    }
  }
  return refuse(item);
}

/// Refuse a candidate, and tell the ranks that wait for it.
bool Rounds::refuse(const Item& item) {
  for (const auto& [neighbour, place] : told_of(item)) news_[neighbour].decided.push_back(place);
  return true;
}

bool Rounds::is_late(std::size_t step) {
  constexpr std::size_t between_looks = 512;
  if (step % between_looks == 0) is_late_ = is_late_ || std::chrono::steady_clock::now() >= end_;
  return is_late_;
}

void Rounds::move_vertex(Slot v, const Point& to, float inverse_size, std::span<const double> values,
                         std::span<const Slot> cavity) {
  mesh_.vertices[v].at = to;
  mesh_.vertices[v].inverse_size = inverse_size;
  std::ranges::copy(values, mesh_.values_of(v).begin());
  for (const Slot t : cavity) {
    Tet& tet = mesh_.tets[t];
    mesh_.measure(tet);
    tet.changed = round_;
  }
  activate(cavity);
}

/// Move a vertex, and interpolate its linear values at the new point.
void Rounds::commit_move() {
  const Slot v = change_.moved;
  const std::size_t n_values = mesh_.carried().n_values;
  float inverse_size = mesh_.vertices[v].inverse_size;
  if (!sizes_.is_linear()) inverse_size = sizes_.inverse_at(change_.to, inverse_size);
  values_.resize(n_values);
  if (sizes_.is_linear() || n_values > 0) {
    const Location location = locate(mesh_, change_.cavity, change_.to);
    if (sizes_.is_linear())
      inverse_size = static_cast<float>(1.0 / linear_at(location, [&](Slot one) {
                                          return 1.0 / static_cast<double>(mesh_.vertices[one].inverse_size);
                                        }));
    for (std::size_t i = 0; i < n_values; ++i)
      values_[i] = linear_at(location, [&](Slot one) { return mesh_.values_of(one)[i]; });
  }
  move_vertex(v, change_.to, inverse_size, values_, change_.cavity);
}

/// Give each new tetrahedron without a parent that of the old one in which its centroid lies.
void Rounds::inherit() {
  if (!mesh_.carried().tet_parents) return;
  const Parent first = mesh_.tet_parent(change_.cavity[0]);
  const bool is_one = std::ranges::all_of(change_.cavity, [&](Slot t) { return mesh_.tet_parent(t) == first; });
  for (NewTet& tet : change_.made) {
    if (tet.parent.is_known()) continue;
    tet.parent = is_one ? first : mesh_.tet_parent(locate(mesh_, change_.cavity, centroid_of(mesh_, tet.v)).tet);
  }
}

void Rounds::commit(const Item& item) {
  if (change_.moved != no_slot) {
    commit_move();
    tell(item, {});
    return;
  }
  if (change_.adds_vertex) {
    const auto [a, b, none] = item.candidate.of;
    change_.added.owner = context_.rank();
    const Slot added = mesh_.add_vertex(change_.added);
    for (std::size_t i = 0; i < mesh_.carried().n_values; ++i)
      mesh_.values_of(added)[i] = 0.5 * (mesh_.values_of(a)[i] + mesh_.values_of(b)[i]);
    mesh_.set_vertex_parent(added, mesh_.vertex_parent(mesh_.key(a) < mesh_.key(b) ? a : b));
    mesh_.set_membership(added, change_.added_to);
    for (NewTet& tet : change_.made) std::ranges::replace(tet.v, new_vertex, added);
  }
  inherit();
  const std::span<const Slot> made = mesh_.replace(change_.cavity, change_.made, round_);
  activate(made);
  if (item.n_told > 0) {
    tell(item, made);
    for (const Slot t : made)  // without the removed vertex, only other ranks see some of them
      if (std::ranges::none_of(mesh_.tets[t].v, [&](Slot v) { return mesh_.vertices[v].owner == context_.rank(); }))
        mesh_.remove(t);
  }
  if (change_.removed != no_slot) mesh_.free_vertex(change_.removed);
  border_.add(made);
}

/// Write a change for the neighbours that see any of it.
void Rounds::tell(const Item& item, std::span<const Slot> made) {
  std::vector<Slot>& known = vertices_;  // of what is sent
  for (const auto& [neighbour, place] : told_of(item)) {
    News& news = news_[neighbour];
    const Rank to = border_.neighbours()[neighbour];
    known.clear();
    if (change_.moved != no_slot) known.push_back(change_.moved);
    std::uint16_t n_tets = 0;
    for (const Slot t : made) {
      const Tet& tet = mesh_.tets[t];
      if (std::ranges::none_of(tet.v, [&](Slot v) { return mesh_.vertices[v].owner == to; })) continue;
      SentTet sent{{}, tet.face_membership, tet.cell_membership, tet.features};
      if (mesh_.carried().tet_parents) news.tet_parents.push_back(mesh_.tet_parent(t));
      for (std::size_t i = 0; i < 4; ++i) {
        auto at = std::ranges::find(known, tet.v[i]);
        if (at == known.end()) at = known.insert(at, tet.v[i]);
        sent.v[i] = static_cast<std::uint16_t>(at - known.begin());
      }
      news.tets.push_back(sent);
      n_tets += 1;
    }
    for (const Slot v : known) {
      const Vertex& vertex = mesh_.vertices[v];
      news.vertices.push_back(
          {vertex.key, vertex.at, vertex.inverse_size, vertex.owner, mesh_.membership_of(v), vertex.classification});
      const std::span<const double> values = mesh_.values_of(v);
      news.values.insert(news.values.end(), values.begin(), values.end());
      if (mesh_.carried().vertex_parents) news.vertex_parents.push_back(mesh_.vertex_parent(v));
    }
    news.changes.push_back(
        {place, static_cast<std::uint16_t>(known.size()), n_tets, change_.moved != no_slot ? 1U : 0U});
  }
}

void Rounds::exchange_news() {
  exchange::ByteRound round = hood_->begin_byte_round();
  const std::span<const Rank> neighbours = border_.neighbours();
  exchange::MessageWriter message;
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    News& news = news_[n];
    if (news.decided.empty() && news.changes.empty()) continue;
    message.clear();
    message.put(news.decided);
    message.put(news.changes);
    message.put(news.vertices);
    message.put(news.tets);
    if (mesh_.carried().n_values > 0) message.put(news.values);
    if (mesh_.carried().vertex_parents) message.put(news.vertex_parents);
    if (mesh_.carried().tet_parents) message.put(news.tet_parents);
    round.send(neighbours[n], message.bytes());
    news.clear();
  }
  round.close();
  for (const auto& [from, bytes] : round.received())
    take_news(bytes, std::ranges::lower_bound(neighbours, from) - neighbours.begin());
}

void Rounds::take_news(std::span<const std::byte> bytes, std::size_t neighbour) {
  exchange::MessageReader reader(bytes);
  for (const std::uint32_t place : reader.get<std::uint32_t>()) items_[announced_[neighbour][place]].is_decided = true;
  const auto changes = reader.get<SentChange>();
  Heard heard;
  heard.vertices = reader.get<SentVertex>();
  heard.tets = reader.get<SentTet>();
  const std::size_t n_values = mesh_.carried().n_values;
  if (n_values > 0) heard.values = reader.get<double>();
  if (mesh_.carried().vertex_parents) heard.vertex_parents = reader.get<Parent>();
  if (mesh_.carried().tet_parents) heard.tet_parents = reader.get<Parent>();
  for (const SentChange& change : changes) {
    Item& item = items_[announced_[neighbour][change.candidate]];
    item.is_decided = true;
    apply(change, heard.next(change, n_values), item.candidate);
  }
}

Rounds::Heard Rounds::Heard::next(const SentChange& change, std::size_t n_values) {
  const auto cut = [](auto& list, std::size_t n) {
    n = std::min(n, list.size());  // lists that are not carried are empty
    const auto front = list.first(n);
    list = list.subspan(n);
    return front;
  };
  return {cut(vertices, change.n_vertices), cut(tets, change.n_tets), cut(values, change.n_vertices * n_values),
          cut(vertex_parents, change.n_vertices), cut(tet_parents, change.n_tets)};
}

void Rounds::apply(const SentChange& change, const Heard& heard, const Candidate& candidate) {
  find_visible_cavity(candidate, cavity_);
  if (change.moves != 0) {
    move_vertex(candidate.of[0], heard.vertices[0].at, heard.vertices[0].inverse_size, heard.values, cavity_);
    return;
  }
  const std::size_t n_values = mesh_.carried().n_values;
  std::vector<Slot>& slots = vertices_;
  slots.clear();
  for (std::size_t i = 0; i < heard.vertices.size(); ++i) {
    const SentVertex& sent = heard.vertices[i];
    Slot v = border_.find(sent.key);
    if (v == no_slot) {
      Vertex vertex;
      vertex.at = sent.at;
      vertex.inverse_size = sent.inverse_size;
      vertex.key = sent.key;
      vertex.owner = sent.owner;
      vertex.classification = sent.classification;
      v = border_.add_foreign(vertex);
      mesh_.set_membership(v, sent.node_sets);
      std::ranges::copy(heard.values.subspan(i * n_values, n_values), mesh_.values_of(v).begin());
      if (!heard.vertex_parents.empty()) mesh_.set_vertex_parent(v, heard.vertex_parents[i]);
    }
    slots.push_back(v);
  }
  change_.made.clear();
  for (std::size_t t = 0; t < heard.tets.size(); ++t) {
    const SentTet& sent = heard.tets[t];
    NewTet one{{}, sent.face_membership, sent.cell_membership, static_cast<std::uint8_t>(sent.features)};
    for (std::size_t i = 0; i < 4; ++i) one.v[i] = slots[sent.v[i]];
    if (!heard.tet_parents.empty()) one.parent = heard.tet_parents[t];
    change_.made.push_back(one);
  }
  const std::span<const Slot> made = mesh_.replace(cavity_, change_.made, round_);
  activate(made);
  border_.add(made);
}

}  // namespace barrio::adapt::detail
