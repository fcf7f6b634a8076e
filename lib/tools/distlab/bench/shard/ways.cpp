#include "distlab/bench/shard/ways.h"

#include "dist/dist.h"
#include "dist/nn/adam.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/random.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"

namespace distlab::bench {
namespace {

using dist::Tensor;
namespace nn = dist::nn;

constexpr std::int64_t vocabulary = 256;

std::unique_ptr<nn::Optimizer> adamw(std::vector<nn::Parameter*> parameters) {
  return std::make_unique<nn::AdamW>(std::move(parameters), nn::AdamWOptions{.lr = 1e-3});
}

class Trained : public Way {
 public:
  explicit Trained(const ShardBenchOptions& options) {
    nn::manual_seed(1);
    gpt_ = std::make_unique<nn::GPT>(nn::GptOptions{.vocab_size = vocabulary,
                                                    .context = options.context,
                                                    .layers = options.layers,
                                                    .heads = 4,
                                                    .width = options.width});
    tokens_ = dist::empty({options.batch_size, options.context}, dist::DType::i64, dist::cpu);
    std::int64_t token = 7 * dist::get_rank();
    for (std::int64_t& each : tokens_.data<std::int64_t>()) each = token = (5 * token + 3) % vocabulary;
  }

  double step() final {
    zero_grad();
    const double loss = loss_.forward(module().forward(tokens_), tokens_);
    (void)module().backward(loss_.backward());
    update();
    return loss;
  }

 protected:
  virtual nn::Module& module() { return *gpt_; }
  virtual void zero_grad() { gpt_->zero_grad(); }
  virtual void update() = 0;
  std::unique_ptr<nn::GPT> gpt_;

 private:
  nn::CrossEntropyLoss loss_;
  Tensor tokens_;
};

class Replicated final : public Trained {
 public:
  explicit Replicated(const ShardBenchOptions& options)
      : Trained(options), ddp_(*gpt_), optimizer_(adamw(gpt_->parameters())) {}
  std::string name() const override { return "DistributedDataParallel"; }

 private:
  nn::Module& module() override { return ddp_; }
  void update() override { optimizer_->step(); }
  dist::DistributedDataParallel ddp_;
  const std::unique_ptr<nn::Optimizer> optimizer_;
};

class Zero1 final : public Trained {
 public:
  explicit Zero1(const ShardBenchOptions& options) : Trained(options), optimizer_(*gpt_, adamw) {}
  std::string name() const override { return "ZeroOptimizer"; }

 private:
  void update() override { optimizer_.step(); }
  dist::ZeroOptimizer optimizer_;
};

class Sharded final : public Trained {
 public:
  Sharded(const ShardBenchOptions& options, std::optional<bool> reshard, std::string name)
      : Trained(options), name_(std::move(name)) {
    const dist::FullyShardOptions how{.reshard_after_forward = reshard};
    for (nn::Block* const block : gpt_->blocks()) fully_shard(*block, how);
    fully_shard(*gpt_, how);
    optimizer_ = adamw(gpt_->parameters());
  }
  std::string name() const override { return name_; }

 private:
  void update() override { optimizer_->step(); }
  const std::string name_;
  std::unique_ptr<nn::Optimizer> optimizer_;
};

}  // namespace

std::vector<std::unique_ptr<Way>> make_ways(const ShardBenchOptions& options) {
  std::vector<std::unique_ptr<Way>> ways;
  ways.push_back(std::make_unique<Replicated>(options));
  ways.push_back(std::make_unique<Zero1>(options));
  ways.push_back(std::make_unique<Sharded>(options, std::nullopt, "fully_shard"));
  ways.push_back(std::make_unique<Sharded>(options, false, "fully_shard, kept after forward"));
  return ways;
}

}  // namespace distlab::bench
