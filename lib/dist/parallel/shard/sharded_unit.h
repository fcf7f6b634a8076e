// ShardedUnit: the parameters of one call of fully_shard(), and what happens to them around the module's
// forward() and backward().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dist/nn/module.h"
#include "dist/parallel/shard/flat_layout.h"
#include "dist/parallel/shard/fully_shard.h"

namespace dist {

class ShardedUnit final : public nn::ModuleHook {
 public:
  ShardedUnit(nn::Module& module, std::vector<nn::NamedParameter> parameters,
              const FullyShardOptions& options, CallSite where);

  Tensor before_forward(nn::Module& module, const Tensor& input) override;
  Tensor after_forward(nn::Module& module, const Tensor& output) override;
  Tensor before_backward(nn::Module& module, const Tensor& grad_output) override;
  Tensor after_backward(nn::Module& module, const Tensor& grad_input) override;
  void before_parameter_grads(nn::Module& module) override;
  void after_parameter_grads(nn::Module& module) override;

  void unshard();
  void reshard();

  const std::vector<nn::NamedParameter>& parameters() const { return parameters_; }
  const FlatLayout& layout() const { return layout_; }
  const FullyShardOptions& options() const { return options_; }
  const ProcessGroup& group() const { return group_; }
  bool syncs = true, all_reduces = true;

 private:
  // Units in the order of their forward(); all units use that of the outermost one.
  struct Order {
    std::vector<ShardedUnit*> units;
    bool is_complete = false;
  };
  void join(nn::Module& module);
  // The unit that comes `step` units after this one in forward, as far as that is known; null for none.
  ShardedUnit* neighbour(int step) const;
  bool casts_inputs() const;
  bool gives_up_after_forward(const nn::Module& module) const;

  void start_gather();
  void collect_whole_grads();
  void restore_parts();
  void reduce_grads();
  void keep_whole_sums();
  void start_reduction();
  void finish_scatter();
  void finish_reduction();

  const std::vector<nn::NamedParameter> parameters_;
  const FullyShardOptions options_;
  const CallSite where_;
  ProcessGroup group_, replicas_;  // along which parameters are sharded, and those with equal shards
  const FlatLayout layout_;
  DType dtype_, gathered_dtype_, computed_dtype_, reduced_dtype_;
  DType given_dtype_ = DType::f32, made_dtype_ = DType::f32;  // of the last forward's input and output
  Tensor shard_, grads_;  // flat: this rank's parts, which values and gradients are views of

  ShardedUnit* outermost_ = nullptr;
  Order order_;  // of the outermost unit

  bool is_gathered_ = false;
  Work gather_;
  Tensor gathering_;    // the shards of all ranks, until they are unpacked
  Tensor whole_;        // the whole parameters, flat, while they are gathered
  Tensor whole_grads_;  // the whole gradients, flat, in backward and between those without reduction
  Tensor whole_sums_;   // between backwards, if they are reduced in another dtype: in that dtype

  struct Reduction {
    Work work;  // the reduce-scatter, then, with lines of shards, the all-reduce of its result
    Tensor in, out;
  };
  std::optional<Reduction> reduction_;
  Tensor unreduced_;  // sums over this line of shards, until they are reduced across lines
  // Of the outermost unit: whose reduce-scatter and whose all-reduce are under way.
  ShardedUnit *scattering_ = nullptr, *averaging_ = nullptr;
};

// The unit of a module, or null.
ShardedUnit* unit_of(const nn::Module& module);
// The units of the module and all below it.
std::vector<ShardedUnit*> units_below(nn::Module& module);

}  // namespace dist
