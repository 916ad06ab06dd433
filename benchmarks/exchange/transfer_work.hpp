#pragma once

#include <cstdint>
#include <vector>

#include "barrio/base/ids.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {

/// Base of all transfers: rows for random ranks.
class RandomRows : public Worker {
 public:
  /// A row as a structure; 32 bytes.
  struct Row {
    Rank rank;  // the target, then the source
    std::int32_t number;
    std::uint64_t a, b, c;
  };
  static_assert(sizeof(Row) == 32);

  explicit RandomRows(mpi::Context& context) : context_(context) {}
  void prepare(std::uint64_t n) override;
  void fill(std::uint64_t salt) override;
  bool is_right(std::uint64_t salt) override;

 protected:
  /// Set the rows to send.
  virtual void set_rows(const std::vector<Row>& rows) = 0;
  virtual std::vector<Row> take_rows() = 0;
  mpi::Context& context_;

 private:
  [[nodiscard]] static Row row_of(Rank from, std::uint64_t i, std::uint64_t salt, int n_ranks);
  std::uint64_t n_ = 0;
};

}  // namespace barrio::bench
