// A rank of a tensor-parallel group dies in the midst of a step: the others end within 2 s with an error that
// names it.
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/parallel/tensor/vocab_cross_entropy.h"

#include "support/process_ranks.h"

namespace dist::test {
namespace {

using std::chrono::milliseconds;

std::string train(int n, bool sequence, const std::function<void()>& ready) {
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
  for (int trial = 0; trial < 12; ++trial) {
    const int n = 2 + trial % 3, victim = trial % n;
    ProcessRanks ranks(n, [&](int, const auto& ready) { return train(n, trial % 2 == 0, ready); });
    ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
    std::this_thread::sleep_for(std::chrono::microseconds(trial * 1237));
    ranks.kill(victim);
    const auto killed = ProcessRanks::Clock::now();
    const auto reports = ranks.join(milliseconds(10'000));
    for (int rank = 0; rank < n; ++rank) {
      if (rank == victim) continue;
      const auto& report = reports[static_cast<std::size_t>(rank)];
      EXPECT_EQ(report.signal, 0) << rank;
      EXPECT_NE(report.text.find("rank " + std::to_string(victim)), std::string::npos) << report.text;
      EXPECT_LE(report.ended - killed, std::chrono::seconds(2)) << report.text;
    }
  }
}

}  // namespace
}  // namespace dist::test
