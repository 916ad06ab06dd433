#include "benchmarks/exchange/transfer_work.hpp"

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/tuple_list.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::bench {

RandomRows::Row RandomRows::row_of(Rank from, std::uint64_t i, std::uint64_t salt, int n_ranks) {
  const std::uint64_t word = mix64(static_cast<std::uint64_t>(from) << 40U | i);
  return {static_cast<Rank>(word % static_cast<std::uint64_t>(n_ranks)), static_cast<std::int32_t>(i), word + salt,
          word ^ salt, ~word};
}

void RandomRows::prepare(std::uint64_t n) { n_ = n; }

void RandomRows::fill(std::uint64_t salt) {
  std::vector<Row> rows;
  rows.reserve(n_);
  for (std::uint64_t i = 0; i < n_; ++i) rows.push_back(row_of(context_.rank(), i, salt, context_.size()));
  set_rows(rows);
}

bool RandomRows::is_right(std::uint64_t salt) {
  std::vector<Row> rows = take_rows();
  const auto key = [](const Row& row) { return std::pair(row.rank, row.number); };
  std::ranges::sort(rows, {}, key);
  std::size_t at = 0;
  for (Rank from = 0; from < context_.size(); ++from) {
    for (std::uint64_t i = 0; i < n_; ++i) {
      const Row wanted = row_of(from, i, salt, context_.size());
      if (wanted.rank != context_.rank()) continue;
      if (at == rows.size()) return false;
      const Row& row = rows[at++];
      if (row.rank != from || row.number != wanted.number || row.a != wanted.a || row.b != wanted.b ||
          row.c != wanted.c)
        return false;
    }
  }
  return at == rows.size();
}

namespace {

using exchange::Route;

template <Route route>
class BarrioTransfer : public RandomRows {
 public:
  using RandomRows::RandomRows;
  void run() override { exchange::transfer<0>(context_, list_, {.route = route}); }

 private:
  void set_rows(const std::vector<Row>& rows) override {
    list_.clear();
    for (const Row& row : rows) list_.push_back(row.rank, row.number, row.a, row.b, row.c);
  }
  std::vector<Row> take_rows() override {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const auto [rank, number, a, b, c] = list_.tuple(i);
      rows.push_back({rank, number, a, b, c});
    }
    return rows;
  }
  exchange::TupleList<Rank, std::int32_t, std::uint64_t, std::uint64_t, std::uint64_t> list_;
};

/// Hand-written code: counts to all, then rows to all.
class Alltoallv : public RandomRows {
 public:
  using RandomRows::RandomRows;
  void run() override {
    const auto n_ranks = static_cast<std::size_t>(context_.size());
    std::vector<int> out(n_ranks, 0);
    for (const Row& row : rows_) out[row.rank] += sizeof(Row);
    std::vector<int> in(n_ranks);
    mpi::check(MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, context_.comm()), "MPI_Alltoall");
    std::vector<int> out_at(n_ranks + 1, 0);
    std::vector<int> in_at(n_ranks + 1, 0);
    for (std::size_t r = 0; r < n_ranks; ++r) {
      out_at[r + 1] = out_at[r] + out[r];
      in_at[r + 1] = in_at[r] + in[r];
    }
    std::vector<Row> sorted(rows_.size());
    std::vector<int> next = out_at;
    for (const Row& row : rows_) {
      int& at = next[row.rank];
      sorted[static_cast<std::size_t>(at) / sizeof(Row)] = row;
      sorted[static_cast<std::size_t>(at) / sizeof(Row)].rank = context_.rank();
      at += sizeof(Row);
    }
    rows_.resize(static_cast<std::size_t>(in_at.back()) / sizeof(Row));
    mpi::check(MPI_Alltoallv(sorted.data(), out.data(), out_at.data(), MPI_BYTE, rows_.data(), in.data(), in_at.data(),
                             MPI_BYTE, context_.comm()),
               "MPI_Alltoallv");
  }

 private:
  void set_rows(const std::vector<Row>& rows) override { rows_ = rows; }
  std::vector<Row> take_rows() override { return rows_; }
  std::vector<Row> rows_;
};

}  // namespace

WorkTraits transfer_work() {
  WorkTraits work{
      .name = "transfer",
      .about = "rows of 32 bytes to random ranks",
      .unit = "rows on each rank",
      .numbers = {1'250, 62'500},
      .reference = "alltoallv",
      .workers = {
          {.name = "alltoallv", .about = "by hand: counts to all, rows to all", .make = make_worker<Alltoallv>},
          {.name = "barrio", .about = "transfer, automatic", .make = make_worker<BarrioTransfer<Route::automatic>>},
          {.name = "barrio-crystal",
           .about = "the same, by the router",
           .make = make_worker<BarrioTransfer<Route::crystal>>},
          {.name = "barrio-direct",
           .about = "the same, to each rank",
           .make = make_worker<BarrioTransfer<Route::direct>>},
      }};
#ifdef BARRIO_BENCH_GSLIB
  std::ranges::move(gslib_transferers(), std::back_inserter(work.workers));
#else
  work.workers.push_back({.name = "gslib", .about = "", .lacking = BARRIO_BENCH_NO_GSLIB});
#endif
  return work;
}

}  // namespace barrio::bench
