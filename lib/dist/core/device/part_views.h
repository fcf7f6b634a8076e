// A list of work for one launch, in parts that do not depend on each other.
#pragma once

#include <span>

#include "dist/core/view.h"

namespace dist {

// One part: every output becomes a copy of the input, or the reduction of all inputs. Its views have one
// count and one dtype; parts may differ in their counts. An output may be an input of its own part, and
// overlaps nothing else.
struct PartViews {
  std::span<const TensorView> outs, ins;
};

}  // namespace dist
