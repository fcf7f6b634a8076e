#include "dist/parallel/tensor/placements.h"

#include <utility>

#include "dist/core/fail.h"
#include "dist/parallel/packed.h"
#include "dist/parallel/replicas.h"
#include "dist/parallel/tensor/record.h"

namespace dist {

namespace {

// The axis of tensor parallelism is a parameter's first one.
void set_grad_placement(const TensorParallelRecord& record, const Placement& placement) {
  for (nn::Parameter* const parameter : record.partial)
    placed_of(*parameter)->axes[0].grad_placement = placement;
}

}  // namespace

std::shared_ptr<TensorParallelRecord> record_of(const nn::Module& module) {
  for (const auto& hook : module.hooks())
    if (auto record = std::dynamic_pointer_cast<TensorParallelRecord>(hook)) return record;
  return nullptr;
}

Tensor TensorParallelRecord::before_forward(nn::Module& module, const Tensor& input) {
  is_under_way_ = true;
  if (!module.is_training()) return input;
  if (are_trained(trained, parameters)) return input;
  agree_on_change("parallelize_module", description(parameters), group, where);
  trained = trained_of(parameters);
  return input;
}

Tensor TensorParallelRecord::after_forward(nn::Module& module, const Tensor& output) {
  is_under_way_ = false;
  if (module.is_training() && steps_.forward(module.forwards_kept())) give_up_step(group);
  return output;
}

Tensor TensorParallelRecord::after_backward(nn::Module&, const Tensor& grad_input) {
  is_under_way_ = false;
  return grad_input;
}

void TensorParallelRecord::abandon(nn::Module&) noexcept {
  steps_.abandon();
  if (std::exchange(is_under_way_, false)) give_up_step(group);
}

Tensor TensorParallelRecord::before_backward(nn::Module&, const Tensor& grad_output) {
  is_under_way_ = true;
  steps_.backward();
  if (summed.empty()) return grad_output;
  for (auto& [parameter, gradient] : summed) {
    if (group.rank() == 0) continue;
    gradient.zero_();
    if (parameter->grad.shape() == gradient.shape()) parameter->grad.zero_();  // not that of a gathered unit
  }
  summed.clear();
  set_grad_placement(*this, Partial());
  return grad_output;
}

void finish_gradients(nn::Module& module, Caller at) {
  const auto record = record_of(module);
  if (!record)
    fail(Errc::invalid_argument,
         "finish_gradients at {}: {} is not tensor parallel; call parallelize_module() for it first",
         CallSite(at).str(), module.str());
  if (!record->summed.empty()) return;  // no backward() since
  std::vector<Tensor> gradients;
  std::vector<TensorParallelRecord::Summed> summed;
  for (nn::Parameter* const parameter : record->partial) {
    if (!parameter->requires_grad()) continue;
    gradients.push_back(parameter->grad);
    summed.push_back({parameter, parameter->grad});
  }
  if (!gradients.empty()) all_reduce_coalesced(gradients, ReduceOp::sum, {.group = record->group}, at);
  record->summed = std::move(summed);
  set_grad_placement(*record, Replicate());
}

}  // namespace dist
