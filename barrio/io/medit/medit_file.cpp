#include "barrio/io/medit/medit_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/slabs.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/share_catalog.hpp"
#include "barrio/io/medit/medit_numbers.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

/// A section in the form in which it is sent.
struct SentMeditSection {
  std::int64_t code;
  std::int64_t n_nodes;
  std::int64_t n;
  std::int64_t offset;
};

const MeditKeyword* sent_keyword(const SentMeditSection& section) {
  const MeditKeyword* const wide = find_wide_keyword(section.code, section.n_nodes);
  return wide != nullptr ? wide : find_medit_keyword(static_cast<int>(section.code));
}

}  // namespace

MeditRow medit_row(const MeditKeyword& keyword, int dimension) noexcept {
  switch (keyword.use) {
    case MeditUse::vertices: return {dimension, 1};
    case MeditUse::cells: return {0, keyword.n_nodes_of_cell() + 1};
    default: return {0, 1};
  }
}

std::int64_t MeditIndex::n_rows(MeditUse use, mesh::CellType type) const noexcept {
  const Section* const found = find(use, type);
  return found == nullptr ? 0 : found->n;
}

const MeditIndex::Section* MeditIndex::find(MeditUse use, mesh::CellType type) const noexcept {
  const Section* found = nullptr;
  for (const Section& section : sections)
    if (section.keyword->use == use && section.keyword->type == type &&
        (found == nullptr || section.keyword->n_nodes < found->keyword->n_nodes))
      found = &section;
  return found;
}

const MeditOrder* MeditIndex::find_order(mesh::CellType type, int n_nodes) const noexcept {
  const auto found = std::ranges::find_if(
      orders, [&](const MeditOrder& order) { return order.type == type && order.n_nodes == n_nodes; });
  return found == orders.end() ? nullptr : &*found;
}

std::vector<std::string> MeditIndex::guessed_orders() const {
  std::vector<std::string> names;
  for (const Section& section : sections) {
    const MeditKeyword& keyword = *section.keyword;
    const bool may_differ = keyword.n_nodes > 0 && keyword.use == MeditUse::cells &&
                            mesh::topology(keyword.type).dim == mesh::Dim::volume &&
                            keyword.type != mesh::CellType::tet;
    if (may_differ && find_order(keyword.type, keyword.n_nodes) == nullptr) names.emplace_back(keyword.name);
  }
  return names;
}

void MeditIndex::share(mpi::Context& context) {
  mpi::broadcast(context, std::span(&head, 1));
  std::vector<SentMeditSection> sent;
  for (const Section& section : sections)
    sent.push_back({section.keyword->code, section.keyword->n_nodes, section.n, section.offset});
  mpi::broadcast(context, sent);
  sections.clear();
  for (const SentMeditSection& section : sent) sections.push_back({sent_keyword(section), section.n, section.offset});
  mpi::broadcast(context, orders);
  share_catalog(context, left_out);
  if (head.is_binary) {
    for (Section& section : sections)
      section.offset += Slabs{section.n, context.size()}.first(context.rank()) *
                        medit_row(*section.keyword, head.dimension).bytes(head);
    return;
  }
  std::vector<Rank> to;
  std::vector<Start> items;
  for (const auto& [rank, start] : starts) {
    to.push_back(rank);
    items.push_back(start);
  }
  for (const Start& start : exchange::route(context, exchange::pack_by_rank<Start>(to, items)).items)
    sections[start.section].offset = start.offset;
  starts.clear();
}

void read_medit_rows(Scanner& in, const MeditIndex& index, const MeditIndex::Section& section, std::int64_t n,
                     const std::function<void(const MeditEntry&)>& visit) {
  if (n == 0) return;
  const MeditKeyword& keyword = *section.keyword;
  const MeditRow row = medit_row(keyword, index.head.dimension);
  const bool is_list = keyword.use == MeditUse::list;
  const std::int64_t n_named =
      index.n_rows(is_list && keyword.type != mesh::CellType::vertex ? MeditUse::cells : MeditUse::vertices,
                   is_list ? keyword.type : mesh::CellType::vertex);
  std::array<std::int64_t, max_cell_nodes + 1> integers{};
  const auto read = std::span(integers).first(row.n_integers);
  const std::span<std::int64_t> named = is_list ? read : read.first(read.size() - 1);
  const MeditOrder guessed = default_medit_order(keyword.type, static_cast<int>(named.size()));
  const MeditOrder* order = nullptr;
  if (keyword.use == MeditUse::cells) {
    order = index.find_order(keyword.type, keyword.n_nodes_of_cell());
    if (order == nullptr && keyword.n_nodes > 0) order = &guessed;
  }
  std::array<std::int64_t, max_cell_nodes> ordered{};
  MeditEntry entry;
  in.go_to(section.offset);
  MeditNumbers numbers(in, index.head);
  for (std::int64_t i = 0; i < n; ++i) {
    numbers.reals(std::span(entry.x).first(row.n_reals));
    numbers.integers(read);
    for (std::int64_t& number : named) {
      if (number < 1 || number > n_named)
        in.refuse(fmt::format("has {} with number {}, but there are {} {}", keyword.name, number, n_named,
                              mesh::topology(is_list ? keyword.type : mesh::CellType::vertex).plural));
      number -= 1;
    }
    if (!is_list) entry.reference = read.back();
    if (order != nullptr)
      for (std::size_t k = 0; k < named.size(); ++k) ordered[k] = named[order->places[k]];
    entry.numbers = order != nullptr ? std::span<const std::int64_t>(ordered).first(named.size()) : named;
    visit(entry);
  }
}

}  // namespace barrio::io::detail
