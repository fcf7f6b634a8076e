// Reading tests/golden/transformer, whose README.md says what is in the files.
#pragma once

#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/nn/gpt.h"
#include "dist/nn/safetensors.h"

namespace dist::nn::golden {

inline const std::string folder = GOLDEN "/transformer/";

inline nlohmann::json read_json(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(folder + name));
}

// |a - b| / |b|
inline double difference(const Tensor& a, const Tensor& b) {
  const Tensor right = b.to(DType::f64), error = a.to(DType::f64) - right;
  const double size = std::sqrt(sum(right * right));
  return std::sqrt(sum(error * error)) / (size == 0 ? 1 : size);
}

inline void expect_close(const Tensor& got, const Tensor& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  EXPECT_LT(difference(got, expected), tolerance) << what;
}

inline double tolerance_of(DType dtype) { return dtype == DType::f64 ? 1e-10 : 1e-5; }

// The gradient of the key bias is 0, and its numbers are rounding: the middle third is left out.
inline Tensor without_key_bias(const std::string& name, const Tensor& t) {
  if (!name.ends_with("c_attn.bias")) return t;
  Tensor rest = t.clone();
  const std::int64_t third = t.numel() / 3;
  rest.narrow(third, third).zero_();
  return rest;
}

inline StateDict load(const std::string& file, const std::string& prefix = "") {
  return part(load_safetensors(folder + file + ".safetensors"), prefix);
}

inline GptOptions options_of(const nlohmann::json& config) {
  GptOptions o;
  o.vocab_size = config["vocab_size"], o.context = config["block_size"], o.layers = config["n_layer"];
  o.heads = config["n_head"], o.kv_heads = config["n_kv_head"], o.width = config["n_embd"];
  o.hidden = config["n_hidden"], o.bias = config["bias"], o.tied = config["tied"];
  o.rms_norm = o.gated = o.rotary = config["llama"];
  return o;
}

}  // namespace dist::nn::golden
