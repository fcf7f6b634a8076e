// The whole model of a run on a mesh, on one rank: gathered from the ranks, or from a file.
#pragma once

#include <memory>
#include <string>

#include "dist/nn/gpt.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

#include "distlab/train/options.h"

namespace distlab {

// Makes a GPT of the model's present values on rank 0; returns null on other ranks. Collective.
std::unique_ptr<dist::nn::GPT> gather_whole_gpt(dist::HybridGpt& model, const dist::nn::GptOptions& gpt);

// Gives the model the values of --from, if the run has it; returns a line that says how a file of another
// program was read, or nothing. Every rank reads the file.
std::string begin_mesh_with_file(dist::HybridGpt& model, const TrainOptions& options);

}  // namespace distlab
