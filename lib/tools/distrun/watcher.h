// Watcher: polls for failures on other nodes, in a thread of its own, so that a slow network never delays the
// event loop.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "dist/core/handles.h"

#include "nodes.h"

namespace distrun {

class Watcher {
 public:
  Watcher(Nodes& nodes, int attempt, double interval_s);  // starts no thread if there is only one node
  ~Watcher();
  int fd() const { return wake_.get(); }  // readable once there is news
  std::optional<std::string> news();      // returned once

 private:
  void watch(Nodes& nodes, int attempt, double interval_s);
  dist::UniqueFd wake_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::optional<std::string> news_;
  std::thread thread_;
};

}  // namespace distrun
