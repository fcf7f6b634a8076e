// DistributedDataParallel: a model of which every rank has a copy. Each rank computes the gradients of its
// own part of a batch; they are averaged while backward is still computing others, so that all copies take
// the same step. As torch.nn.parallel.DistributedDataParallel.
//
//   dist::DistributedDataParallel ddp(model);            // same model on all ranks, rank 0's values
//   dist::nn::SGD optimizer(model.parameters(), {.lr = 0.1});
//   double value = loss.forward(ddp.forward(images), labels);
//   optimizer.zero_grad();
//   ddp.backward(loss.backward());                       // gradients: averages over the ranks
//   optimizer.step();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dist/nn/module.h"
#include "dist/parallel/comm_hook.h"
#include "dist/parallel/gradient_buckets.h"

namespace dist {

// What a DistributedDataParallel is told.
struct DdpOptions {
  ProcessGroup group = {};  // default: the default group
  // A bucket closes when it holds so many bytes: the first one early, so that communication starts early.
  std::size_t first_bucket_bytes = std::size_t{1} << 20;
  std::size_t bucket_bytes = std::size_t{25} << 20;  // every later one, in bytes
  // Buffers (the running statistics of BatchNorm2d) are rank 0's at each forward() in training.
  bool broadcast_buffers = true;
  // Parameters that a backward leaves out send the gradient they have, instead of an Error. A gradient that
  // no rank has used is left alone, as in PyTorch; to know that takes one small all_reduce per backward.
  bool find_unused_parameters = false;
  CommHook hook = all_reduce_hook;  // what averages a full bucket
};

// A model of which every rank has a copy, as a model: see the beginning of this file.
class DistributedDataParallel final : public nn::Module {
 public:
  // Every rank of the group calls it, with a model of the same parameters and buffers, by name, shape and
  // dtype: otherwise Error{mismatch} on all ranks, naming the first that differs. All values become rank 0's.
  // The model lives longer than this, and its gradients become views of the buckets' memory: no second copy.
  // Who puts another tensor in a gradient's place has it copied there at the next backward(), if it is of the
  // same shape, dtype and device; otherwise (after Module::to()) that is Error{invalid_argument}. Messages
  // about its calls name the line where it was made.
  explicit DistributedDataParallel(nn::Module& model, const DdpOptions& options = {},
                                   CallSite where = CallSite::current());

  // The model's, of its shapes. In training (and not under no_sync()) a collective: rank 0's buffers are
  // broadcast before, so every rank calls it equally often. Throws what the model and broadcast() throw.
  Tensor forward(const Tensor& input) override;
  // The model's: takes the shape of forward()'s result, returns that of its input. A collective (not under
  // no_sync()) that blocks until all buckets are averaged; afterwards every parameter's grad is the average
  // over the ranks (of what it was, plus this backward's). Error{invalid_argument} naming the parameters that
  // got no gradient, if any: the other ranks wait for them; and when another DistributedDataParallel has
  // wrapped the model since. Throws what the hook throws, as Error{peer_failed} when a rank is gone. After an
  // error ranks no longer agree: leave the group.
  Tensor backward(const Tensor& grad_output) override;
  // The model as one line.
  std::string str() const override { return "DistributedDataParallel(" + model_.str() + ")"; }

  // While it lives, gradients add up on each rank and nothing is sent: for several backward() to one step.
  // The next one outside averages the sums.
  class NoSync {
   public:
    // Made by no_sync().
    explicit NoSync(bool& syncs) : syncs_(syncs), before_(syncs) { syncs_ = false; }
    ~NoSync() { syncs_ = before_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    bool& syncs_;
    const bool before_;
  };
  // Keep what it returns: `auto off = ddp.no_sync();`
  [[nodiscard]] NoSync no_sync() { return NoSync(syncs_); }

  // Names of parameters in each bucket, in the order in which buckets are sent. The first step has one
  // bucket; from the second on they are filled in the order in which rank 0's gradients were ready.
  std::vector<std::vector<std::string>> buckets() const;
  // How long the last backward waited for communication after its last gradient was there; what could not be
  // hidden. Does not block.
  Timeout exposed() const { return gradients_.exposed(); }

 private:
  void rebuild_if_due();

  nn::Module& model_;
  const DdpOptions options_;
  const CallSite where_;
  const ProcessGroup group_;
  GradientBuckets gradients_;
  std::vector<Tensor> buffers_;  // packed: one for each dtype
  bool syncs_ = true;
  bool is_rebuilt_ = false;
};

}  // namespace dist
