#include "barrio/io/detail/h5m_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

constexpr RegionName header_region{"read.header"};

/// @return the tag's name as the file has it. @throws Error{usage} if it has none of that name
std::string find_partition(hid_t file, const files::H5mCatalog& catalog, const std::string& path,
                           const TableOptions& options) {
  std::string name = escaped(options.partition_tag);
  const bool may_lack = options.may_lack_partition_tag || options.partition_tag == default_partition_tag;
  if (may_lack || !files::read_h5m_set_tag(file, catalog, name).empty()) return name;
  std::vector<std::string> known;
  std::vector<std::string> shown;
  for (const PartitionTag& tag : find_partition_tags(file, catalog)) {
    known.push_back(tag.name);
    shown.push_back(fmt::format("{} ({} parts)", tag.name, tag.n_parts));
  }
  throw Error(ErrorCode::usage, {.subject = path,
                                 .cause = fmt::format("has no partition '{}'.{}", options.partition_tag,
                                                      did_you_mean(options.partition_tag, known)),
                                 .remedy = known.empty() ? "it has no partition at all: barrio partition makes one"
                                                         : fmt::format("it has {}", fmt::join(shown, ", "))});
}

H5mPlan look(const std::string& path, const TableOptions& options) {
  const files::Handle file = files::open_to_read(path);
  H5mPlan plan;
  plan.catalog = files::read_h5m_catalog(file.get(), path);
  plan.list = files::read_h5m_set_list(file.get(), plan.catalog, path);
  plan.partition =
      files::read_h5m_set_tag(file.get(), plan.catalog, find_partition(file.get(), plan.catalog, path, options));
  for (std::size_t k = 0; k < set_tags.size(); ++k)
    plan.kinds[k] = files::read_h5m_set_tag(file.get(), plan.catalog, set_tags[k].name);
  plan.global_ids = files::read_h5m_set_tag(file.get(), plan.catalog, "GLOBAL_ID");
  plan.names = files::read_h5m_set_names(file.get(), plan.catalog);
  for (const files::H5mGroup& group : plan.catalog.groups) {
    if (!cell_type_of(group.type)) {
      throw Error(ErrorCode::bad_input,
                  {.subject = path, .cause = fmt::format("has elements of type '{}', which is not known", group.type)});
    }
  }
  return plan;
}

/// Give all ranks what rank 0 found.
void share(mpi::Context& context, H5mPlan& plan) {
  std::string text = context.is_root() ? to_json(plan.catalog).dump(-1, ' ', true, Json::error_handler_t::replace) : "";
  mpi::broadcast(context, text);
  plan.catalog = files::h5m_catalog_from_json(Json::parse(text));
  mpi::broadcast(context, plan.list.contents_end);
  mpi::broadcast(context, plan.list.flags);
  mpi::broadcast(context, plan.list.children_end);
  mpi::broadcast(context, plan.list.parents_end);
  mpi::broadcast(context, plan.list.children);
  mpi::broadcast(context, plan.list.parents);
  mpi::broadcast(context, plan.partition);
  for (auto& kind : plan.kinds) mpi::broadcast(context, kind);
  mpi::broadcast(context, plan.global_ids);
  text = context.is_root() ? Json(plan.names).dump(-1, ' ', true, Json::error_handler_t::replace) : "";
  mpi::broadcast(context, text);
  plan.names = Json::parse(text).get<decltype(plan.names)>();
  share(context, plan.tags);
}

}  // namespace

H5mPlan make_plan(mpi::Context& context, const std::string& path, const TableOptions& options) {
  const Region region(context.trace(), header_region);
  H5mPlan plan;
  agree_after(context, [&] {
    if (!context.is_root()) return;
    plan = look(path, options);
    plan.tags = look_at_tags(files::open_to_read(path).get(), plan.catalog, options);
  });
  share(context, plan);
  return plan;
}

}  // namespace barrio::io::detail
