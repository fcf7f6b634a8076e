// Lab 16: write these functions. README.md tells the story, train_convnet.h is
// the contract.
//
//   ./distlab run 16      see what your code does
//   ./distlab grade 16    is it right, and if not, why?
//   ./distlab hint 16     a nudge
#include "train_convnet.h"

#include "dist/core/todo.h"

namespace lab {

double train_step(dist::nn::Module& model, dist::nn::Optimizer& optimizer, const dist::data::Batch& batch) {
  // TODO: four calls, and one before backward. backward adds to gradients.
  // TODO: where does the model lie, and where the batch?
  DIST_TODO("lab 16, part 1: one step of training");
}

double train_epoch(const Training& training, const dist::data::Dataset& samples, std::int64_t batch_size,
                   int epoch) {
  // TODO: what must the sampler know, what the model?
  // TODO: batches differ in size. What adds up over batches and over ranks?
  DIST_TODO("lab 16, part 2: an epoch");
}

double evaluate(dist::nn::Module& model, const dist::data::Dataset& samples) {
  // TODO: which sampler gives every sample to one rank only?
  // TODO: dist::broadcast_state(model, dist::default_group()) copies rank 0's.
  DIST_TODO("lab 16, part 3: the share of right answers");
}

void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, int epochs_done) {
  // TODO: what does a run need to go on? Who writes?
  // TODO: dist::nn::save_safetensors(file, state): names and tensors.
  DIST_TODO("lab 16, part 4: write a checkpoint");
}

int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer) {
  // TODO: dist::nn::part(state, "model.") takes a part out.
  DIST_TODO("lab 16, part 4: read a checkpoint");
}

std::vector<EpochResult> train_model(dist::nn::Module& model, const dist::data::Dataset& train_samples,
                                     const dist::data::Dataset& test_samples, const Plan& plan) {
  // TODO: device, optimizer, sampler, checkpoint, DDP: in which order?
  // TODO: which of them must be alike on all ranks, and which must not?
  DIST_TODO("lab 16, part 5: the whole run");
}

}  // namespace lab
