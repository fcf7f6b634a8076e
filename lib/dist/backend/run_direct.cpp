#include "dist/backend/run_direct.h"

#include "dist/core/view_list.h"
#include "dist/transport/opcode.h"

namespace dist {
namespace {

void get_views(const TensorList& tensors, ViewList& views) {
  for (std::size_t i = 0; i < tensors.size(); ++i) views.set(i, tensors[i]);
}

RoundTerms terms_of(const Operation& operation) {
  const auto root = static_cast<std::uint32_t>(operation.root + 1);
  return {opcode_of(operation.kind, operation.dtype()),
          root << 8 | static_cast<std::uint32_t>(operation.op.kind())};
}

}  // namespace

void run_direct(PeerMemory& peers, const Operation& operation, DirectFunction algorithm,
                const RoundLabel& label) {
  ViewList ins(operation.inputs.size()), outs(operation.outputs.size());
  get_views(operation.inputs, ins);
  get_views(operation.outputs, outs);
  const auto first = [](const ViewList& views) { return views.size() == 0 ? TensorView{} : views[0]; };
  algorithm({peers, terms_of(operation), label}, {.in = first(ins),
                                                  .out = first(outs),
                                                  .ins = ins,
                                                  .outs = outs,
                                                  .op = operation.op,
                                                  .root = operation.root});
}

}  // namespace dist
