#include "barrio/io/vtk/vtkhdf_arrays.hpp"

#include <algorithm>

#include "barrio/io/vtk/vtkhdf_tags.hpp"

namespace barrio::io::detail {

void VtkhdfArrays::write_once(const mesh::FieldData& field) {
  std::visit([&](const auto& values) { write_once(array_name(field.name), field.dim, field.n_components, values); },
             field.values);
}

void VtkhdfArrays::write_step(const mesh::FieldData& field, std::size_t step) {
  const std::string path = "/VTKHDF/PointData/" + array_name(field.name);
  std::visit(
      [&]<class T>(const std::vector<T>& values) {
        const std::vector<T> rows = by_piece(field.dim, field.n_components, values);
        constexpr std::int64_t largest_chunk = 1 << 16;
        if (step == 0)
          file_->make_growing(path, files::FileWriter::native_type<T>(),
                              field.n_components > 1 ? field.n_components : 0, std::min(points_.n, largest_chunk));
        const std::int64_t s = step;
        file_->write_growing(path, (s + 1) * points_.n, s * points_.n + points_.first,
                             std::ssize(rows) / field.n_components, rows.data());
      },
      field.values);
}

void VtkhdfArrays::write_offsets(std::span<const mesh::FieldData* const> fields, std::size_t n_steps) {
  const std::vector<std::int64_t> zeros(n_steps, 0);
  std::vector<std::int64_t> offsets;
  for (std::size_t s = 0; s < n_steps; ++s) offsets.push_back(static_cast<std::int64_t>(s) * points_.n);
  for (const mesh::FieldData* field : fields)
    file_->write_small<std::int64_t>("/VTKHDF/Steps/PointDataOffsets/" + array_name(field->name), offsets);
  for (const std::string& path : written_once_) {
    const auto slash = path.find('/');
    file_->write_small<std::int64_t>("/VTKHDF/Steps/" + path.substr(0, slash) + "Offsets" + path.substr(slash), zeros);
  }
}

}  // namespace barrio::io::detail
