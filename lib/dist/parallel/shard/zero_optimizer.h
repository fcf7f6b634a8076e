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
// bytes of trained parameters (each padded to n equal shards), as many as the all-reduces of
// DistributedDataParallel. The optimizer's state takes 1/n of the memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/clip_grad_norm.h"
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
  // with the same number of axes and under the same names.
  using Factory = std::function<std::unique_ptr<nn::Optimizer>(std::vector<nn::Parameter*>)>;

  // The model must outlive this, and has equal values on all ranks. Throws Error{invalid_argument} for a
  // model whose gradients are reduced by something else (DistributedDataParallel, fully_shard(), another
  // ZeroOptimizer), and for one that the ranks of the group have divided among them.
  ZeroOptimizer(nn::Module& model, const Factory& factory, const ZeroOptions& options = {},
                CallSite where = CallSite::current());
  ~ZeroOptimizer();
  ZeroOptimizer(const ZeroOptimizer&) = delete;
  ZeroOptimizer& operator=(const ZeroOptimizer&) = delete;

  // Collective: every rank of the group calls it, after one backward(). It begins with the values that the
  // parameters have then: weights that were loaded count. Throws Error{invalid_argument}, which names one, if
  // a trained parameter got no gradient since the last step() or zero_grad(), or was converted since the
  // constructor, and what communication throws.
  void step(Caller at = Caller::here());
  // Also forgets the gradients that were reduced.
  void zero_grad() { model_.zero_grad(); }
  // nn::clip_grad_norm() of the reduced gradients, between backward() and step(). Collective. (The model's
  // own gradients are those of this rank's batch.)
  nn::Norm clip_grad_norm(double max_norm, const nn::ClipOptions& options = {});
  // The optimizer of this rank's rows: set its learning rate, save its state (checkpoint/pieces.h), which any
  // number of ranks can load.
  nn::Optimizer& local() { return *optimizer_; }

 private:
  struct Bucket {
    std::vector<std::size_t> members;  // indices of parameters
    FlatLayout layout;
    Tensor values, grads;  // flat, whole: the parameters and their gradients are views of them
    Tensor reduced;        // flat, this rank's: the gradients of the optimizer's parameters are views of it
    std::size_t pending;
    Tensor packed = {};  // what is being reduced, or gathered
    Work work = {};
  };
  void check_model() const;
  void record();
  void record_rows();
  void arrange();
  void follow_model();
  Bucket make_bucket(std::vector<std::size_t> members);
  void on_ready(std::size_t parameter);
  void on_cleared(std::size_t parameter);
  void start_full_buckets();
  void finish_reductions(std::string_view call);

  nn::Module& model_;
  const ZeroOptions options_;
  const CallSite where_;
  const int rank_, ranks_;  // in the group
  const std::vector<nn::NamedParameter> parameters_;
  std::vector<std::unique_ptr<nn::Parameter>> rows_;  // this rank's, by parameter
  std::vector<bool> is_trained_;                      // by parameter, when buckets were arranged
  std::vector<bool> is_ready_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::size_t next_ = 0;                // the first bucket that was not started
  std::unique_ptr<nn::Optimizer> optimizer_;
};

}  // namespace dist
