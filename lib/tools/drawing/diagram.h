// What a space-time diagram shows, row by row; ascii.h draws it.
#pragma once

#include <cstddef>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

// In the order in which things of one moment follow from each other.
enum class MarkKind : std::uint8_t {
  arrow,       // a message arrived at `rank` from `peer`
  arrival,     // the same, but the sender is not shown or not known
  reduced,     // an arriving part had been added
  call_end,    //
  call_begin,  //
  shared,      // which works in shared memory: there will be no message
  departure,   // a message left `rank` for `peer`
  lost,        // the same, but nobody received it
};

struct Mark {
  MarkKind kind = MarkKind::arrow;
  int rank = 0;
  int peer = -1;
  std::int64_t time = 0;
  const Event* event = nullptr;    // of the trace
  std::uint64_t contributors = 0;  // of a message or a reduction; 0: not known
  std::uint64_t bytes = 0;         // of all `count`
  int count = 1;                   // how many alike were taken together
};

// A moment, or in a diagram with fewer rows than moments several in a row.
struct Row {
  std::int64_t first = 0, last = 0;
  std::vector<Mark> marks;  // as they happened
};

struct Diagram {
  std::size_t moments = 0;
  std::vector<Row> rows;
  std::vector<std::vector<const Event*>> states;  // of each rank: waits and computations that take time
};

// Of ranks 0 to `ranks` - 1, in at most `max_rows` rows (at least 1). When a send's port was free again is
// no moment of its own. A message that takes no time has no departure.
Diagram make_diagram(const Trace& trace, int ranks, int max_rows);

}  // namespace dist::trace
