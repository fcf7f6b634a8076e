#include "dist/parallel/shard/zero_optimizer.h"

#include <ranges>
#include <utility>

#include "dist/core/fail.h"
#include "dist/group/check_same.h"
#include "dist/parallel/replicas.h"

namespace dist {

namespace {

constexpr std::string_view role = "zero";

}  // namespace

// Buckets are filled from the last parameter to the first, as gradients become ready.
ZeroOptimizer::ZeroOptimizer(nn::Module& model, const Factory& factory, const ZeroOptions& options,
                             CallSite where)
    : model_(model),
      options_(options),
      where_(users_line(where)),
      parameters_(model.named_parameters()),
      bucket_of_(parameters_.size()),
      is_ready_(parameters_.size()),
      rows_(parameters_.size()) {
  const int rank = get_rank(options.group, where_), n = get_world_size(options.group, where_);
  check_start("ZeroOptimizer", parameters_, fmt::format("bucket_bytes {}", options.bucket_bytes),
              options.group, where_);
  std::vector<std::vector<std::size_t>> filled;
  std::size_t bytes = options.bucket_bytes;
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    const Tensor& value = parameters_[i].parameter->value;
    const auto differs = [&](std::size_t j) {
      const Tensor& other = parameters_[j].parameter->value;
      return other.dtype() != value.dtype() || other.device() != value.device();
    };
    if (bytes >= options.bucket_bytes || differs(filled.back().front())) filled.emplace_back(), bytes = 0;
    filled.back().push_back(i);
    bytes += value.nbytes();
  }
  for (auto& members : filled) {
    std::vector<Shape> shapes;
    for (const std::size_t i : members) shapes.push_back(parameters_[i].parameter->value.shape());
    const Tensor& like = parameters_[members[0]].parameter->value;
    Bucket b{.members = members,
             .layout = FlatLayout(shapes, n),
             .values = {},
             .grads = {},
             .shard = {},
             .of_shard = {},
             .pending = members.size(),
             .packed = {},
             .work = {}};
    b.values = empty({b.layout.whole_elements()}, like.dtype(), like.device());
    b.grads = empty({b.layout.whole_elements()}, like.dtype(), like.device());
    b.shard = zeros({b.layout.shard_elements()}, like.dtype(), like.device());
    b.of_shard = zeros({b.layout.shard_elements()}, like.dtype(), like.device());
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::size_t i = members[k];
      nn::Parameter& parameter = *parameters_[i].parameter;
      Tensor value = b.layout.whole(b.values, k), grad = b.layout.whole(b.grads, k);
      parameter.value = std::move(value.copy_(parameter.value));
      parameter.grad = std::move(grad.copy_(parameter.grad));
      bucket_of_[i] = buckets_.size();
      rows_[i] = std::make_unique<nn::Parameter>();
      rows_[i]->value = b.layout.part(b.shard, k, rank);
      rows_[i]->grad = b.layout.part(b.of_shard, k, rank);
      parameter.listen(role, this, [this, i] { on_ready(i); });
    }
    const Tensor shards = empty({b.layout.all_elements()}, like.dtype(), like.device());
    b.layout.pack(b.values, shards);
    b.shard.copy_(shards.narrow(rank * b.layout.shard_elements(), b.layout.shard_elements()));
    buckets_.push_back(std::move(b));
  }
  std::vector<nn::Parameter*> mine;
  for (const auto& row : rows_) mine.push_back(row.get());
  optimizer_ = factory(std::move(mine));
}

ZeroOptimizer::~ZeroOptimizer() {
  for (const auto& [name, parameter] : parameters_) parameter->stop_listening(role, this);
}

void ZeroOptimizer::on_ready(std::size_t parameter) {
  if (is_ready_[parameter])
    fail(Errc::invalid_argument,
         "ZeroOptimizer: the gradient of \"{}\" is ready a second time since the last step(): call step() "
         "after "
         "each backward()",
         parameters_[parameter].name);
  is_ready_[parameter] = true;
  Bucket& b = buckets_[bucket_of_[parameter]];
  if (--b.pending > 0) return;
  b.packed = empty({b.layout.all_elements()}, b.grads.dtype(), b.grads.device());
  b.layout.pack(b.grads, b.packed);
  b.work = reduce_scatter_tensor(b.of_shard, b.packed, ReduceOp::avg,
                                 {.group = options_.group, .async_op = true}, where_);
}

void ZeroOptimizer::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!is_ready_[i])
      fail(
          Errc::invalid_argument,
          "ZeroOptimizer: \"{}\" got no gradient since the last step(), and the other ranks wait for it; run "
          "backward() first, through the whole model",
          parameters_[i].name);
  for (Bucket& b : buckets_)
    std::exchange(b.work, {}).wait();  // a Work keeps the memory that it reads and writes
  optimizer_->step();
  // All gathers at once: each is unpacked while the next ones travel.
  for (Bucket& b : buckets_)
    b.work = all_gather_into_tensor(b.packed, b.shard, {.group = options_.group, .async_op = true}, where_);
  for (Bucket& b : buckets_) {
    std::exchange(b.work, {}).wait();
    b.layout.unpack(std::exchange(b.packed, {}), b.values);
    b.pending = b.members.size();
  }
  is_ready_.assign(parameters_.size(), false);
}

}  // namespace dist
