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
//   reduce          outputs[0]: contribution, and on the root the result; elsewhere it is left as it was
//   all_reduce      outputs[0] in place
//   scatter         root: inputs[i] to rank i; every rank: outputs[0]
//   gather          every rank: inputs[0]; root: outputs[i] from rank i
//   all_gather      inputs[0]; outputs[i] from rank i (counts may differ between ranks)
//   reduce_scatter  inputs[i]: this rank's contribution to rank i; outputs[0]
//   all_to_all      inputs[i] to rank i, outputs[i] from rank i (counts may differ)
//   barrier         none
//
// Ranks are group ranks. Somebody keeps the tensors alive until the operation has ended: the caller where it
// blocks, the operation itself where it owns them.
struct Operation {
  OpKind kind = OpKind::barrier;
  std::uint64_t sequence = 0;  // per group: collectives count 0, 1, 2, ...; point-to-point counts apart
  TensorList inputs, outputs;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  int peer = 0;
  std::uint64_t tag = 0;
  std::string algorithm;  // empty: choose
  Timeout timeout = default_timeout;
  CallSite where;
  std::uint64_t record = 0;  // its entry in the flight recorder

  void own_tensors() {
    inputs.own();
    outputs.own();
  }
  // Elements and dtype of this rank's part: the numbers that messages and reports quote.
  std::int64_t count() const;
  DType dtype() const {  // u8 for a barrier
    return !outputs.empty() ? outputs.dtype() : !inputs.empty() ? inputs.dtype() : DType::u8;
  }
  Device device() const {  // the CPU for a barrier
    return !outputs.empty() ? outputs.device() : !inputs.empty() ? inputs.device() : cpu;
  }
  // What must be equal on all ranks: kind, dtype, reduction, root (of 2047 one after another). A send and its
  // receive have the same.
  std::uint32_t opcode() const {
    if (!is_collective(kind)) return opcode_of(OpKind::send, dtype());
    return opcode_of(kind, dtype(),
                     static_cast<std::uint32_t>(root + 1) << 4 | static_cast<std::uint32_t>(op.kind()));
  }
  // The number of elements that must be equal on all ranks, plus one; 0: there is none.
  std::uint64_t elements() const;
  Amount amount() const;      // that messages and reports quote; nothing for a barrier
  std::string doing() const;  // "all_reduce #7 (16384 f32)"
};

}  // namespace dist
