// A GPT on a mesh of data- and tensor-parallel ranks, compared with the same GPT on one rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dist/core/axes.h"
#include "dist/dist.h"
#include "dist/mesh/dtensor.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/parallel/tensor/vocab_cross_entropy.h"

#include "unit/nn/gradient_check.h"

namespace dist::test {

struct TensorCase {
  int dp = 1, tp = 2;
  GptParallelOptions split = {};
  nn::GptOptions model = {};
  std::int64_t rows = 4, time = 12;
};

// A GPT of odd sizes whose heads `tp` ranks divide; or a small Llama.
inline nn::GptOptions small_model(int tp, bool tied, bool llama) {
  nn::GptOptions model;
  model.vocab_size = 11, model.context = 13, model.layers = 2, model.dropout = 0.1, model.tied = tied;
  model.heads = llama ? 2 * tp : tp;
  model.kv_heads = tp;
  model.width = model.heads * (tp == 1 ? 6 : 2);
  model.rms_norm = model.gated = model.rotary = llama;
  model.hidden = llama ? 10 : 0;
  return model;
}

// In f64; no parameter is 0 or 1, so that each of them counts.
inline std::unique_ptr<nn::GPT> make_model(const nn::GptOptions& options) {
  nn::manual_seed(7);
  auto gpt = std::make_unique<nn::GPT>(options);
  gpt->to(DType::f64);
  double seed = 1;
  for (const auto& named : gpt->named_parameters())
    named.parameter->value.add_(nn::scattered(named.parameter->value.shape(), seed += 100), 0.2);
  return gpt;
}

inline Tensor numbers(std::int64_t rows, std::int64_t time, std::int64_t below, std::int64_t factor) {
  Tensor t = empty({rows, time}, DType::i64);
  std::int64_t i = 0;
  for (std::int64_t& x : t.data<std::int64_t>()) ++i, x = factor * i * i % below;
  return t;
}

// The true gradient of a key's bias is 0 (softmax does not see it), and Adam turns the rounding noise that is
// there instead into steps: after a step it is left out.
inline nn::StateDict without_key_bias(nn::StateDict parameters, const nn::GptOptions& model) {
  const std::int64_t size = model.width / model.heads;
  for (auto& [name, value] : parameters)
    if (name.ends_with("c_attn.bias")) value.narrow(model.width, model.kv_heads * size).zero_();
  return parameters;
}

// What one step gives: every tensor by its name, whole.
struct StepResult {
  Tensor logits;
  double loss = 0;
  nn::StateDict gradients, parameters;
};

inline nn::StateDict clones(const std::vector<nn::NamedParameter>& parameters, bool grads) {
  nn::StateDict all;
  for (const auto& [name, parameter] : parameters)
    all.push_back({name, (grads ? parameter->grad : parameter->value).clone()});
  return all;
}

inline StepResult one_rank_step(const TensorCase& of) {
  const auto gpt = make_model(of.model);
  nn::Adam adam(gpt->parameters(), {.lr = 1e-3});
  nn::CrossEntropyLoss loss;
  gpt->set_position({.seed = 3, .step = 5});
  const auto vocab = of.model.vocab_size;
  StepResult result;
  result.logits = gpt->forward(numbers(of.rows, of.time, vocab, 3));
  result.loss = loss.forward(result.logits, numbers(of.rows, of.time, vocab, 5));
  gpt->backward(loss.backward());
  adam.step();
  result.gradients = clones(gpt->named_parameters(), true);
  result.parameters = without_key_bias(clones(gpt->named_parameters(), false), of.model);
  return result;
}

// Called after the model has been divided, and before the step.
using Prepare = std::function<void(nn::GPT&)>;

inline StepResult mesh_step(const TensorCase& of, const Prepare& prepare = {}) {
  const DeviceMesh mesh = init_device_mesh({of.dp, of.tp}, {"dp", "tp"});
  const DeviceMesh tp = mesh["tp"];
  const auto gpt = make_model(of.model);
  parallelize(*gpt, tp, of.split);
  if (prepare) prepare(*gpt);
  DistributedDataParallel ddp(*gpt, {.group = mesh.get_group("dp")});
  nn::Adam adam(gpt->parameters(), {.lr = 1e-3});
  const std::int64_t rows = of.rows / of.dp, first = mesh.get_local_rank("dp") * rows;
  gpt->set_position({.seed = 3, .step = 5, .first_row = first});
  const auto vocab = of.model.vocab_size;
  const Tensor tokens = numbers(of.rows, of.time, vocab, 3).narrow(first, rows);
  const Tensor targets = numbers(of.rows, of.time, vocab, 5).narrow(first, rows);
  const Tensor logits = ddp.forward(tokens);
  const bool is_divided = of.split.vocabulary_parallel;
  VocabParallelCrossEntropy divided_loss(tp, vocab);
  nn::CrossEntropyLoss whole_loss;
  Tensor loss =
      full({1}, is_divided ? divided_loss.forward(logits, targets) : whole_loss.forward(logits, targets),
           DType::f64);
  ddp.backward(is_divided ? divided_loss.backward() : whole_loss.backward());
  finish_gradients(*gpt);
  adam.step();

  StepResult result;
  all_reduce(loss, ReduceOp::avg, {.group = mesh.get_group("dp")});
  result.loss = loss.item<double>();
  result.gradients = full_gradients(*gpt);
  for (const auto& [name, value] : full_state_dict(*gpt))
    if (nn::find(result.gradients, name)) result.parameters.push_back({name, value.clone()});
  result.parameters = without_key_bias(std::move(result.parameters), of.model);
  result.logits =
      DTensor::from_local(logits, mesh, {Shard(0), is_divided ? Placement(Shard(2)) : Replicate()},
                          Shape{of.rows, of.time, vocab})
          .full_tensor();
  return result;
}

// The largest difference, by the largest element.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return 1e9;
  double most = 0, largest = 1e-6;
  const auto x = a.data<double>(), y = b.data<double>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::isnan(x[i]) ? 1e9 : std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return most / largest;
}

inline double difference(const nn::StateDict& a, const nn::StateDict& b) {
  if (a.size() != b.size()) return 1e9;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, a[i].name == b[i].name ? difference(a[i].tensor, b[i].tensor) : 1e9);
  return most;
}

// A fault: the gradient of an attention's input stays this rank's summand.
class LosesTheSum final : public nn::ModuleHook {
 public:
  static void plant(nn::CausalSelfAttention& attention) {
    const auto hook = std::make_shared<LosesTheSum>();
    attention.c_attn().add_hook(hook);
    attention.add_hook(std::make_shared<Returns>(hook));
  }
  void on_input_grad(nn::Module&, Tensor& grad) override { summand_ = grad.clone(); }

 private:
  struct Returns final : nn::ModuleHook {
    explicit Returns(std::shared_ptr<LosesTheSum> from_) : from(std::move(from_)) {}
    Tensor after_backward(nn::Module&, const Tensor&) override { return from->summand_; }
    std::shared_ptr<LosesTheSum> from;
  };
  Tensor summand_;
};

inline void expect_equal(const StepResult& result, const StepResult& expected, const std::string& what) {
  constexpr double tolerance = 1e-12;
  EXPECT_LE(difference(result.logits, expected.logits), tolerance) << what;
  EXPECT_NEAR(result.loss, expected.loss, tolerance) << what;
  EXPECT_EQ(result.gradients.size(), expected.gradients.size()) << what;
  for (const auto& [name, grad] : expected.gradients)
    EXPECT_LE(difference(*nn::find(result.gradients, name), grad), tolerance)
        << what << ": gradient of " << name;
  for (const auto& [name, value] : expected.parameters)
    EXPECT_LE(difference(*nn::find(result.parameters, name), value), tolerance) << what << ": " << name;
}

}  // namespace dist::test
