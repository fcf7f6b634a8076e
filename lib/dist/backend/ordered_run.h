// How every backend runs one collective. It is a template, so that where a collective takes only some hundred
// nanoseconds nothing of it is a virtual call.
#pragma once

#include "dist/backend/ordered.h"
#include "dist/trace/profiler.h"

namespace dist {

template <class Self>
void OrderedBackend::run_as(Self& self, const Operation& operation,
                            const std::shared_ptr<StreamEvents>& points) {
  const ProfilerRange range([&] { return operation.doing(); });
  bool may_differ = false;  // whether the ranks may be out of step if this fails
  try {
    refuse_if_broken(operation);
    may_differ = true;
    self.prepare(operation);
    may_differ = false;
    context_.observer->starting(operation, self.choose(operation));
    may_differ = true;
    points ? self.enqueue(operation, points) : self.execute(operation);
  } catch (const std::exception& error) {
    if (may_differ) {
      break_by(error);
      self.detach();
    }
    std::rethrow_exception(context_.observer->failed(operation, std::current_exception()));
  }
  if (!points) context_.observer->completed(operation);
}

}  // namespace dist
