// The arithmetic of single elements, written once: the CPU's loops and the GPU's kernels use the same
// functors, so testing them on the CPU tests them for both. ReLU, the updates of SGD and Adam, clipping, and
// batch norm by channel.
#pragma once

#include <cmath>
#include <cstdint>

#include "dist/core/host_device.h"
#include "dist/nn/elements.h"
#include "dist/nn/ops.h"

namespace dist::nn::functors {

// Not `x > 0 ? x : 0`, so that NaN stays NaN.
struct Relu {
  template <class T>
  DIST_HD T operator()(T x, T deciding) const {
    return deciding <= 0 ? T(0) : x;
  }
};

// The elements of a parameter that a step changes, where G is the gradient's type.
template <class T, class G>
struct Weight {
  T* value;

  Weight() = default;
  template <class Item>
  explicit Weight(const Item& item) : value(elements<T>(item.value)) {}
  DIST_HD void set(std::int64_t i, ComputeType<T> x) const { value[i] = static_cast<T>(x); }
};
// A master weight, and the parameter that it is rounded into.
template <>
struct Weight<float, BFloat16> {
  float* value;
  BFloat16* rounded;

  Weight() = default;
  template <class Item>
  explicit Weight(const Item& item)
      : value(elements<float>(item.value)), rounded(elements<BFloat16>(item.rounded)) {}
  DIST_HD void set(std::int64_t i, float x) const {
    value[i] = x;
    rounded[i] = x;
  }
};

// The formula of sgd.h for the elements of one parameter, where x is the value and v its velocity.
template <class T>
struct SgdUpdate {
  T lr, decay, momentum;

  SgdUpdate() = default;
  SgdUpdate(const SgdItem& of, double momentum_)
      : lr(static_cast<T>(of.lr)),
        decay(static_cast<T>(of.weight_decay)),
        momentum(static_cast<T>(momentum_)) {}

  DIST_HD void operator()(T& x, T grad) const { x -= lr * (grad + decay * x); }
  DIST_HD void operator()(T& x, T grad, T& v) const {
    v = momentum * v + (grad + decay * x);
    x -= lr * v;
  }
};

// What differs from parameter to parameter in the formulas of adam.h. Adam keeps x whole; AdamW has no decay
// in the gradient.
template <class T>
struct AdamRates {
  T size;   // lr / (1 - beta1^t)
  T decay;  // Adam's weight decay
  T keep;   // 1 - lr weight_decay of AdamW, rounded once

  AdamRates() = default;
  AdamRates(const AdamItem& of, const AdamStep& step)
      : size(static_cast<T>(of.lr / step.correction1)),
        decay(static_cast<T>(step.decoupled ? 0 : of.weight_decay)),
        keep(static_cast<T>(step.decoupled ? 1 - of.lr * of.weight_decay : 1)) {}
};

// The formulas of adam.h.
template <class T>
struct AdamUpdate {
  T beta1, beta2, eps;
  T rest1, rest2;  // 1 - beta, rounded once: a difference of rounded numbers has few correct digits
  T root;          // sqrt(1 - beta2^t)

  explicit AdamUpdate(const AdamStep& step)
      : beta1(static_cast<T>(step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        eps(static_cast<T>(step.eps)),
        rest1(static_cast<T>(1 - step.beta1)),
        rest2(static_cast<T>(1 - step.beta2)),
        root(static_cast<T>(std::sqrt(step.correction2))) {}

  DIST_HD void operator()(const AdamRates<T>& rates, T& x, T grad, T& m, T& v) const {
    const T g = grad + rates.decay * x;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    x = rates.keep * x - rates.size * m / (std::sqrt(v) / root + eps);
  }
};

// What clip_grad_norm() multiplies gradients by. NaN stays NaN, as in torch.
struct ClipFactor {
  double max_norm;

  DIST_HD double operator()(double squared_norm) const {
    const double factor = max_norm / (std::sqrt(squared_norm) + 1e-6);
    return factor >= 1 ? 1 : factor;
  }
};

// What batch norm does to the elements of one channel.
struct Line {
  double slope, level;  // y = slope x + level
};
struct Plane {
  double of_grad, of_input, level;  // grad_in = of_grad g + of_input x + level
};

// The channels of a batch norm in its forward; the arrays have one element per channel.
template <class T>
struct NormForward {
  using C = ComputeType<T>;
  const T *weight, *bias;
  T *running_mean, *running_var;
  C *mean, *invstd;
  double eps, momentum;
  bool training;

  NormForward(const NormTensors& n, const NormOptions& options)
      : weight(elements<T>(n.weight)),
        bias(elements<T>(n.bias)),
        running_mean(elements<T>(n.running_mean)),
        running_var(elements<T>(n.running_var)),
        mean(elements<C>(n.mean)),
        invstd(elements<C>(n.invstd)),
        eps(options.eps),
        momentum(options.momentum),
        training(options.training) {}

  // For channel k, which has `count` values with this mean and (biased) variance in training; updates the
  // running values and stores mean and invstd.
  DIST_HD Line operator()(std::int64_t k, double batch_mean, double batch_variance, double count) const {
    if (training) {
      const double variance = batch_variance * count / (count - 1);
      move(running_mean[k], batch_mean);
      move(running_var[k], variance);
    }
    const double centre = training ? batch_mean : static_cast<double>(running_mean[k]);
    const double factor =
        1 / std::sqrt((training ? batch_variance : static_cast<double>(running_var[k])) + eps);
    mean[k] = static_cast<C>(centre);
    invstd[k] = static_cast<C>(factor);
    return {factor * weight[k], bias[k] - centre * factor * weight[k]};
  }

 private:
  DIST_HD void move(T& running, double towards) const {
    running = static_cast<T>(static_cast<C>((1 - momentum) * running + momentum * towards));
  }
};

// The same for its backward. With g the gradient of the output and x^ the normalised input, over the N values
// of a channel:
//   grad_bias += sum g;  grad_weight += sum g x^;  grad_in = weight invstd (g - sum g / N - x^ sum(g x^) / N)
// In evaluation mean and variance are constants, so the sums vanish: grad_in = weight invstd g.
template <class T>
struct NormBackward {
  using C = ComputeType<T>;
  const T* weight;
  const C *mean, *invstd;
  T *grad_weight, *grad_bias;  // null: not wanted
  bool training;

  NormBackward(const NormTensors& n, const Ops::NormGrads& grads, bool in_training)
      : weight(elements<T>(n.weight)),
        mean(elements<C>(n.mean)),
        invstd(elements<C>(n.invstd)),
        grad_weight(elements_or_null<T>(grads.weight)),
        grad_bias(elements_or_null<T>(grads.bias)),
        training(in_training) {}

  // of_g: the sum of g; of_g_x: the sum of g (x - mean); both over `count` values.
  DIST_HD Plane operator()(std::int64_t k, double of_g, double of_g_x, double count) const {
    const double scale = invstd[k], factor = weight[k] * scale;
    if (grad_bias) accumulate(grad_bias[k], of_g);
    if (grad_weight) accumulate(grad_weight[k], of_g_x * scale);
    if (!training) return {factor, 0, 0};
    const double slope = -factor * scale * scale * of_g_x / count;
    return {factor, slope, -factor * of_g / count - slope * mean[k]};
  }
};

}  // namespace dist::nn::functors
