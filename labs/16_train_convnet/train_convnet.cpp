// Lab 16: write these functions. README.md is the handout,
// train_convnet.h is the specification.
//
//   ./distlab run 16      runs the demonstration with your code
//   ./distlab grade 16    tests your code
//   ./distlab hint 16     prints a hint
#include "train_convnet.h"

#include "dist/core/todo.h"

namespace lab {

double train_step(dist::nn::Module& model, dist::nn::Optimizer& optimizer, const dist::data::Batch& batch) {
  // TODO: four calls, and one before backward, which adds to the gradients.
  // TODO: on which device is the model, and on which is the batch?
  DIST_TODO("lab 16, part 1: one step of training");
}

double train_epoch(const Training& training, const dist::data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  // TODO: what must the sampler and the model be told first?
  // TODO: batches differ in size. What may be added over batches and ranks?
  DIST_TODO("lab 16, part 2: an epoch");
}

double evaluate(dist::nn::Module& model, const dist::data::Dataset& samples) {
  // TODO: which sampler gives every sample to exactly one rank?
  // TODO: dist::broadcast_state(model, dist::default_group()) copies rank 0's.
  DIST_TODO("lab 16, part 3: the fraction of right answers");
}

void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, int epochs_done) {
  // TODO: what does a run need in order to continue? Which rank writes?
  // TODO: dist::nn::save_safetensors(file, state): names and tensors.
  DIST_TODO("lab 16, part 4: write a checkpoint");
}

int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer) {
  // TODO: dist::nn::part(state, "model.") returns the model's entries.
  DIST_TODO("lab 16, part 4: read a checkpoint");
}

std::vector<EpochResult> train_model(dist::nn::Module& model, const dist::data::Dataset& train_samples,
                                     const dist::data::Dataset& test_samples, const Plan& plan) {
  // TODO: device, optimizer, sampler, checkpoint, DDP: in which order?
  // TODO: what must be the same on all ranks, and what must differ?
  DIST_TODO("lab 16, part 5: the whole run");
}

}  // namespace lab
