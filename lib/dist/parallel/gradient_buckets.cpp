// GradientBuckets: parameters report their gradients (on_ready), each bucket is started once it is full and
// all earlier ones have started, and finish() waits for them in order. Gradients that no rank had ready are
// restored at the end.
#include "dist/parallel/gradient_buckets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dist/core/device/recording.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/parallel/bucket_assignment.h"
#include "dist/parallel/packed.h"

namespace dist {

namespace {

constexpr std::string_view role = "ddp";

}  // namespace

GradientBuckets::GradientBuckets(std::vector<nn::NamedParameter> parameters, DeviceGroups groups,
                                 CommHook hook, CallSite where)
    : parameters_(std::move(parameters)),
      groups_(std::move(groups)),
      hook_(std::move(hook)),
      where_(where),
      bucket_of_(parameters_.size()),
      places_(parameters_.size()),
      is_ready_(parameters_.size()),
      used_apart_(parameters_.size()) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].parameter->listen(role, this, [this, i] { on_ready(i); });
}

GradientBuckets::~GradientBuckets() {
  for (const auto& [name, parameter] : parameters_) parameter->stop_listening(role, this);
}

bool GradientBuckets::is_told() const {
  return std::ranges::all_of(parameters_,
                             [this](const auto& named) { return named.parameter->listener(role) == this; });
}

// The buckets of the parameters, taken in this order.
GradientBuckets::Assignment GradientBuckets::assigned(const std::vector<std::size_t>& order,
                                                      std::span<const std::size_t> limits) const {
  std::vector<GradientSize> sizes;
  for (const std::size_t i : order) {
    const Tensor& grad = parameters_[i].parameter->grad;
    sizes.push_back({grad.nbytes(), grad.dtype(), grad.device()});
  }
  auto buckets = assign_buckets(sizes, limits);
  for (auto& bucket : buckets)
    for (std::size_t& member : bucket) member = order[member];
  return buckets;
}

void GradientBuckets::arrange(const std::vector<std::size_t>& order, std::span<const std::size_t> limits) {
  arrange(assigned(order, limits));
}

void GradientBuckets::arrange_in_reverse(std::span<const std::size_t> limits) {
  std::vector<std::size_t> order(parameters_.size());
  std::iota(order.begin(), order.end(), 0);
  Assignment buckets = assigned(order, limits);
  std::ranges::reverse(buckets);
  arrange(std::move(buckets));
}

void GradientBuckets::arrange(Assignment assignment) {
  assignment_ = std::move(assignment);
  buckets_.clear();
  for (const auto& members : assignment_) {
    std::vector<Tensor*> gradients;
    for (const std::size_t i : members) {
      gradients.push_back(&parameters_[i].parameter->grad);
      bucket_of_[i] = buckets_.size();
    }
    buckets_.push_back({.gradients = pack(gradients), .parameters = members.size()});
    for (const std::size_t i : members) places_[i] = parameters_[i].parameter->grad;
  }
}

void GradientBuckets::begin(bool in_graph) {
  in_graph_ = in_graph;
  for (Bucket& bucket : buckets_) bucket.pending = bucket.parameters;
  is_ready_.assign(parameters_.size(), false);
  ready_order_.clear();
  next_ = 0;
  is_under_way_ = true;
}

// A bucket that is under way would be written to later, when zero_grad() has cleared it.
void GradientBuckets::abandon() noexcept {
  is_under_way_ = false;
  for (const auto& finish : started_) try {
      if (finish) finish();
    } catch (...) {  // the first error is on its way
    }
  started_.clear();
  left_out_.clear();
  ready_order_.clear();
  used_apart_.assign(parameters_.size(), false);
}

void GradientBuckets::on_ready(std::size_t parameter) {
  if (!is_under_way_) {
    used_apart_[parameter] = true;
    return;
  }
  if (is_ready_[parameter])
    fail(
        Errc::invalid_argument,
        "parameter \"{}\" was ready twice in one backward: does the model use it in two places? Its gradient "
        "would be sent before it is complete",
        parameters_[parameter].name);
  is_ready_[parameter] = true;
  ready_order_.push_back(parameter);
  count_in(parameter);
}

void GradientBuckets::count_in(std::size_t parameter) {
  put_back_gradient(parameters_[parameter], places_[parameter]);
  --buckets_[bucket_of_[parameter]].pending;
  for (; next_ < buckets_.size() && buckets_[next_].pending == 0; ++next_) {
    if (in_graph_)
      start(next_);
    else
      Recording::between([this, bucket = next_] { start(bucket); });
  }
}

void GradientBuckets::start(std::size_t bucket) {
  const Tensor& gradients = buckets_[bucket].gradients;
  started_.push_back(hook_({bucket, buckets_.size(), gradients, groups_.of(gradients.device()), where_}));
}

std::vector<std::size_t> GradientBuckets::missing() const {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!is_ready_[i]) missing.push_back(i);
  return missing;
}

void GradientBuckets::give_up_on(const std::vector<std::size_t>& missing) {
  for (const std::size_t i : missing) put_back_gradient(parameters_[i], places_[i]);
  Recording::between([this, missing] {
    for (const std::size_t i : missing) left_out_.emplace_back(i, places_[i].clone());
  });
  for (const std::size_t i : missing) count_in(i);
  if (!parameters_.empty()) Recording::between([this, missing] { start_counting_users(missing); });
}

// GPU backends sum only on GPUs. A rank that has used everything writes its ones there, too.
void GradientBuckets::start_counting_users(const std::vector<std::size_t>& missing) {
  const Device device = places_.front().device();
  const Shape shape{static_cast<std::int64_t>(parameters_.size())};
  users_ = ones(shape, DType::i32, missing.empty() ? device : cpu);
  for (const std::size_t i : missing) users_.data<std::int32_t>()[i] = used_apart_[i] ? 1 : 0;
  users_ = users_.to(device);
  Work work = all_reduce(users_, ReduceOp::sum, {.group = groups_.of(device), .async_op = true}, where_);
  started_.push_back([this, work = std::move(work)]() mutable {
    work.wait();
    restore_left_out();
  });
}

void GradientBuckets::restore_left_out() {
  if (left_out_.empty()) return;
  const auto users = users_.to(cpu).to_vector<std::int32_t>();
  for (auto& [i, gradient] : left_out_)
    if (users[i] == 0) places_[i].copy_(gradient);
}

void GradientBuckets::finish() {
  is_under_way_ = false;
  used_apart_.assign(parameters_.size(), false);
  if (!in_graph_) return Recording::between([this] { wait_for_started(); });
  wait_for_started();
  exposed_ = {};  // the host waits for nothing
}

void GradientBuckets::wait_for_started() {
  const auto began = Clock::now();
  for (const auto& finish : started_)
    if (finish) finish();
  exposed_ = Clock::now() - began;
  started_.clear();
  left_out_.clear();
}

}  // namespace dist
