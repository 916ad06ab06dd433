#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "barrio/base/json.hpp"
#include "benchmarks/rankmap/peers.hpp"

namespace barrio::bench {

extern const char* const rankmap_folder;  // that sharedmap.py lies in; CMake writes it

namespace {

void write_metis(const rankmap::CommunicationGraph& graph, const std::string& path) {
  std::ofstream file(path);
  file << graph.n_ranks() << ' ' << graph.partners.size() / 2 << " 1\n";
  for (Rank rank = 0; rank < graph.n_ranks(); ++rank) {
    const auto partners = graph.partners_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k)
      file << partners[k] + 1 << ' ' << static_cast<std::int64_t>(graph.weights_of(rank)[k]) << ' ';
    file << '\n';
  }
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) text += buffer.data();
  return text;
}

}  // namespace

bool has_sharedmap(const std::string& python) {
  return !python.empty() && output_of("{ " + python + " -c 'import chszlablib; print(1)'; } 2>/dev/null") == "1\n";
}

std::vector<NamedResult> map_by_sharedmap(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                          const std::string& python, const std::vector<std::string>& modes) {
  std::string pattern = (std::filesystem::temp_directory_path() / "barrio-sharedmap-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return {};
  const std::string path = pattern + "/graph";
  write_metis(graph, path);
  std::vector<int> distances(tree.distances.begin(), tree.distances.end());
  const std::string text =
      output_of(fmt::format("{} '{}/sharedmap.py' '{}' {} {} {} 2>/dev/null", python, rankmap_folder, path,
                            fmt::join(tree.arities, ":"), fmt::join(distances, ":"), fmt::join(modes, ":")));
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  std::vector<NamedResult> found;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const Json row = Json::parse(text.substr(begin, end - begin));
    begin = end + 1;
    const int n_cores = static_cast<int>(row["cores"].size());
    // Throws if two ranks are on one core.
    found.push_back(
        {row["mode"].get<std::string>(),
         {rankmap::Placement(row["cores"].get<std::vector<int>>(), n_cores), row["seconds"].get<double>()}});
  }
  return found;
}

}  // namespace barrio::bench
