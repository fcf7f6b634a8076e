// Operation: one call of a user as data, checked and normalised, ready for any backend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dist/core/call_site.h"
#include "dist/core/deadline.h"
#include "dist/core/op_kind.h"
#include "dist/core/tensor_list.h"
#include "dist/transport/opcode.h"

namespace dist {

// Which tensors an Operation of each kind carries:
//   send            inputs[0] to peer
//   recv            outputs[0] from peer (or any_rank)
//   broadcast       outputs[0] on every rank; the root's is the source
//   reduce          outputs[0]: contribution, and on the root the result; on other ranks it is not changed
//   all_reduce      outputs[0] in place
//   scatter         root: inputs[i] to rank i; every rank: outputs[0]
//   gather          every rank: inputs[0]; root: outputs[i] from rank i
//   all_gather      inputs[0]; outputs[i] from rank i (counts may differ between ranks)
//   reduce_scatter  inputs[i]: this rank's contribution to rank i; outputs[0]
//   all_to_all      inputs[i] to rank i, outputs[i] from rank i (counts may differ)
//   barrier         none
//
// Ranks are group ranks. The tensors are kept alive until the operation has ended: by the caller where it
// blocks, by the operation itself where it owns them.
struct Operation {
  OpKind kind = OpKind::barrier;
  std::uint64_t sequence = 0;  // per group: collectives count 0, 1, 2, ...; messages count separately
  TensorList inputs, outputs;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  int peer = 0;
  std::uint64_t tag = 0;
  std::string algorithm;  // empty: the library chooses
  Timeout timeout = default_timeout;
  CallSite where;
  std::uint32_t given_up = 0;  // of a collective: steps that this rank has given up (group/given_up.h)
  std::uint64_t record = 0;    // its entry in the flight recorder

  void own_tensors() {
    inputs.own();
    outputs.own();
  }
  // Elements and dtype of this rank's part: the figures that messages and reports quote.
  std::int64_t count() const;
  DType dtype() const {  // u8 for a barrier
    return !outputs.empty() ? outputs.dtype() : !inputs.empty() ? inputs.dtype() : DType::u8;
  }
  Device device() const {  // the CPU for a barrier
    return !outputs.empty() ? outputs.device() : !inputs.empty() ? inputs.device() : cpu;
  }
  // What must be equal on all ranks: kind, dtype, reduction, and root (modulo 2048). A send and its
  // receive have the same opcode.
  std::uint32_t opcode() const {
    if (!is_collective(kind)) return opcode_of(OpKind::send, dtype());
    const auto terms = static_cast<std::uint32_t>((root + 1) << 4 | static_cast<int>(op.kind()));
    return opcode_of(kind, dtype(), terms, given_up);
  }
  // The number of elements that must be equal on all ranks, plus one; 0: there is none.
  std::uint64_t elements() const;
  Amount amount() const;      // for messages and reports; empty for a barrier
  std::string doing() const;  // "all_reduce #7 (16384 f32)"
};

}  // namespace dist
