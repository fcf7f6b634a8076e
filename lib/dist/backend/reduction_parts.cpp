// Parts takes avg and premul_sum apart and widens 16-bit floats; then one function per kind of reduction.
#include "dist/backend/reduction_parts.h"

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

// Algorithms read ins[rank] after they have begun to write `out`.
bool is_in_place(const Operation& operation, int rank) {
  const TensorView out = operation.outputs[0];
  return out.count > 0 && out.data == operation.inputs[static_cast<std::size_t>(rank)].data;
}

// An operation of which `run` gets only a base operation such as sum: every contribution is multiplied before
// it, and the result is divided after it. Means of f16 and bf16 are sums of f32, rounded once, as types.h
// says: in 16 bits a sum may be too large where the mean is not, and a number that is divided first may
// vanish.
class Parts {
 public:
  Parts(const Operation& operation, int ranks)
      : op_(operation.op),
        ranks_(ranks),
        dtype_(operation.dtype()),
        factor_(op_.kind() == Kind::premul_sum ? op_.factor() : 1) {}
  ReduceOp op() const {
    return op_.kind() == Kind::avg || op_.kind() == Kind::premul_sum ? ReduceOp::sum : op_;
  }
  bool widens() const { return op_.kind() == Kind::avg && (dtype_ == DType::f16 || dtype_ == DType::bf16); }
  bool multiplies() const { return factor_ != 1; }
  // Room for `count` elements of the type that `run` works on, on the device of `like`.
  Scratch scratch(Transport& net, TensorView like, std::int64_t count) const {
    if (widens()) like.dtype = DType::f32;
    return net.scratch(like, count);
  }
  void take_in(const TensorView& to, const TensorView& contribution) const {
    widens() ? convert(to, contribution) : copy(to, contribution);
  }
  void give_out(const TensorView& to, const TensorView& result) const {
    widens() ? convert(to, result) : copy(to, result);
  }
  void multiply(const TensorView& in) const {
    if (multiplies()) scale(in, factor_);
  }
  void divide(const TensorView& out) const {
    if (op_.kind() == Kind::avg) dist::divide(out, ranks_);
  }

 private:
  const ReduceOp op_;
  const int ranks_;
  const DType dtype_;
  const double factor_;
};

void all_reduce(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  const Parts parts(operation, net.size());
  const TensorView out = operation.outputs[0];
  CollectiveArgs args;
  args.out = out;
  args.op = parts.op();
  Scratch wide;
  if (parts.widens()) {
    wide = parts.scratch(net, out, out.count);
    args.out = wide.all();
    parts.take_in(args.out, out);
  }
  parts.multiply(args.out);
  run(args);
  parts.divide(args.out);
  if (parts.widens()) parts.give_out(out, args.out);
}

void reduce_to_root(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  const Parts parts(operation, net.size());
  const TensorView out = operation.outputs[0];
  CollectiveArgs args;
  args.out = out;
  args.op = parts.op();
  args.root = operation.root;
  const bool is_root = net.rank() == operation.root;
  Scratch apart;
  if (parts.widens() || (parts.multiplies() && !is_root)) {  // the contribution must not change
    apart = parts.scratch(net, out, out.count);
    args.out = apart.all();
    parts.take_in(args.out, out);
  }
  parts.multiply(args.out);
  run(args);
  if (!is_root) return;
  parts.divide(args.out);
  if (parts.widens()) parts.give_out(out, args.out);
}

void reduce_scatter(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  std::vector<TensorView> ins = views_of(operation.inputs);
  const TensorView out = operation.outputs[0];
  const Parts parts(operation, net.size());
  const bool in_place = is_in_place(operation, net.rank());
  Scratch contributions, result;
  if (parts.widens() || parts.multiplies()) {
    contributions = parts.scratch(net, out, operation.count());
    std::int64_t first = 0;
    for (auto& in : ins) {
      const TensorView place = contributions.all().slice(first, in.count);
      parts.take_in(place, in);
      first += in.count;
      in = place;
    }
    parts.multiply(contributions.all().slice(0, first));
  }
  CollectiveArgs args;
  args.ins = ins;
  args.out = out;
  args.op = parts.op();
  const bool writes_apart = in_place || parts.widens();
  if (writes_apart) {
    result = parts.scratch(net, out, out.count);
    args.out = result.all();
  }
  run(args);
  parts.divide(args.out);
  if (writes_apart) parts.give_out(out, args.out);
}

}  // namespace

bool needs_parts(const Operation& operation, int rank) {
  const Kind kind = operation.op.kind();
  return kind == Kind::avg || kind == Kind::premul_sum ||
         (operation.kind == OpKind::reduce_scatter && is_in_place(operation, rank));
}

void run_in_parts(Transport& net, const Operation& operation, const CollectiveFunction& run) {
  switch (operation.kind) {
    case OpKind::all_reduce: return all_reduce(net, operation, run);
    case OpKind::reduce: return reduce_to_root(net, operation, run);
    case OpKind::reduce_scatter: return reduce_scatter(net, operation, run);
    case OpKind::broadcast:
    case OpKind::scatter:
    case OpKind::gather:
    case OpKind::all_gather:
    case OpKind::all_to_all:
    case OpKind::barrier:
    case OpKind::send:
    case OpKind::recv: break;
  }
  fail(Errc::internal, "run_in_parts was given a {}", name(operation.kind));
}

}  // namespace dist
