// A space-time diagram for a terminal: one column per rank, time runs downwards.
//
//                 rank 0            rank 1
//       0.0 us    ┏ send            ┏ recv
//                 ○ to 1            ┊ waits 2.5 us
//                 ┊                 ┊
//       2.5 us    ┠──── 64 KiB ────▶┃
//                 ┗ done            ┗ done
//
// Each moment at which something begins or ends has a row. Each message is an arrow in the row of its arrival
// (its departure has a mark of its own), with the ranks whose parts it carries if they are known.
#pragma once

#include <string>

#include "dist/trace/event.h"

namespace dist::trace {

struct AsciiOptions {
  int width = 80;       // columns of the terminal, at least 40
  int max_rows = 60;    // if there are more moments, a row shows several, and the picture says so
  bool unicode = true;  // false: ASCII alone
};

// Returns lines of at most `width` columns, each ended by '\n'. If not all ranks fit, the first ones are
// shown, and the picture says how many are missing. A legend explains the signs that occur.
std::string to_ascii(const Trace& trace, const AsciiOptions& options = {});

}  // namespace dist::trace
