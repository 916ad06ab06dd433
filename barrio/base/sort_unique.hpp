#pragma once

/// @file Sort a vector and remove duplicates.

#include <algorithm>
#include <vector>

namespace barrio {

/// Sort items and remove duplicates. Cost: a sort.
template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace barrio
