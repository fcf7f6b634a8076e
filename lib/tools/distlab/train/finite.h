// A loss that is not a finite number: which rank, which step, and which layer computed the first such number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dist/nn/module.h"

namespace distlab {

// From now on, the first layer of the model whose output is not finite is written into the result, as below.
std::shared_ptr<std::string> watch_outputs(dist::nn::Module& model);

// Runs the model once more and returns the first layer whose output is not finite:
// "transformer.h.0.attn.c_attn (Linear(128, 384))". Returns an empty text when all outputs are finite. Keeps
// its hooks in the model.
std::string first_not_finite(dist::nn::Module& model, const dist::Tensor& input);

struct StepOfRank {
  int rank = 0;
  std::int64_t step = 0;
  double lr = 0;
};

// Throws Error{invalid_argument} if the loss of that step is not finite; only then the model runs once more.
void expect_finite(double loss, const StepOfRank& at, dist::nn::Module& model, const dist::Tensor& input);
// The same without a model that could run once more, as later steps have changed it.
void expect_finite(double loss, const StepOfRank& at);

// Throws the same on all ranks if one of them has weights that are not finite, so that they are not saved: a
// step of the given number, with that --lr, has made them. Communicates.
void expect_finite_weights(const std::vector<dist::nn::Parameter*>& parameters, std::int64_t step, double lr,
                           const std::filesystem::path& checkpoint);

// Throws for a validation loss, equal on all ranks, that is not finite: what led to it is not saved.
void expect_finite_validation(double loss, std::int64_t step, double lr,
                              const std::filesystem::path& checkpoint);

}  // namespace distlab
