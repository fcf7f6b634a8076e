// MeshTrainer: the work of one rank of `distlab train --model gpt --mesh dp=2,tp=2`: the GPT is divided among
// the ranks of a mesh, and learns what one rank would.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dist/data/step_sampler.h"
#include "dist/nn/adam.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/pipeline/timeline.h"

#include "distlab/train/checkpoint.h"
#include "distlab/train/ending.h"
#include "distlab/train/options.h"
#include "distlab/train/text/other_kind.h"
#include "distlab/train/text/step_memory.h"
#include "distlab/train/text/step_narrator.h"
#include "distlab/train/text/text_data.h"

namespace distlab {

// Throws Error{invalid_argument}, in one line, for a text that is not a mesh, or a mesh that does not divide
// the model.
void check_mesh(const TrainOptions& options);
dist::HybridOptions hybrid_options(const TextOptions& options);
// How many ranks the mesh has.
int ranks_of_mesh(const TrainOptions& options);

// Every rank of the default group must make one and call run().
class MeshTrainer {
 public:
  explicit MeshTrainer(const TrainOptions& options);
  // Trains all steps that are left, with validations in between; each writes the checkpoint, a folder that
  // any mesh can load, or the file that it has resumed from. With --verify, instead compares the first step's
  // loss, norm and gradients with those of one rank in f64, and throws Error{mismatch} if any differs. With
  // --plot, the memory and the timeline of one step are drawn at the end; with --sample and --export, rank 0
  // gathers the model and writes.
  void run();

 private:
  double train_step(const dist::data::Batch& batch);
  std::int64_t validation_rows() const;
  double validation_loss();
  void verify();
  // What a resumed run has in common with this one.
  RunSettings settings() const;
  dist::Pieces state();
  OnMesh on_mesh();
  void save();
  void draw_step();
  void use();  // --sample and --export
  RunSettings with_sizes(RunSettings all) const;
  void resume();
  void say_resumed();

  const TrainOptions options_;
  const bool is_in_file_;          // the checkpoint that a resumed run has found is not a folder
  const std::int64_t batch_size_;  // rows per data rank
  const TextData text_;
  const dist::data::TextDataset train_, validation_;
  const dist::nn::GptOptions gpt_;
  dist::HybridGpt model_;
  const std::string about_;  // how the file of --from was read, if it is of another program
  dist::nn::AdamW optimizer_;
  dist::data::StepSampler sampler_;
  std::int64_t done_ = 0;  // steps since the beginning
  Ending ending_{dist::cpu};
  double grad_norm_ = std::numeric_limits<double>::quiet_NaN();  // of the last step; of graphs unknown
  StepNarrator narrator_;
  std::optional<StepMemory> memory_;   // with --plot
  dist::pipeline::Timeline timeline_;  // on rank 0, of the step that is drawn
};

}  // namespace distlab
