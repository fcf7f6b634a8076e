// Collecting events while ranks run, and traces in files (chrome_json.h says in what format).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

// Events of any number of threads. Thread-safe; an addition is a short critical section.
class Recorder {
 public:
  explicit Recorder(std::string title = "", int ranks = 0, bool virtual_time = false);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void add(Event event);
  // All events so far, in the order they ended; the recorder is empty then and can go on. The trace has as
  // many ranks as the constructor was told, more if an event names a higher one.
  Trace take();

 private:
  const std::string title_;
  const int ranks_;
  const bool virtual_time_;
  std::mutex mutex_;
  std::vector<Event> events_;
};

// Replaces what is there. Error{resource} naming the path and the system's reason.
void write_file(const Trace& trace, const std::string& path);
// Error{resource} when the file cannot be read, Error{invalid_argument} when it is no trace.
Trace read_file(const std::string& path);

// The files of one run's ranks as one trace: all events in the order they ended, the largest number of ranks,
// the first title there is. The ranks must have counted from one moment and numbered messages alike;
// Error{invalid_argument} when some have virtual time and others do not.
Trace merge(std::vector<Trace> traces);

}  // namespace dist::trace
