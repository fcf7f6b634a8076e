// An endpoint that records what its transports do (DIST_TRACE).
#pragma once

#include <memory>

#include "dist/trace/rank_tracer.h"
#include "dist/transport/endpoint.h"

namespace dist {

// While the tracer runs, every Transport that is opened reports its messages and waits to it, and a
// collective's also the reductions that its thread makes while it is open. Moves the same bytes in the same
// order as `endpoint`.
std::shared_ptr<Endpoint> traced(std::shared_ptr<Endpoint> endpoint,
                                 std::shared_ptr<trace::RankTracer> tracer);

}  // namespace dist
