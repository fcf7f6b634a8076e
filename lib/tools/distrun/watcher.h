// Watcher: polls for failures on other nodes, in a thread of its own, so that a slow network never delays the
// event loop, nor the end of a Watcher: a thread that waits for the store is left alone.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dist/core/handles.h"

#include "nodes.h"

namespace distrun {

class Watcher {
 public:
  Watcher(const Board& board, int attempt, double interval_s);  // starts no thread if there is only one node
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  int fd() const { return shared_->wake.get(); }  // readable once there is news
  std::optional<std::string> news();              // returned once

 private:
  struct Shared {  // with the thread
    dist::UniqueFd wake;
    std::mutex mutex;
    std::condition_variable stopped;
    bool stop = false;
    std::optional<std::string> news;
  };
  static void watch(Shared& shared, const Board& board, int attempt, double interval_s);
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace distrun
