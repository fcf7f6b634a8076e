// What parallelize_module() has done to a module, kept at the module.
#pragma once

#include <memory>
#include <vector>

#include "dist/group/given_up.h"
#include "dist/mesh/placed.h"
#include "dist/nn/module.h"

namespace dist {

// A hook: modules keep their hooks. What each rank has of a parameter is the parameter's own record.
struct TensorParallelRecord final : nn::ModuleHook {
  ProcessGroup group;
  CallSite where;                          // of parallelize_module()
  std::vector<const nn::Module*> modules;  // those that a plan has named
  std::vector<nn::Parameter*> partial;     // each rank's gradients are summands until finish_gradients()

  Tensor before_forward(nn::Module& module, const Tensor& input) override;
  Tensor after_forward(nn::Module& module, const Tensor& output) override;
  // A backward() after finish_gradients() adds to sums, which only one rank may bring into the next one.
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override;
  Tensor after_backward(nn::Module&, const Tensor& grad_input) override;
  void abandon(nn::Module&) noexcept override;

  // The gradients that have been summed since the last backward(), and whose they are:
  // DistributedDataParallel may move one to other memory.
  struct Summed {
    nn::Parameter* parameter;
    Tensor gradient;
  };
  std::vector<Summed> summed;
  // The module's, and those that are trained, as the ranks have agreed.
  std::vector<nn::NamedParameter> parameters, trained;

 private:
  OpenSteps steps_;
  bool is_under_way_ = false;  // a forward() or backward()
};

// The module's own, or null.
std::shared_ptr<TensorParallelRecord> record_of(const nn::Module& module);

}  // namespace dist
