#include "dist/backend/run_collective.h"

#include <bit>
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

// An operation of which `run` gets the sum or the like: before that every contribution is multiplied, and
// what comes of it is divided.
class Parts {
 public:
  Parts(const Operation& operation, int ranks) : op_(operation.op), ranks_(ranks) {
    if (op_.kind() == Kind::premul_sum) factor_ = op_.factor();
    // A sum of f16 may be too large where the mean is not. A power of two takes nothing from its digits.
    if (op_.kind() == Kind::avg && operation.dtype() == DType::f16)
      factor_ = 1.0 / static_cast<double>(std::bit_ceil(static_cast<unsigned>(ranks)));
  }
  ReduceOp op() const {
    return op_.kind() == Kind::avg || op_.kind() == Kind::premul_sum ? ReduceOp::sum : op_;
  }
  bool multiplies() const { return factor_ != 1; }
  void multiply(const TensorView& in) const {
    if (multiplies()) scale(in, factor_);
  }
  void divide(const TensorView& out) const {
    if (op_.kind() != Kind::avg) return;
    dist::divide(out, ranks_);
    if (multiplies()) scale(out, 1 / factor_);
  }

 private:
  const ReduceOp op_;
  const int ranks_;
  double factor_ = 1;
};

void all_reduce(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  const Parts parts(operation, net.size());
  CollectiveArgs args;
  args.out = operation.outputs[0];
  args.op = parts.op();
  parts.multiply(args.out);
  run(args);
  parts.divide(args.out);
}

void reduce_to_root(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  const Parts parts(operation, net.size());
  CollectiveArgs args;
  args.out = operation.outputs[0];
  args.op = parts.op();
  args.root = operation.root;
  const bool is_root = net.rank() == operation.root;
  Scratch multiplied;
  if (parts.multiplies() && !is_root) {  // where the contribution must stay as it was
    multiplied = net.scratch(args.out);
    copy(multiplied.all(), args.out);
    args.out = multiplied.all();
  }
  parts.multiply(args.out);
  run(args);
  if (is_root) parts.divide(args.out);
}

void reduce_scatter(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  std::vector<TensorView> ins = views_of(operation.inputs);
  const TensorView out = operation.outputs[0];
  const Parts parts(operation, net.size());
  Scratch multiplied, apart;
  if (parts.multiplies()) {
    multiplied = net.scratch(out, operation.count());
    std::int64_t first = 0;
    for (auto& in : ins) {
      const TensorView place = multiplied.all().slice(first, in.count);
      copy(place, in);
      first += in.count;
      in = place;
    }
    parts.multiply(multiplied.all().slice(0, first));
  }
  CollectiveArgs args;
  args.ins = ins;
  args.out = out;
  args.op = parts.op();
  const bool in_place = out.count > 0 && out.data == ins[static_cast<std::size_t>(net.rank())].data;
  if (in_place) {  // algorithms read ins[rank] after they have begun to write `out`
    apart = net.scratch(out);
    args.out = apart.all();
  }
  run(args);
  parts.divide(args.out);
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
