#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap::test {

/// Folder for the files of one test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "barrio-rankmap-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Expect an Error of this code whose whole text contains all the words.
template <class Action>
void expect_error(ErrorCode code, const std::vector<std::string>& words, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << words.front();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << "'" << word << "' not in: " << error.what();
  }
}

/// Bytes of one pair: {from, to, bytes}.
struct Bytes {
  Rank from, to;
  double bytes;
};
inline TrafficMatrix traffic_of(int n_ranks, const std::vector<Bytes>& list) {
  std::vector<TrafficEntry> entries;
  for (const Bytes& item : list)
    entries.push_back({.from = item.from, .to = item.to, .points = item.bytes / 8, .bytes = item.bytes, .messages = 1});
  return TrafficMatrix(n_ranks, std::move(entries));
}

/// Make random directed traffic of whole numbers, so that every sum is exact.
inline TrafficMatrix random_traffic(std::mt19937_64& random, int n_ranks, double fill) {
  std::vector<Bytes> list;
  std::uniform_real_distribution<double> dice(0.0, 1.0);
  std::uniform_int_distribution<int> size(0, 100);
  for (Rank from = 0; from < n_ranks; ++from)
    for (Rank to = 0; to < n_ranks; ++to)
      if (dice(random) < fill) list.push_back({from, to, static_cast<double>(size(random))});
  return traffic_of(n_ranks, list);
}

inline Placement random_placement(std::mt19937_64& random, int n_ranks, int n_cores) {
  std::vector<int> cores(n_cores);
  for (int core = 0; core < n_cores; ++core) cores[core] = core;
  std::shuffle(cores.begin(), cores.end(), random);
  cores.resize(n_ranks);
  return {std::move(cores), n_cores};
}

/// List the machines of property tests: flat, deep, partly equal distances, torus, odd sizes.
inline std::vector<std::string> sample_machines() {
  return {"4:3;1:10", "2:2:3;1:10:20", "2:2/3:2;1:2:10:20", "3x5",
          "1x7",      "7x1",           "torus:3x2;2;1:10",  "torus:4x1x3;1;1:10",
          "5;2",      "2:1:6;0:3:3",   "3,1,4,2;1:10",      "1,3,2,2:2:2;1:5:20"};
}

/// The problem as printed in the paper: full matrices, equation (1). Slow and independent.
class Dense {
 public:
  Dense(const TrafficMatrix& traffic, const Machine& machine) : n_(machine.n_cores()), a_(square()), b_(square()) {
    for (const TrafficEntry& entry : traffic.entries())
      if (entry.from != entry.to) a_[at(entry.from, entry.to)] += entry.bytes;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) b_[at(i, j)] = machine.distance(i, j);
  }
  /// Return the number of processes. Those after the ranks do not communicate: they represent the empty cores.
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] double a(int i, int j) const { return a_[at(i, j)]; }
  [[nodiscard]] double b(int i, int j) const { return b_[at(i, j)]; }
  /// Compute Z. @param[in] pi  process pi[i] on core i
  [[nodiscard]] double z(const std::vector<int>& pi) const {
    double sum = 0.0;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) sum += a(pi[i], pi[j]) * b(i, j);
    return sum;
  }
  /// Return core -> process, with the processes after the ranks on the empty cores.
  [[nodiscard]] std::vector<int> pi(const Placement& placement) const {
    std::vector<int> pi(placement.rank_at_core().begin(), placement.rank_at_core().end());
    int silent = placement.n_ranks();
    for (int& process : pi)
      if (process == no_rank) process = silent++;
    return pi;
  }

 private:
  [[nodiscard]] std::vector<double> square() const {
    return std::vector<double>(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_), 0.0);
  }
  [[nodiscard]] std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }
  int n_;
  std::vector<double> a_, b_;
};

}  // namespace barrio::rankmap::test
