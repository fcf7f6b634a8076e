// Writes a trace in the Chrome format, one event per line: the header with title and findings, the names of
// the threads, a slice per event, and a flow per message.
#include "dist/trace/chrome_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/json_quoted.h"
#include "dist/trace/chrome_threads.h"
#include "dist/trace/kind.h"
#include "dist/trace/messages.h"

namespace dist::trace {
namespace {

constexpr int process = 1;  // viewers take 0 for the idle process

// The conversion is exact: 1 us is 1,000,000 ps.
std::string microseconds(std::int64_t picoseconds) {
  return fmt::format("{}.{:06}", picoseconds / 1'000'000, picoseconds % 1'000'000);
}

std::string slice_name(const Event& event) {
  switch (event.kind) {
    case Kind::call:
      return fmt::format("{}{}{}{}{}", event.name, event.algorithm.empty() ? "" : " ", event.algorithm,
                         event.in_shared_memory ? " in shared memory" : "",
                         event.ending == Ending::done ? "" : fmt::format(", {}", name(event.ending)));
    case Kind::send: return fmt::format("send to {}", event.peer);
    case Kind::receive: return fmt::format("receive from {}", event.peer);
    case Kind::wait:
    case Kind::reduce: return std::string(name(event.kind));
    case Kind::compute: return event.name.empty() ? "compute" : event.name;
  }
  __builtin_unreachable();
}

std::string arguments_of(const Event& event) {
  return fmt::format(
      R"({{"kind":"{}","rank":{},"peer":{},"begin_ps":{},"end_ps":{},"bytes":{},"message":{},"group":{},)"
      R"("sequence":{},"name":{},"algorithm":{},"file":{},"line":{},"contributors":{},"offset":{},"in_shared_memory":{}{}}})",
      name(event.kind), event.rank, event.peer, event.begin, event.end, event.bytes, event.message,
      event.group, event.sequence, json_quoted(event.name), json_quoted(event.algorithm),
      json_quoted(event.where.file), event.where.line, event.contributors, event.offset,
      event.in_shared_memory,
      event.ending == Ending::done ? "" : fmt::format(R"(,"ending":"{}")", name(event.ending)));
}

std::string party_json(const Finding::Party& party) {
  return fmt::format(R"({{"rank":{},"doing":{},"file":{},"line":{},"waits_for":[{}]}})", party.rank,
                     json_quoted(party.doing), json_quoted(party.where.file), party.where.line,
                     fmt::join(party.waits_for, ","));
}

std::string finding_json(const Finding& finding) {
  std::vector<std::string> parties;
  for (const auto& party : finding.parties) parties.push_back(party_json(party));
  return fmt::format(R"({{"code":{},"title":{},"what":{},"mend":{},"parties":[{}]}})",
                     json_quoted(finding.code), json_quoted(finding.title), json_quoted(finding.what),
                     json_quoted(finding.mend), fmt::join(parties, ","));
}

// The optional fields after the title: ,"ranks_per_node":8
std::string more_about(const Trace& trace) {
  std::string text;
  if (trace.ranks_per_node > 0) text += fmt::format(R"(,"ranks_per_node":{})", trace.ranks_per_node);
  if (trace.findings.empty()) return text;
  std::vector<std::string> findings;
  for (const Finding& finding : trace.findings) findings.push_back(finding_json(finding));
  return text + fmt::format(R"(,"findings":[{}])", fmt::join(findings, ","));
}

class ChromeWriter {
 public:
  explicit ChromeWriter(const Trace& trace) : trace_(trace), threads_(trace) {}

  std::string write() {
    out_ = fmt::format(R"({{"otherData":{{"format":"{}","title":{},"ranks":{},"virtual_time":{}{}}},)"
                       "\n\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[",
                       trace_format, json_quoted(trace_.title), trace_.ranks, trace_.virtual_time,
                       more_about(trace_));
    write_names();
    for (std::size_t i = 0; i < trace_.events.size(); ++i) write_slice(i);
    write_flows();
    out_ += "\n]}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += first_ ? "\n{" : ",\n{";
    first_ = false;
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '}';
  }

  void write_names() {
    line(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":{}}})", process,
         json_quoted(trace_.title));
    for (const auto& [thread, label] : threads_.labels()) {
      line(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}})", process, thread,
           label);
      line(R"("ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}})", process,
           thread, thread);
    }
  }

  void write_slice(std::size_t i) {
    const Event& event = trace_.events[i];
    line(R"("ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{})", process,
         threads_.of(i), microseconds(event.begin), microseconds(event.end - event.begin),
         json_quoted(slice_name(event)), name(event.kind), arguments_of(event));
  }

  int thread_of(const Event* event) const {
    return threads_.of(static_cast<std::size_t>(event - trace_.events.data()));
  }

  void write_flows() {
    std::size_t flow = 0;
    for (const Message& message : messages(trace_)) {
      if (!message.send || !message.receive) continue;
      ++flow;
      line(R"("ph":"s","id":{},"pid":{},"tid":{},"ts":{},"name":"message","cat":"message")", flow, process,
           thread_of(message.send), microseconds(message.send->begin));
      line(R"("ph":"f","bp":"e","id":{},"pid":{},"tid":{},"ts":{},"name":"message","cat":"message")", flow,
           process, thread_of(message.receive), microseconds(flow_end(message)));
    }
  }

  // The flow ends inside the receive's slice, to which the viewer ties it: one nanosecond (the resolution of
  // viewers) before the end, but not before the flow starts.
  static std::int64_t flow_end(const Message& message) {
    const Event& receive = *message.receive;
    return std::max({receive.begin, receive.end - 1000, std::min(message.send->begin, receive.end)});
  }

  const Trace& trace_;
  ChromeThreads threads_;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string to_chrome_json(const Trace& trace) { return ChromeWriter(trace).write(); }

}  // namespace dist::trace
