// Activation checkpointing (recomputation): a module that keeps only its input from forward() to backward(),
// and computes everything else again: less memory for one more forward per backward. As
// torch.utils.checkpoint.
#pragma once

namespace dist::nn {

class Module;

// From now on module.forward() drops what the modules below it keep, and module.backward() computes it again
// from the input, to the same bits; in the same mode: after a train() or eval() in between, it throws
// Error{invalid_argument}. (Running statistics of BatchNorm2d are updated by both, as in PyTorch.)
// Add a hook that must be in force during that computation, such as one that gathers parameters, before this
// call.
void checkpoint(Module& module);

}  // namespace dist::nn
