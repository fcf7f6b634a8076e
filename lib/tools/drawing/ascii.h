// A space-time diagram for a terminal: a column a rank, time downwards.
//
//                 rank 0            rank 1
//       0.0 us    ┏ send            ┏ recv
//                 ○ to 1            ┊ waits 2.5 us
//                 ┊                 ┊
//       2.5 us    ┠──── 64 KiB ────▶┃
//                 ┗ done            ┗ done
//
// A row stands for each moment at which something begins or ends; an arrow for each message, in the row of
// its arrival (when it left is a mark of its own), with the ranks whose parts it carries, where that is
// known.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

struct AsciiOptions {
  int width = 80;       // columns of the terminal; 40 are needed
  int max_rows = 60;    // moments beyond that are taken together, and the picture says so
  bool unicode = true;  // false: ASCII alone
};

// Lines of at most `width` columns, each ended by '\n'. Of more ranks than fit the first are shown, and the
// picture says how many are not. A legend explains the signs that occur.
std::string to_ascii(const Trace& trace, const AsciiOptions& options = {});

}  // namespace dist::trace
