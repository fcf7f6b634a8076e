// ColumnInput: what flows into a column-parallel layer. Forward it is whole on every rank, or gathered from
// parts of the time; backward each rank has the gradient that comes from its own columns, and the ranks' sum
// is the gradient. (Megatron-LM's f and g-bar; Shoeybi et al. 2019, Korthikanti et al. 2022.)
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "dist/nn/kept.h"
#include "dist/nn/linear.h"
#include "dist/parallel/tensor/line.h"

namespace dist {

// The input of one layer, or of several that have the same one: it is gathered once for all of them, and the
// gradients of all of them are added before they are sent, once.
class ColumnInput {
 public:
  // With `is_sequence`, the input is this rank's part of the time. Only that part is kept for backward().
  ColumnInput(TensorLine line, bool is_sequence) : line_(std::move(line)), is_sequence_(is_sequence) {}

  void add_layer() { ++layers_; }
  bool is_sequence() const { return is_sequence_; }
  int ranks() const { return line_.size(); }

  // The whole input once more, for the gradient of the weight, while its gather is under way.
  class Again {
   public:
    explicit Again(PendingTensor gathered) : gathered_(std::move(gathered)) {}
    Tensor wait();

   private:
    PendingTensor gathered_;
    Tensor whole_;
  };
  // This rank's part of the input of one forward(), which the layers share that are to have a backward().
  struct Part {
    Tensor time;
    std::shared_ptr<Again> again;
  };
  // For each layer's forward(): its whole input, and with is_sequence() what to keep for backward().
  Tensor whole(const Tensor& input, std::shared_ptr<Part>& part);
  // For each layer's backward(), with is_sequence(): the first call starts the gather.
  std::shared_ptr<Again> gather_again(Part& of);
  // For each layer's backward(): the last call sends the sum of their gradients.
  void send(const Tensor& grad_input);
  // What that layer's backward() returns: the gradient of the input, or zeros where a later layer returns it.
  Tensor received(const Tensor& grad_input);
  // A step has failed: forgets forwards and backwards that not all layers have had.
  void abandon() noexcept;

 private:
  const TensorLine line_;
  const bool is_sequence_;
  int layers_ = 0;

  // While not all layers have had a forward: what they share.
  std::shared_ptr<Part> part_;
  Tensor whole_;
  int had_ = 0;

  std::vector<Tensor> waiting_;  // gradients of layers that have had it
  bool is_sent_ = false;
  PendingTensor sum_;
};

// Puts a ColumnInput before a layer.
class ColumnHook final : public nn::ModuleHook {
 public:
  ColumnHook(nn::Linear& layer, std::shared_ptr<ColumnInput> input);
  Tensor before_forward(nn::Module&, const Tensor& input) override;
  Tensor after_forward(nn::Module&, const Tensor& output) override;
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override;
  void on_input_grad(nn::Module&, Tensor& grad_input) override { input_->send(grad_input); }
  Tensor after_backward(nn::Module&, const Tensor& grad_input) override {
    return input_->received(grad_input);
  }
  void abandon(nn::Module&) noexcept override {
    input_->abandon();
    again_.clear();
  }

 private:
  std::shared_ptr<ColumnInput> input_;
  nn::Kept<std::shared_ptr<ColumnInput::Part>> parts_;
  std::deque<std::shared_ptr<ColumnInput::Again>> again_;  // of each backward whose weight gradient is due
};

}  // namespace dist
