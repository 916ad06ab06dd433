#include "barrio/io/h5m/h5m_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

constexpr RegionName header_region{"read.header"};

/// Find the sets that a partition tag marks, or find that it is on elements.
/// @throws Error{usage} if it is not a partition, or the file has no tag of that name
void find_partition(hid_t file, const std::string& path, const TableOptions& options, H5mPlan& plan) {
  const files::H5mCatalog& catalog = plan.catalog;
  const bool may_lack = options.may_lack_partition_tag || options.partition_tag == default_partition_tag;
  if (is_id_tag(options.partition_tag)) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("partition tag '{}'", options.partition_tag),
                                   .cause = "is not a partition: it gives each entity a number of its own",
                                   .remedy = "barrio info lists the partitions of a file"});
  }
  const std::string name = files::h5m_escaped(options.partition_tag);
  plan.partition = files::read_h5m_set_tag(file, catalog, name);
  const auto found = std::ranges::find(catalog.tags, name, &files::H5mTag::name);
  plan.has_parts_on_elements = plan.partition.empty() && found != catalog.tags.end() && may_give_parts(*found, catalog);
  if (may_lack || plan.has_parts_on_elements || !plan.partition.empty()) return;
  std::vector<std::string> known;
  std::vector<std::string> shown;
  for (const PartitionTag& tag : find_partition_tags(file, catalog)) {
    known.push_back(tag.name);
    shown.push_back(fmt::format("{} ({} parts)", tag.name, tag.n_parts));
  }
  throw Error(ErrorCode::usage, {.subject = path,
                                 .cause = fmt::format("has no partition '{}'.{}", options.partition_tag,
                                                      did_you_mean(options.partition_tag, known)),
                                 .remedy = known.empty() ? "it has no partition; make one with barrio partition"
                                                         : fmt::format("it has {}", fmt::join(shown, ", "))});
}

H5mPlan look(const std::string& path, const TableOptions& options) {
  const files::Handle file = files::open_to_read(path);
  H5mPlan plan;
  plan.catalog = files::read_h5m_catalog(file.get(), path);
  plan.list = files::read_h5m_set_list(file.get(), plan.catalog, path);
  find_partition(file.get(), path, options, plan);
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

/// Broadcast the plan of rank 0.
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
  share(context, plan.partition_on_elements);
}

}  // namespace

H5mPlan make_plan(mpi::Context& context, const std::string& path, const TableOptions& options) {
  const Region region(context.trace(), header_region);
  H5mPlan plan;
  agree_after(context, [&] {
    if (!context.is_root()) return;
    plan = look(path, options);
    const files::Handle file = files::open_to_read(path);
    plan.tags = look_at_tags(file.get(), plan.catalog, options);
    if (plan.has_parts_on_elements) {
      const std::string& name = options.partition_tag;
      for (TagPlan& tag : look_at_tags(file.get(), plan.catalog, {.partition_tag = ""}))
        if (tag.info.name == name) plan.partition_on_elements.push_back(std::move(tag));
    }
  });
  share(context, plan);
  return plan;
}

}  // namespace barrio::io::detail
