#include "barrio/io/cgns/mixed_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/cgns/cgns_nodes.hpp"

// A section of mixed types is a list of words: the type of an element, its nodes, the type of the next one, and so on.
// Rank 0 walks through it once and leaves marks, at which ranks can begin to read. So sections without offsets, as
// written before version 4 of the format, are read like those with.

namespace barrio::io::detail {
namespace {

constexpr std::int64_t max_marks = 4096;

/// The words of a section, read in chunks as they are needed.
class Words {
 public:
  Words(hid_t file, std::string data, std::int64_t n) : file_(file), data_(std::move(data)), n_(n) {}
  [[nodiscard]] std::int64_t at(std::int64_t i) {
    if (i < first_ || i >= first_ + std::ssize(chunk_)) {
      constexpr std::int64_t chunk = std::int64_t{1} << 18;
      first_ = i;
      chunk_ = files::read_integers(file_, data_, files::Rows{i, std::min(chunk, n_ - i)});
    }
    return chunk_[i - first_];
  }

 private:
  hid_t file_;
  std::string data_;
  std::int64_t n_;
  std::int64_t first_ = 0;
  std::vector<std::int64_t> chunk_;
};

/// Return the kind of an element in a section of mixed types; null if it is not supported.
const CellKind* mixed_kind(std::int64_t number) {
  constexpr std::int64_t most = 1000;
  const CellKind* const kind = number > 0 && number < most ? cgns_kind(static_cast<int>(number)) : nullptr;
  return kind == nullptr || kind->type == mesh::CellType::vertex ? nullptr : kind;
}

}  // namespace

CgnsMixed scan_cgns_mixed(hid_t file, const std::string& path, const CgnsZone& zone, const std::string& name,
                          std::int64_t first, std::int64_t n) {
  CgnsMixed mixed{
      .path = data_of(zone.path + "/" + name + "/ElementConnectivity"), .name = name, .first = first, .n = n};
  files::check_size(file, mixed.path);
  const auto shape = files::extents(file, mixed.path);
  const std::int64_t n_words = shape.size() == 1 ? shape[0] : 0;
  const auto refuse_words = [&] {
    refuse(ErrorCode::bad_input, path,
           fmt::format("section '{}' of zone '{}' must have as many nodes as its range of elements needs", name,
                       zone.name),
           damaged_remedy);
  };
  if (n > n_words / 2) refuse_words();  // an element has a word for its type and at least one node
  mixed.step = std::max<std::int64_t>(1, (n + max_marks - 1) / max_marks);
  Words words(file, mixed.path, n_words);
  std::map<int, std::int64_t> n_of;                    // by CGNS's number of the type
  std::vector<std::map<int, std::int64_t>> n_at_mark;  // the same, before each mark
  std::int64_t at = 0;
  for (std::int64_t e = 0; e < n; ++e) {
    if (at >= n_words) refuse_words();
    if (e % mixed.step == 0) {
      mixed.words.push_back(at);
      n_at_mark.push_back(n_of);
    }
    const std::int64_t number = words.at(at);
    const CellKind* const kind = mixed_kind(number);
    if (kind == nullptr)
      refuse(ErrorCode::bad_input, path,
             fmt::format("element {} of zone '{}', in the MIXED section '{}', has CGNS type {}, which is not supported",
                         first + e, zone.name, name, number),
             "save bars, triangles, quads, tets, pyramids, prisms or hexes of first or second order");
    n_of[static_cast<int>(number)] += 1;
    at += 1 + kind->n_nodes;
  }
  if (at != n_words) refuse_words();
  mixed.words.push_back(at);
  n_at_mark.push_back(n_of);
  for (const auto& [number, count] : n_of) mixed.kinds.push_back(number);
  for (auto& counts : n_at_mark)
    for (const int number : mixed.kinds) mixed.counts.push_back(counts[number]);
  return mixed;
}

MixedShare::MixedShare(files::Place file, const std::string& path, const CgnsZone& zone, const CgnsMixed& mixed,
                       Rank rank, int n_ranks, Status& fault)
    : mixed_(mixed),
      marks_{std::ssize(mixed.words) - 1, n_ranks},
      first_mark_(marks_.first(rank)),
      n_kinds_(std::ssize(mixed.kinds)),
      first_(std::min(mixed.n, first_mark_ * mixed.step)),
      nodes_(mixed.kinds.size()) {
  const std::int64_t first_word = mixed.words[first_mark_];
  const std::int64_t n_words = mixed.words[marks_.first(rank + 1)] - first_word;
  const auto words = files::read_integers(file, mixed.path, files::Rows{first_word, n_words});
  std::vector<std::int64_t> n_of;
  for (int k = 0; k < n_kinds_; ++k) n_of.push_back(count_before(k));
  for (std::size_t at = 0; at < words.size();) {
    const auto found = std::ranges::find(mixed.kinds, words[at]) - mixed.kinds.begin();
    const auto k = static_cast<std::size_t>(found);
    const CellKind* const kind = k < nodes_.size() ? mixed_kind(words[at]) : nullptr;
    if (kind == nullptr || at + static_cast<std::size_t>(kind->n_nodes) >= words.size()) {
      if (!fault) fault = Error(ErrorCode::bad_input, {path, "changed while it was read", "read it again"});
      break;
    }
    for (int i = 0; i < kind->n_nodes; ++i) {
      const std::int64_t node = words[at + 1 + static_cast<std::size_t>(i)];
      if ((node < 1 || node > zone.n[0]) && !fault)
        fault = Error(
            ErrorCode::bad_input,
            {.subject = path,
             .cause = fmt::format("element {} of zone '{}', in section '{}', has node {}, but the nodes are 1 to {}",
                                  mixed.first + first_ + std::ssize(elements_), zone.name, mixed.name, node, zone.n[0]),
             .remedy = damaged_remedy});
      nodes_[k].push_back(GlobalId{node - 1 + zone.first_vertex});
    }
    kind->put_in_order(std::span(nodes_[k]).last(kind->n_nodes));
    elements_.push_back({static_cast<std::int32_t>(k), n_of[k]++});
    at += 1 + static_cast<std::size_t>(kind->n_nodes);
  }
}

bool MixedShare::is_cell(std::int32_t kind, int cell_dim) const {
  return value(mesh::topology(mixed_kind(mixed_.kinds[kind])->type).dim) == cell_dim;
}

std::vector<GlobalId> MixedShare::nodes_at_home(mpi::Context& context, int kind, std::int64_t first,
                                                const Slabs& rows) {
  const std::size_t n_nodes = mixed_kind(mixed_.kinds[kind])->n_nodes;
  std::vector<Rank> to;
  for (std::size_t i = 0; i < nodes_[kind].size(); ++i)
    to.push_back(rows.rank_of(first + count_before(kind) + static_cast<std::int64_t>(i / n_nodes)));
  const std::vector<GlobalId> nodes = std::move(nodes_[kind]);
  nodes_[kind].clear();
  // Rows ascend with ranks and within each rank, so they arrive in order.
  return exchange::route(context, exchange::pack_by_rank<GlobalId>(to, nodes), exchange::Route::automatic).items;
}

files::Rows MixedShare::cells(int cell_dim) const {
  files::Rows rows{0, 0};
  for (int k = 0; k < n_kinds_; ++k)
    if (is_cell(k, cell_dim)) rows.first += count_before(k);
  for (const Element& element : elements_) rows.count += is_cell(element.kind, cell_dim) ? 1 : 0;
  return rows;
}

std::vector<double> MixedShare::values_at_home(mpi::Context& context, int cell_dim, std::span<const double> values,
                                               int kind, std::int64_t first, const Slabs& rows) const {
  std::vector<Rank> to;
  std::vector<double> sent;
  auto next = values.begin();
  for (const Element& element : elements_) {
    if (!is_cell(element.kind, cell_dim)) continue;
    const double x = *next++;
    if (element.kind != kind) continue;
    to.push_back(rows.rank_of(first + element.row));
    sent.push_back(x);
  }
  return exchange::route(context, exchange::pack_by_rank<double>(to, sent), exchange::Route::automatic).items;
}

std::vector<MixedShare::Element> MixedShare::find(mpi::Context& context, std::span<const std::int64_t> numbers) const {
  std::vector<Rank> to;
  std::vector<std::int64_t> places;
  for (const std::int64_t number : numbers) {
    const std::int64_t place = number - mixed_.first;
    if (place < 0 || place >= mixed_.n) continue;
    places.push_back(place);
    to.push_back(marks_.rank_of(place / mixed_.step));
  }
  return exchange::ask(context, to, places, [&](std::int64_t place) { return elements_[place - first_]; });
}

std::vector<MixedShare::Element> MixedShare::find(std::int64_t low, std::int64_t high) const {
  const std::int64_t begin = std::clamp<std::int64_t>(low - mixed_.first - first_, 0, std::ssize(elements_));
  const std::int64_t end = std::clamp<std::int64_t>(high + 1 - mixed_.first - first_, begin, std::ssize(elements_));
  return {elements_.begin() + begin, elements_.begin() + end};
}

}  // namespace barrio::io::detail
