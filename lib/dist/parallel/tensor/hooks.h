// What flows around the other layers of a tensor-parallel module: hooks that turn one layout of activations
// into another. Each layout change forward has its reverse backward:
//
//   forward                            backward
//   sum over the ranks                 nothing: every rank has the whole gradient
//   sum, to parts of the time          all-gather
//   part of the time of a whole        all-gather
//   all-gather of the time             part of the time of a whole
//
// Where a hook takes a tensor to be whole, it lets the checker compare the ranks' copies (expect_whole).
#pragma once

#include <utility>

#include "dist/nn/module_hook.h"
#include "dist/parallel/tensor/line.h"

namespace dist {

// The output is one summand on each rank: of a row-parallel layer, or of a part of an embedding's table.
class SumOutput final : public nn::ModuleHook {
 public:
  SumOutput(TensorLine line, bool to_sequence) : line_(std::move(line)), to_sequence_(to_sequence) {}
  Tensor after_forward(nn::Module&, const Tensor& output) override;
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override;

 private:
  const TensorLine line_;
  const bool to_sequence_;
};

// The output is whole on every rank; what follows works on parts of the time.
class SplitOutput final : public nn::ModuleHook {
 public:
  explicit SplitOutput(TensorLine line) : line_(std::move(line)) {}
  Tensor after_forward(nn::Module&, const Tensor& output) override;
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override {
    return gather_time(grad_output, line_).wait();
  }

 private:
  const TensorLine line_;
};

// The input is a part of the time; the module, which is the same on every rank, needs all of it.
class GatherInput final : public nn::ModuleHook {
 public:
  explicit GatherInput(TensorLine line) : line_(std::move(line)) {}
  Tensor before_forward(nn::Module&, const Tensor& input) override {
    return gather_time(input, line_).wait();
  }
  Tensor after_backward(nn::Module&, const Tensor& grad_input) override;

 private:
  const TensorLine line_;
};

// An embedding of positions [time, width]: this rank's part of them. Its gradient has zeros elsewhere, and
// the ranks' sum is the gradient.
class SplitPositions final : public nn::ModuleHook {
 public:
  explicit SplitPositions(TensorLine line) : line_(std::move(line)) {}
  Tensor after_forward(nn::Module&, const Tensor& output) override;
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override;

 private:
  const TensorLine line_;
};

// A Dropout whose input is a part of the time: it drops what it would drop in the whole.
class DropPartOfTime final : public nn::ModuleHook {
 public:
  explicit DropPartOfTime(TensorLine line) : line_(std::move(line)) {}
  Tensor before_forward(nn::Module& dropout, const Tensor& input) override;

 private:
  const TensorLine line_;
};

}  // namespace dist
