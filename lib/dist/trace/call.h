// Calls of a user while they are open, and what the events of their messages and reductions inherit from
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "dist/core/view.h"
#include "dist/trace/event.h"

namespace dist::trace {

struct Call {
  std::uint64_t record = 0;  // unique for its rank
  std::uint64_t number = 0;  // in its group; for a message its sequence number, otherwise its channel's tag
  bool point_to_point = false;
  bool async = false;
  bool may_reduce = false;
  Event event;                              // everything but its rank and times
  std::vector<TensorView> inputs, outputs;  // what it reads and writes
};

// Bytes from the start of a call's tensors.
class Offsets {
 public:
  explicit Offsets(const Call& call);
  std::int64_t of(const void* data) const;  // -1: not in a tensor of the call

 private:
  struct Range {
    const std::byte* end;
    std::int64_t offset;
  };
  std::map<const std::byte*, Range> ranges_;
};

}  // namespace dist::trace
