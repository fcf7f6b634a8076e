// The collectives, made of NCCL's calls.
#pragma once

#include <vector>

#include "dist/backend/nccl/communicator.h"
#include "dist/backend/operation.h"

namespace dist::nccl {

// Enqueues this rank's part on the current stream. Throws the same errors as Communicator::run().
void run(Communicator& communicator, const Operation& operation, const Patience& patience);

// A message on its lane, and the stream that it is enqueued on.
struct Message {
  Communicator& communicator;
  const Operation& operation;
  StreamHandle stream;
  Patience patience;
};
// Enqueues all of them as one operation of NCCL: see Communicator::run_together(). Those of one communicator
// run one after the other.
void run_together(const std::vector<Message>& messages);

}  // namespace dist::nccl
