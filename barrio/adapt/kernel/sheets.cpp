#include "barrio/adapt/kernel/sheets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::adapt::detail {

void Sheets::gather(const Tets& mesh, Slot v, std::span<const Slot> star) {
  mesh_ = &mesh;
  v_ = v;
  faces_.clear();
  feature_ends_.clear();
  const Point& from = mesh.vertices[v].at;
  for (const Slot t : star) {
    const Tet& tet = mesh.tets[t];
    const std::size_t at = tet.place_of(v);
    for (std::size_t i = 0; i < 4; ++i)
      if (i != at && (tet.features & edge_bit(at, i)) != 0) feature_ends_.push_back(tet.v[i]);
    for (std::size_t f = 0; f < 4; ++f) {
      if (f == at || tet.face_membership[f] == 0) continue;
      if (tet.across[f] >= 0 && (tet.across[f] >> 2) < t) continue;  // an inner face has two tetrahedra
      std::array<Slot, 2> ends{};
      std::size_t n = 0;
      for (const std::size_t i : face_of[f])
        if (i != at) ends[n++] = tet.v[i];
      if (mesh.key(ends[1]) < mesh.key(ends[0])) std::swap(ends[0], ends[1]);
      const Point normal = cross(mesh.vertices[ends[0]].at - from, mesh.vertices[ends[1]].at - from);
      faces_.push_back({ends[0], ends[1], normal, dot(normal, normal), 0});
    }
  }
  sort_unique(feature_ends_);
  join_sheets();
}

/// Number the sheets, and sort the faces by them.
void Sheets::join_sheets() {
  at_edges_.clear();
  for (std::uint32_t f = 0; f < faces_.size(); ++f) {
    faces_[f].sheet = f;
    at_edges_.emplace_back(faces_[f].a, f);
    at_edges_.emplace_back(faces_[f].b, f);
  }
  std::ranges::sort(at_edges_);
  const auto root_of = [&](std::uint32_t f) {
    while (faces_[f].sheet != f) f = faces_[f].sheet = faces_[faces_[f].sheet].sheet;
    return f;
  };
  for (std::size_t i = 0; i + 1 < at_edges_.size(); ++i) {
    const auto& [end, f] = at_edges_[i];
    if (at_edges_[i + 1].first != end || std::ranges::binary_search(feature_ends_, end)) continue;
    const std::uint32_t one = root_of(f);
    const std::uint32_t other = root_of(at_edges_[i + 1].second);
    faces_[std::max(one, other)].sheet = std::min(one, other);
  }
  for (std::uint32_t f = 0; f < faces_.size(); ++f) faces_[f].sheet = root_of(f);
  if (faces_.size() > 1) std::ranges::sort(faces_, {}, &Face::sheet);
  first_.clear();
  for (std::uint32_t f = 0; f < faces_.size(); ++f)
    if (f == 0 || faces_[f].sheet != faces_[f - 1].sheet) first_.push_back(f);
  first_.push_back(static_cast<std::uint32_t>(faces_.size()));
}

/// Return the largest face of a sheet, of equal ones that of the lowest keys.
const Sheets::Face& Sheets::largest(std::uint32_t sheet) const {
  const Face* best = &faces_[first_[sheet]];
  for (std::uint32_t f = first_[sheet] + 1; f < first_[sheet + 1]; ++f) {
    const Face& face = faces_[f];
    if (face.area < best->area) continue;
    const auto keys = [&](const Face& of) { return std::pair(mesh_->key(of.a), mesh_->key(of.b)); };
    if (face.area > best->area || keys(face) < keys(*best)) best = &face;
  }
  return *best;
}

bool Sheets::are_flat(double tolerance) const {
  const Point& from = mesh_->vertices[v_].at;
  for (std::uint32_t sheet = 0; sheet + 1 < first_.size(); ++sheet) {
    const Face& base = largest(sheet);
    const double bound = tolerance * std::sqrt(base.area);
    for (std::uint32_t f = first_[sheet]; f < first_[sheet + 1]; ++f)
      for (const Slot end : {faces_[f].a, faces_[f].b})
        if (!(std::abs(dot(mesh_->vertices[end].at - from, base.normal)) <= bound)) return false;
  }
  return true;
}

std::optional<Point> Sheets::normal() const {
  if (first_.size() != 2) return {};
  return largest(0).normal;
}

std::optional<FeatureLine> Sheets::straight_line(double tolerance) const {
  if (feature_ends_.size() != 2) return {};
  FeatureLine line{{feature_ends_[0], feature_ends_[1]}};
  if (mesh_->key(line.ends[1]) < mesh_->key(line.ends[0])) std::swap(line.ends[0], line.ends[1]);
  const Point& from = mesh_->vertices[v_].at;
  const Point one = mesh_->vertices[line.ends[0]].at - from;
  const Point other = mesh_->vertices[line.ends[1]].at - from;
  const Point chord = other - one;
  const Point off = cross(one, chord);
  if (dot(one, other) >= 0 || dot(off, off) > tolerance * tolerance * dot(chord, chord)) return {};
  return line;
}

}  // namespace barrio::adapt::detail
