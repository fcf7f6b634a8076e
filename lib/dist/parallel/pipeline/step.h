// Pipeline::Step: one step of a pipeline, or one evaluation. What is in flight belongs to it.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "dist/core/clock.h"
#include "dist/parallel/pipeline/pipeline.h"

namespace dist {

// Whether an error says that another rank was not heard in time, or never will be: then the step cannot
// go on.
bool is_of_communication(const std::exception& error);

class Pipeline::Step {
 public:
  struct Batch {
    Tensor inputs, targets;  // on the ranks with the first and the last stage
    std::int64_t rows = 0;
    double scale = 0;  // of the gradients of the loss's sum; 0: evaluation
  };
  // `tag` is that of its messages.
  Step(Pipeline& pipeline, Batch batch, std::uint64_t tag, CallSite at);
  ~Step();  // if it has not come to its end, this rank's stages forget it
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // Goes through this rank's list. An error of a computation is kept: from then on this rank computes
  // nothing, sends zeros and receives what is sent to it, so that the other ranks come to the end, too. An
  // error of a message is thrown at once.
  void run();
  double loss() const { return loss_; }                       // the sum over this rank's targets
  const std::exception_ptr& error() const { return error_; }  // null: there was none

 private:
  using Key = std::pair<int, int>;  // stage, micro-batch
  std::vector<pipeline::Action> actions() const;
  std::int64_t first_row(int micro_batch) const;
  double now() const;  // since the step began
  void compute(const pipeline::Action& action);
  void forward(const Key& key);
  void backward(const Key& key);
  void exchange(std::span<const pipeline::Action> messages);
  P2P operation_of(const pipeline::Action& message);
  struct Arriving {
    Tensor tensor;
    Work receive = {};  // complete if the neighbour stage is on this rank
  };
  static Tensor take(std::map<Key, Arriving>& from, const Key& key);

  Pipeline& pipeline_;
  const Batch batch_;
  const std::uint64_t tag_;
  const CallSite at_;
  const bool trains_;
  const Clock::time_point began_ = Clock::now();
  double computes_since_ = 0, loss_ = 0;
  int in_flight_ = 0;
  bool is_complete_ = false;
  std::exception_ptr error_;
  std::map<Key, Arriving> activations_, gradients_;  // that a stage takes
  std::map<Key, Tensor> outputs_, input_grads_;      // that a stage gives
  std::vector<std::pair<Work, Tensor>> sends_;
};

}  // namespace dist
