// What is done with the gradients of a tensor-parallel module. Which part of a parameter a rank has is its
// record (mesh/placed.h); whole parameters and gradients: full_state.h.
#pragma once

#include "dist/nn/module.h"
#include "dist/parallel/full_state.h"

namespace dist {

// Call it once per step, after the last backward() and before gradients are clipped or used: sums the
// gradients that are Partial (of norms and positions under sequence parallelism) over the ranks, in one
// all_reduce; without any it does nothing. A later backward() adds to the sums, and is summed once, too.
// Every rank of the axis must call it. Throws Error{invalid_argument} if parallelize_module() was not called
// for this module itself.
void finish_gradients(nn::Module& module, Caller at = Caller::here());

}  // namespace dist
