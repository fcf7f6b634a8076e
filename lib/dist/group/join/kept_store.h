// The store of a job that no launcher keeps: rank 0 does, at MASTER_ADDR or the address of the init_method.
#pragma once

#include "dist/core/deadline.h"
#include "dist/group/join/rendezvous_plan.h"

namespace dist {

// On rank 0: makes the server and connects to it. Error{resource}: the port is taken.
OpenedStore keep_store(const RendezvousPlan& plan, int generation, Deadline deadline);
// On the other ranks: connects to rank 0's store of this joining. Error{timeout}: rank 0 joins less often.
OpenedStore join_kept_store(const RendezvousPlan& plan, int generation, Deadline deadline);

}  // namespace dist
