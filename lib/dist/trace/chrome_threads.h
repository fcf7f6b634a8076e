// Which thread of the viewer shows an event: slices of one thread must nest, and those of messages, where
// arrows end, must not even touch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

class ChromeThreads {
 public:
  explicit ChromeThreads(const Trace& trace);

  // The thread of trace.events[i]; threads count from 1, rank by rank.
  int of(std::size_t i) const { return numbers_[i]; }
  // All threads: "rank 0", "rank 0 sends", "rank 0 receives", "rank 0 receives 2", "rank 1", ...
  const std::map<int, std::string>& labels() const { return labels_; }

 private:
  std::vector<int> numbers_;
  std::map<int, std::string> labels_;
};

}  // namespace dist::trace
