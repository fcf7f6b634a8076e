// Ten steps of the GPT by AdamW, with warm-up, a cosine and clipping, against PyTorch's numbers
// (tests/golden/transformer/adamw.*); and that these numbers tell a wrong optimizer from a right one.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/nn/nn.h"

#include "unit/nn/transformer_golden.h"

namespace dist::nn::golden {
namespace {

class AdamWGolden : public testing::Test {
 protected:
  const nlohmann::json about_ = read_json("adamw.json");
  const nlohmann::json settings_ = about_["settings"];
  const StateDict tensors_ = load("adamw");
  const Schedule schedule_{.decay = Decay::cosine,
                           .peak = settings_["learning_rate"],
                           .least = settings_["min_lr"],
                           .warmup = settings_["warmup_iters"],
                           .until = settings_["lr_decay_iters"]};

  std::unique_ptr<GPT> first_model(DType dtype) const {
    auto gpt = std::make_unique<GPT>(options_of(about_["config"]));
    gpt->to(dtype);
    gpt->load_state_dict(load(dtype == DType::f64 ? "gpt_tied_f64" : "gpt_tied_f32", "param."));
    return gpt;
  }

  AdamWOptions options() const {
    return {.betas = {settings_["beta1"], settings_["beta2"]},
            .eps = settings_["eps"],
            .weight_decay = settings_["weight_decay"]};
  }
  AdamW optimizer_of(GPT& gpt) const { return AdamW(decay_groups(gpt.parameters()), options()); }

  struct Step {
    double lr, loss, grad_norm, param_norm;
  };
  Step take_step(GPT& gpt, Optimizer& optimizer, std::int64_t step) const {
    Step result{.lr = lr_at(schedule_, step), .loss = 0, .grad_norm = 0, .param_norm = 0};
    optimizer.set_lr(result.lr);
    optimizer.zero_grad();
    CrossEntropyLoss loss;
    result.loss =
        loss.forward(gpt.forward((*find(tensors_, "tokens"))[step]), (*find(tensors_, "targets"))[step]);
    gpt.backward(loss.backward());
    result.grad_norm = clip_grad_norm(gpt.named_parameters(), settings_["grad_clip"]);
    optimizer.step();
    std::vector<Tensor> values;
    for (Parameter* const parameter : gpt.parameters()) values.push_back(parameter->value);
    result.param_norm = std::sqrt(squared_norm(values).item<double>());
    return result;
  }

  double expected(const char* what, std::int64_t step) const {
    return about_[what][static_cast<std::size_t>(step)];
  }
  std::int64_t steps() const { return static_cast<std::int64_t>(about_["lr"].size()); }

  // The largest relative difference of a loss, and of a final parameter.
  struct Differences {
    double loss = 0, parameter = 0;
  };
  Differences differences(GPT& gpt, Optimizer& optimizer) const {
    Differences worst;
    for (std::int64_t step = 0; step < steps(); ++step) {
      const double right = expected("loss", step);
      worst.loss = std::max(worst.loss, std::abs(take_step(gpt, optimizer, step).loss - right) / right);
    }
    for (const auto& [name, parameter] : gpt.named_parameters())
      worst.parameter =
          std::max(worst.parameter, difference(without_key_bias(name, parameter->value),
                                               without_key_bias(name, *find(tensors_, "final." + name))));
    return worst;
  }
};

TEST_F(AdamWGolden, TenStepsInF64) {
  const auto gpt = first_model(DType::f64);
  AdamW optimizer = optimizer_of(*gpt);
  for (std::int64_t step = 0; step < steps(); ++step) {
    SCOPED_TRACE(step);
    const Step got = take_step(*gpt, optimizer, step);
    EXPECT_NEAR(got.lr / expected("lr", step), 1, 1e-15);
    EXPECT_NEAR(got.loss / expected("loss", step), 1, 1e-10);
    EXPECT_NEAR(got.grad_norm / expected("grad_norm", step), 1, 1e-10);
    EXPECT_NEAR(got.param_norm / expected("param_norm_after", step), 1, 1e-10);
  }
  for (const auto& [name, parameter] : gpt->named_parameters())
    expect_close(without_key_bias(name, parameter->value),
                 without_key_bias(name, *find(tensors_, "final." + name)), 1e-10, name);
}

TEST_F(AdamWGolden, LossesInF32) {
  const auto gpt = first_model(DType::f32);
  AdamW optimizer = optimizer_of(*gpt);
  for (std::int64_t step = 0; step < steps(); ++step)
    EXPECT_NEAR(take_step(*gpt, optimizer, step).loss / expected("loss_f32", step), 1, 1e-5) << step;
}

// After this many steps 1 - beta^t is 1.
TEST_F(AdamWGolden, TellsAMissingBiasCorrection) {
  const auto gpt = first_model(DType::f64);
  AdamW optimizer = optimizer_of(*gpt);
  optimizer.zero_grad();
  optimizer.set_lr(0);
  optimizer.step();
  Tensor steps_taken = *find(optimizer.state_dict(), "step");
  steps_taken.fill_(1e6);
  const Differences found = differences(*gpt, optimizer);
  EXPECT_GT(found.loss, 1e-2);
  EXPECT_GT(found.parameter, 1e-2);
}

TEST_F(AdamWGolden, TellsDecayOfNorms) {
  const auto gpt = first_model(DType::f64);
  AdamW optimizer(gpt->parameters(), options());
  const Differences found = differences(*gpt, optimizer);
  EXPECT_GT(found.loss, 1e-3);
  EXPECT_GT(found.parameter, 5e-3);
}

TEST_F(AdamWGolden, TellsDecayInTheGradient) {
  const auto gpt = first_model(DType::f64);
  const AdamWOptions o = options();
  Adam optimizer(decay_groups(gpt->parameters()),
                 {.betas = o.betas, .eps = o.eps, .weight_decay = o.weight_decay});
  EXPECT_GT(differences(*gpt, optimizer).parameter, 1e-3);
}

TEST_F(AdamWGolden, GoesOnFromAFileBitForBit) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("distlab-adamw-{}.safetensors", ::getpid());
  const auto whole = first_model(DType::f32);
  AdamW optimizer = optimizer_of(*whole);
  for (std::int64_t step = 0; step < 5; ++step) take_step(*whole, optimizer, step);
  StateDict saved = with_prefix("model.", whole->state_dict());
  for (const NamedTensor& entry : with_prefix("optimizer.", optimizer.state_dict())) saved.push_back(entry);
  save_safetensors(file, saved);
  for (std::int64_t step = 5; step < steps(); ++step) take_step(*whole, optimizer, step);

  const auto resumed = first_model(DType::f32);
  AdamW other = optimizer_of(*resumed);
  const StateDict loaded = load_safetensors(file);
  std::filesystem::remove(file);
  resumed->load_state_dict(part(loaded, "model."));
  other.load_state_dict(part(loaded, "optimizer."));
  for (std::int64_t step = 5; step < steps(); ++step) take_step(*resumed, other, step);
  for (const auto& [name, tensor] : whole->state_dict())
    EXPECT_TRUE(equal(*find(resumed->state_dict(), name), tensor)) << name;
  for (const auto& [name, tensor] : optimizer.state_dict())
    EXPECT_TRUE(equal(*find(other.state_dict(), name), tensor)) << name;
}

}  // namespace
}  // namespace dist::nn::golden
