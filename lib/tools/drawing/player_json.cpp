#include "drawing/player_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/json_quoted.h"
#include "dist/trace/kind.h"
#include "dist/trace/messages.h"
#include "dist/trace/readable.h"

namespace dist::trace {
namespace {

// As a list of numbers, the contributors would be half of the file of a large ring.
std::string text_of_ranks(std::uint64_t contributors) {
  const std::string braced = readable_ranks(contributors);
  return json_quoted(braced.substr(1, braced.size() - 2));
}

std::string player_call(const Event& event) {
  const std::string where = event.where.line > 0 ? event.where.str() : "";
  return fmt::format(
      R"("rank":{},"begin":{},"end":{},"name":{},"algorithm":{},"where":{},"bytes":{},"in_shared_memory":{},)"
      R"("group":{},"sequence":{},"ending":"{}")",
      event.rank, event.begin, event.end, json_quoted(event.name), json_quoted(event.algorithm),
      json_quoted(where), event.bytes, event.in_shared_memory, event.group, event.sequence,
      name(event.ending));
}

std::string player_message(const Message& message) {
  const Event& send = *message.send;
  return fmt::format(
      R"("id":{},"src":{},"dst":{},"begin":{},"arrive":{},"bytes":{},"contributors":{},"offset":{},)"
      R"("name":{},"group":{},"sequence":{})",
      send.message, send.rank, send.peer, send.begin,
      message.receive ? fmt::to_string(message.receive->end) : "null", send.bytes,
      text_of_ranks(message.contributors()), message.offset(), json_quoted(send.name), send.group,
      send.sequence);
}

std::string player_reduction(const Event& event) {
  return fmt::format(R"("rank":{},"at":{},"bytes":{},"contributors":{},"offset":{})", event.rank, event.end,
                     event.bytes, text_of_ranks(event.contributors), event.offset);
}

std::string player_wait(const Event& event) {
  return fmt::format(R"("rank":{},"begin":{},"end":{})", event.rank, event.begin, event.end);
}

std::string player_compute(const Event& event) {
  return fmt::format(R"({},"name":{})", player_wait(event), json_quoted(event.name));
}

std::string player_finding(const Finding& finding) {
  std::vector<std::string> parties;
  for (const auto& [rank, doing, where, waits_for] : finding.parties)
    parties.push_back(fmt::format(R"({{"rank":{},"doing":{},"where":{},"waits_for":[{}]}})", rank,
                                  json_quoted(doing), json_quoted(where.line > 0 ? where.str() : ""),
                                  fmt::join(waits_for, ",")));
  return fmt::format(R"("code":{},"title":{},"what":{},"mend":{},"parties":[{}])", json_quoted(finding.code),
                     json_quoted(finding.title), json_quoted(finding.what), json_quoted(finding.mend),
                     fmt::join(parties, ","));
}

// ,"key":[{...},{...}], one object per line
std::string player_list(std::string_view key, const std::vector<std::string>& entries) {
  std::string text = fmt::format(",\n\"{}\":[", key);
  for (const auto& entry : entries) {
    text += fmt::format("{}{{{}}}", &entry == entries.data() ? "\n" : ",\n", entry);
  }
  return text + "]";
}

std::string player_events(std::string_view key, const Trace& trace, Kind kind,
                          std::string (*entry)(const Event&)) {
  std::vector<std::string> entries;
  for (const Event& event : trace.events) {
    if (event.kind == kind) entries.push_back(entry(event));
  }
  return player_list(key, entries);
}

std::string player_messages(const Trace& trace) {
  std::vector<std::string> entries;
  for (const Message& message : messages(trace)) {
    if (message.send) entries.push_back(player_message(message));
  }
  return player_list("messages", entries);
}

std::string player_findings(const Trace& trace) {
  std::vector<std::string> entries;
  for (const Finding& finding : trace.findings) entries.push_back(player_finding(finding));
  return player_list("findings", entries);
}

}  // namespace

std::string to_player_json(const Trace& trace) {
  std::int64_t duration = 0;
  for (const Event& event : trace.events) duration = std::max(duration, event.end);
  std::string text = fmt::format(
      R"({{"format":"distlab player 2","title":{},"ranks":{},"ranks_per_node":{},"virtual_time":{},"unit":"ps","duration":{})",
      json_quoted(trace.title), trace.ranks, trace.ranks_per_node, trace.virtual_time, duration);
  text += player_events("calls", trace, Kind::call, player_call);
  text += player_messages(trace);
  text += player_events("reductions", trace, Kind::reduce, player_reduction);
  text += player_events("waits", trace, Kind::wait, player_wait);
  text += player_events("computes", trace, Kind::compute, player_compute);
  text += player_findings(trace);
  return text + "}\n";
}

}  // namespace dist::trace
