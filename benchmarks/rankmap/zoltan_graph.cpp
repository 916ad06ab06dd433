#include "benchmarks/rankmap/zoltan_graph.hpp"

#include <fmt/format.h>
#include <zoltan.h>

#include <algorithm>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::bench {
namespace {

/// The points that one rank contributes.
struct Given {
  const PointGrid& grid;
  std::int64_t begin, end;
  const std::vector<std::int64_t>& first_of_rank;  // size: number of ranks + 1
};

const Given& given(void* data) { return *static_cast<const Given*>(data); }

int count_points(void* data, int* status) {
  *status = ZOLTAN_OK;
  return static_cast<int>(given(data).end - given(data).begin);
}

void list_points(void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR places, int, float*, int* status) {
  const Given& points = given(data);
  for (std::int64_t point = points.begin; point < points.end; ++point) {
    ids[point - points.begin] = static_cast<ZOLTAN_ID_TYPE>(point);
    places[point - points.begin] = static_cast<ZOLTAN_ID_TYPE>(point - points.begin);
  }
  *status = ZOLTAN_OK;
}

void count_edges(void* data, int, int, int n, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int* counts, int* status) {
  for (int i = 0; i < n; ++i) {
    counts[i] = 0;
    given(data).grid.for_neighbours(ids[i], [&](std::int64_t) { ++counts[i]; });
  }
  *status = ZOLTAN_OK;
}

void list_edges(void* data, int, int, int n, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int*, ZOLTAN_ID_PTR others, int* ranks,
                int, float*, int* status) {
  const Given& points = given(data);
  for (int i = 0; i < n; ++i)
    points.grid.for_neighbours(ids[i], [&](std::int64_t other) {
      *others++ = static_cast<ZOLTAN_ID_TYPE>(other);
      *ranks++ =
          static_cast<int>(std::ranges::upper_bound(points.first_of_rank, other) - points.first_of_rank.begin()) - 1;
    });
  *status = ZOLTAN_OK;
}

void check_zoltan(int status, const char* call) {
  if (status == ZOLTAN_OK || status == ZOLTAN_WARN) return;
  throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("failed with code {}", status)});
}

std::vector<std::int32_t> cut(MPI_Comm comm, Given& points, int n_parts, int& status) {
  float version = 0.0F;
  check_zoltan(Zoltan_Initialize(0, nullptr, &version), "Zoltan_Initialize");
  Zoltan_Struct* zoltan = Zoltan_Create(comm);
  const std::string n = std::to_string(n_parts);
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"DEBUG_LEVEL", "0"},
                                                                  {"LB_METHOD", "GRAPH"},
                                                                  {"GRAPH_PACKAGE", "PHG"},
                                                                  {"LB_APPROACH", "PARTITION"},
                                                                  {"NUM_GID_ENTRIES", "1"},
                                                                  {"NUM_LID_ENTRIES", "1"},
                                                                  {"NUM_GLOBAL_PARTS", n.c_str()},
                                                                  {"RETURN_LISTS", "PARTS"},
                                                                  {"IMBALANCE_TOL", "1.05"},
                                                                  {"SEED", "1"}})
    check_zoltan(Zoltan_Set_Param(zoltan, name, value), "Zoltan_Set_Param");
  Zoltan_Set_Num_Obj_Fn(zoltan, count_points, &points);
  Zoltan_Set_Obj_List_Fn(zoltan, list_points, &points);
  Zoltan_Set_Num_Edges_Multi_Fn(zoltan, count_edges, &points);
  Zoltan_Set_Edge_List_Multi_Fn(zoltan, list_edges, &points);
  int has_changed = 0, n_id_words = 0, n_place_words = 0, n_in = 0, n_out = 0;
  ZOLTAN_ID_PTR in_ids = nullptr, in_places = nullptr, out_ids = nullptr, out_places = nullptr;
  int *in_ranks = nullptr, *in_parts = nullptr, *out_ranks = nullptr, *out_parts = nullptr;
  status = Zoltan_LB_Partition(zoltan, &has_changed, &n_id_words, &n_place_words, &n_in, &in_ids, &in_places, &in_ranks,
                               &in_parts, &n_out, &out_ids, &out_places, &out_ranks, &out_parts);
  std::vector<std::int32_t> part(points.end - points.begin, 0);
  for (int i = 0; i < n_out; ++i) part[out_places[i]] = out_parts[i];
  Zoltan_LB_Free_Part(&in_ids, &in_places, &in_ranks, &in_parts);
  Zoltan_LB_Free_Part(&out_ids, &out_places, &out_ranks, &out_parts);
  Zoltan_Destroy(&zoltan);
  return part;
}

}  // namespace

std::vector<std::int32_t> cut_by_zoltan_graph(mpi::Context& context, const PointGrid& grid, Input input, int n_parts) {
  const std::int64_t n = grid.n_points();
  std::vector<std::int64_t> first_of_rank{0};
  for (int rank = 0; rank < context.size(); ++rank)
    first_of_rank.push_back(input == Input::serial ? n : n * (rank + 1) / context.size());
  const auto mine = static_cast<std::size_t>(context.rank());
  Given points{
      .grid = grid, .begin = first_of_rank[mine], .end = first_of_rank[mine + 1], .first_of_rank = first_of_rank};
  int status = ZOLTAN_OK;
  const std::vector<std::int32_t> part = cut(context.comm(), points, n_parts, status);
  agree_after(context, [&] { check_zoltan(status, "Zoltan_LB_Partition"); });
  std::vector<int> counts, places;
  for (int rank = 0; rank < context.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    counts.push_back(static_cast<int>(first_of_rank[at + 1] - first_of_rank[at]));
    places.push_back(static_cast<int>(first_of_rank[at]));
  }
  std::vector<std::int32_t> all(n);
  mpi::check(MPI_Allgatherv(part.data(), static_cast<int>(part.size()), MPI_INT32_T, all.data(), counts.data(),
                            places.data(), MPI_INT32_T, context.comm()),
             "MPI_Allgatherv");
  return all;
}

}  // namespace barrio::bench
