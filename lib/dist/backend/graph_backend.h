// What a backend offers for steps that are recorded as graphs (core/device/recording.h), in addition to
// Backend: collectives as part of a graph.
#pragma once

#include <memory>
#include <span>

#include "dist/backend/operation.h"
#include "dist/backend/work.h"

namespace dist {

// A Backend that can do that derives from this, too. Used by one thread at a time, the one that records.
class GraphBackend {
 public:
  virtual ~GraphBackend() = default;
  // Whether the graph that this thread records can have collectives of this kind.
  virtual bool can_record(OpKind kind) const = 0;
  // Records the operation: it runs after the work that the recorded stream has, and in parallel with what
  // that stream gets next. wait(), before the recording ends, makes what comes next run after it. The graph
  // keeps the result.
  virtual std::shared_ptr<WorkState> record(const Operation& operation) = 0;
  // Called before and after each launch of the graph on the current stream, with all its operations of the
  // group, numbered, in the order in which they were recorded. The first throws when they cannot run; the
  // second has them watched as if they had been called one by one.
  virtual void before_launch(std::span<const Operation> operations) = 0;
  virtual void after_launch(std::span<const Operation> operations) = 0;
};

}  // namespace dist
