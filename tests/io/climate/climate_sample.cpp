#include "tests/io/climate/climate_sample.hpp"

#include <numeric>

namespace barrio::test {
namespace {

using Integers = std::vector<int>;
using Reals = std::vector<double>;

void add_axes(NetcdfContents& file, Reals longitudes, Reals latitudes, Reals levels) {
  const auto n = [](const Reals& x) { return std::vector<long>{static_cast<long>(x.size())}; };
  file.variables.push_back(
      {"lon", n(longitudes), std::move(longitudes), {{"units", "degrees_east"}}, false, {"lon"}, {}});
  file.variables.push_back(
      {"lat", n(latitudes), std::move(latitudes), {{"units", "degrees_north"}}, false, {"lat"}, {}});
  if (!levels.empty())
    file.variables.push_back({"lev", n(levels), std::move(levels), {{"positive", "down"}}, false, {"lev"}, {}});
}

}  // namespace

double climate_temperature(long i, long j, long k) { return static_cast<double>(1000 + 100 * k + 10 * j + i); }

NetcdfContents climate_sample() {
  NetcdfContents file;
  add_axes(file, {0, 60, 120, 180, 240, 300}, {-60, -20, 20, 60}, {1, 10, 100});
  file.variables.push_back({"time", {2}, Reals{0, 30}, {{"units", "days since 0001-01-01"}}, true, {"time"}, {}});
  file.variables.push_back({"gw", {4}, Reals{1, 2, 3, 4}, {}, false, {"lat"}, {}});
  Reals temperature(72, -1.0);  // of the first step
  for (long k = 0; k < 3; ++k)
    for (long j = 0; j < 4; ++j)
      for (long i = 0; i < 6; ++i) temperature.push_back(climate_temperature(i, j, k));
  file.variables.push_back({"T", {2, 3, 4, 6}, temperature, {}, true, {"time", "lev", "lat", "lon"}, {}});
  Reals pressure(48, -1.0);
  std::iota(pressure.begin() + 24, pressure.end(), 500.0);
  file.variables.push_back({"PS", {2, 4, 6}, pressure, {}, true, {"time", "lat", "lon"}, {}});
  Integers mask(24);
  std::iota(mask.begin(), mask.end(), -3);
  file.variables.push_back({"mask", {4, 6}, mask, {}, false, {"lat", "lon"}, {}});
  file.variables.push_back({"packed",
                            {4, 6},
                            mask,
                            {},
                            false,
                            {"lat", "lon"},
                            {{"scale_factor", 0.5}, {"add_offset", 100.0}, {"_FillValue", 4.0}}});
  file.variables.push_back({"turned", {6, 4}, mask, {}, false, {"lon", "lat"}, {}});
  return file;
}

NetcdfContents climate_grid(Reals longitudes, Reals latitudes, Reals levels) {
  NetcdfContents file;
  std::vector<long> shape{static_cast<long>(latitudes.size()), static_cast<long>(longitudes.size())};
  std::vector<std::string> names{"lat", "lon"};
  if (!levels.empty()) {
    shape.insert(shape.begin(), levels.size());
    names.insert(names.begin(), "lev");
  }
  Reals places(std::accumulate(shape.begin(), shape.end(), 1L, std::multiplies<>()));
  std::iota(places.begin(), places.end(), 0.0);
  add_axes(file, std::move(longitudes), std::move(latitudes), std::move(levels));
  file.variables.push_back({"T", shape, places, {}, false, names, {}});
  return file;
}

}  // namespace barrio::test
