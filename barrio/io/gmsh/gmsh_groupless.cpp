#include "barrio/io/gmsh/gmsh_groupless.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {

void GmshGroupless::add(int dim, int entity, bool has_group, std::int64_t n_elements) {
  if (has_group) {
    n_grouped_[dim] += n_elements;
    return;
  }
  constexpr std::size_t max_entities = 20;
  std::map<int, std::int64_t>& of_dim = without_[dim];
  const bool is_full = of_dim.size() >= max_entities && !of_dim.contains(entity);
  of_dim[is_full ? more : entity] += n_elements;
}

void GmshGroupless::add_all(const GmshIndex& index) {
  for (const GmshIndex::Block& block : index.elements)
    if (block.n > 0 && !index.interfaces.contains({block.entity_dim, block.entity_tag}))
      add(block.entity_dim, block.entity_tag, !index.groups_of(block.entity_dim, block.entity_tag).empty(), block.n);
}

void GmshGroupless::gather(mpi::Context& context) {
  mpi::all_reduce(context, std::span<std::int64_t>(n_grouped_), MPI_SUM);
  std::vector<std::int64_t> words;
  for (int dim = 0; dim < 4; ++dim)
    for (const auto& [entity, n] : std::exchange(without_[dim], {})) words.insert(words.end(), {dim, entity, n});
  const std::vector<Rank> to(words.size(), 0);
  const std::vector<std::int64_t> all = exchange::route(context, exchange::pack_by_rank<std::int64_t>(to, words)).items;
  for (std::size_t i = 0; i < all.size(); i += 3)
    add(static_cast<int>(all[i]), static_cast<int>(all[i + 1]), false, all[i + 2]);
}

std::vector<std::string> GmshGroupless::described() const {
  static constexpr std::array<std::string_view, 4> names{"points", "curves", "surfaces", "volumes"};
  std::vector<std::string> texts;
  for (int dim = 0; dim < 4; ++dim) {
    if (n_grouped_[dim] == 0) continue;
    std::vector<int> entities;
    std::int64_t n = 0;
    bool has_more = false;
    for (const auto& [entity, n_elements] : without_[dim]) {
      n += n_elements;
      has_more = has_more || entity == more;
      if (entity != more) entities.push_back(entity);
    }
    if (n > 0)
      texts.push_back(fmt::format("{} {}{} in no physical group ({} elements)", names[dim], fmt::join(entities, ", "),
                                  has_more ? " and more" : "", n));
  }
  return texts;
}

}  // namespace barrio::io::detail
