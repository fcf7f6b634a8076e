// ShardedUnit: one call of fully_shard(), and what happens around the module's forward() and backward().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/group/given_up.h"
#include "dist/nn/module.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/unit_gradients.h"
#include "dist/parallel/shard/unit_passes.h"
#include "dist/parallel/shard/unit_plan.h"
#include "dist/parallel/shard/unit_values.h"

namespace dist {

class ShardedUnit final : public nn::ModuleHook, public std::enable_shared_from_this<ShardedUnit> {
 public:
  // The unit of these parameters of the module. From now on it is the root of all units below the module.
  ShardedUnit(nn::Module& module, std::vector<nn::NamedParameter> parameters,
              const FullyShardOptions& options, CallSite where);
  ~ShardedUnit() override { passes_->remove(*this); }
  ShardedUnit(const ShardedUnit&) = delete;
  ShardedUnit& operator=(const ShardedUnit&) = delete;
  void listen();                       // to its parameters
  void give_up_step() const noexcept;  // on its groups

  Tensor before_forward(nn::Module& module, const Tensor& input) override;
  Tensor after_forward(nn::Module& module, const Tensor& output) override;
  Tensor before_backward(nn::Module& module, const Tensor& grad_output) override;
  Tensor after_backward(nn::Module& module, const Tensor& grad_input) override;
  void before_parameter_grads(nn::Module& module) override;
  void after_parameter_grads(nn::Module& module) override;
  void abandon(nn::Module& module) noexcept override;

  const UnitPlan& plan() const { return plan_; }
  UnitValues& values() { return values_; }
  UnitGradients& gradients() { return gradients_; }

  // In the passes that are this unit's forward() or backward().
  struct Orders {
    UnitOrder forward, backward, parameter_grads;  // of the last one, empty
  };
  Orders& orders() { return orders_; }

 private:
  using Pass = UnitPasses::Pass;
  void gather_and_prefetch();
  void compare_with_other_ranks() const;
  void agree_on_trained();
  void settle(std::size_t parameter);
  bool casts_inputs() const;
  bool gives_up_after_forward(const nn::Module& module) const;

  const FullyShardOptions options_;
  const UnitPlan plan_;
  const std::uint64_t number_;  // on every rank, among the units of its group
  UnitValues values_;
  UnitGradients gradients_;
  std::shared_ptr<UnitPasses> passes_;  // shared with the other units of the model
  Orders orders_;
  OpenSteps steps_;            // of the root
  std::vector<bool> trained_;  // each parameter, as the ranks have agreed
  bool is_held_ = false;       // gathered by a recomputation, for the backward() that follows it
  DType given_dtype_ = DType::f32, made_dtype_ = DType::f32;  // of the last forward's input and output
};

// The unit of a module, or null.
ShardedUnit* unit_of(const nn::Module& module);
// The units of the module and all below it.
std::vector<ShardedUnit*> units_below(nn::Module& module);

}  // namespace dist
