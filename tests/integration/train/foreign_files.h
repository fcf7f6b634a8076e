// What the tests of other programs' weights share: the files of tests/golden/transformer, and their models.
#pragma once

#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/nn/safetensors.h"

#include "distlab/train/weights/foreign.h"

namespace train_test {

namespace nn = dist::nn;
using distlab::ForeignHints, distlab::read_foreign;
using nn::StateDict;

inline const std::string golden = GOLDEN "/transformer/";

inline StateDict golden_file(const std::string& name) {
  return nn::load_safetensors(golden + name + ".safetensors");
}
inline nlohmann::json golden_facts(const std::string& file) {
  return nlohmann::json::parse(std::ifstream(golden + file));
}

inline dist::Tensor tokens_in(const nlohmann::json& facts) {
  std::vector<std::int64_t> all;
  for (const auto& row : facts["tokens"]) all.insert(all.end(), row.begin(), row.end());
  const auto rows = static_cast<std::int64_t>(facts["tokens"].size());
  return dist::tensor(std::span<const std::int64_t>(all), dist::cpu)
      .view({rows, static_cast<std::int64_t>(all.size()) / rows});
}

inline std::unique_ptr<nn::GPT> model_of(const distlab::ForeignModel& foreign) {
  auto gpt = std::make_unique<nn::GPT>(foreign.gpt);
  gpt->load_state_dict(foreign.state);
  return gpt;
}

// The state dict with each name and tensor changed.
inline StateDict changed(const StateDict& dict,
                         const std::function<void(std::string&, dist::Tensor&)>& change) {
  StateDict all = dict;
  for (auto& [name, tensor] : all) change(name, tensor);
  return all;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace train_test
