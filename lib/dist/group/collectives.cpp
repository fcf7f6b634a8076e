// The collectives of one tensor. Each function checks its arguments and becomes one Operation; those of lists
// and parts are in list_collectives.cpp.
#include "dist/group/call.h"

namespace dist {

Work broadcast(Tensor& t, int src, const Options& options, Caller at) {
  Call call(OpKind::broadcast, "broadcast", options, at);
  call.check_defined("t", t);
  call.set_root("src", src, options.group_src);
  call.operation.outputs.borrow(t);
  return call.issue();
}

Work reduce(Tensor& t, int dst, ReduceOp op, const Options& options, Caller at) {
  Call call(OpKind::reduce, "reduce", options, at);
  call.check_defined("t", t);
  call.set_root("dst", dst, options.group_dst);
  call.operation.outputs.borrow(t);
  call.operation.op = op;
  return call.issue();
}

Work all_reduce(Tensor& t, ReduceOp op, const Options& options, Caller at) {
  Call call(OpKind::all_reduce, "all_reduce", options, at);
  call.check_defined("t", t);
  call.operation.outputs.borrow(t);
  call.operation.op = op;
  return call.issue();
}

Work barrier(const Options& options, Caller at) {
  Call call(OpKind::barrier, "barrier", options, at);
  return call.issue();
}

}  // namespace dist
