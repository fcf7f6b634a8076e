#include "dist/parallel/tensor/column_input.h"

#include <utility>

namespace dist {

Tensor ColumnInput::whole(const Tensor& input, std::shared_ptr<Part>& part) {
  if (!is_sequence_) {
    expect_whole(input, "the input of", line_);
    return input;
  }
  if (had_ == 0 || part_->time.raw() != input.raw()) {
    part_ = std::make_shared<Part>(Part{input, nullptr});
    whole_ = gather_time(input, line_).wait();
    had_ = 0;
  }
  part = part_;
  if (++had_ < layers_) return whole_;
  had_ = 0;
  part_ = nullptr;
  return std::exchange(whole_, {});
}

Tensor ColumnInput::Again::wait() {
  if (!whole_.is_defined()) whole_ = gathered_.wait();
  return whole_;
}

std::shared_ptr<ColumnInput::Again> ColumnInput::gather_again(Part& of) {
  if (!of.again) of.again = std::make_shared<Again>(gather_time(of.time, line_, true));
  return of.again;
}

void ColumnInput::send(const Tensor& grad_input) {
  waiting_.push_back(grad_input);
  is_sent_ = std::ssize(waiting_) == layers_;
  if (!is_sent_) return;
  Tensor sum = grad_input;
  waiting_.pop_back();
  for (const Tensor& other : std::exchange(waiting_, {})) sum.add_(other);
  sum_ = is_sequence_ ? reduce_scatter_time(sum, line_, true) : sum_over(sum, line_, true);
}

Tensor ColumnInput::received(const Tensor& grad_input) {
  if (!grad_input.is_defined()) return grad_input;
  if (std::exchange(is_sent_, false)) return sum_.wait();
  Shape shape = grad_input.shape();
  if (is_sequence_) shape[1] /= line_.size();
  return zeros(std::move(shape), grad_input.dtype(), grad_input.device());
}

void ColumnInput::abandon() noexcept {
  part_ = nullptr;
  whole_ = {};
  had_ = 0;
  waiting_.clear();
  is_sent_ = false;
  sum_ = {};
}

ColumnHook::ColumnHook(nn::Linear& layer, std::shared_ptr<ColumnInput> input)
    : input_(std::move(input)), parts_(layer) {
  input_->add_layer();
  if (input_->is_sequence())
    layer.set_input_source([this] {
      const Tensor whole = again_.front()->wait();
      again_.pop_front();
      return whole;
    });
}

Tensor ColumnHook::before_forward(nn::Module&, const Tensor& input) {
  std::shared_ptr<ColumnInput::Part> part;
  Tensor whole = input_->whole(input, part);
  if (part) parts_.keep(std::move(part));
  return whole;
}

// A loss over the last axis would take this rank's columns for all classes.
Tensor ColumnHook::after_forward(nn::Module&, const Tensor& output) {
  if (input_->ranks() > 1)
    Tensor(output).set_caution(
        "the logits are one rank's columns of a column-parallel layer, a part of the classes: use "
        "VocabParallelCrossEntropy, or gather the logits of all ranks along the last axis first");
  return output;
}

Tensor ColumnHook::before_backward(nn::Module&, const Tensor& grad_output) {
  if (input_->is_sequence()) again_.push_back(input_->gather_again(*parts_.take()));
  return grad_output;
}

}  // namespace dist
