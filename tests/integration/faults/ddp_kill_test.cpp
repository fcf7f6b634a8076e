// A rank dies in the midst of training with DistributedDataParallel, or leaves before the others: they end
// within 2 s with an error that names it.
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/linear.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "support/process_ranks.h"

namespace dist::test {
namespace {

using std::chrono::milliseconds;

// Several buckets a step, so that communication is nearly always under way.
std::string train(const std::function<void()>& ready, int steps) {
  init_process_group({.timeout = std::chrono::seconds(20)});
  nn::Sequential model;
  for (int layer = 0; layer < 3; ++layer) {
    model.add<nn::Linear>(200, 200);
    model.add<nn::ReLU>();
  }
  DistributedDataParallel ddp(model, {.first_bucket_bytes = 1000, .bucket_bytes = 100'000});
  nn::SGD optimizer(model.parameters(), {.lr = 0.01});
  nn::CrossEntropyLoss loss;
  const Tensor input = ones({16, 200}), targets = zeros({16}, DType::i64);
  for (int step = 0; step < steps; ++step) {
    if (step == 3) ready();
    (void)loss.forward(ddp.forward(input), targets);
    optimizer.zero_grad();
    (void)ddp.backward(loss.backward());
    optimizer.step();
  }
  destroy_process_group();
  return "done";
}

void expect_all_but(int gone, const std::vector<ProcessRanks::Report>& reports,
                    ProcessRanks::Clock::time_point since) {
  for (int rank = 0; rank < static_cast<int>(reports.size()); ++rank) {
    if (rank == gone) continue;
    const auto& report = reports[static_cast<std::size_t>(rank)];
    EXPECT_EQ(report.signal, 0) << rank;
    EXPECT_NE(report.text.find("rank " + std::to_string(gone)), std::string::npos) << report.text;
    EXPECT_LE(report.ended - since, std::chrono::seconds(2)) << report.text;
  }
}

TEST(DdpKilled, TheOthersEndWithin2Seconds) {
  for (int trial = 0; trial < 12; ++trial) {
    const int n = 2 + trial % 3, victim = trial % n;
    ProcessRanks ranks(n, [](int, const auto& ready) { return train(ready, 1'000'000); });
    ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
    std::this_thread::sleep_for(std::chrono::microseconds(trial * 1237));
    ranks.kill(victim);
    const auto killed = ProcessRanks::Clock::now();
    expect_all_but(victim, ranks.join(milliseconds(10'000)), killed);
  }
}

TEST(DdpKilled, ARankWithFewerBatchesIsNamed) {
  ProcessRanks ranks(3, [](int rank, const auto& ready) { return train(ready, rank == 1 ? 10 : 1'000'000); });
  ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
  const auto reports = ranks.join(milliseconds(10'000));
  EXPECT_EQ(reports[1].text, "done");
  expect_all_but(1, reports, reports[1].ended);
}

}  // namespace
}  // namespace dist::test
