// What mpi_test.cpp starts with mpirun: one rank that trains by DistributedDataParallel on the mpi backend.
// What is wrong is printed and makes the exit code 1.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/ranges.h>

#include "dist/nn/cross_entropy.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "support/golden_differences.h"

namespace {

using namespace dist;
using test::GoldenRun;

void expect(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(fmt::format("rank {}: wrong: {}", get_rank(), what));
}

void say_on_rank_0(const std::string& line) {
  if (get_rank() == 0) fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::vector<std::string> differences_with(const GoldenRun& run, const DdpOptions& options) {
  return test::golden_differences(run, get_rank(), [&](nn::Module& model) {
    return std::make_unique<DistributedDataParallel>(model, options);
  });
}

// Every run of tests/golden that has as many ranks; in one bucket and in many. And the test of the test.
void golden() {
  int runs = 0;
  for (const GoldenRun& run : test::golden_runs()) {
    if (run.world_size != get_world_size()) continue;
    for (const std::size_t bytes : {std::size_t{25} << 20, std::size_t{256}}) {
      const auto found = differences_with(run, {.first_bucket_bytes = bytes, .bucket_bytes = bytes});
      expect(found.empty(), fmt::format("{}, buckets of {} bytes: {}", run.name(), bytes, found));
    }
    const auto none = [](const GradBucket&) { return [] {}; };
    expect(run.world_size == 1 || !differences_with(run, {.hook = none}).empty(),
           run.name() + ": nothing differs without any exchange");
    ++runs;
  }
  say_on_rank_0(fmt::format("{} golden runs", runs));
}

test::GoldenBatch batch_of_all(const GoldenRun& run, int step) {
  const int n = get_world_size();
  test::GoldenBatch all{empty({n * run.batch, 8}), empty({n * run.batch}, DType::i64)};
  for (int rank = 0; rank < n; ++rank) {
    const auto share = test::golden_batch(run, rank, step);
    all.input.narrow(rank * run.batch, run.batch).copy_(share.input);
    all.targets.narrow(rank * run.batch, run.batch).copy_(share.targets);
  }
  return all;
}

void train_step(nn::Module& model, nn::Optimizer& optimizer, const test::GoldenBatch& batch) {
  nn::CrossEntropyLoss loss;
  (void)loss.forward(model.forward(batch.input), batch.targets);
  optimizer.zero_grad();
  (void)model.backward(loss.backward());
  optimizer.step();
}

Tensor weights_of(nn::Module& model) {
  std::vector<float> all;
  for (const nn::Parameter* const parameter : model.parameters())
    for (const float x : parameter->value.to_vector<float>()) all.push_back(x);
  return tensor(std::span<const float>(all));
}

// One step is that of one rank with the whole batch; after 100 all ranks have the same bits.
void equality() {
  const GoldenRun run = test::golden_runs().front();
  expect(run.model == "mlp", "the first golden run has a model without batch norm");
  const auto model = test::golden_model(run), alone = test::golden_model(run);
  DistributedDataParallel ddp(*model);
  const auto optimizer = test::golden_optimizer(run, *model),
             optimizer_alone = test::golden_optimizer(run, *alone);
  for (int step = 0; step < 100; ++step) {
    train_step(ddp, *optimizer, test::golden_batch(run, get_rank(), step));
    if (step > 0) continue;
    train_step(*alone, *optimizer_alone, batch_of_all(run, step));
    const Tensor expected = weights_of(*alone);
    const double error = test::l2_norm(weights_of(*model) - expected) / test::l2_norm(expected);
    expect(error < 1e-6, fmt::format("after a step the weights are off by {}", error));
  }
  const Tensor mine = weights_of(*model);
  Tensor of_rank_0 = mine.clone();
  broadcast(of_rank_0, 0);
  expect(equal(mine, of_rank_0), "after 100 steps the weights are not those of rank 0");
  say_on_rank_0("100 steps");
}

const std::map<std::string, void (*)()> deeds{{"golden", golden}, {"equality", equality}};

}  // namespace

int main(int, char** argv) {
  try {
    init_process_group({.backend = "mpi", .timeout = std::chrono::seconds(50)});
    deeds.at(argv[1])();
    destroy_process_group();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
