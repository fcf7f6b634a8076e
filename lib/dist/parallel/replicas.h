// Makes copies of a model equal: first checks that they have the same tensors, then gives them the same
// values.
#pragma once

#include <span>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/module.h"

namespace dist {

// Every rank of the group must call it. Throws Error{mismatch} on all ranks if one differs from group rank 0
// in its parameters or buffers, by order, name, shape, dtype, whether it is trained, or kind of device (and
// of several GPUs of a rank, by which one); names the first such rank and tensor.
void check_alike(nn::Module& model, const ProcessGroup& group, CallSite where = CallSite::current());

// Those that are trained, and whether `known` are they.
std::vector<nn::NamedParameter> trained_of(std::span<const nn::NamedParameter> all);
bool are_trained(std::span<const nn::NamedParameter> known, std::span<const nn::NamedParameter> all);

// A group works on one device per rank. For a model over several devices of each rank: the group itself for
// the first device, and for each further one another group of the same ranks.
class DeviceGroups {
 public:
  // Every rank of the group must call it, with models that are alike. `group` is not empty.
  DeviceGroups(nn::Module& model, const ProcessGroup& group, CallSite where = CallSite::current());
  const ProcessGroup& of(Device device) const;  // the group itself for a device that the model is not on

 private:
  std::vector<Device> devices_;
  std::vector<ProcessGroup> groups_;  // at least one
};

// Every rank of the group must call it: parameters and buffers become group rank 0's.
void broadcast_state(nn::Module& model, const DeviceGroups& groups, CallSite where = CallSite::current());
void broadcast_state(nn::Module& model, const ProcessGroup& group, CallSite where = CallSite::current());

}  // namespace dist
