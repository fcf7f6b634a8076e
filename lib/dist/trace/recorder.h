// Collects events while ranks run; reads, writes and merges trace files (the format is in chrome_json.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

// Events of any number of threads. Thread-safe; adding one is a short critical section. Events beyond
// `most_events` are counted but not kept.
class Recorder {
 public:
  static constexpr std::size_t usual_most = 1'000'000;  // a few hundred MiB
  explicit Recorder(std::string title = "", int ranks = 0, bool virtual_time = false,
                    std::size_t most_events = usual_most);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add(Event event);
  // All events so far, in the order in which they ended; the recorder is then empty and can go on. The trace
  // has the constructor's number of ranks, or more if an event names a higher one; its title says how many
  // events were not kept: "... (the first 1000000 events; 17 more)".
  Trace take();

 private:
  const std::string title_;
  const int ranks_;
  const bool virtual_time_;
  const std::size_t most_events_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::uint64_t dropped_ = 0;
};

// Replaces an existing file. Throws Error{resource}, which names the path and the system's reason.
void write_file(const Trace& trace, const std::string& path);
// Throws Error{resource} when the file cannot be read, Error{invalid_argument} when it is not a trace.
Trace read_file(const std::string& path);

// Joins the files of one run's ranks into one trace: all events in the order in which they ended, the largest
// number of ranks, the first title and what other ranks' titles add to it (events that were not kept). The
// ranks must have counted time from the same moment and numbered messages consistently. Throws
// Error{invalid_argument} when some have virtual time and others do not.
Trace merge(std::vector<Trace> traces);

}  // namespace dist::trace
