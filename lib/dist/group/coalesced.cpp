// all_reduce_coalesced: the tensors one after another in new memory, one all_reduce, and back.
#include "dist/group/validate.h"

namespace dist {

void all_reduce_coalesced(const std::vector<Tensor>& tensors, ReduceOp op, const Options& options,
                          Caller at) {
  std::int64_t total = 0;
  {
    const Call call(OpKind::all_reduce, "all_reduce_coalesced", options, at);
    if (options.async_op) call.refuse(".async_op is not possible: the results are copied back at the end");
    if (tensors.empty()) call.refuse("tensors is empty");
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::string name = fmt::format("tensors[{}]", i);
      call.check_defined(name, tensors[i]);
      check_same_kind(call, {name, tensors[i]}, {"tensors[0]", tensors[0]});
      total += tensors[i].numel();
    }
    check_disjoint(call, {"tensors", tensors});
  }
  Tensor whole = empty({total}, tensors[0].dtype(), tensors[0].device());
  std::vector<Tensor> parts;
  for (std::int64_t at_element = 0; const Tensor& t : tensors) {
    parts.push_back(whole.narrow(at_element, t.numel()).view(t.shape()));
    parts.back().copy_(t);
    at_element += t.numel();
  }
  all_reduce(whole, op, options, at);
  for (std::size_t i = 0; i < tensors.size(); ++i) Tensor(tensors[i]).copy_(parts[i]);
}

}  // namespace dist
