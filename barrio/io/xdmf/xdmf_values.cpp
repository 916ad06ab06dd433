#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "barrio/io/text/scanner.hpp"
#include "barrio/io/xdmf/xdmf_file.hpp"

namespace barrio::io::detail {

namespace {

/// Return the product of the lengths after the first `n`.
std::int64_t width_after(const std::vector<files::Run>& part, std::size_t n) {
  std::int64_t width = 1;
  for (std::size_t d = n; d < part.size(); ++d) width *= std::max<std::int64_t>(part[d].count, 1);
  return width;
}

}  // namespace

template <class T>
void XdmfReader::read_hdf5(const XdmfItem& item, std::int64_t first, std::int64_t n, std::vector<T>& out) {
  auto file = hdf5_.find(item.file);
  if (file == hdf5_.end()) file = hdf5_.emplace(item.file, files::open_to_read(item.file)).first;
  const hid_t id = file->second.get();
  const auto sizes = files::extents(id, item.dataset);
  const bool is_whole = item.starts.empty();
  std::vector<files::Run> part;
  for (std::size_t d = 0; d < (is_whole ? sizes : item.starts).size(); ++d)
    part.push_back(is_whole ? files::Run{0, sizes[d]} : files::Run{item.starts[d], item.lengths[d]});
  const bool fits = is_whole || std::ranges::equal(part, sizes, [](const files::Run& run, std::int64_t size) {
                      return run.first + run.count <= size;
                    });
  if (!fits && !sizes.empty())
    throw Error(ErrorCode::bad_input,
                {.subject = item.file,
                 .cause = fmt::format("has a dataset '{}' of other dimensions than the XDMF file states", item.dataset),
                 .remedy = "write both files again"});
  // The rows are those along the first dimension that is not cut to one place.
  std::size_t of_rows = 0;
  while (!is_whole && of_rows + 1 < part.size() && part[of_rows].count == 1) ++of_rows;
  std::vector<std::int64_t> within;
  for (std::size_t d = 0; d < of_rows; ++d) within.push_back(part[d].first);
  const std::int64_t width = width_after(part, of_rows + 1);
  const std::int64_t row = first / width;
  const std::int64_t n_before = part.empty() ? 0 : part[of_rows].first;
  const auto runs = std::span<const files::Run>(part).subspan(std::min(of_rows + 1, part.size()));
  const files::Rows rows{n_before + row, (first + n + width - 1) / width - row, within,
                         is_whole ? std::span<const files::Run>() : runs};
  const auto append = [&](const auto& numbers) {
    const auto begin = numbers.begin() + (first - row * width);
    std::transform(begin, begin + n, std::back_inserter(out), [](auto one) { return static_cast<T>(one); });
  };
  const bool is_real = !sizes.empty() && files::shape_of_type(id, item.dataset).kind == files::NativeValues::Kind::real;
  if (is_real)
    append(files::read_reals(id, item.dataset, rows));
  else
    append(files::read_integers(id, item.dataset, rows));
}

template <class T>
void XdmfReader::read(const XdmfItem& item, std::int64_t first, std::int64_t n, std::vector<T>& out) {
  if (n == 0) return;
  if (item.form == XdmfItem::Form::hdf5) return read_hdf5(item, first, n, out);
  Scanner in(item.file, xdmf_remedy);
  in.go_to(item.offset);
  if (item.form == XdmfItem::Form::text) {
    if (first + n > item.n_numbers() || n > in.bytes_left() / 2 + 1) in.refuse("ends early");
    in.skip_words(first);
    return read_vtk_numbers(in, item.number, false, n, out);
  }
  const std::int64_t width = bytes_of(item.number);
  if (first + n > in.bytes_left() / width) in.refuse("ends early");
  in.skip(first * width);
  std::vector<std::byte> bytes(n * width);
  in.binary(std::span<std::byte>(bytes));
  append_vtk_numbers(bytes, item.number, item.order, out);
}
template void XdmfReader::read(const XdmfItem&, std::int64_t, std::int64_t, std::vector<std::int64_t>&);
template void XdmfReader::read(const XdmfItem&, std::int64_t, std::int64_t, std::vector<double>&);

}  // namespace barrio::io::detail
