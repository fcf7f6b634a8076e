// ZeroOptimizer: an optimizer whose state is divided among the ranks of a data-parallel group (ZeRO-1;
// Rajbhandari et al. 2020). Every rank has all parameters and gradients; each updates only its own rows of
// each parameter and keeps the optimizer's state for those alone.
//
//   ZeroOptimizer optimizer(model, [](auto parameters) { return std::make_unique<nn::Adam>(parameters); });
//   loss.forward(model.forward(inputs), targets);
//   optimizer.zero_grad();
//   model.backward(loss.backward());  // starts a reduce-scatter when the gradients of a bucket are complete
//   optimizer.step();                 // updates this rank's rows, and gathers those of all ranks
//
// A step has one reduce-scatter and one all-gather per bucket: together 2 (n-1)/n W bytes sent per rank for W
// bytes of parameters (each padded to n equal shards), as many as the all-reduces of DistributedDataParallel.
// The optimizer's state takes 1/n of the memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"
#include "dist/parallel/shard/flat_layout.h"

namespace dist {

// The options of a ZeroOptimizer.
struct ZeroOptions {
  ProcessGroup group = {};  // default: the default group
  // A bucket closes when it holds this many bytes.
  std::size_t bucket_bytes = std::size_t{25} << 20;
};

class ZeroOptimizer {
 public:
  // Makes an optimizer of these parameters: this rank's rows of each of the model's, in the model's order,
  // with the same number of axes.
  using Factory = std::function<std::unique_ptr<nn::Optimizer>(std::vector<nn::Parameter*>)>;

  // The model must outlive this, and has equal values on all ranks. It must not be wrapped in a
  // DistributedDataParallel, which would reduce the gradients once more.
  ZeroOptimizer(nn::Module& model, const Factory& factory, const ZeroOptions& options = {},
                CallSite where = CallSite::current());
  ~ZeroOptimizer();
  ZeroOptimizer(const ZeroOptimizer&) = delete;
  ZeroOptimizer& operator=(const ZeroOptimizer&) = delete;

  // Collective: every rank of the group calls it, after one backward(). Throws Error{invalid_argument}, which
  // names one, if a parameter got no gradient since the last step, and what communication throws.
  void step();
  void zero_grad() { model_.zero_grad(); }
  // The optimizer of this rank's rows: set its learning rate, save its state.
  nn::Optimizer& local() { return *optimizer_; }

 private:
  struct Bucket {
    std::vector<std::size_t> members;  // indices of parameters
    FlatLayout layout;
    Tensor values, grads;  // flat, whole: the parameters and their gradients are views of them
    Tensor shard,
        of_shard;  // flat, this rank's: what the optimizer's parameters and their gradients are views of
    std::size_t pending = 0;
    Tensor packed;  // what is being reduced
    Work work;
  };
  void on_ready(std::size_t parameter);

  nn::Module& model_;
  const ZeroOptions options_;
  const CallSite where_;
  std::vector<nn::NamedParameter> parameters_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<bool> is_ready_;
  std::vector<std::unique_ptr<nn::Parameter>> rows_;  // this rank's, by parameter
  std::unique_ptr<nn::Optimizer> optimizer_;
};

}  // namespace dist
