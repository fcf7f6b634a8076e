#include "dist/backend/run_collective.h"

#include "dist/backend/reduction_parts.h"
#include "dist/core/fail.h"

namespace dist {

std::vector<TensorView> views_of(const TensorList& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) views.push_back(tensors[i]);
  return views;
}

void run_collective(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  const bool reduces = operation.kind == OpKind::all_reduce || operation.kind == OpKind::reduce ||
                       operation.kind == OpKind::reduce_scatter;
  if (reduces && needs_parts(operation, net.rank())) return run_in_parts(net, operation, run);
  CollectiveArgs args;
  args.op = operation.op;
  args.root = operation.root;
  std::vector<TensorView> ins, outs;
  switch (operation.kind) {
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce: args.out = operation.outputs[0]; break;
    case OpKind::scatter:
    case OpKind::reduce_scatter:
      args.out = operation.outputs[0];
      args.ins = ins = views_of(operation.inputs);
      break;
    case OpKind::gather:
    case OpKind::all_gather:
      args.in = operation.inputs[0];
      args.outs = outs = views_of(operation.outputs);
      break;
    case OpKind::all_to_all:
      args.ins = ins = views_of(operation.inputs);
      args.outs = outs = views_of(operation.outputs);
      break;
    case OpKind::barrier: break;
    case OpKind::send:
    case OpKind::recv: fail(Errc::internal, "run_collective was given a {}", name(operation.kind));
  }
  run(args);
}

}  // namespace dist
