// A rank of a tensor-parallel group dies during a step.
#include "dist/dist.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/parallel/tensor/vocab_cross_entropy.h"

#include "kill_support.h"

namespace dist::test {
namespace {

std::string train_in_tensors(int n, bool sequence, const std::function<void()>& ready) {
  init_process_group({.timeout = std::chrono::seconds(20)});
  const DeviceMesh mesh = init_device_mesh({n}, {"tp"});
  nn::GptOptions options;
  options.width = 48, options.heads = 12, options.context = 24, options.layers = 2;
  nn::GPT gpt(options);
  parallelize(gpt, mesh, {.sequence_parallel = sequence, .vocabulary_parallel = true});
  nn::SGD optimizer(gpt.parameters(), {.lr = 0.01});
  VocabParallelCrossEntropy loss(mesh, options.vocab_size);
  const Tensor tokens = ones({2, 24}, DType::i64);
  for (int step = 0; step < 1'000'000; ++step) {
    if (step == 3) ready();
    (void)loss.forward(gpt.forward(tokens), tokens);
    optimizer.zero_grad();
    gpt.backward(loss.backward());
    finish_gradients(gpt);
    optimizer.step();
  }
  return "done";
}

TEST(TensorKilled, TheOthersEndWithin2Seconds) {
  kill_in_training(
      12, [](int n, int trial, const auto& ready) { return train_in_tensors(n, trial % 2 == 0, ready); });
}

}  // namespace
}  // namespace dist::test
