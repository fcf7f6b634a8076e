// DistributedDataParallel: a model of which every rank has a copy. Each rank computes the gradients of its
// own part of a batch; they are averaged while backward is still computing others, so that all copies take
// the same step. As in torch.nn.parallel.DistributedDataParallel.
//
//   dist::DistributedDataParallel ddp(model);            // same model on all ranks, rank 0's values
//   dist::nn::SGD optimizer(model.parameters(), {.lr = 0.1});
//   double value = loss.forward(ddp.forward(images), labels);
//   optimizer.zero_grad();
//   ddp.backward(loss.backward());                       // gradients: averages over the ranks
//   optimizer.step();
//
// In a step that is recorded as a graph (nn/graphed_step.h), what it sends cuts the graph: later steps launch
// the graph up to the gradient that fills a bucket, start that bucket's all-reduce, launch the next graph,
// and so on, on every backend. With GraphedStepOptions::has_collectives it is in the graph, where the backend
// can do that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dist/nn/module.h"
#include "dist/parallel/comm_hook.h"
#include "dist/parallel/replicas.h"

namespace dist {

class GradientBuckets;
class OpenSteps;

// The options of a DistributedDataParallel.
struct DdpOptions {
  ProcessGroup group = {};  // default: the default group
  // The first bucket closes when it holds this many bytes: early, so that communication starts early.
  std::size_t first_bucket_bytes = std::size_t{1} << 20;
  std::size_t bucket_bytes = std::size_t{25} << 20;  // the same for every later bucket
  // Buffers (the running statistics of BatchNorm2d) become rank 0's at the first forward() in training, and
  // at each one after a forward() that was not under no_sync(). So several of them for one step broadcast
  // once, at the first. As in PyTorch.
  bool broadcast_buffers = true;
  // For parameters that a backward leaves out, sends their present gradient instead of throwing an Error. A
  // gradient that no rank has used stays as it is, as in PyTorch; finding that out takes one small all_reduce
  // per backward.
  bool find_unused_parameters = false;
  CommHook hook = all_reduce_hook;  // averages a full bucket
  // The line that messages name if std::make_unique() calls the constructor.
  CallSite made_at = CallSite::current();
};

// A model of which every rank has a copy, as a model: see the beginning of this file.
class DistributedDataParallel final : public nn::Module {
 public:
  // Every rank of the group must call it, with a model whose parameters and buffers agree in name, shape and
  // dtype; otherwise it throws Error{mismatch} on all ranks, which names the first that differs. All values
  // become rank 0's. The model may be on several devices (data_parallel.h, place()). The model must outlive
  // this, and its gradients become views of the buckets' memory, without a second copy. If you replace a
  // gradient by another tensor, the next backward() copies it back, if shape, dtype and device are the same;
  // otherwise (after Module::to()) it throws Error{invalid_argument}. Messages about its calls name the line
  // where it was made.
  //
  // Parameters that are not trained (Parameter::requires_grad) are in no bucket: they are not sent or waited
  // for. Freeze and unfreeze them between two steps, on all ranks alike: the next forward() or backward()
  // that synchronises compares the ranks, which costs one exchange, and makes new buckets. Throws
  // Error{mismatch} on all ranks if they differ, and Error{invalid_argument} for a model that the ranks have
  // divided (fully_shard, parallelize).
  explicit DistributedDataParallel(nn::Module& model, const DdpOptions& options = {},
                                   CallSite where = CallSite::current());
  ~DistributedDataParallel() override;

  // Calls the model's forward(), with its shapes. In training it is a collective where it broadcasts rank 0's
  // buffers first, so every rank must call it equally often. Throws what the model and broadcast() throw.
  Tensor run_forward(const Tensor& input) override;
  // Calls the model's backward(). With several models, every rank must call theirs in the same order, which
  // DIST_DEBUG=detail compares. Takes a gradient of the shape of forward()'s result and returns one of the
  // shape of its input. A collective (not under no_sync()) that blocks until all buckets are averaged; after
  // that every parameter's grad is the average over the ranks (of what it was, plus this backward's
  // gradient). Throws Error{invalid_argument}, which names them, if parameters got no gradient (the other
  // ranks wait for them), and if another DistributedDataParallel has wrapped the model since. Throws what the
  // hook throws, such as Error{peer_failed} when a rank is gone. After an error of communication the ranks no
  // longer agree: leave the group. After an error that every rank catches, what is under way is waited for,
  // and after zero_grad() the next step is that of a model that has seen no error.
  Tensor run_backward(const Tensor& grad_output) override;
  // Describes the model in one line.
  std::string str() const override { return "DistributedDataParallel(" + model_.str() + ")"; }

  // While one of them lives, gradients accumulate on each rank and no gradient is sent: for several calls of
  // backward() per step. The next backward() outside averages the sums; zero_grad() forgets them.
  class NoSync {
   public:
    // Made by no_sync().
    explicit NoSync(int& alive) : alive_(&alive) { ++alive; }
    ~NoSync() {
      if (alive_) --*alive_;
    }
    // Moved: `other` no longer counts.
    NoSync(NoSync&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
    // The two change places.
    NoSync& operator=(NoSync&& other) noexcept {
      std::swap(alive_, other.alive_);
      return *this;
    }

   private:
    int* alive_;  // null: moved from
  };
  // Keep what it returns: `auto off = ddp.no_sync();`
  [[nodiscard]] NoSync no_sync() { return NoSync(no_syncs_); }

  // Names of the parameters in each bucket, in the order in which buckets are sent. The first step has one
  // bucket; from the second on, buckets are filled in the order in which rank 0's gradients were ready.
  std::vector<std::vector<std::string>> buckets() const;
  // How long the last backward waited for communication after its last gradient was ready: the part that was
  // not hidden. Does not block.
  Timeout exposed() const;

 private:
  bool syncs() const { return no_syncs_ == 0; }
  void make_buckets();
  void follow_requires_grad();
  void begin_step();
  void rebuild_if_due();
  bool is_in_graph() const;
  void agree_on_graph() const;

  nn::Module& model_;
  const DdpOptions options_;
  const CallSite where_;
  const ProcessGroup group_;
  const DeviceGroups groups_;
  const std::vector<nn::NamedParameter> parameters_;
  std::unique_ptr<GradientBuckets> gradients_;                     // of those that are trained
  std::vector<Tensor> buffers_;                                    // packed: one per dtype and device
  std::vector<std::pair<nn::NamedBuffer, Tensor>> buffer_places_;  // each one's place in them
  int no_syncs_ = 0;
  bool broadcasts_next_ = true;  // at the next forward() in training
  bool is_rebuilt_ = false;
  const std::unique_ptr<OpenSteps> steps_;
};

}  // namespace dist
