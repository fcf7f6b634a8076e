// A small GPT, its data, and one rank's results, for comparison with any division of the work.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/nn.h"

namespace dist::test {

inline nn::GptOptions small_gpt(bool tied = true) {
  nn::GptOptions options;
  options.vocab_size = 11, options.context = 6, options.layers = 3, options.heads = 2, options.width = 10;
  options.tied = tied;
  return options;
}

// The same on every rank, in f64.
inline std::unique_ptr<nn::GPT> make_gpt(const nn::GptOptions& options, nn::GptSlice slice = {}) {
  nn::manual_seed(17);
  auto gpt = std::make_unique<nn::GPT>(options, slice);
  gpt->to(DType::f64);
  return gpt;
}

// Rows [first, first + count) of a batch, [count, 6] tokens, and their targets.
inline Tensor tokens(std::int64_t first, std::int64_t count, std::int64_t shift = 0) {
  Tensor t = empty({count, 6}, DType::i64, cpu);
  for (std::int64_t i = 0; i < count * 6; ++i)
    t.data<std::int64_t>()[static_cast<std::size_t>(i)] =
        ((first * 6 + i + shift) * 7 + (first * 6 + i + shift) / 5) % 11;
  return t;
}
inline Tensor targets(std::int64_t first, std::int64_t count) { return tokens(first, count, 1); }

// forward and backward of rows [first, first + count); returns the loss.
inline double pass(nn::Module& model, std::int64_t first, std::int64_t count) {
  nn::CrossEntropyLoss loss;
  const double value = loss.forward(model.forward(tokens(first, count)), targets(first, count));
  (void)model.backward(loss.backward());
  return value;
}

inline double difference(const Tensor& a, const Tensor& b) {
  const Tensor error = a.to(DType::f64) - b.to(DType::f64);
  const double size = std::sqrt(sum(b.to(DType::f64) * b.to(DType::f64)));
  return std::sqrt(sum(error * error)) / (size == 0 ? 1 : size);
}

inline nn::StateDict values_of(nn::Module& module) {
  nn::StateDict state;
  for (const auto& [name, parameter] : module.named_parameters()) state.push_back({name, parameter->value});
  return state;
}
inline nn::StateDict gradients_of(nn::Module& module) {
  nn::StateDict state;
  for (const auto& [name, parameter] : module.named_parameters()) state.push_back({name, parameter->grad});
  return state;
}

// Every tensor of `expected` is in `got`, with these values. The gradient of the key bias is 0 apart from
// rounding.
inline void expect_state(const nn::StateDict& got, const nn::StateDict& expected, double tolerance,
                         const std::string& what) {
  for (const auto& [name, tensor] : expected) {
    const Tensor* const found = nn::find(got, name);
    ASSERT_NE(found, nullptr) << what << ": " << name;
    ASSERT_EQ(found->shape(), tensor.shape()) << what << ": " << name;
    if (name.ends_with("c_attn.bias"))
      EXPECT_LT(std::sqrt(sum((*found - tensor) * (*found - tensor))), 1e-3 * tolerance + tolerance)
          << what << ": " << name;
    else
      EXPECT_LT(difference(*found, tensor), tolerance) << what << ": " << name;
  }
}

}  // namespace dist::test
