#include "dist/trace/recorder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"
#include "dist/trace/chrome_json.h"

namespace dist::trace {
namespace {

void sort_by_end(std::vector<Event>& events) { std::ranges::stable_sort(events, {}, &Event::end); }

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_file(const std::string& path, std::string_view what) {
  const int error_number = errno;
  fail_errno(Errc::resource, error_number, fmt::format("trace file {}: {}", path, what));
}

}  // namespace

Recorder::Recorder(std::string title, int ranks, bool virtual_time, std::size_t most_events)
    : title_(std::move(title)), ranks_(ranks), virtual_time_(virtual_time), most_events_(most_events) {}

void Recorder::add(Event event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < most_events_)
    events_.push_back(std::move(event));
  else
    ++dropped_;
}

Trace Recorder::take() {
  Trace trace{title_, ranks_, virtual_time_};
  {
    const std::lock_guard lock(mutex_);
    trace.events.swap(events_);
    if (dropped_ > 0)
      trace.title += fmt::format(" (the first {} events; {} more)", most_events_, std::exchange(dropped_, 0));
  }
  sort_by_end(trace.events);
  for (const Event& event : trace.events) trace.ranks = std::max(trace.ranks, event.rank + 1);
  return trace;
}

void write_file(const Trace& trace, const std::string& path) {
  write_whole_file(path, to_chrome_json(trace));
}

Trace read_file(const std::string& path) {
  refuse_device("trace file", path);
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_file(path, "cannot be opened");
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    text.append(buffer.data(), n);
  if (std::ferror(file.get())) fail_file(path, "cannot be read");
  return parse_chrome_json(text, path);
}

Trace merge(std::vector<Trace> traces) {
  Trace all;
  std::string title;
  if (!traces.empty()) all.virtual_time = traces.front().virtual_time;
  for (Trace& trace : traces) {
    if (trace.virtual_time != all.virtual_time)
      fail(Errc::invalid_argument,
           "a simulated and a real run have no common clock: their traces cannot be merged");
    if (title.empty()) all.title = title = trace.title;
    if (trace.title.size() > title.size() && trace.title.starts_with(title) && trace.title != all.title)
      all.title += trace.title.substr(title.size());
    all.ranks = std::max(all.ranks, trace.ranks);
    all.ranks_per_node = std::max(all.ranks_per_node, trace.ranks_per_node);
    std::ranges::move(trace.events, std::back_inserter(all.events));
    std::ranges::move(trace.findings, std::back_inserter(all.findings));
  }
  sort_by_end(all.events);
  return all;
}

}  // namespace dist::trace
