#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/json.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/io/text/letters.hpp"
#include "barrio/io/vtk/vtk_cutter.hpp"
#include "barrio/io/vtk/vtk_order.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using Dataset = VtkIndex::Dataset;
using Use = VtkIndex::Section::Use;

constexpr std::array<std::string_view, 5> dataset_names{"unstructured_grid", "polydata", "structured_grid",
                                                        "rectilinear_grid", "structured_points"};

constexpr std::string_view first_words = "# vtk datafile version ";

/// Lists of cells in polygonal data, in VTK's numbering order.
struct CellList {
  std::string_view keyword;
  int cell_type;
};
constexpr std::array<CellList, 4> cell_lists{{{"vertices", 2}, {"lines", 4}, {"polygons", 7}, {"triangle_strips", 6}}};

/// An attribute: data with a fixed number of components.
struct Attribute {
  std::string_view keyword;
  int n_components;
};
constexpr std::array<Attribute, 7> attributes{{{"vectors", 3},
                                               {"normals", 3},
                                               {"tensors", 9},
                                               {"tensors6", 6},
                                               {"global_ids", 1},
                                               {"pedigree_ids", 1},
                                               {"edge_flags", 1}}};

/// Decode a name, in which %20 stands for a blank.
std::string decoded(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned int code = 0;
    const char* digits = name.data() + i + 1;
    if (name[i] == '%' && i + 2 < name.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      text.push_back(static_cast<char>(code));
      i += 2;
    } else {
      text.push_back(name[i]);
    }
  }
  return text;
}

class VtkIndexer {
 public:
  VtkIndexer(const std::string& path, int n_shares)
      : in_(path, "check that the file is a complete legacy VTK file"), cutter_(in_, index_, n_shares) {}

  VtkIndex run() {
    first_lines();
    while (in_.seek_field()) section(lower(in_.field()));
    finish();
    return std::move(index_);
  }

 private:
  VtkIndex::Head& head() { return index_.head; }

  // Words count, not lines: a unit may be on one line or on several.
  std::string_view next_word() {
    if (!in_.seek_field()) in_.refuse("ends early");
    return in_.field();
  }
  template <class Number>
  Number next_number() {
    if (!in_.seek_field()) in_.refuse("ends early");
    return in_.number<Number>();
  }

  void first_lines() {
    in_.need_line();
    if (!is_vtk(in_.line())) in_.refuse("is not a legacy VTK file");
    const char* end = in_.line().data() + in_.line().size();
    const auto major = std::from_chars(in_.line().data() + first_words.size(), end, head().version[0]);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, head().version[1]);
    if (major.ec != std::errc() || head().version[0] > 5)
      in_.refuse(fmt::format("is of version '{}'; barrio reads up to 5", in_.line().substr(first_words.size())),
                 "save it as version 4.2 or 5.1");
    in_.need_line();  // a title
    in_.drop_rest();
    const std::string encoding = lower(next_word());
    if (encoding != "ascii" && encoding != "binary")
      in_.refuse(fmt::format("has the encoding '{}', but must be ASCII or BINARY", encoding));
    head().is_binary = encoding == "binary";
  }

  void section(const std::string& keyword) {
    order_.enter(in_, has_dataset_ ? &head().dataset : nullptr, keyword);
    const auto* const list = std::ranges::find(cell_lists, keyword, &CellList::keyword);
    const auto* const attribute = std::ranges::find(attributes, keyword, &Attribute::keyword);
    if (keyword == "dataset") {
      dataset();
    } else if (keyword == "dimensions") {
      dimensions();
    } else if (keyword == "origin") {
      for (double& x : head().origin) x = next_number<double>();
    } else if (keyword == "spacing" || keyword == "aspect_ratio") {
      for (double& x : head().spacing) x = next_number<double>();
    } else if (keyword == "points") {
      points();
    } else if (keyword == "x_coordinates" || keyword == "y_coordinates" || keyword == "z_coordinates") {
      axis(keyword[0] - 'x');
    } else if (keyword == "cells") {
      cells(0);
    } else if (keyword == "cell_types") {
      cell_types();
    } else if (list != cell_lists.end()) {
      if (list - cell_lists.begin() < last_list_) in_.refuse(fmt::format("has {} out of VTK's order", keyword));
      last_list_ = list - cell_lists.begin();
      cells(list->cell_type);
    } else if (keyword == "point_data") {
      data_begins(Use::on_points, "points", head().n_points);
    } else if (keyword == "cell_data") {
      data_begins(Use::on_cells, "cells", head().n_cells);
    } else if (keyword == "scalars") {
      scalars();
    } else if (keyword == "color_scalars") {
      const std::string name = decoded(next_word());
      data(name, head().is_binary ? "unsigned_char" : "float", next_number<std::int64_t>(), n_data_, !head().is_binary);
    } else if (keyword == "lookup_table") {
      next_word();
      const VtkNumber number = head().is_binary ? VtkNumber::uint8 : VtkNumber::float32;
      const std::int64_t n = 4 * in_.checked_count(next_number<std::int64_t>());
      cutter_.pass_over(number, n);
    } else if (attribute != attributes.end()) {
      const std::string name = decoded(next_word());
      data(name, lower(next_word()), attribute->n_components, n_data_);
    } else if (keyword == "texture_coordinates") {
      const std::string name = decoded(next_word());
      const auto n_components = next_number<std::int64_t>();
      data(name, lower(next_word()), n_components, n_data_);
    } else if (keyword == "field") {
      field_data();
    } else if (keyword == "metadata") {
      pass_metadata();
    } else {
      in_.refuse(fmt::format("has '{}' where a keyword of VTK was expected", in_.line().substr(0, 60)));
    }
  }

  void dataset() {
    if (has_dataset_) in_.refuse("has a second dataset");
    const std::string type = lower(next_word());
    const auto* const known = std::ranges::find(dataset_names, type);
    if (known == dataset_names.end())
      in_.refuse(fmt::format("has a dataset of type '{}'; barrio reads {}", type, fmt::join(dataset_names, ", ")),
                 "save it as an unstructured grid");
    head().dataset = static_cast<Dataset>(known - dataset_names.begin());
    has_dataset_ = true;
  }

  void dimensions() {
    std::int64_t n = 1;
    for (std::int64_t& points : head().dimensions) {
      points = next_number<std::int64_t>();
      if (points < 1 || points > (std::int64_t{1} << 48) / n)
        in_.refuse(fmt::format("has {} points along an axis, which makes no sense", points));
      n *= points;
    }
    const PointGrid grid{head().dimensions};
    head().n_points = grid.n_points();
    head().n_cells = grid.n_cells();
    runs_ = {head().n_cells};
  }

  void points() {
    const std::int64_t n = in_.checked_count(next_number<std::int64_t>());
    if (index_.is_structured() && n != head().n_points)
      in_.refuse(fmt::format("has {} points for a grid of {}", n, head().n_points));
    head().n_points = n;
    cutter_.cut({Use::points, number_type(lower(next_word())), 3, 0}, {&n, 1});
  }

  /// Read coordinates along an axis, which every share gets.
  void axis(int which) {
    const auto n = next_number<std::int64_t>();
    if (n != head().dimensions[which])
      in_.refuse(fmt::format("has {} coordinates along an axis of {} points", n, head().dimensions[which]));
    const VtkNumber number = number_type(lower(next_word()));
    constexpr std::array<Use, 3> uses{Use::x_axis, Use::y_axis, Use::z_axis};
    cutter_.give_to_all({uses[which], number, 1, 0}, n);
  }

  /// Read a list of cells: counts and nodes alternate or, since version 5, offsets and nodes are separate.
  void cells(int cell_type) {
    const std::int64_t n = in_.checked_count(next_number<std::int64_t>());
    const std::int64_t size = in_.checked_count(next_number<std::int64_t>());
    std::int64_t n_cells = n;
    if (head().version[0] < 5) {
      cutter_.cut_mixed_cells(n, size, cell_type);
    } else if (n > 0) {
      n_cells = n - 1;
      const VtkNumber of_offsets = heading("offsets");
      const std::vector<std::int64_t> first_nodes = cutter_.cut_offsets(n_cells, of_offsets, size, cell_type);
      cutter_.cut_nodes(n_cells, heading("connectivity"), first_nodes);
    }
    head().n_cells += n_cells;
    runs_.push_back(n_cells);
  }

  VtkNumber heading(std::string_view keyword) {
    if (lower(next_word()) != keyword)
      in_.refuse(fmt::format("has '{}' where {} were expected", in_.line().substr(0, 60), keyword));
    const VtkNumber number = number_type(lower(next_word()));
    if (!is_integer(number)) in_.refuse(fmt::format("has {} that are not integers", keyword));
    return number;
  }

  void cell_types() {
    const auto n = next_number<std::int64_t>();
    if (n != head().n_cells) in_.refuse(fmt::format("has {} cell types for {} cells", n, head().n_cells));
    cutter_.cut({Use::types, VtkNumber::int32, 1, 0}, runs_);
  }

  void data_begins(Use use, std::string_view what, std::int64_t n_expected) {
    if (!has_dataset_) in_.refuse(fmt::format("has data of {} before its dataset", what));
    n_data_ = next_number<std::int64_t>();
    if (n_data_ != n_expected) in_.refuse(fmt::format("has data of {} {}, but {} {}", n_data_, what, n_expected, what));
    use_ = use;
    has_data_ = true;
    order_.close();
  }

  void scalars() {
    const std::string name = decoded(next_word());
    const std::string type = lower(next_word());
    std::string n_components(in_.field());  // may be absent; then the line ends
    if (lower(n_components) == "lookup_table") {
      n_components.clear();
    } else if (!in_.seek_field() || lower(in_.field()) != "lookup_table") {
      in_.refuse(fmt::format("has no LOOKUP_TABLE for the scalars '{}'", name));
    }
    in_.field();  // the name of the table
    std::int64_t n = 1;
    if (!n_components.empty() &&
        std::from_chars(n_components.data(), n_components.data() + n_components.size(), n).ec != std::errc())
      in_.refuse(fmt::format("has scalars '{}' with '{}' components", name, n_components));
    data(name, type, n, n_data_);
  }

  void field_data() {
    next_word();
    for (auto n = next_number<std::int64_t>(); n > 0; --n) {
      do {
        if (!in_.seek_field()) in_.refuse("ends early");
      } while (passed_metadata());
      const std::string name = decoded(next_word());
      const auto n_components = next_number<std::int64_t>();
      const auto n_rows = next_number<std::int64_t>();
      data(name, lower(next_word()), n_components, n_rows);
    }
  }
  /// Skip metadata, which end with an empty line.
  void pass_metadata() {
    while (in_.next_line() && !in_.line().empty()) {
    }
    in_.drop_rest();
  }
  bool passed_metadata() {
    if (lower(in_.line()) != "metadata") return false;
    pass_metadata();
    return true;
  }

  void data(const std::string& name, const std::string& type, std::int64_t n_components, std::int64_t n_rows,
            bool is_colour = false) {
    if (n_components < 1 || n_components > 1 << 14)
      in_.refuse(fmt::format("has an array '{}' of {} components, which makes no sense", name, n_components));
    in_.checked_count(n_rows);
    if (has_data_ && n_rows != n_data_)
      in_.refuse(fmt::format("has an array '{}' of {} rows, {} were expected", name, n_rows, n_data_));
    if (type == "string" || type == "bit") {
      pass_over_other(type == "bit", n_components * n_rows);
      (has_data_ ? index_.left_out.arrays : index_.left_out.field_data).push_back(name);
      return;
    }
    const VtkNumber number = number_type(type);
    if (has_data_) {
      // The last array of a name counts, as for VTK.
      if (std::ranges::find(seen_, std::pair(use_, name)) != seen_.end())
        index_.left_out.others.push_back(fmt::format("an earlier array '{}'", name));
      seen_.emplace_back(use_, name);
      index_.names.push_back(name);
      cutter_.cut({use_, number, static_cast<std::int32_t>(n_components), 0, is_colour ? 1 : 0},
                  use_ == Use::on_points ? std::span<const std::int64_t>(&n_rows, 1) : runs_);
    } else {
      cutter_.pass_over(number, n_components * n_rows);
      index_.left_out.field_data.push_back(name);
    }
  }

  void pass_over_other(bool is_bits, std::int64_t n) {
    is_bits && !head().is_binary ? in_.return_rest() : in_.drop_rest();
    if (is_bits) return head().is_binary ? in_.skip((n + 7) / 8) : in_.skip_words(n);
    for (; n > 0; --n) {
      if (!head().is_binary) {
        in_.need_line();  // also an empty text has a line
        in_.drop_rest();
        continue;
      }
      // The two highest bits of a text say how many bytes its length has: 8, 4, 2 or 1.
      const auto first = in_.binary<unsigned char>();
      std::uint64_t length = first & 63U;
      for (int more = (8 >> (first >> 6U)) - 1; more > 0; --more) length = length << 8U | in_.binary<unsigned char>();
      in_.skip(in_.checked_count(length));
    }
  }

  VtkNumber number_type(const std::string& name) {
    const auto number = vtk_number(name);
    if (!number) in_.refuse(fmt::format("has numbers of the unknown type '{}'", name));
    return *number;
  }

  void finish() {
    if (!has_dataset_) in_.refuse("has no dataset");
    const bool needs_points = head().dataset <= Dataset::structured_grid;
    if (index_.is_structured() && head().n_points == 0) in_.refuse("has no dimensions");
    if (needs_points && !order_.has("points")) in_.refuse("has no points");
    if (head().dataset == Dataset::rectilinear_grid && order_.n_axes() != 3)
      in_.refuse(fmt::format("has coordinates of {} axes, but must have 3", order_.n_axes()));
    if (head().dataset == Dataset::unstructured_grid && head().n_cells > 0 && !order_.has("cell_types"))
      in_.refuse("has no cell types");
  }

  VtkIndex index_;
  Scanner in_;
  VtkCutter cutter_;
  std::vector<std::int64_t> runs_;  ///< of cells that are cut together
  std::ptrdiff_t last_list_ = 0;
  Use use_ = Use::on_points;  ///< of the data from here on
  std::int64_t n_data_ = 0;
  bool has_data_ = false;                          ///< of points or cells; earlier data belong to the file
  std::vector<std::pair<Use, std::string>> seen_;  ///< arrays of points and cells
  bool has_dataset_ = false;
  VtkOrder order_;
};

}  // namespace

bool is_vtk(std::string_view head) { return lower(head).starts_with(first_words); }

std::string VtkIndex::format() const {
  return fmt::format("VTK legacy {}.{}, {}", head.version[0], head.version[1], head.is_binary ? "binary" : "text");
}

void VtkIndex::share(mpi::Context& context) {
  mpi::broadcast(context, std::span(&head, 1));
  mpi::broadcast(context, sections);
  std::string text =
      Json{names, left_out.arrays, left_out.field_data}.dump(-1, ' ', true, Json::error_handler_t::replace);
  mpi::broadcast(context, text);
  const Json all = Json::parse(text);
  names = all[0].get<std::vector<std::string>>();
  left_out.arrays = all[1].get<std::vector<std::string>>();
  left_out.field_data = all[2].get<std::vector<std::string>>();
}

std::vector<VtkPiece> VtkIndex::pieces_of(mpi::Context& context) const {
  std::vector<Rank> to;
  std::vector<VtkPiece> items;
  for (Rank share = 0; share < std::ssize(pieces); ++share) {
    to.insert(to.end(), pieces[share].size(), share);
    items.insert(items.end(), pieces[share].begin(), pieces[share].end());
  }
  return exchange::route(context, exchange::pack_by_rank<VtkPiece>(to, items)).items;
}

VtkIndex index_vtk(const std::string& path, int n_shares) { return VtkIndexer(path, n_shares).run(); }

}  // namespace barrio::io::detail
