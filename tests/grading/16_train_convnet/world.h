// Lab 16: what the runner and the grader both train: a small model and samples that are functions of a seed,
// so that the grader can repeat everything by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <nlohmann/json.hpp>

#include "dist/data/dataset.h"
#include "dist/nn/nn.h"

namespace lab16 {

using Numbers = std::vector<double>;

constexpr std::int64_t classes = 4;

// Sample i of a seed: input [2, 2, 2], small numbers near a value that depends on class and position; target
// i64 [].
class Spots : public dist::data::Dataset {
 public:
  Spots(std::int64_t size, std::uint64_t seed) : size_(size), seed_(seed) {}
  std::int64_t size() const override { return size_; }
  dist::data::Sample get(std::int64_t index) const override {
    std::mt19937_64 engine(seed_ * 1'000'003 + static_cast<std::uint64_t>(index));
    const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(engine() % n); };
    const std::int64_t target = draw(classes);
    auto input = dist::empty({2, 2, 2});
    std::int64_t place = 0;
    for (float& x : input.data<float>())
      x = static_cast<float>(draw(9) - 4) / 4 + (place++ % classes == target ? 1.F : 0.F);
    return {input, dist::full({}, static_cast<double>(target), dist::DType::i64)};
  }

 private:
  std::int64_t size_;
  std::uint64_t seed_;
};

// Whose samples a rank asks the grader for.
enum class Which { train, test };

// A sample on its way from the grader to a rank: {"input": numbers, "target": class}.
inline nlohmann::json piece_of(const dist::data::Sample& sample) {
  return {{"input", sample.input.to_vector<float>()}, {"target", sample.target.item<std::int64_t>()}};
}
inline dist::data::Sample sample_of(const nlohmann::json& piece) {
  auto target = dist::full({}, piece.at("target").get<double>(), dist::DType::i64);
  auto input = dist::empty({2, 2, 2});
  std::ranges::copy(piece.at("input").get<std::vector<float>>(), input.data<float>().begin());
  return {input, target};
}

// Batch norm, whose two modes differ, and a linear layer. All numbers are random from a seed, running
// statistics included.
inline std::unique_ptr<dist::nn::Sequential> make_model(std::uint64_t seed) {
  dist::nn::manual_seed(seed);
  auto model = std::make_unique<dist::nn::Sequential>();
  model->add<dist::nn::BatchNorm2d>(2);
  model->add<dist::nn::Flatten>();
  model->add<dist::nn::Linear>(8, classes);
  for (const auto& [name, buffer] : model->named_buffers()) {
    if (buffer->value.dtype() == dist::DType::f32)
      buffer->value.add_(dist::nn::uniform(buffer->value.shape(), 0.5));
  }
  return model;
}

// The numbers of all tensors, one after another.
inline Numbers flat(const dist::nn::StateDict& state) {
  Numbers all;
  for (const auto& [name, tensor] : state) {
    const auto its = tensor.to_vector<double>();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

// Writes back the numbers of another call.
inline void write(const dist::nn::StateDict& state, const Numbers& numbers) {
  std::size_t at = 0;
  for (const auto& [name, tensor] : state) {
    auto source = dist::empty(tensor.shape(), dist::DType::f64);
    for (double& x : source.data<double>()) x = numbers.at(at++);
    dist::Tensor(tensor).copy_(source);
  }
}

// The index of the largest number.
inline std::int64_t guess(const dist::Tensor& logits) {
  const auto scores = logits.to_vector<float>();
  return std::ranges::max_element(scores) - scores.begin();
}

}  // namespace lab16
