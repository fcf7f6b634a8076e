// What a space-time diagram shows, row by row; ascii.h draws it.
#pragma once

#include <cstddef>
#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

// The order is that in which marks of one moment follow from each other.
enum class MarkKind : std::uint8_t {
  arrow,       // a message arrived at `rank` from `peer`
  arrival,     // a message arrived from a sender that is not shown or not known
  reduced,     // an arriving part has been added
  call_end,    //
  call_begin,  //
  shared,      // the call works in shared memory: there will be no message
  departure,   // a message left `rank` for `peer`
  lost,        // a message left, but no rank received it
};

struct Mark {
  MarkKind kind = MarkKind::arrow;
  int rank = 0;
  int peer = -1;
  std::int64_t time = 0;
  const Event* event = nullptr;    // of the trace
  std::uint64_t contributors = 0;  // of a message or a reduction; 0: not known
  std::uint64_t bytes = 0;         // of all `count`
  int count = 1;                   // how many equal marks this one stands for
};

// One moment, or several consecutive ones in a diagram with fewer rows than moments.
struct Row {
  std::int64_t first = 0, last = 0;
  std::vector<Mark> marks;  // in the order in which they happened
};

struct Diagram {
  std::size_t moments = 0;
  std::vector<Row> rows;
  std::vector<std::vector<const Event*>> states;  // per rank: the waits and computations that take time
};

// Makes the diagram of ranks 0 to `ranks` - 1 with at most `max_rows` rows (at least 1). The moment at which
// a send leaves its port free again has no row. A message that takes no time has no departure.
Diagram make_diagram(const Trace& trace, int ranks, int max_rows);

}  // namespace dist::trace
