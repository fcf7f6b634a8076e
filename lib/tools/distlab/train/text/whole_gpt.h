// The whole model of a run on a mesh, on one rank.
#pragma once

#include <memory>

#include "dist/nn/gpt.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

namespace distlab {

// Makes a GPT of the model's present values on rank 0; returns null on other ranks. Collective.
std::unique_ptr<dist::nn::GPT> gather_whole_gpt(dist::HybridGpt& model, const dist::nn::GptOptions& gpt);

}  // namespace distlab
