#pragma once

#include <cstdint>
#include <vector>

#include "barrio/base/ids.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {

/// Rows for random ranks: what all that deliver them have in common.
class RandomRows : public Worker {
 public:
  /// As structures have it; 32 bytes.
  struct Row {
    Rank rank;  // where it goes, then where it comes from
    std::int32_t number;
    std::uint64_t a, b, c;
  };
  static_assert(sizeof(Row) == 32);

  explicit RandomRows(mpi::Context& context) : context_(context) {}
  void prepare(std::uint64_t n) override;
  void fill(std::uint64_t salt) override;
  bool is_right(std::uint64_t salt) override;

 protected:
  /// Give out the rows to send, one by one, and take those that have come.
  virtual void set_rows(const std::vector<Row>& rows) = 0;
  virtual std::vector<Row> take_rows() = 0;
  mpi::Context& context_;

 private:
  [[nodiscard]] static Row row_of(Rank from, std::uint64_t i, std::uint64_t salt, int n_ranks);
  std::uint64_t n_ = 0;
};

}  // namespace barrio::bench
