// Lab 16, the specification: a whole training run, on one rank or on many.
// You write these functions in train_convnet.cpp. Do not change this file.
//
// Every rank of the default group calls the functions; there are n ranks, possibly 1. The model is on
// dist::get_device(): the GPU of this rank, or the CPU if there is no GPU. Samples are on the CPU. A tensor
// that a collective sends is on dist::get_device(). You may use all of the library: modules, samplers,
// DistributedDataParallel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "dist/data/data_loader.h"
#include "dist/data/sampler.h"
#include "dist/group/process_group.h"
#include "dist/nn/nn.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/replicas.h"

namespace lab {

// Part 1. Makes one training step: forward, loss (cross-entropy), backward, optimizer.
// - Output: the loss.
// - Constraint: the gradients are those of this batch alone, whatever they were before.
// - Example: with a learning rate of 0, two calls with the same batch return the same loss and leave the same
//   gradients.
double train_step(dist::nn::Module& model, dist::nn::Optimizer& optimizer, const dist::data::Batch& batch);

// What is kept from epoch to epoch.
struct Training {
  dist::nn::Module& model;  // a DistributedDataParallel
  dist::nn::Optimizer& optimizer;
  dist::data::DistributedSampler& sampler;  // chooses this rank's samples
};

// Part 2. Trains for epoch number `epoch` (0, 1, 2, ...).
// - Output: the mean loss over the samples of all ranks, each loss as it was in its own step; the same on all
//   ranks.
// - Constraint: one step for each batch of this rank's samples, in the sampler's order for this epoch,
//   including a smaller last batch. The model is trained in training mode, whatever mode it is in before.
// - Example: rank 0 has batches of 16 and 3 samples with losses 1.0 and 0.2, rank 1 has the losses 1.5 and
//   0.6: both return (16 * 1.0 + 3 * 0.2 + 16 * 1.5 + 3 * 0.6) / 38 = 1.116.
double train_epoch(const Training& training, const dist::data::Dataset& samples, std::int64_t batch_size,
                   int epoch);

// Part 3. Returns the accuracy: the fraction (0 to 1) of the samples for which the model's largest output is
// that of the right class. The result is the same on all ranks.
// - Constraint: each sample is evaluated once, by one of the ranks. A rank may have no samples; all ranks
//   together have at least one. The model that is evaluated is rank 0's, with rank 0's running statistics, in
//   evaluation mode.
// - Example: 10 samples on 4 ranks, of which 3, 2, 2 and 1 are classified correctly: 0.8.
double evaluate(dist::nn::Module& model, const dist::data::Dataset& samples);

// Part 4. Writes a checkpoint. Every rank calls it; rank 0 writes the file, and no other rank writes
// anything.
// - Input: a file that all ranks can read; what to save. You choose the names in the file.
// - Constraint: the file contains everything that a run needs in order to continue. A file that is there
//   already is replaced at once: a run that is killed meanwhile leaves the old one or the new one, complete.
// - Example: after one epoch it may contain model.conv1.weight, ..., optimizer.0.momentum_buffer, ..., and
//   epochs_done = 1.
void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, int epochs_done);
// Part 4. Reads a checkpoint, on every rank: restores the model and the optimizer, and returns epochs_done.
int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer);

// The parameters of a run, the same on all ranks.
struct Plan {
  int epochs = 3;                         // in all, including those before a resume
  std::int64_t batch_size = 16;           // per rank
  double lr = 0.02, momentum = 0.9;       // for dist::nn::SGD
  std::uint64_t seed = 0;                 // for the order of the samples
  std::filesystem::path checkpoint = {};  // written after each epoch; empty: no checkpoint
  bool resume = false;                    // true: continue from the checkpoint, if it exists
};

struct EpochResult {
  double loss = 0;      // the result of train_epoch
  double accuracy = 0;  // the result of evaluate, on the test samples, after the epoch
};

// Options for DistributedDataParallel with which the buckets are the same in every step. Without them,
// DistributedDataParallel learns in its first step in which order the gradients become ready, and then fills
// its buckets anew. A resumed run has a first step, too. There it would add in a different order from a run
// that was never interrupted.
inline const dist::DdpOptions same_buckets = [] {
  dist::DdpOptions options;
  options.find_unused_parameters = true;  // then the order is not learned
  return options;
}();

// Part 5. Runs the whole training.
// - Input: a model on the CPU, whose first weights may differ from rank to rank; the samples; the plan.
// - Output: one EpochResult for each epoch that this call has run. At the end the model is the same on all
//   ranks, and on dist::get_device().
// - Constraint: a run that was killed at any time and resumed with the same number of ranks ends with the
//   same bits as a run that was not.
// - Example: a plan of 3 epochs whose checkpoint says epochs_done = 1 runs epochs 1 and 2, and returns two
//   results.
std::vector<EpochResult> train_model(dist::nn::Module& model, const dist::data::Dataset& train_samples,
                                     const dist::data::Dataset& test_samples, const Plan& plan);

}  // namespace lab
