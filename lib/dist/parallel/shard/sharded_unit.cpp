// ShardedUnit: gathering (start_gather, unshard, reshard), reducing (start_reduction, finish_scatter,
// finish_reduction), and when each happens: the hooks.
#include "dist/parallel/shard/sharded_unit.h"

#include <algorithm>
#include <utility>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"
#include "dist/nn/checks.h"

namespace dist {

namespace {

std::vector<Shape> shapes_of(const std::vector<nn::NamedParameter>& parameters) {
  std::vector<Shape> shapes;
  for (const auto& named : parameters) shapes.push_back(named.parameter->value.shape());
  return shapes;
}

ProcessGroup shard_group(const DeviceMesh& mesh, CallSite where) {
  return mesh ? mesh.get_group(MeshAxis(mesh.dim() - 1, where)) : ProcessGroup();
}

Tensor in_dtype(const Tensor& t, DType dtype) {
  return t.is_defined() && is_floating_point(t.dtype()) ? t.to(dtype) : t;
}

}  // namespace

ShardedUnit* unit_of(const nn::Module& module) {
  for (const auto& hook : module.hooks())
    if (auto* const unit = dynamic_cast<ShardedUnit*>(hook.get())) return unit;
  return nullptr;
}

std::vector<ShardedUnit*> units_below(nn::Module& module) {
  std::vector<ShardedUnit*> units;
  for (const nn::Module* const each : module.modules())
    if (ShardedUnit* const unit = unit_of(*each)) units.push_back(unit);
  return units;
}

ShardedUnit::ShardedUnit(nn::Module& module, std::vector<nn::NamedParameter> parameters,
                         const FullyShardOptions& options, CallSite where)
    : parameters_(std::move(parameters)),
      options_(options),
      where_(where),
      group_(shard_group(options.mesh, where)),
      replicas_(options.mesh && options.mesh.dim() == 2 ? options.mesh.get_group(MeshAxis(0, where))
                                                        : ProcessGroup()),
      layout_(shapes_of(parameters_), get_world_size(group_, where)),
      dtype_(parameters_.empty() ? DType::f32 : parameters_[0].parameter->value.dtype()) {
  gathered_dtype_ = options.mixed_precision.param_dtype.value_or(dtype_);
  computed_dtype_ = nn::is_trainable(gathered_dtype_) ? gathered_dtype_ : DType::f32;
  reduced_dtype_ = options.mixed_precision.reduce_dtype.value_or(computed_dtype_);
  for (const auto& [name, parameter] : parameters_)
    if (parameter->value.dtype() != dtype_)
      fail(Errc::invalid_argument,
           "fully_shard: \"{}\" of {} is {}, other parameters of the unit are {}; one unit has one dtype: "
           "convert "
           "the module first",
           name, module.str(), dist::name(parameter->value.dtype()), dist::name(dtype_));
  const Device device = parameters_.empty() ? cpu : parameters_[0].parameter->value.device();
  const int rank = get_rank(group_, where);
  shard_ = zeros({layout_.shard_elements()}, dtype_, device);
  grads_ = zeros({layout_.shard_elements()}, dtype_, device);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    nn::Parameter& parameter = *parameters_[i].parameter;
    const Tensor rows = layout_.part(shard_, i, rank), grads = layout_.part(grads_, i, rank);
    if (rows.numel() > 0) {
      const std::int64_t width = rows.numel() / layout_.rows(i, rank);
      const auto mine = [&](const Tensor& whole) {
        return whole.view({whole.numel()})
            .narrow(layout_.first_row(i, rank) * width, rows.numel())
            .view(rows.shape());
      };
      Tensor(rows).copy_(mine(parameter.value));
      Tensor(grads).copy_(mine(parameter.grad));
    }
    Placed& placed = place(parameter);
    if (replicas_) placed.axes.push_back({.name = options.mesh.names()[0], .group = replicas_});
    placed.axes.push_back({.name = options.mesh ? options.mesh.names().back() : "fsdp",
                           .group = group_,
                           .placement = Shard(0),
                           .grad_placement = Shard(0)});
    parameter.value = rows;
    parameter.grad = grads;
  }
}

void ShardedUnit::start_gather() {
  if (is_gathered_ || gathering_.is_defined() || parameters_.empty()) return;
  gathering_ = empty({layout_.all_elements()}, gathered_dtype_, shard_.device());
  const Tensor mine = gathered_dtype_ == dtype_ ? shard_ : shard_.to(gathered_dtype_);
  gather_ = all_gather_into_tensor(gathering_, mine, {.group = group_, .async_op = true}, where_);
}

void ShardedUnit::unshard() {
  if (is_gathered_ || parameters_.empty()) return;
  start_gather();
  std::exchange(gather_, {}).wait();  // a Work keeps the memory that it reads and writes
  whole_ = empty({layout_.whole_elements()}, computed_dtype_, shard_.device());
  layout_.unpack(std::exchange(gathering_, {}), whole_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].parameter->value = layout_.whole(whole_, i);
  is_gathered_ = true;
}

void ShardedUnit::reshard() {
  if (!is_gathered_) return;
  const int rank = get_rank(group_, where_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].parameter->value = layout_.part(shard_, i, rank);
  whole_ = {};
  is_gathered_ = false;
}

// The outermost unit is the one whose forward() comes first.
void ShardedUnit::join(nn::Module& module) {
  if (!outermost_)
    for (ShardedUnit* const unit : units_below(module)) unit->outermost_ = this;
  Order& order = outermost_->order_;
  if (outermost_ == this && !order.units.empty()) order.is_complete = true;
  if (!order.is_complete) order.units.push_back(this);
}

ShardedUnit* ShardedUnit::neighbour(int step) const {
  const auto& units = outermost_->order_.units;
  const auto there = std::ranges::find(units, this) - units.begin() + step;
  return there < 0 || there >= std::ssize(units) ? nullptr : units[static_cast<std::size_t>(there)];
}

bool ShardedUnit::casts_inputs() const {
  return options_.mixed_precision.param_dtype && options_.mixed_precision.cast_forward_inputs;
}

bool ShardedUnit::gives_up_after_forward(const nn::Module& module) const {
  return !module.is_training() || options_.reshard_after_forward.value_or(outermost_ != this);
}

Tensor ShardedUnit::before_forward(nn::Module& module, const Tensor& input) {
  join(module);
  unshard();
  if (ShardedUnit* const next = neighbour(1)) next->start_gather();
  given_dtype_ = input.dtype();
  return casts_inputs() ? in_dtype(input, computed_dtype_) : input;
}

Tensor ShardedUnit::after_forward(nn::Module& module, const Tensor& output) {
  if (gives_up_after_forward(module)) reshard();
  made_dtype_ = output.dtype();
  return in_dtype(output, options_.mixed_precision.output_dtype.value_or(made_dtype_));
}

Tensor ShardedUnit::before_backward(nn::Module&, const Tensor& grad_output) {
  unshard();
  // The outermost unit computes first and last in backward; after it comes the last one of forward.
  ShardedUnit* const next = outermost_ == this ? outermost_->order_.units.back() : neighbour(-1);
  if (next && next != outermost_) next->start_gather();
  collect_whole_grads();
  return options_.mixed_precision.output_dtype ? in_dtype(grad_output, made_dtype_) : grad_output;
}

// If gradients are deferred, they are still to come; those that are there already wait for them.
Tensor ShardedUnit::after_backward(nn::Module& module, const Tensor& grad_input) {
  reshard();
  if (!module.defers_parameter_grads()) {
    reduce_grads();
  } else if (!parameters_.empty()) {
    restore_parts();
    keep_whole_sums();
  }
  return casts_inputs() ? in_dtype(grad_input, given_dtype_) : grad_input;
}

void ShardedUnit::before_parameter_grads(nn::Module&) { collect_whole_grads(); }
void ShardedUnit::after_parameter_grads(nn::Module&) { reduce_grads(); }

// From now on layers add to whole gradients.
void ShardedUnit::collect_whole_grads() {
  if (!whole_grads_.is_defined() && !parameters_.empty())
    whole_grads_ = zeros({layout_.whole_elements()}, computed_dtype_, shard_.device());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].parameter->grad = layout_.whole(whole_grads_, i);
}

void ShardedUnit::restore_parts() {
  const int rank = get_rank(group_, where_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].parameter->grad = layout_.part(grads_, i, rank);
}

void ShardedUnit::reduce_grads() {
  restore_parts();
  if (!parameters_.empty()) syncs ? start_reduction() : keep_whole_sums();
  if (outermost_ != this) return;
  if (scattering_) std::exchange(scattering_, nullptr)->finish_scatter();
  if (averaging_) std::exchange(averaging_, nullptr)->finish_reduction();
}

// Between backwards, sums are in the dtype of the reduction: bf16 would lose what is small compared with
// them.
void ShardedUnit::keep_whole_sums() {
  if (reduced_dtype_ == computed_dtype_) return;
  const Tensor grads = std::exchange(whole_grads_, {}).to(reduced_dtype_);
  if (whole_sums_.is_defined())
    whole_sums_.add_(grads);
  else
    whole_sums_ = grads;
}

// One reduce-scatter at a time: the one before has had this unit's backward to finish.
void ShardedUnit::start_reduction() {
  ShardedUnit*& last = outermost_->scattering_;
  if (last) last->finish_scatter();
  last = this;
  Reduction& r = reduction_.emplace();
  if (whole_sums_.is_defined()) keep_whole_sums();
  r.in = empty({layout_.all_elements()}, reduced_dtype_, shard_.device());
  layout_.pack(std::exchange(whole_sums_.is_defined() ? whole_sums_ : whole_grads_, {}), r.in);
  r.out = empty({layout_.shard_elements()}, reduced_dtype_, shard_.device());
  r.work = reduce_scatter_tensor(r.out, r.in, ReduceOp::avg, {.group = group_, .async_op = true}, where_);
  if (get_world_size(group_, where_) == 1) std::exchange(last, nullptr)->finish_scatter();
}

// One all-reduce at a time, too, in the next unit's backward. Without all_reduces the sums wait for the next
// one with it.
void ShardedUnit::finish_scatter() {
  Reduction& r = *reduction_;
  std::exchange(r.work, {}).wait();
  r.in = {};
  if (!replicas_) return finish_reduction();
  if (unreduced_.is_defined()) r.out.add_(std::exchange(unreduced_, {}));
  if (!all_reduces) {
    unreduced_ = r.out;
    reduction_.reset();
    return;
  }
  ShardedUnit*& last = outermost_->averaging_;
  if (last) last->finish_reduction();
  last = this;
  r.work = all_reduce(r.out, ReduceOp::avg, {.group = replicas_, .async_op = true}, where_);
}

void ShardedUnit::finish_reduction() {
  Reduction r = std::move(*reduction_);
  reduction_.reset();
  r.work.wait();
  grads_.add_(r.out.dtype() == dtype_ ? r.out : r.out.to(dtype_));
}

}  // namespace dist
