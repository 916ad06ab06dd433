#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/assembly/from_mesh.hpp"
#include "barrio/adapt/assembly/measures.hpp"
#include "barrio/adapt/assembly/resolution.hpp"
#include "barrio/adapt/assembly/to_mesh.hpp"
#include "barrio/adapt/rounds/balance.hpp"
#include "barrio/adapt/rounds/edges.hpp"
#include "barrio/adapt/rounds/schedule.hpp"
#include "barrio/adapt/rounds/shape.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/adapt/sizes/check.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/geometry/predicates.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt {
namespace {

constexpr RegionName adapt_region{"adapt"};
constexpr RegionName rounds_region{"adapt.rounds"};
constexpr RegionName take_region{"adapt.take"};
constexpr RegionName give_region{"adapt.give"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ChangeCounts sum_of(mpi::Context& context, const detail::OperatorCounts& mine) {
  std::array<std::int64_t, 2> totals{mine.n_applied, mine.n_decided};
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  return {totals[0], totals[1], mine.n_rounds, mine.n_passes};
}

/// Name of the field that holds sizes at vertices while cells move between ranks.
constexpr const char* sizes_name = "wanted sizes while cells change";

/// Drop the field with sizes, and restore the ghosts of the mesh.
void put_back(mesh::Mesh& mesh, const mesh::BuildOptions& had) {
  mpi::Context& context = mesh.context();
  mesh::LocalMesh local = std::move(mesh).release();
  std::erase_if(local.fields, [](const mesh::FieldData& field) { return field.name == sizes_name; });
  local.options = had;
  mesh = mesh::adopt(context, std::move(local));
}

/// Check that a field can be added.
void check_new_field(const mesh::Mesh& mesh, const char* what, const std::string& name, mesh::Dim dim) {
  if (name.empty()) return;
  const bool is_field =
      std::ranges::any_of(mesh.fields(), [&](const auto& field) { return field->name == name && field->dim == dim; });
  const bool is_tag = std::ranges::any_of(mesh.tags(), [&](const mesh::MeshTag& tag) { return tag.info.name == name; });
  if (is_field || is_tag)
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} '{}'", what, name),
                                         .cause = fmt::format("cannot be added: the mesh has a {} of that name",
                                                              is_tag                     ? "tag"
                                                              : dim == mesh::Dim::vertex ? "field on vertices"
                                                                                         : "field on cells"),
                                         .remedy = "choose another name"});
}

void check_kept(mesh::Mesh& mesh, const detail::SideValues& side_values, const AdaptOptions& options,
                AdaptReport& report) {
  report.left_out = detail::check_adaptable(mesh, side_values);
  if (!report.left_out.empty() && !options.leaves_out)
    throw AgreedError(ErrorCode::usage, {.subject = report.left_out[0],
                                         .cause = "cannot be kept while cells change",
                                         .remedy = "drop it first, or let it be left out (leaves_out, --leave-out)"});
  check_new_field(mesh, "parent field", options.parent_field, mesh::Dim::volume);
  check_new_field(mesh, "held field", options.held_field, mesh::Dim::vertex);
}

/// Check that the processor computes as exact signs need it, that the tolerance is a length, and that payloads are on
/// vertices or cells.
void check_start(mpi::Context& context, const AdaptOptions& options) {
  mpi::agree_after(context, [&] {
    geometry::check_arithmetic();
    if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
      throw Error(ErrorCode::usage, {.subject = fmt::format("tolerance {}", options.tolerance),
                                     .cause = "must be 0 or above, and finite"});
    for (const mesh::Payload& payload : options.payloads)
      if (payload.dim != mesh::Dim::vertex && payload.dim != mesh::Dim::volume)
        throw Error(ErrorCode::usage, {.subject = fmt::format("payload on dimension {}", mesh::value(payload.dim)),
                                       .cause = "cannot be kept while cells change",
                                       .remedy = "give payloads on vertices (0) and cells (3) only"});
  });
}

/// @param function  wanted sizes, or nullptr: they are in `size_field`
AdaptReport adapt_cells(mesh::Mesh& mesh, const SizeFunction* function, const std::string& size_field,
                        const AdaptOptions& options) {
  mpi::Context& context = mesh.context();
  const Region region(context.trace(), adapt_region);
  const auto start = std::chrono::steady_clock::now();
  AdaptReport report;
  detail::Balance balance(context, options.balances);
  detail::SideValues side_values(mesh);
  check_kept(mesh, side_values, options, report);
  report.n_cells_before = mesh.n_global(mesh::Dim::volume);
  report.measures = detail::measures_of(mesh);
  const std::uint64_t revision = mesh.revision();
  const mesh::BuildOptions had = mesh.build_options();
  detail::Forecast expected{};
  {
    std::vector<double> nodal;
    if (function == nullptr) {
      nodal = detail::sizes_in_field(mesh, size_field);
      limit_sizes(mesh, nodal, options.limits);
    }
    const std::vector<double> n_cells = detail::predicted_cells(mesh, function, nodal);
    const std::vector<std::int64_t> work = detail::predicted_work(n_cells);
    expected = detail::forecast(context, n_cells, work, options.max_cells_per_rank);
    if (function == nullptr)
      std::ranges::copy(nodal, mesh.add_field<double>(sizes_name, mesh::Dim::vertex).values().begin());
    balance.before(mesh, work, expected.work);
  }
  const detail::Sizes sizes(function);
  report.tolerance = options.tolerance > 0 ? options.tolerance : detail::tolerance_of(mesh);
  std::optional<detail::Imported> imported;
  try {
    const Region taking(context.trace(), take_region);
    return_free_memory();
    imported = detail::import_mesh(mesh, sizes, sizes_name, options, std::move(side_values),
                                   static_cast<std::size_t>(expected.cells));
  } catch (const AgreedError&) {
    put_back(mesh, had);
    throw;
  }
  {
    const mesh::Mesh consumed = std::move(mesh);
  }
  return_free_memory();
  detail::Schedule schedule(context, imported->tets, sizes, options, report.tolerance, expected.cells);
  {
    const Region in_rounds(context.trace(), rounds_region);
    const auto start_of_rounds = std::chrono::steady_clock::now();
    schedule.run();
    report.kernel_seconds = seconds_since(start_of_rounds);
  }
  const detail::Shape shape = schedule.shape();
  const auto n_others = mpi::sum(context, std::ssize(imported->others.parents()));
  report.n_unchanged = shape.n_unchanged + n_others;
  report.min_quality = detail::min_quality(context, shape);
  report.mean_quality = shape.mean_quality;
  report.edges = detail::count_edges(context, imported->tets, report.tolerance,
                                     options.held_field.empty() ? nullptr : &imported->held);
  if (report.edges.n_edges > 0)
    report.in_range = static_cast<double>(report.edges.n_in_range) / static_cast<double>(report.edges.n_edges);
  report.n_cells_wanted = expected.cells * context.size();
  {
    const Region giving(context.trace(), give_region);
    mesh::LocalMesh local =
        detail::export_mesh(context, *std::move(imported), schedule.neighbours(), options.held_field);
    local.revision = revision;
    const bool is_even = balance.is_even(static_cast<double>(local.size(mesh::Dim::volume)),
                                         static_cast<double>(shape.n_tets + n_others) / context.size());
    local.options = is_even ? had : mesh::BuildOptions();
    return_free_memory();
    mesh = mesh::adopt(context, std::move(local));
    if (!is_even) balance.after(mesh, had);
  }
  report.balance_seconds = balance.seconds();
  mpi::agree_after(context, [&] { sizes.throw_fault(); });
  report.is_complete = schedule.is_complete();
  report.n_cells = mesh.n_global(mesh::Dim::volume);
  detail::measure_again(mesh, report.measures);
  report.collapses = sum_of(context, schedule.collapses());
  report.splits = sum_of(context, schedule.splits());
  report.swaps = sum_of(context, schedule.swaps());
  report.moves = sum_of(context, schedule.moves());
  report.seconds = seconds_since(start);
  return report;
}

AdaptReport adapt_to(mesh::Mesh& mesh, const SizeFunction* function, const std::string& size_field,
                     const AdaptOptions& options) {
  check_start(mesh.context(), options);
  mesh.pack(options.payloads);
  AdaptReport report;
  try {
    report = adapt_cells(mesh, function, size_field, options);
  } catch (const AgreedError&) {
    mesh.unpack(options.payloads);  // cells may be on other ranks
    throw;
  }
  mesh.unpack(options.payloads);
  return report;
}

}  // namespace

AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options) {
  const SizeLimits& limits = options.limits;
  mpi::agree_after(mesh.context(), [&] { detail::check(limits); });
  if (std::isfinite(limits.growth))
    throw AgreedError(ErrorCode::usage, {.subject = "a limit to the growth of sizes",
                                         .cause = "needs sizes in a field, but these are a function"});
  if (limits.min_size == 0.0 && std::isinf(limits.max_size)) return adapt_to(mesh, &size, {}, options);
  const SizeFunction limited = [&](const std::array<double, 3>& x) {
    return std::clamp(size(x), limits.min_size, limits.max_size);
  };
  return adapt_to(mesh, &limited, {}, options);
}

AdaptReport adapt(mesh::Mesh& mesh, const std::string& size_field, const AdaptOptions& options) {
  return adapt_to(mesh, nullptr, size_field, options);
}

}  // namespace barrio::adapt
