// Whole values and gradients of a module whose parameters ranks have divided among them, in any way or in
// several (mesh/placed.h).
#pragma once

#include "dist/nn/module.h"

namespace dist {

// state_dict() of the module as it was before it was divided: whole tensors on every rank that has the
// parameter. One all_gather per parameter and axis that shards it; every rank of these axes must call it.
// What no rank has divided shares memory with the module.
nn::StateDict full_state_dict(nn::Module& module, Caller at = Caller::here());
// Whole gradients under the parameters' names; those that are not trained are left out.
nn::StateDict full_gradients(nn::Module& module, Caller at = Caller::here());

}  // namespace dist
