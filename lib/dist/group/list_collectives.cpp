// The collectives of lists of tensors, or of equal parts of one. In front: checks that several share, and how
// all_to_all_single cuts its tensors into rows.
#include "dist/core/counted.h"
#include "dist/group/call.h"
#include "dist/group/validate.h"

namespace dist {
namespace {

void check_n_times(const Call& call, const Named& whole, const Named& part) {
  const std::int64_t expected = part.tensor.numel() * call.group.size();
  if (whole.tensor.numel() != expected) {
    call.refuse("{} has {}; it needs {} x {} of {} = {}", whole.name,
                counted(whole.tensor.numel(), "element"), counted(call.group.size(), "rank"),
                counted(part.tensor.numel(), "element"), part.name, expected);
  }
}

// Splits `t` along its first axis, as the arguments of all_to_all_single say.
std::vector<Tensor> split_rows(const Call& call, const Named& t, std::string_view splits_name,
                               const std::vector<std::int64_t>& splits) {
  const int n = call.group.size();
  if (t.tensor.dim() == 0) call.refuse("{} has no axis to split", t.name);
  const std::int64_t rows = t.tensor.size(0);
  if (splits.empty()) {
    if (rows % n != 0) {
      call.refuse("{} has {}, which {} ranks cannot divide equally; give {}", t.name, counted(rows, "row"), n,
                  splits_name);
    }
    std::vector<Tensor> parts;
    for (int i = 0; i < n; ++i) parts.push_back(t.tensor.narrow(i * (rows / n), rows / n));
    return parts;
  }
  if (static_cast<int>(splits.size()) != n) {
    call.refuse("{} has {}; it needs one for each of {}", splits_name,
                counted(splits.size(), "entry", "entries"), counted(n, "rank"));
  }
  std::int64_t sum = 0;
  for (const auto split : splits) {
    if (split < 0 || split > rows)
      call.refuse("{} has the entry {}; {} has {}", splits_name, split, t.name, counted(rows, "row"));
    sum += split;
  }
  if (sum != rows)
    call.refuse("{} sums to {}, but {} has {}", splits_name, sum, t.name, counted(rows, "row"));
  std::vector<Tensor> parts;
  std::int64_t first = 0;
  for (const auto split : splits) {
    parts.push_back(t.tensor.narrow(first, split));
    first += split;
  }
  return parts;
}

// Whether both tensors are n equal parts and share no memory, as in most calls: then the parts need no
// tensors of their own.
bool are_equal_shares(const Tensor& a, const Tensor& b, int n) {
  const auto divides = [n](const Tensor& t) { return t.dim() > 0 && t.size(0) % n == 0; };
  return divides(a) && divides(b) && a.numel() == b.numel() && !share_memory(a, b);
}

}  // namespace

Work scatter(Tensor& out, const std::vector<Tensor>& list, int src, const Options& options, Caller at) {
  Call call(OpKind::scatter, "scatter", options, at);
  call.check_defined("out", out);
  call.set_root("src", src, options.group_src);
  const NamedList parts{"list", list};
  if (call.is_root()) {
    check_list(call, parts, {"out", out});
    check_own_share(call, parts, {"out", out});
    check_apart(call, parts, {"out", out});
    call.operation.inputs.borrow(parts.tensors);
  } else {
    check_empty(call, parts, "source", call.group.global_rank_of(call.operation.root));
  }
  call.operation.outputs.borrow(out);
  return call.issue();
}

Work gather(const Tensor& t, std::vector<Tensor>& list, int dst, const Options& options, Caller at) {
  Call call(OpKind::gather, "gather", options, at);
  call.check_defined("t", t);
  call.set_root("dst", dst, options.group_dst);
  const NamedList parts{"list", list};
  if (call.is_root()) {
    check_list(call, parts, {"t", t});
    check_own_share(call, parts, {"t", t});
    check_disjoint(call, parts);
    check_apart(call, parts, {"t", t});
    call.operation.outputs.borrow(parts.tensors);
  } else {
    check_empty(call, parts, "destination", call.group.global_rank_of(call.operation.root));
  }
  call.operation.inputs.borrow(t);
  return call.issue();
}

Work all_gather(std::vector<Tensor>& list, const Tensor& t, const Options& options, Caller at) {
  Call call(OpKind::all_gather, "all_gather", options, at);
  call.check_defined("t", t);
  const NamedList parts{"list", list};
  check_list(call, parts, {"t", t});
  check_own_share(call, parts, {"t", t});
  check_disjoint(call, parts);
  check_apart(call, parts, {"t", t});
  call.operation.inputs.borrow(t);
  call.operation.outputs.borrow(parts.tensors);
  return call.issue();
}

Work all_gather_into_tensor(Tensor& out, const Tensor& t, const Options& options, Caller at) {
  Call call(OpKind::all_gather, "all_gather_into_tensor", options, at);
  call.check_defined("out", out);
  call.check_defined("t", t);
  check_same_kind(call, {"out", out}, {"t", t});
  check_n_times(call, {"out", out}, {"t", t});
  call.operation.outputs.split(out, call.group.size());
  check_apart_from_parts(call, {"out", out}, {"t", t});
  call.operation.inputs.borrow(t);
  return call.issue();
}

Work reduce_scatter(Tensor& out, const std::vector<Tensor>& list, ReduceOp op, const Options& options,
                    Caller at) {
  Call call(OpKind::reduce_scatter, "reduce_scatter", options, at);
  call.check_defined("out", out);
  const NamedList parts{"list", list};
  check_list(call, parts, {"out", out});
  check_own_share(call, parts, {"out", out});
  check_apart(call, parts, {"out", out});
  call.operation.inputs.borrow(parts.tensors);
  call.operation.outputs.borrow(out);
  call.operation.op = op;
  return call.issue();
}

Work reduce_scatter_tensor(Tensor& out, const Tensor& t, ReduceOp op, const Options& options, Caller at) {
  Call call(OpKind::reduce_scatter, "reduce_scatter_tensor", options, at);
  call.check_defined("out", out);
  call.check_defined("t", t);
  check_same_kind(call, {"out", out}, {"t", t});
  check_n_times(call, {"t", t}, {"out", out});
  call.operation.inputs.split(t, call.group.size());
  check_apart_from_parts(call, {"t", t}, {"out", out});
  call.operation.outputs.borrow(out);
  call.operation.op = op;
  return call.issue();
}

Work all_to_all(std::vector<Tensor>& outs, const std::vector<Tensor>& ins, const Options& options,
                Caller at) {
  Call call(OpKind::all_to_all, "all_to_all", options, at);
  if (ins.empty()) call.refuse("ins is empty; it needs one tensor per rank");
  call.check_defined("ins[0]", ins[0]);
  const NamedList sent{"ins", ins}, received{"outs", outs};
  check_list(call, sent, {"ins[0]", ins[0]});
  check_list(call, received, {"ins[0]", ins[0]});
  check_own_share(call, received, {"ins[this rank]", ins[static_cast<std::size_t>(call.group.rank)]});
  check_disjoint(call, received);
  check_apart(call, received, sent);
  call.operation.inputs.borrow(sent.tensors);
  call.operation.outputs.borrow(received.tensors);
  return call.issue();
}

Work all_to_all_single(Tensor& out, const Tensor& in, const std::vector<std::int64_t>& out_splits,
                       const std::vector<std::int64_t>& in_splits, const Options& options, Caller at) {
  Call call(OpKind::all_to_all, "all_to_all_single", options, at);
  call.check_defined("out", out);
  call.check_defined("in", in);
  check_same_kind(call, {"out", out}, {"in", in});
  const int n = call.group.size();
  if (out_splits.empty() && in_splits.empty() && are_equal_shares(out, in, n)) {
    call.operation.outputs.split(out, n);
    call.operation.inputs.split(in, n);
    return call.issue();
  }
  std::vector<Tensor> outs = split_rows(call, {"out", out}, "out_splits", out_splits);
  std::vector<Tensor> ins = split_rows(call, {"in", in}, "in_splits", in_splits);
  check_own_share(call, {"out", outs}, {"in", ins[static_cast<std::size_t>(call.group.rank)]});
  check_apart(call, NamedList{"out", outs}, NamedList{"in", ins});
  call.operation.outputs = std::move(outs);
  call.operation.inputs = std::move(ins);
  return call.issue();
}

}  // namespace dist
