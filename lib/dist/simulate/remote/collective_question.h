// What a remote rank says about a collective that the simulation is to run, in addition to its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/backend/operation.h"
#include "dist/store/wire.h"
#include "dist/transport/members.h"

namespace dist::sim {

struct CollectiveQuestion {
  std::uint32_t context = 0;  // of its group
  Members members = {};
  OpKind kind = OpKind::barrier;
  std::uint64_t sequence = 0;
  DType dtype = DType::u8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;  // in the group
  std::string algorithm = {};
  Timeout timeout = no_timeout;
  CallSite where = {};
  std::vector<std::int64_t> inputs = {}, outputs = {};  // elements of each
};

// Whether outputs[0] is what a rank contributes, too.
constexpr bool works_in_place(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce;
}

CollectiveQuestion question_of(const BackendContext& context, const Operation& operation);
void put(wire::Writer& to, const CollectiveQuestion& question);
// Error{connection}: `rank` (global) cannot ask that, whatever its program does.
CollectiveQuestion get_collective(wire::Reader& from, int rank, int world_size);

}  // namespace dist::sim
