// What parallelize_module() has done to a module, kept at the module.
#pragma once

#include <memory>
#include <vector>

#include "dist/parallel/tensor/placements.h"

namespace dist {

struct SplitParameter {
  nn::Parameter* parameter;
  ParameterPlacement placement;
};

// A hook that does nothing: modules keep their hooks.
struct TensorParallelRecord final : nn::ModuleHook {
  DeviceMesh mesh;
  std::vector<const nn::Module*> modules;  // those that a plan has named
  std::vector<SplitParameter>
      parameters;  // those that are not the same on every rank, or whose gradients are not

  SplitParameter* find(const nn::Parameter& parameter);
};

// The module's own, or null.
std::shared_ptr<TensorParallelRecord> record_of(const nn::Module& module);

}  // namespace dist
