#include "benchmarks/mesh/boxes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box_halo.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::bench {
namespace {

using Box = geometry::IndexBox<3>;

constexpr std::int64_t width = 16;
constexpr int ghosts = 2;
constexpr std::int64_t n_variables = 5;
constexpr std::array<std::int64_t, 3> n_along{4, 4, 8};  // boxes

/// All boxes, layer by layer; ranks own consecutive runs of them.
struct AllBoxes {
  std::vector<Box> boxes;
  std::vector<Rank> ranks;

  explicit AllBoxes(int n_ranks) {
    const std::int64_t n = n_along[0] * n_along[1] * n_along[2];
    for (std::int64_t b = 0; b < n; ++b) {
      const Box::Index low{b % n_along[0] * width, b / n_along[0] % n_along[1] * width,
                           b / n_along[0] / n_along[1] * width};
      boxes.push_back({low, {low[0] + width, low[1] + width, low[2] + width}});
      ranks.push_back(static_cast<Rank>(b * n_ranks / n));
    }
  }
};

/// Careful hand-written code for this one pattern: lists of adjacent boxes, persistent requests, one buffer per
/// neighbour.
class ByHand {
 public:
  ByHand(mpi::Context& context, const AllBoxes& all, std::vector<std::vector<double>>& values) : context_(context) {
    const auto n = std::ssize(all.boxes);
    std::vector<std::size_t> place(all.boxes.size());
    std::size_t n_mine = 0;
    for (std::int64_t b = 0; b < n; ++b)
      if (all.ranks[b] == context.rank()) place[b] = n_mine++;
    std::map<Rank, std::vector<Part>> out;
    std::map<Rank, std::vector<Part>> in;
    for (std::int64_t to = 0; to < n; ++to) {
      for (std::int64_t from = 0; from < n; ++from) {
        const Box region = all.boxes[to].grown(ghosts).intersected(all.boxes[from]);
        if (to == from || region.empty()) continue;
        const bool is_to = all.ranks[to] == context.rank();
        const bool is_from = all.ranks[from] == context.rank();
        if (is_to && is_from) {
          copies_.push_back(
              {part(values[place[from]], all.boxes[from], region), part(values[place[to]], all.boxes[to], region)});
        } else if (is_to) {
          in[all.ranks[from]].push_back(part(values[place[to]], all.boxes[to], region));
        } else if (is_from) {
          out[all.ranks[to]].push_back(part(values[place[from]], all.boxes[from], region));
        }
      }
    }
    constexpr int tag = 7;
    for (auto& [rank, parts] : in) {
      received_.push_back({std::vector<double>(length(parts)), std::move(parts)});
      mpi::check(MPI_Recv_init(received_.back().buffer.data(), mpi::as_count(received_.back().buffer.size()),
                               MPI_DOUBLE, rank, tag, context.comm(), &requests_.emplace_back()),
                 "MPI_Recv_init");
    }
    for (auto& [rank, parts] : out) {
      sent_.push_back({std::vector<double>(length(parts)), std::move(parts)});
      mpi::check(MPI_Send_init(sent_.back().buffer.data(), mpi::as_count(sent_.back().buffer.size()), MPI_DOUBLE, rank,
                               tag, context.comm(), &requests_.emplace_back()),
                 "MPI_Send_init");
    }
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  ~ByHand() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void exchange() {
    const std::span<MPI_Request> receives = std::span(requests_).first(received_.size());
    const std::span<MPI_Request> sends = std::span(requests_).subspan(received_.size());
    if (!receives.empty()) MPI_Startall(mpi::as_count(receives.size()), receives.data());
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      double* to = sent_[i].buffer.data();
      for (const Part& one : sent_[i].parts)
        for_each_row(one, [&](double* row) {
          std::memcpy(to, row, one.n[0] * sizeof(double));
          to += one.n[0];
        });
      MPI_Start(&sends[i]);
    }
    for (const auto& [from, to] : copies_) {
      double* source = from.first;
      for (std::int64_t v = 0; v < n_variables; ++v, source += from.variable)
        for (std::int64_t k = 0; k < from.n[2]; ++k)
          for (std::int64_t j = 0; j < from.n[1]; ++j)
            std::memcpy(to.first + v * to.variable + k * to.plane + j * to.row, source + k * from.plane + j * from.row,
                        from.n[0] * sizeof(double));
    }
    MPI_Waitall(mpi::as_count(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (const Message& message : received_) {
      const double* from = message.buffer.data();
      for (const Part& one : message.parts)
        for_each_row(one, [&](double* row) {
          std::memcpy(row, from, one.n[0] * sizeof(double));
          from += one.n[0];
        });
    }
  }

 private:
  /// A range of cells of a box's array.
  struct Part {
    double* first;
    std::array<std::int64_t, 3> n;
    std::int64_t row;
    std::int64_t plane;
    std::int64_t variable;
  };
  struct Message {
    std::vector<double> buffer;
    std::vector<Part> parts;
  };
  static Part part(std::vector<double>& values, const Box& box, const Box& region) {
    const Box array = box.grown(ghosts);
    return {values.data() + array.place(region.low),
            {region.extent(0), region.extent(1), region.extent(2)},
            array.extent(0),
            array.extent(0) * array.extent(1),
            array.size()};
  }
  static std::size_t length(const std::vector<Part>& parts) {
    std::int64_t n = 0;
    for (const Part& one : parts) n += n_variables * one.n[0] * one.n[1] * one.n[2];
    return n;
  }
  template <class Visit>
  static void for_each_row(const Part& one, Visit&& visit) {
    for (std::int64_t v = 0; v < n_variables; ++v)
      for (std::int64_t k = 0; k < one.n[2]; ++k)
        for (std::int64_t j = 0; j < one.n[1]; ++j) visit(one.first + v * one.variable + k * one.plane + j * one.row);
  }

  mpi::Context& context_;
  std::vector<Message> sent_;
  std::vector<Message> received_;
  std::vector<std::pair<Part, Part>> copies_;
  std::vector<MPI_Request> requests_;
};

/// Fill own cells with distinct values, ghosts with another value.
void fill(const std::vector<Box>& boxes, std::vector<std::vector<double>>& values) {
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const Box array = boxes[b].grown(ghosts);
    for (std::int64_t v = 0; v < n_variables; ++v) {
      for (std::int64_t at = 0; at < array.size(); ++at) {
        const auto [i, j, k] = array.at(at);
        values[b][v * array.size() + at] =
            boxes[b].contains(array.at(at)) ? static_cast<double>(v + 10 * (i + 100 * (j + 100 * k))) : -1.0;
      }
    }
  }
}

}  // namespace

BoxesFigures measure_boxes(mpi::Context& context, const MeshOptions& options) {
  const AllBoxes all(context.size());
  std::vector<Box> own;
  for (std::size_t b = 0; b < all.boxes.size(); ++b)
    if (all.ranks[b] == context.rank()) own.push_back(all.boxes[b]);
  std::vector<std::vector<double>> values;
  for (const Box& box : own) values.emplace_back(n_variables * box.grown(ghosts).size());
  std::vector<std::vector<double>> by_hand = values;
  const std::vector<std::span<double>> spans(values.begin(), values.end());
  const Box domain{{0, 0, 0}, {n_along[0] * width, n_along[1] * width, n_along[2] * width}};

  BoxesFigures figures{.n_boxes = std::ssize(all.boxes), .width = width};
  mpi::barrier(context);
  const double begin = MPI_Wtime();
  const auto layout = std::make_shared<const mesh::BoxLayout<3>>(context, domain, own);
  mesh::BoxHalo<3> halo(layout, {mesh::BoxField::by_component<double>(mesh::Centering::cell, spans, n_variables)},
                        {.ghosts = ghosts});
  figures.layout_seconds = mpi::max(context, MPI_Wtime() - begin);
  ByHand hand(context, all, by_hand);

  fill(own, values);
  fill(own, by_hand);
  halo.exchange();
  hand.exchange();
  const bool is_same = values == by_hand;
  if (mpi::min(context, is_same ? 1 : 0) == 0)
    throw AgreedError(ErrorCode::differs, {.subject = "bench mesh, boxes",
                                           .cause = "ghosts of BoxHalo differ from those of the hand-written code",
                                           .remedy = "this is a bug in barrio"});
  figures.halo_seconds = figures.persistent_seconds = 1e9;
  constexpr int n_rounds = 20;
  for (int repeat = 0; repeat < 4 * options.n_repeats; ++repeat) {
    const auto time = [&](auto&& exchange, double& shortest) {
      mpi::barrier(context);
      const double start = MPI_Wtime();
      for (int round = 0; round < n_rounds; ++round) exchange();
      shortest = std::min(shortest, mpi::max(context, (MPI_Wtime() - start) / n_rounds));
    };
    time([&] { halo.exchange(); }, figures.halo_seconds);
    time([&] { hand.exchange(); }, figures.persistent_seconds);
  }
  return figures;
}

}  // namespace barrio::bench
