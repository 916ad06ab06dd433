#pragma once

#include <string>
#include <utility>

#include "barrio/base/json.hpp"

namespace barrio::bench {

/// The goals of a benchmark's document: measured value, goal, and verdict.
class Goals {
 public:
  void add(std::string id, double value, const char* unit, double goal, bool higher_is_better = false) {
    list_.push_back({{"id", std::move(id)},
                     {"value", value},
                     {"unit", unit},
                     {"goal", goal},
                     {"better", higher_is_better ? "higher" : "lower"},
                     {"met", higher_is_better ? value >= goal : value <= goal}});
  }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  Json list_ = Json::array();
};

}  // namespace barrio::bench
