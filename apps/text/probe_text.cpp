#include "apps/text/probe_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/text.hpp"

namespace barrio::apps {
namespace {

std::string bytes(const Json& n) { return format_bytes(n.get<std::uint64_t>()); }
std::string seconds(const Json& s) { return format_seconds(s.get<double>()); }

std::string limit(const Json& limits, const char* name) {
  if (limits[name].is_null()) return "not found: host busy";
  const auto n = limits[name].get<std::uint64_t>();
  if (n == 0) return "none";
  return n >= limits["largest_tried_bytes"].get<std::uint64_t>() ? fmt::format("all up to {}", format_bytes(n))
                                                                 : fmt::format("up to {}", format_bytes(n));
}

std::string limits_text(const Json& limits) {
  return fmt::format(
      "  kept until a receive is posted {}, {}\n"
      "  arrive while the sender works  {}\n"
      "  sent while the receiver works  {}{}\n",
      limit(limits, "eager_bytes"),
      limits["is_cumulative"].get<bool>() ? "for all that is on its way to one rank" : "each message for itself",
      limit(limits, "arriving_bytes"), limit(limits, "detached_bytes"),
      limits.value("is_detached_cumulative", false) ? ", all that is on its way to one rank" : "");
}

std::string overlap_text(const Json& transport) {
  std::string text = fmt::format("  {:<10} {:>10} {:>22} {:>10} {:>10} {:>10}\n", "exchange", "alone",
                                 "wait after computing", "1 test", "8 tests", "32 tests");
  for (const Json& row : transport["overlap"]) {
    text += fmt::format("  {:<10} {:>10}", bytes(row["bytes"]), seconds(row["alone_seconds"]));
    int width = 22;
    for (const Json& tests : row["tests"]) {
      text += fmt::format(" {:>{}}", seconds(tests["wait_seconds"]), width);
      width = 10;
    }
    text += "\n";
  }
  return text;
}

std::string blocking_text(const Json& transport) {
  std::string text = fmt::format("  {:<10} {:>10} {:>10} {:>16} {:>16} {:>16} {:>14}\n", "one way", "Isend", "Irecv",
                                 "Wait (send)", "Wait (receive)", "Wait at once", "sends first");
  const Json& early = transport["early_waits"][0]["sizes"];
  for (std::size_t i = 0; i < transport["blocking_calls"].size(); ++i) {
    const Json& row = transport["blocking_calls"][i];
    const Json& times = row["one_way"];
    text += fmt::format("  {:<10} {:>10} {:>10} {:>16} {:>16} {:>16} {:>14}\n", bytes(row["bytes"]),
                        seconds(times["isend_seconds"]), seconds(times["irecv_seconds"]),
                        seconds(times["wait_send_seconds"]), seconds(times["wait_receive_seconds"]),
                        early[i]["wait_blocks"].get<bool>() ? "blocks" : seconds(early[i]["wait_send_seconds"]),
                        transport["deadlocks"][i]["would_deadlock"].get<bool>() ? "would deadlock" : "gets through");
  }
  return text;
}

std::string releases_text(const Json& transport) {
  std::string text;
  std::uint64_t last = 0;
  for (const Json& row : transport["releases"]) {
    const auto n = row["bytes"].get<std::uint64_t>();
    if (n != last)
      text += fmt::format("{}  a sender of {} that waits is let go by", last > 0 ? "\n" : "", format_bytes(n));
    if (n != last && !row["stalls"].get<bool>()) text += " nothing: it does not wait";
    last = n;
    if (row["stalls"].get<bool>() && row["releases"].get<bool>())
      text += fmt::format(" [{}]", row["call"].get<std::string>());
  }
  return text + "\n";
}

std::string check_text(const Json& check) {
  if (!check["has_profile"].get<bool>())
    return "  no profile is stored for this MPI, transport, settings and host: barrio --ranks 2 probe makes one\n";
  std::string text;
  for (const Json& row : check["rows"])
    text += fmt::format("  an exchange of {} takes {}, by the stored profile {}\n", bytes(row["bytes"]),
                        seconds(row["seconds"]), seconds(row["stored_seconds"]));
  return text + (check["holds"].get<bool>() ? "  the stored profile holds\n"
                                            : "  the stored profile does not hold any more: barrio --ranks 2 probe\n");
}

/// Format what was not tried, one line for each reason.
std::string not_tried_text(const Json& found, std::string_view margin) {
  std::string text;
  std::vector<std::string> reasons;
  for (const Json& one : found.value("not_tried", Json::array())) {
    const auto reason = one["reason"].get<std::string>();
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
  }
  for (const std::string& reason : reasons) {
    std::vector<std::string> names;
    for (const Json& one : found["not_tried"])
      if (one["reason"] == reason) names.push_back(one["name"].get<std::string>());
    text += fmt::format("{}not tried, as {}: {}\n", margin, reason, fmt::join(names, "; "));
  }
  return text;
}

std::string transport_text(const Json& transport) {
  std::string text = fmt::format("\n{}", transport["name"].get<std::string>());
  if (const std::string variables = transport.value("variables", ""); !variables.empty())
    text += fmt::format(": {}", variables);
  text += "\n";
  const auto latency = transport["latencies"][0];
  text += fmt::format("  one message of {} takes {}, a test that finds nothing {}\n", bytes(latency["bytes"]),
                      seconds(latency["seconds"]), seconds(transport["idle_calls"]["test_seconds"]));
  if (transport.value("is_disturbed", false))
    text += fmt::format("  {}: no profile is stored; probe again on an idle host\n", disturbance_text(transport));
  if (transport.contains("check")) text += check_text(transport["check"]);
  if (transport.contains("limits")) text += limits_text(transport["limits"]);
  if (transport.contains("overlap")) text += overlap_text(transport);
  if (transport.contains("blocking_calls") && transport.contains("early_waits") && transport.contains("releases") &&
      transport.contains("deadlocks"))
    text += blocking_text(transport) + releases_text(transport);
  if (transport.contains("programs")) {
    const Json& waits = transport["programs"]["delayed_waits"];
    text +=
        fmt::format("  three messages of {} each way to a rank that comes at {}: waits in the loop {}, after it {}\n",
                    bytes(waits["bytes"]), seconds(waits["t2_seconds"]), seconds(waits["before_seconds"]),
                    seconds(waits["after_seconds"]));
  }
  return text + not_tried_text(transport, "  ");
}

/// Format an exchange of one size: its time alone, and the wait that remains after computing without a call.
std::string exchange_text(const Json& found, std::uint64_t n_bytes) {
  for (const Json& row : found.value("overlap", Json::array()))
    if (row["bytes"] == n_bytes)
      return fmt::format("{:>10} {:>10}", seconds(row["alone_seconds"]), seconds(row["tests"][0]["wait_seconds"]));
  return "";
}

std::string headed_line(std::string_view name, std::string_view kept, std::string_view sent, std::string_view middle,
                        std::string_view large, std::string_view memory) {
  return fmt::format("  {:<10} {:>16} {:>16} {:>21} {:>21}{}{}\n", name, kept, sent, middle, large,
                     memory.empty() ? "" : "  ", memory);
}

/// Format a line of a table of settings: for the transport as it is, or for one value.
std::string setting_line(std::string_view name, const Json& found, std::string_view memory) {
  if (!found.contains("limits")) return fmt::format("  {:<10} not tried\n", name);
  const Json& limits = found["limits"];
  return headed_line(name, limit(limits, "eager_bytes"), limit(limits, "detached_bytes"), exchange_text(found, 65'536),
                     exchange_text(found, 1'048'576), memory);
}

/// Describe how a value is passed to the launcher, with BYTES in place of the value.
std::string how_text(const Json& setting) {
  auto how = setting["how"].get<std::string>();
  if (setting["value"] == 0) return how;
  const std::string value = setting["value"].dump();
  for (std::size_t at = how.find(value); at != std::string::npos; at = how.find(value))
    how.replace(at, value.size(), "BYTES");
  return how;
}

/// Format the head of the table of one quantity, and the line of the transport as it is.
std::string quantity_text(const Json& result, const Json& setting, std::string_view title) {
  const bool has_price = setting["memory_of_a_rank"].back()["bytes"] != 0;
  const std::string memory =
      has_price ? fmt::format("memory of a rank with 16, 256, 4096 peers ({})", setting["memory"].get<std::string>())
                : "";
  std::string text = fmt::format("\n{}\n", title) +
                     headed_line("", "kept", "sent alone", "64 KiB: alone, wait", "1 MiB: alone, wait", memory);
  for (const Json& as_it_is : result["transports"])
    if (as_it_is["name"] == setting["transport"]) text += setting_line("as it is", as_it_is, "");
  return text;
}

std::string settings_text(const Json& result) {
  std::string text =
      "\nsettings: which messages are kept until a receive is posted, or sent while the receiver works\n";
  std::string table;
  for (const Json& setting : result["settings"]) {
    const std::string title = fmt::format("{}, {}: {}", setting["transport"].get<std::string>(),
                                          setting["quantity"].get<std::string>(), how_text(setting));
    if (title != table) text += quantity_text(result, setting, title);
    table = title;
    const std::string name = setting["value"] == 0 ? "with it" : bytes(setting["value"]);
    if (setting.contains("reason")) {
      text += fmt::format("  {:<10} does not run: {}\n", name, setting["reason"].get<std::string>());
      continue;
    }
    std::string memory;
    for (const Json& row : setting["memory_of_a_rank"])
      if (row["bytes"] != 0) memory += fmt::format("{:>10}", bytes(row["bytes"]));
    text += setting_line(name, setting, memory);
    if (setting.value("is_disturbed", false)) text += fmt::format("  {:<10} {}\n", "", disturbance_text(setting));
    if (setting.contains("granted"))
      text += fmt::format("  {:<10} the kernel grants {} ({})\n", "", bytes(setting["granted"]),
                          setting["limited_by"].get<std::string>());
  }
  return text;
}

}  // namespace

std::string disturbance_text(const Json& found) {
  return fmt::format("other work took {:.0f} % of the time of a rank, so times may be too long, while limits hold",
                     100 * found["lost_time"].get<double>());
}

std::string probe_text(const Json& result) {
  std::string text = result["mpi"].get<std::string>() + "\n";
  if (const Json names = result.value("left_aside", Json::array()); !names.empty())
    text += fmt::format("Set in this shell, and left aside, since each transport sets its own: {}\n",
                        fmt::join(names.get<std::vector<std::string>>(), ", "));
  for (const Json& transport : result["transports"]) text += transport_text(transport);
  for (const char* part : {"absent", "stalled"})
    for (const Json& transport : result.value(part, Json::array()))
      text += fmt::format("\n{} {}: {}\n", transport["name"].get<std::string>(),
                          std::string_view(part) == "absent" ? "is not there" : "has no results",
                          transport["reason"].get<std::string>());
  if (!result.value("settings", Json::array()).empty()) text += settings_text(result);
  if (const std::string names = not_tried_text(result, ""); !names.empty()) text += "\n" + names;
  if (const std::string path = result.value("stored_in", ""); !path.empty())
    text += fmt::format("\nProfiles are kept in {}; programs of barrio use them from now on.\n", path);
  return text;
}

}  // namespace barrio::apps
