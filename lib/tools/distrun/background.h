// Background: calls to a store that another node hosts, which may not answer for a minute. They run on a
// thread of their own, one after the other, so that the event loop goes on hearing signals.
#pragma once

#include <functional>
#include <memory>

#include "dist/core/deadline.h"

namespace distrun {

class Background {
 public:
  Background();
  ~Background();  // does not wait: a call that is under way goes on until the process ends
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // `call` must not refer to anything that may be destroyed before it runs, and must not throw.
  void post(std::function<void()> call);
  // Waits until all that was posted has run. Returns false if the deadline passed first.
  bool is_done_by(dist::Deadline deadline);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace distrun
