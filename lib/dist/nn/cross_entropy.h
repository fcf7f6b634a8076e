// CrossEntropyLoss: -log softmax(logits)[target], how unlikely the right class is, as the mean over all
// targets that count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dist/nn/checks.h"

namespace dist::nn {

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // rows with this target do not count, as in torch
  // The gradient takes the logits' memory, which the caller no longer needs: for a large vocabulary this
  // saves half the memory of a step.
  bool in_place = false;
};

// A mean over targets, which stays on its device until it is asked for.
class Loss {
 public:
  Loss(Tensor losses, double count) : losses_(std::move(losses)), count_(count) {}
  // On a GPU all of these wait for all earlier work, except count() where the targets came from the CPU. They
  // throw Error{invalid_argument} for a target on the GPU that is not a class.
  double item() const { return total() / count(); }  // NaN if no target counts, as in torch
  operator double() const { return item(); }
  double total() const;  // over the targets that count
  double count() const;  // how many targets count

  // A copy in memory of its own, for when this loss's memory is overwritten.
  Loss clone() const;

 private:
  friend class CrossEntropyLoss;
  // Targets on a GPU have not been checked.
  struct Unchecked {
    Tensor count, targets;  // [] f64, [rows] i64
    std::int64_t classes = 0, ignored = 0;
  };
  Loss(Tensor losses, Unchecked targets)
      : losses_(std::move(losses)), count_(0), unchecked_(std::move(targets)) {}

  Tensor losses_;  // [rows] f64
  double count_;
  Unchecked unchecked_;  // undefined: they were checked
};

// How many of these targets, which are on the CPU, count. Throws Error{invalid_argument}, which begins with
// `who`, for one that is neither ignored nor in [0, classes).
std::int64_t count_targets(std::string_view who, const Tensor& targets, std::int64_t classes,
                           std::int64_t ignore_index);

class CrossEntropyLoss {
 public:
  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : options_(options) {}

  // logits [..., classes], bf16, f32 or f64, on any device; targets [...], i64, on the CPU or the logits'
  // device. Never overflows, however large the logits are. Throws Error{invalid_argument} for an empty batch,
  // for logits that are only a rank's part of the classes (Tensor::caution()), and for a target outside [0,
  // classes), which it names; for targets on a GPU, which the host does not read, the loss throws it when it
  // is read.
  //
  // `divisor`: what the sum is divided by, instead of the number of targets that count, for a batch that is
  // only a part of the one whose mean is meant: several micro-batches, or several ranks
  // (parallel/targets_per_rank.h). It is then the loss's count().
  Loss forward(const Tensor& logits, const Tensor& targets, std::optional<double> divisor = {});

  // Call it once after forward(). Returns the gradient of the logits, (softmax - one-hot) / number of targets
  // that count, or / divisor, and 0 for the others.
  Tensor backward();

 private:
  CrossEntropyOptions options_;
  Kept<Tensor> grad_{"CrossEntropyLoss"};
};

}  // namespace dist::nn
