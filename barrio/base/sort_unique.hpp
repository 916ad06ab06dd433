#pragma once

#include <algorithm>
#include <vector>

namespace barrio {

/// Bring items in order and keep one of equal ones. Cost: a sort.
template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace barrio
