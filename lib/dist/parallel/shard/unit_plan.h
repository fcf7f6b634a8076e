// UnitPlan: what fully_shard() decides about a unit, and what then never changes.
#pragma once

#include <string>
#include <vector>

#include "dist/mesh/placed.h"
#include "dist/nn/module.h"
#include "dist/parallel/shard/flat_layout.h"
#include "dist/parallel/shard/fully_shard.h"

namespace dist {

struct UnitPlan {
  // The unit of these parameters of the module. Throws Error{invalid_argument} for options and parameters
  // that do not fit; nothing has changed then.
  UnitPlan(const nn::Module& module, std::vector<nn::NamedParameter> of, const FullyShardOptions& options,
           CallSite at);

  std::vector<nn::NamedParameter> parameters;
  std::string name;              // "Linear(4, 4) (\"weight\")", for messages
  CallSite where;                // the call of fully_shard()
  std::vector<PlacedAxis> axes;  // what it adds to each parameter's record
  ProcessGroup group, replicas;  // along which parameters are sharded, and those with equal shards
  int rank = 0, ranks = 1;       // in the group
  FlatLayout layout;             // of all parameters
  Device device = cpu;
  // What the parameters are, are gathered in, are computed with, and what gradients are reduced in.
  DType dtype = DType::f32, gathered = DType::f32, computed = DType::f32, reduced = DType::f32;
};

}  // namespace dist
