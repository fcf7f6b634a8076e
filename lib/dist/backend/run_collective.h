// Runs one collective Operation on a Transport.
#pragma once

#include "dist/backend/operation.h"
#include "dist/backend/reduction_parts.h"
#include "dist/collectives/algorithms.h"
#include "dist/core/view_list.h"
#include "dist/transport/transport.h"

namespace dist {

// Blocks until this rank's part is done. Calls run(CollectiveArgs): an algorithm, or a library that has its
// own. Takes avg and premul_sum apart: `run` gets base operations only.
template <class Run>
void run_collective(Transport& net, const Operation& operation, const Run& run) {
  if (needs_parts(operation, net.rank())) return run_in_parts(net, operation, run);
  ViewList ins(operation.inputs.size()), outs(operation.outputs.size());
  for (std::size_t i = 0; i < ins.size(); ++i) ins.set(i, operation.inputs[i]);
  for (std::size_t i = 0; i < outs.size(); ++i) outs.set(i, operation.outputs[i]);
  run(CollectiveArgs{.in = ins.size() > 0 ? ins[0] : TensorView{},
                     .out = outs.size() > 0 ? outs[0] : TensorView{},
                     .ins = ins,
                     .outs = outs,
                     .op = operation.op,
                     .root = operation.root});
}

}  // namespace dist
