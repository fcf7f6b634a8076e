// Collecting events while ranks run, and traces in files (chrome_json.h says in what format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

// Events of any number of threads. Thread-safe; an addition is a short critical section. Events beyond
// `most_events` are counted, not kept.
class Recorder {
 public:
  static constexpr std::size_t usual_most = 1'000'000;  // a few hundred MiB
  explicit Recorder(std::string title = "", int ranks = 0, bool virtual_time = false,
                    std::size_t most_events = usual_most);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add(Event event);
  // All events so far, in the order they ended; the recorder is empty then and can go on. The trace has as
  // many ranks as the constructor was told, more if an event names a higher one; its title says how many
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

// Replaces what is there. Error{resource} naming the path and the system's reason.
void write_file(const Trace& trace, const std::string& path);
// Error{resource} when the file cannot be read, Error{invalid_argument} when it is no trace.
Trace read_file(const std::string& path);

// The files of one run's ranks as one trace: all events in the order they ended, the largest number of ranks,
// the first title there is and what other ranks' titles add to it (events that were not kept). The ranks must
// have counted from one moment and numbered messages alike; Error{invalid_argument} when some have virtual
// time and others do not.
Trace merge(std::vector<Trace> traces);

}  // namespace dist::trace
