#include "dist/backend/run_collective.h"

#include <vector>

#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

using Kind = ReduceOp::Kind;

std::vector<TensorView> views_of(const TensorList& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) views.push_back(tensors[i]);
  return views;
}

ReduceOp base_of(ReduceOp op) {
  return op.kind() == Kind::avg || op.kind() == Kind::premul_sum ? ReduceOp::sum : op;
}

void all_reduce(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  CollectiveArgs args;
  args.out = operation.outputs[0];
  args.op = base_of(operation.op);
  if (operation.op.kind() == Kind::premul_sum) scale(args.out, operation.op.factor());
  run(args);
  if (operation.op.kind() == Kind::avg) divide(args.out, net.size());
}

void reduce_to_root(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  CollectiveArgs args;
  args.out = operation.outputs[0];
  args.op = base_of(operation.op);
  args.root = operation.root;
  const bool is_root = net.rank() == operation.root;
  Scratch scaled;
  if (operation.op.kind() == Kind::premul_sum) {
    if (!is_root) {  // where the contribution must stay as it was
      scaled = net.scratch(args.out);
      copy(scaled.all(), args.out);
      args.out = scaled.all();
    }
    scale(args.out, operation.op.factor());
  }
  run(args);
  if (is_root && operation.op.kind() == Kind::avg) divide(args.out, net.size());
}

void reduce_scatter(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  std::vector<TensorView> ins = views_of(operation.inputs);
  const TensorView out = operation.outputs[0];
  Scratch scaled, apart;
  if (operation.op.kind() == Kind::premul_sum) {
    scaled = net.scratch(out, operation.count());
    std::int64_t first = 0;
    for (auto& in : ins) {
      const TensorView place = scaled.all().slice(first, in.count);
      copy(place, in);
      first += in.count;
      in = place;
    }
    scale(scaled.all().slice(0, first), operation.op.factor());
  }
  CollectiveArgs args;
  args.ins = ins;
  args.out = out;
  args.op = base_of(operation.op);
  const bool in_place = out.count > 0 && out.data == ins[static_cast<std::size_t>(net.rank())].data;
  if (in_place) {  // algorithms read ins[rank] after they have begun to write `out`
    apart = net.scratch(out);
    args.out = apart.all();
  }
  run(args);
  if (operation.op.kind() == Kind::avg) divide(args.out, net.size());
  if (in_place) copy(out, args.out);
}

// The collectives that only move data.
void move(const Operation& operation, const CollectiveFunction& run) {
  const std::vector<TensorView> ins = views_of(operation.inputs), outs = views_of(operation.outputs);
  CollectiveArgs args;
  args.root = operation.root;
  args.ins = ins;
  args.outs = outs;
  const bool takes_one = operation.kind == OpKind::gather || operation.kind == OpKind::all_gather;
  const bool gives_one = operation.kind == OpKind::broadcast || operation.kind == OpKind::scatter;
  if (takes_one) args.in = ins[0];
  if (gives_one) args.out = outs[0];
  run(args);
}

}  // namespace

void run_collective(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  switch (operation.kind) {
    case OpKind::all_reduce: return all_reduce(net, operation, run);
    case OpKind::reduce: return reduce_to_root(net, operation, run);
    case OpKind::reduce_scatter: return reduce_scatter(net, operation, run);
    case OpKind::broadcast:
    case OpKind::scatter:
    case OpKind::gather:
    case OpKind::all_gather:
    case OpKind::all_to_all:
    case OpKind::barrier: return move(operation, run);
    case OpKind::send:
    case OpKind::recv: break;
  }
  fail(Errc::internal, "run_collective was given a {}", name(operation.kind));
}

}  // namespace dist
