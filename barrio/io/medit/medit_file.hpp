#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "barrio/io/medit/medit_keywords.hpp"
#include "barrio/io/medit/medit_orders.hpp"
#include "barrio/io/text/scanner.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

inline constexpr const char* medit_remedy = "check that the file is a complete Medit file, which ends with 'End'";

/// Encoding of the numbers of a file.
struct MeditHead {
  bool is_binary = false;
  bool is_swapped = false;  ///< in the opposite byte order
  bool has_end = true;      ///< false: a text that stops after its last row
  int version = 2;          ///< 0, 1: reals of 32 bits in binary files; 3: positions of 64 bits; 4: integers of 64 bits
  int dimension = 3;

  [[nodiscard]] std::int64_t integer_bytes() const noexcept { return version > 3 ? 8 : 4; }
  [[nodiscard]] std::int64_t real_bytes() const noexcept { return version > 1 ? 8 : 4; }
  [[nodiscard]] std::int64_t position_bytes() const noexcept { return version > 2 ? 8 : 4; }
};

/// Counts of the numbers in a row of a keyword.
struct MeditRow {
  int n_reals = 0;
  int n_integers = 0;

  [[nodiscard]] std::int64_t bytes(const MeditHead& head) const noexcept {
    return n_reals * head.real_bytes() + n_integers * head.integer_bytes();
  }
};
/// Return the counts. @pre the keyword is for vertices, cells or a list
MeditRow medit_row(const MeditKeyword& keyword, int dimension) noexcept;

/// Index of a Medit file. Its size grows with the number of keywords and, on rank 0 while it indexes a text, with the
/// number of ranks; not with the mesh.
struct MeditIndex {
  struct Section {
    const MeditKeyword* keyword = nullptr;
    std::int64_t n = 0;
    std::int64_t offset = 0;  ///< byte where this rank's rows begin; in binary files, where all rows begin
  };
  struct Start {
    std::int64_t section;
    std::int64_t offset;
  };
  MeditHead head;
  std::vector<Section> sections;               ///< in the order of the file, without empty ones
  std::vector<MeditOrder> orders;              ///< that the file states
  std::vector<std::string> left_out;           ///< names of keywords
  std::vector<std::pair<Rank, Start>> starts;  ///< of texts, on the rank that made it: where each rank's rows begin

  /// Count the rows of a use and type; 0 if the file has no such section. Of cells: those that lists refer to, which
  /// are cells of first order if there are any.
  [[nodiscard]] std::int64_t n_rows(MeditUse use, mesh::CellType type) const noexcept;
  /// Find the section of a use and type, likewise; null if there is none.
  [[nodiscard]] const Section* find(MeditUse use, mesh::CellType type) const noexcept;
  /// Find the order that the file states for a kind of cell; null if it states none.
  [[nodiscard]] const MeditOrder* find_order(mesh::CellType type, int n_nodes) const noexcept;
  /// List the cells of second order whose nodes have the default order although programs differ in it.
  [[nodiscard]] std::vector<std::string> guessed_orders() const;
  /// Share the sections with all ranks, each with its own offsets. Collective.
  void share(mpi::Context& context);
};

/// Tell whether a file that begins with `head` is a Medit file.
bool is_medit(std::string_view head) noexcept;

/// Scan a file once and cut its rows into even shares. Local; memory does not grow with the mesh.
/// @throws Error{bad_input} for a file that is not Medit of versions 0 to 4, ends early, or has cells that barrio
/// lacks; {failed}
MeditIndex index_medit(const std::string& path, int n_ranks);

/// A row of vertices, of cells or of a list.
struct MeditEntry {
  std::array<double, 3> x{};
  std::span<const std::int64_t>
      numbers;  ///< vertices of a cell, 0-based, in barrio's order; or the one entry of a list, 0-based
  std::int64_t reference = 0;
};
/// Read n rows of a section, from its offset on. Local.
/// @throws Error{bad_input} with the byte where parsing fails, also for numbers of vertices and cells that the file
/// does not have
void read_medit_rows(Scanner& in, const MeditIndex& index, const MeditIndex::Section& section, std::int64_t n,
                     const std::function<void(const MeditEntry&)>& visit);

}  // namespace barrio::io::detail
