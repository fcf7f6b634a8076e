// A run without a mesh writes a file, a run on a mesh a folder. With --resume each continues from what the
// other has written, and writes it again as what it was.
#pragma once

#include <filesystem>

#include "dist/nn/optimizer.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

#include "distlab/train/checkpoint.h"

namespace distlab {

// The settings of a run, and what else it keeps, as pieces: "run.NAME".
dist::Pieces run_pieces(const RunSettings& settings, const dist::nn::StateDict& more);

// For a run without a mesh; in bf16 a mesh has its master weights as parameters. Every rank must call both.
void save_as_folder(const std::filesystem::path& folder, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer, const dist::Pieces& run);

void restore_from_folder(const std::filesystem::path& folder, dist::nn::Module& model,
                         dist::nn::Optimizer& optimizer);

// A run on a mesh.
struct OnMesh {
  dist::HybridGpt& model;
  dist::nn::Optimizer& optimizer;
  const dist::nn::GptOptions& gpt;
  dist::DType dtype;
};
// Every rank must call it. FILE.parts is a folder in the meantime; rank 0 has the whole model and optimizer.
void save_as_file(const std::filesystem::path& file, const OnMesh& run, const RunSettings& settings,
                  const dist::nn::StateDict& more);
// Every rank reads the file, and has the whole model and optimizer in the meantime. Throws
// Error{invalid_argument} for the checkpoint of another model.
void restore_from_file(const Checkpoint& checkpoint, const OnMesh& run);

}  // namespace distlab
