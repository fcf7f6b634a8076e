// The parent's tensors in a forked child.
#pragma once

#include "dist/core/memory/segment.h"

namespace dist {

// In a forked child: turns the segment into this process's own memory, at the same addresses and with the
// same contents. Ends the process if that is impossible.
void make_private(Segment& segment);

}  // namespace dist
