// Lab 16, the contract: a whole training run, on one rank or on many.
// You write these functions in train_convnet.cpp; this file stays as it is.
//
// All ranks of the default group call them, n ranks in all, n = 1 too. A model lies on dist::get_device():
// the GPU of this rank, or the CPU where there is none. Samples come on the CPU; what a collective sends lies
// on dist::get_device(). The library may be used as it is: modules, samplers, DistributedDataParallel.
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

// Part 1. One step of training: forward, loss (cross-entropy), backward, optimizer. The gradients are those
// of this batch alone, whatever was in them before. Returns the loss.
double train_step(dist::nn::Module& model, dist::nn::Optimizer& optimizer, const dist::data::Batch& batch);

// What goes from epoch to epoch.
struct Training {
  dist::nn::Module& model;  // DistributedDataParallel
  dist::nn::Optimizer& optimizer;
  dist::data::DistributedSampler& sampler;  // this rank's share
};

// Part 2. Epoch number `epoch` (0, 1, 2, ...): a step for each batch of this rank's share, in the sampler's
// order of that epoch, the smaller last batch too. The model trains in training mode, whatever mode it comes
// in. Returns the mean loss over the samples of all ranks, each at its own step; the same on all ranks.
double train_epoch(const Training& training, const dist::data::Dataset& samples, std::int64_t batch_size,
                   int epoch);

// Part 3. The share (0 to 1) of the samples for which the model's largest output is that of the right class.
// Each sample is looked at once, by one of the ranks; a rank may have none, all ranks together have one at
// least. It is rank 0's model that is judged, with rank 0's running statistics, in evaluation mode. Returns
// the same on all ranks.
double evaluate(dist::nn::Module& model, const dist::data::Dataset& samples);

// Part 4. All ranks call both. A file lies where all ranks can read it. Rank 0 writes it; no other rank
// writes anything.
void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, int epochs_done);
// Model and optimizer become what they were; returns epochs_done.
int load_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                    dist::nn::Optimizer& optimizer);

// What a run is asked for, alike on all ranks.
struct Plan {
  int epochs = 3;                         // in all, those before a resume counted
  std::int64_t batch_size = 16;           // of each rank
  double lr = 0.02, momentum = 0.9;       // of dist::nn::SGD
  std::uint64_t seed = 0;                 // of the order of samples
  std::filesystem::path checkpoint = {};  // written after each epoch; empty: none
  bool resume = false;                    // go on from the checkpoint, if any; false: begin anew
};

struct EpochResult {
  double loss = 0;      // of train_epoch
  double accuracy = 0;  // of evaluate, on the test samples, after the epoch
};

// Buckets that are the same in the first step as in all others. Without it DistributedDataParallel learns in
// its first step which gradients come first and fills its buckets anew. A resumed run has a first step, too:
// it would add in another order there than a run that was never stopped.
inline const dist::DdpOptions same_buckets = [] {
  dist::DdpOptions options;
  options.find_unused_parameters = true;  // then there is no order to learn
  return options;
}();

// Part 5. The whole run. `model` comes on the CPU, and its first weights may differ from rank to rank; in the
// end it is the same on all ranks, and lies on dist::get_device(). A run that was killed at any time and
// resumed, by as many ranks, ends with the same bits as one that was not. Returns what the epochs were like
// that it ran.
std::vector<EpochResult> train_model(dist::nn::Module& model, const dist::data::Dataset& train_samples,
                                     const dist::data::Dataset& test_samples, const Plan& plan);

}  // namespace lab
