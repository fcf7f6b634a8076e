// Makes copies of a model equal: first checks that they have the same tensors, then gives them the same
// values.
#pragma once

#include "dist/group/process_group.h"
#include "dist/nn/module.h"

namespace dist {

// Every rank of the group must call it. Throws Error{mismatch} on all ranks if one has other parameters or
// buffers than group rank 0, by order, name, shape, dtype or kind of device; names the first such rank and
// tensor.
void check_alike(nn::Module& model, const ProcessGroup& group, CallSite where = CallSite::current());

// Every rank of the group must call it: parameters and buffers become group rank 0's.
void broadcast_state(nn::Module& model, const ProcessGroup& group, CallSite where = CallSite::current());

}  // namespace dist
