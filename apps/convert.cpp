#include <fmt/format.h>

#include <array>

#include "apps/command.hpp"
#include "apps/reading.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"

namespace barrio::apps {
namespace {

constexpr std::array convert_steps{WorkStep{"io.read", 0.5}, WorkStep{"io.write", 0.5}};

class Convert : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "convert"; }
  [[nodiscard]] std::string summary() const override { return "Write a mesh in another format, in parallel"; }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 2 convert wing.msh wing.vtkhdf"; }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return convert_steps; }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_option("OUT", output_, "File to write: .h5m, .vtkhdf, .mesh or .meshb")->required();
    app.add_option("--partition-tag", partition_tag_,
                   "Partition to use of a .h5m file that has several: a tag of sets, or an integer tag of cells")
        ->capture_default_str();
    reading_.add_to(app);
  }
  Json run(mpi::Context* context) override {
    (void)io::written_format(output_);  // refuses a suffix before the file is read
    mesh::MeshTables tables =
        io::read_tables(*context, input_, reading_.in(io::TableOptions{.partition_tag = partition_tag_}));
    Json result = json_document("barrio.convert", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["vertices"] = tables.vertices.n_rows;
    result["cells"] = tables.n_global(tables.top_dim());
    io::write(*context, std::move(tables), output_, partition_tag_);
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    return fmt::format("{}: {} cells, {} vertices\n", output_, format_count(r["cells"].get<std::int64_t>()),
                       format_count(r["vertices"].get<std::int64_t>()));
  }

 private:
  std::string input_;
  std::string output_;
  std::string partition_tag_ = io::default_partition_tag;
  Reading reading_;
};

}  // namespace

std::unique_ptr<Command> make_convert() { return std::make_unique<Convert>(); }

}  // namespace barrio::apps
