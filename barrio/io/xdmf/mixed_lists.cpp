#include "barrio/io/xdmf/mixed_lists.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/slabs.hpp"

namespace barrio::io::detail {

std::int64_t length_of_cell(std::span<const std::int64_t> words, const std::string& path) {
  const auto fail = [&](std::int64_t what) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has a mixed list of cells with {} where a type or a number was expected", what),
                 .remedy = xdmf_remedy});
  };
  if (words.empty()) return 0;
  const XdmfKind* const kind = xdmf_kind(words[0]);
  if (kind == nullptr) fail(words[0]);
  if (kind->n_nodes > 0) return 1 + kind->n_nodes;
  if (words.size() < 2) return 0;
  if (words[1] < 0 || words[1] > 1 << 30) fail(words[1]);
  if (kind->code != xdmf_polyhedron) return 2 + words[1];
  std::int64_t at = 2;
  for (std::int64_t face = 0; face < words[1]; ++face) {
    if (at >= std::ssize(words)) return 0;
    if (words[at] < 0 || words[at] > 1 << 30) fail(words[at]);
    at += 1 + words[at];
  }
  return at;
}

namespace {

/// A walk through a mixed list with a bounded buffer.
class MixedWalk {
 public:
  MixedWalk(const XdmfItem& item, const std::string& path)
      : item_(item), path_(path), reader_(path), n_(item.n_numbers()) {}

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == n_; }
  /// Return the place of the next cell in the list.
  [[nodiscard]] std::int64_t place() const noexcept { return at_; }
  /// Pass over a cell. @throws Error{bad_input} if the list ends within it
  void advance() {
    std::int64_t length = 0;
    for (std::int64_t n_words = at_once; length == 0; n_words *= 2) {
      if (at_ - first_ < std::ssize(words_))
        length = length_of_cell(std::span<const std::int64_t>(words_).subspan(at_ - first_), path_);
      if (length > 0) break;
      if (first_ == at_ && std::ssize(words_) == n_ - first_) refuse();
      words_.clear();
      first_ = at_;
      reader_.read(item_, first_, std::min(n_words, n_ - first_), words_);
    }
    at_ += length;
    if (at_ > n_) refuse();
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::bad_input,
                {.subject = path_, .cause = "has a mixed list of cells that ends early", .remedy = xdmf_remedy});
  }
  static constexpr std::int64_t at_once = 1 << 20;
  const XdmfItem& item_;
  const std::string& path_;
  XdmfReader reader_;
  std::int64_t n_;
  std::vector<std::int64_t> words_;
  std::int64_t first_ = 0;  // of `words_`
  std::int64_t at_ = 0;
};

/// Find where cells begin. @param cells  ascending @return the places of these cells
std::vector<std::int64_t> find_cells(const XdmfItem& item, const std::vector<std::int64_t>& cells,
                                     const std::string& path) {
  MixedWalk walk(item, path);
  std::vector<std::int64_t> places;
  std::int64_t cell = 0;
  for (const std::int64_t wanted : cells) {
    for (; cell < wanted; ++cell) walk.advance();
    places.push_back(walk.place());
  }
  return places;
}

}  // namespace

void count_mixed(std::vector<XdmfGrid>& pieces, const std::string& path) {
  for (XdmfGrid& piece : pieces) {
    if (piece.n_cells != XdmfGrid::uncounted) continue;
    piece.n_cells = 0;
    for (MixedWalk walk(piece.nodes[0], path); !walk.is_at_end(); ++piece.n_cells) walk.advance();
  }
}

/// Cut the mixed lists of all pieces. Local. @return by share
std::vector<std::vector<MixedCut>> cut_mixed(const std::vector<XdmfGrid>& pieces, int n_shares,
                                             const std::string& path) {
  std::vector<std::vector<MixedCut>> cuts(n_shares);
  std::int64_t before = 0;
  std::int64_t n_all = 0;
  for (const XdmfGrid& piece : pieces) n_all += piece.n_cells;
  const Slabs slabs{n_all, n_shares};
  for (std::size_t p = 0; p < pieces.size(); before += pieces[p++].n_cells) {
    if (pieces[p].is_structured || pieces[p].vtk_type != 0 || pieces[p].n_cells == 0) continue;
    std::vector<std::int64_t> ends;
    for (int share = 0; share <= n_shares; ++share)
      ends.push_back(std::clamp<std::int64_t>(slabs.first(share) - before, 0, pieces[p].n_cells));
    const std::vector<std::int64_t> places = find_cells(pieces[p].nodes[0], ends, path);
    for (int share = 0; share < n_shares; ++share)
      if (places[share] < places[share + 1])
        cuts[share].push_back({static_cast<std::int64_t>(p), places[share], places[share + 1] - places[share]});
  }
  return cuts;
}

}  // namespace barrio::io::detail
