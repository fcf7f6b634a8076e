// FlopClock: lets virtual ranks compute for as long as the operations of their layers would take, so that a
// model's step has a time on a machine that you do not have.
#pragma once

#include "dist/nn/module.h"

namespace dist {

// From now on the Linear and CausalSelfAttention layers of the module charge the virtual clock (sim::compute)
// with their floating-point operations: 2 rows in out for the forward of a Linear, as many again for the
// gradient of its input and for that of its weight; 4 queries keys size per head for attention, half of that
// where it is causal, and 2.5 times as much in backward, which computes the scores again. RingAttention is
// charged block by block, so that its exchanges overlap with that. Other layers cost nothing. Call it once,
// after everything that divides the module. Has no effect outside a simulation.
void charge_flops(nn::Module& module, double flops_per_second);

}  // namespace dist
