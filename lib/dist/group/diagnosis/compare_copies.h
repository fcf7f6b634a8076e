// The comparison of copies (findings D11 to D13): whether tensors that every rank of a group takes to be
// whole are equal on all of them. In a simulation it takes no time; on real ranks it needs DIST_DEBUG=detail.
#pragma once

#include "dist/check/copies.h"
#include "dist/group/process_group.h"

namespace dist {

// Whether copies are compared, so that sketches are worth their time.
bool compares_copies(const ProcessGroup& group);

// Every rank of the group must call it for the same tensors, in the same order. Does nothing unless
// compares_copies(). In a simulation it does not block, and a difference is a finding; otherwise it blocks
// until all ranks have arrived, and throws Error{mismatch} with the finding. Fills in `rank`.
void compare_copies(const ProcessGroup& group, check::Copies mine);

// The same for tensors that the ranks began with or were given (D13): equal in every element. `axis` is that
// of the mesh, or empty for the group's name; `fix` that of the finding, or empty where initial weights
// differ. Undefined tensors are left out.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
void compare_replicas(const ProcessGroup& group, const std::vector<NamedTensor>& tensors, CallSite at,
                      std::string_view axis = {}, std::string_view fix = {});

}  // namespace dist
