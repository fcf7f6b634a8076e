// ZeroOptimizer: what it makes of the model (check_model, record, arrange, follow_model), what backward() and
// zero_grad() notify it of (on_ready, on_cleared), and what a step does.
#include "dist/parallel/shard/zero_optimizer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/check_same.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/bucket_assignment.h"
#include "dist/parallel/packed.h"
#include "dist/parallel/replicas.h"

namespace dist {

namespace {

constexpr std::string_view role = "zero";

}  // namespace

ZeroOptimizer::ZeroOptimizer(nn::Module& model, const Factory& factory, const ZeroOptions& options,
                             CallSite where)
    : model_(model),
      options_(options),
      where_(line_of_model(options.group, where)),
      rank_(get_rank(options.group, where)),
      ranks_(get_world_size(options.group, where)),
      parameters_(model.named_parameters()),
      is_ready_(parameters_.size()),
      bucket_of_(parameters_.size()) {
  check_model();
  check_start("ZeroOptimizer", parameters_, fmt::format("bucket_bytes {}", options.bucket_bytes),
              options.group, where_);
  std::vector<nn::Parameter*> mine;
  for (const auto& named : parameters_) {
    rows_.push_back(std::make_unique<nn::Parameter>());
    rows_.back()->name = named.name;
    mine.push_back(rows_.back().get());
  }
  arrange();
  optimizer_ = factory(std::move(mine));
  record();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    nn::Parameter& parameter = *parameters_[i].parameter;
    parameter.listen(nn::Parameter::Event::grad_is_ready, role, this, [this, i] { on_ready(i); });
    parameter.listen(nn::Parameter::Event::cleared, role, this, [this, i] { on_cleared(i); });
  }
}

// Reductions that no step() will wait for end first, unless an error is on its way.
ZeroOptimizer::~ZeroOptimizer() {
  for (Bucket& b : buckets_) {
    try {
      if (std::uncaught_exceptions() == 0) b.work.wait();
    } catch (const Error& error) {
      log(LogLevel::warn, "ZeroOptimizer: {}", error.what());
    }
  }
  for (const auto& [name, parameter] : parameters_) {
    parameter->stop_listening(role, this);
    Placed* const placed = placed_of(*parameter);
    if (!placed) continue;
    std::erase_if(placed->axes, [](const PlacedAxis& axis) {
      return axis.name == role && std::holds_alternative<Partial>(axis.grad_placement);
    });
    if (placed->axes.empty() && placed->copy_of.empty()) parameter->division.reset();
  }
}

void ZeroOptimizer::check_model() const {
  for (const auto& [name, parameter] : parameters_)
    for (const auto& [other, called] :
         {std::pair("ddp", "a DistributedDataParallel"), std::pair("fully_shard", "fully_shard()"),
          std::pair("zero", "another ZeroOptimizer")})
      if (parameter->listener(other))
        fail(Errc::invalid_argument,
             "ZeroOptimizer: the gradient of \"{}\" is reduced by {} already; use one of the two", name,
             called);
  require_whole("ZeroOptimizer", parameters_, options_.group, where_);
  for (const auto& [name, parameter] : parameters_) {
    const Placed* const placed = placed_of(*parameter);
    for (const PlacedAxis& axis : placed ? placed->axes : std::vector<PlacedAxis>{})
      if (!axis.remedy.empty() && std::holds_alternative<Replicate>(axis.placement))
        fail(Errc::invalid_argument,
             "ZeroOptimizer: the gradient of \"{}\" is summed along {} after backward(), when it has been "
             "reduced "
             "already; use DistributedDataParallel or fully_shard()",
             name, axis.name);
  }
}

void ZeroOptimizer::record() {
  for (const auto& [name, parameter] : parameters_)
    place(*parameter)
        .axes.push_back({.name = std::string(role),
                         .group = options_.group,
                         .placement = Replicate(),
                         .grad_placement = Partial(ReduceOp::avg),
                         .remedy = "call the ZeroOptimizer's clip_grad_norm()"});
  record_rows();
}

// What the optimizer has is divided as the model is, and then by rows. The model may have been divided
// further since, into stages.
void ZeroOptimizer::record_rows() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto of_rows = std::make_shared<Placed>(*placed_of(*parameters_[i].parameter));
    for (PlacedAxis& axis : of_rows->axes)
      if (axis.name == role) axis.placement = axis.grad_placement = Shard(0);
    rows_[i]->division = std::move(of_rows);
  }
}

// Buckets are filled from the last parameter to the first, as gradients become ready.
void ZeroOptimizer::arrange() {
  std::vector<std::size_t> order;
  std::vector<GradientSize> sizes;
  is_trained_.resize(parameters_.size());
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    nn::Parameter &parameter = *parameters_[i].parameter, &row = *rows_[i];
    Tensor& value = parameter.value;
    if (is_trained_[i] && !parameter.requires_grad()) value = value.clone();  // it leaves its bucket
    is_trained_[i] = parameter.requires_grad();
    row.value = FlatLayout({value.shape()}, ranks_).part_of(value, 0, rank_);
    row.requires_grad(is_trained_[i]);
    if (!is_trained_[i]) continue;
    order.push_back(i);
    sizes.push_back({value.nbytes(), value.dtype(), value.device()});
  }
  buckets_.clear();
  next_ = 0;
  for (auto& members : assign_buckets(sizes, std::array{options_.bucket_bytes})) {
    for (std::size_t& member : members) member = order[member];
    buckets_.push_back(make_bucket(std::move(members)));
  }
}

ZeroOptimizer::Bucket ZeroOptimizer::make_bucket(std::vector<std::size_t> members) {
  std::vector<Shape> shapes;
  for (const std::size_t i : members) shapes.push_back(parameters_[i].parameter->value.shape());
  const FlatLayout layout(shapes, ranks_);
  const Tensor& like = parameters_[members[0]].parameter->value;
  const auto flat = [&](std::int64_t elements) { return zeros({elements}, like.dtype(), like.device()); };
  Bucket b{.members = std::move(members),
           .layout = layout,
           .values = flat(layout.whole_elements()),
           .grads = flat(layout.whole_elements()),
           .reduced = flat(layout.shard_elements()),
           .pending = shapes.size()};
  for (std::size_t k = 0; k < b.members.size(); ++k) {
    const std::size_t i = b.members[k];
    nn::Parameter& parameter = *parameters_[i].parameter;
    put_back(parameter.value, layout.whole(b.values, k), "value", parameters_[i].name);
    put_back(parameter.grad, layout.whole(b.grads, k), "gradient", parameters_[i].name);
    rows_[i]->value = layout.part_of(parameter.value, k, rank_);
    rows_[i]->grad = layout.part(b.reduced, k, rank_);
    bucket_of_[i] = buckets_.size();
  }
  return b;
}

// Where a backward() has not begun, buckets follow which parameters are trained now.
void ZeroOptimizer::follow_model() {
  if (std::ranges::find(is_ready_, true) != is_ready_.end()) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].parameter->requires_grad() != is_trained_[i]) {
      agree_on_change("ZeroOptimizer", description(parameters_), options_.group, where_);
      return arrange();
    }
}

void ZeroOptimizer::on_ready(std::size_t parameter) {
  follow_model();
  if (is_ready_[parameter])
    fail(Errc::invalid_argument,
         "ZeroOptimizer: the gradient of \"{}\" is ready a second time since the last step(): call step() or "
         "zero_grad() after each backward()",
         parameters_[parameter].name);
  is_ready_[parameter] = true;
  --buckets_[bucket_of_[parameter]].pending;
  start_full_buckets();
}

// In their order, on all ranks alike.
void ZeroOptimizer::start_full_buckets() {
  for (; next_ < buckets_.size() && buckets_[next_].pending == 0; ++next_) {
    Bucket& b = buckets_[next_];
    if (b.packed.is_defined()) continue;  // it was started before one in front of it was cleared
    for (std::size_t k = 0; k < b.members.size(); ++k)
      put_back_gradient(parameters_[b.members[k]], b.layout.whole(b.grads, k));
    b.packed = empty({b.layout.all_elements()}, b.grads.dtype(), b.grads.device());
    b.layout.pack(b.grads, b.packed);
    b.work = reduce_scatter_tensor(b.reduced, b.packed, ReduceOp::avg,
                                   {.group = options_.group, .async_op = true}, where_);
  }
}

// What was reduced of it is not wanted any more.
void ZeroOptimizer::on_cleared(std::size_t parameter) {
  if (!is_ready_[parameter]) return;
  is_ready_[parameter] = false;
  const std::size_t bucket = bucket_of_[parameter];
  Bucket& b = buckets_[bucket];
  ++b.pending;
  next_ = std::min(next_, bucket);
  std::exchange(b.work, {}).wait();
  b.packed = {};
}

void ZeroOptimizer::finish_reductions(std::string_view call) {
  follow_model();
  for (const Bucket& b : buckets_)
    for (std::size_t k = 0; k < b.members.size(); ++k) {
      nn::Parameter& row = *rows_[b.members[k]];
      const bool trains = parameters_[b.members[k]].parameter->requires_grad();
      if (row.requires_grad() == trains) continue;
      row.requires_grad(trains);  // frozen since backward(): it keeps its value, and has no gradient
      if (trains) row.grad = b.layout.part(b.reduced, k, rank_);
    }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].parameter->requires_grad() && !is_ready_[i])
      fail(
          Errc::invalid_argument,
          "ZeroOptimizer: {}: \"{}\" got no gradient since the last step(), and the other ranks wait for it; "
          "run backward() first, through the whole model",
          call, parameters_[i].name);
  for (Bucket& b : buckets_)
    std::exchange(b.work, {}).wait();  // a Work keeps the memory that it reads and writes
}

nn::Norm ZeroOptimizer::clip_grad_norm(double max_norm, const nn::ClipOptions& options) {
  finish_reductions("clip_grad_norm()");
  record_rows();
  std::vector<nn::NamedParameter> rows;
  for (const auto& row : rows_) rows.push_back({row->name, row.get()});
  return nn::clip_grad_norm(rows, max_norm, options);
}

void ZeroOptimizer::step(Caller at) {
  finish_reductions("step()");
  for (const Bucket& b : buckets_)
    for (std::size_t k = 0; k < b.members.size(); ++k)
      put_back(parameters_[b.members[k]].parameter->value, b.layout.whole(b.values, k), "value",
               parameters_[b.members[k]].name);
  optimizer_->step(at);
  // All gathers at once: each is unpacked while the next ones travel.
  for (Bucket& b : buckets_) {
    const Tensor mine = zeros({b.layout.shard_elements()}, b.values.dtype(), b.values.device());
    for (std::size_t k = 0; k < b.members.size(); ++k)
      b.layout.part(mine, k, rank_).copy_(rows_[b.members[k]]->value);
    b.work = all_gather_into_tensor(b.packed, mine, {.group = options_.group, .async_op = true}, where_);
  }
  for (Bucket& b : buckets_) {
    std::exchange(b.work, {}).wait();
    b.layout.unpack(std::exchange(b.packed, {}), b.values);
    b.pending = b.members.size();
  }
  is_ready_.assign(parameters_.size(), false);
  next_ = 0;
}

}  // namespace dist
