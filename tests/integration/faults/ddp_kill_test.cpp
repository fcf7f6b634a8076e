// A rank dies during training with DistributedDataParallel, or leaves before the others: they end
// within 2 s with an error that names it.
#include "dist/dist.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/linear.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "kill_support.h"

namespace dist::test {
namespace {

using std::chrono::milliseconds;

// Several buckets per step, so that communication is nearly always under way.
std::string train_in_buckets(const std::function<void()>& ready, int steps) {
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

TEST(DdpKilled, TheOthersEndWithin2Seconds) {
  kill_in_training(12, [](int, int, const auto& ready) { return train_in_buckets(ready, 1'000'000); });
}

TEST(DdpKilled, ARankWithFewerBatchesIsNamed) {
  ProcessRanks ranks(
      3, [](int rank, const auto& ready) { return train_in_buckets(ready, rank == 1 ? 10 : 1'000'000); });
  ASSERT_TRUE(ranks.wait_ready(milliseconds(20'000)));
  const auto reports = ranks.join(milliseconds(10'000));
  EXPECT_EQ(reports[1].text, "done");
  expect_all_name(1, reports, reports[1].ended);
}

}  // namespace
}  // namespace dist::test
