// Copies of a model: whether they are alike and begin with the same values; and what makes them equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/mesh/device_mesh.h"
#include "dist/nn/module.h"

namespace dist {

// Parameters, one per line, by name, dtype, whole shape and whether they are trained; for check_same().
std::string description(std::span<const nn::NamedParameter> parameters);
// The same of a model whose values are made equal: in addition buffers, and kinds of devices (of several GPUs
// of a rank, which one).
std::string description(nn::Module& model);

// For a call that divides or copies a model: check_same() of its parameters and of the call's options (lines,
// too), then compare_start(), for the ranks of a group or of a mesh (none: the default group). Every rank of
// it must call it.
void check_start(std::string_view call, std::span<const nn::NamedParameter> parameters,
                 const std::string& options, const ProcessGroup& group, CallSite where);
void check_start(std::string_view call, std::span<const nn::NamedParameter> parameters,
                 const std::string& options, const DeviceMesh& mesh, CallSite where);
// Finding D13 if the ranks of the group began with different values. Does nothing unless copies are compared
// (group/diagnosis/compare_copies.h); every rank of the group must call it. `axis`: of the mesh; empty: the
// group's name.
void compare_start(std::span<const nn::NamedParameter> parameters, const ProcessGroup& group, CallSite where,
                   std::string_view axis = {});

// For a rank whose parameters were frozen or unfrozen since its last step: check_same() of which they are. If
// others' were not, this meets a collective of theirs, and all throw Error{mismatch}.
void agree_on_change(std::string_view call, const std::string& description, const ProcessGroup& group,
                     CallSite where);

// The number of what is being made along the group (a unit of fully_shard(), a DistributedDataParallel, ...):
// the same on every rank, if all make them in one order.
std::uint64_t number_along(const ProcessGroup& group, CallSite where);
// users_line(), and from the second one along the group on its number: "train.cpp:12 (model 2)". So
// DIST_DEBUG=detail tells the collectives of two models apart that have one size.
CallSite line_of_model(const ProcessGroup& group, CallSite where);

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
