// The baselines give what one process with the whole batch gives.
#include <gtest/gtest.h>

#include "dist/nn/cross_entropy.h"
#include "dist/nn/linear.h"
#include "dist/nn/random.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/parameter_server.h"

#include "ddp_support.h"
#include "support/expect_error.h"
#include "support/golden_training.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

std::unique_ptr<nn::Module> perceptron() {
  nn::manual_seed(1);
  auto model = std::make_unique<nn::Sequential>();
  model->add<nn::Linear>(6, 12);
  model->add<nn::ReLU>();
  model->add<nn::Linear>(12, 3);
  return model;
}

struct Batch {
  Tensor input, targets;
};

Batch batch_of(std::int64_t size) {
  Batch batch{empty({size, 6}), empty({size}, DType::i64)};
  int k = 0;
  for (float& x : batch.input.data<float>()) x = static_cast<float>(++k * 37 % 101) / 50 - 1;
  for (std::int64_t i = 0; i < size; ++i)
    batch.targets.data<std::int64_t>()[static_cast<std::size_t>(i)] = i % 3;
  return batch;
}

void train_step(nn::Module& model, const Batch& batch) {
  nn::CrossEntropyLoss loss;
  (void)loss.forward(model.forward(batch.input), batch.targets);
  model.zero_grad();
  (void)model.backward(loss.backward());
}

Tensor flat_of(nn::Module& model, Tensor nn::Parameter::*which) {
  std::vector<float> all;
  for (nn::Parameter* p : model.parameters())
    for (const float x : (p->*which).to_vector<float>()) all.push_back(x);
  return tensor(std::span<const float>(all));
}

double relative_difference(const Tensor& a, const Tensor& b) { return l2_norm(a - b) / l2_norm(b); }

// Weights after `steps` steps of one process with the whole batch.
Tensor alone(std::int64_t batch_size, int steps) {
  const auto model = perceptron();
  nn::SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  for (int i = 0; i < steps; ++i) {
    train_step(*model, batch_of(batch_size));
    optimizer.step();
  }
  return flat_of(*model, &nn::Parameter::value);
}

Batch share_of(const Batch& all, int rank, int n) {
  return {all.input.chunk(n)[static_cast<std::size_t>(rank)],
          all.targets.chunk(n)[static_cast<std::size_t>(rank)]};
}

TEST(DataParallel, GradientsAreThoseOfTheWholeBatch) {
  for (const int replicas : {1, 2, 3, 7}) {
    for (const std::int64_t size : {1, 5, 12}) {
      const auto whole = perceptron();
      train_step(*whole, batch_of(size));
      DataParallel model(perceptron, replicas);
      for (int round = 0; round < 2; ++round) train_step(model, batch_of(size));
      EXPECT_LT(
          relative_difference(flat_of(model, &nn::Parameter::grad), flat_of(*whole, &nn::Parameter::grad)),
          1e-6)
          << replicas << " replicas, batch " << size;
    }
  }
}

TEST(DataParallel, RefusesWhatCannotBe) {
  EXPECT_DIST_ERROR(DataParallel(perceptron, 0), Errc::invalid_argument, "0 replicas");
  EXPECT_DIST_ERROR(DataParallel(perceptron, 2, {cpu}), Errc::invalid_argument, "1 device for 2 replicas");
  DataParallel model(perceptron, 2);
  EXPECT_DIST_ERROR((void)model.forward(ones({4, 5})), Errc::invalid_argument, "5");
}

TEST(ParameterServer, StepsAreThoseOfTheWholeBatch) {
  for (const int n : {1, 2, 3, 4}) {
    run_ranks(n, [n](int rank) {
      nn::manual_seed(static_cast<std::uint64_t>(rank));
      const auto model = perceptron();
      model->parameters()[0]->value.mul_(rank == n - 1 ? 1 : 2);  // the server's count
      nn::SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
      const int server = n - 1;
      const auto mirrored = split_group(0, -rank);  // group rank 0 is global rank n - 1
      ParameterServer scheme(*model, optimizer, {.group = mirrored, .server = mirrored.group_rank(server)});
      for (int i = 0; i < 5; ++i) {
        train_step(*model, share_of(batch_of(12), rank, n));
        scheme.step();
      }
      EXPECT_LT(relative_difference(flat_of(*model, &nn::Parameter::value), alone(12, 5)), 1e-6) << rank;
    });
  }
}

TEST(ParameterServer, RefusesAServerThatIsNotThere) {
  run_ranks(2, [](int) {
    Row model({4});
    nn::SGD optimizer(model.parameters());
    EXPECT_DIST_ERROR(ParameterServer(model, optimizer, {.server = 2}), Errc::invalid_argument, "2");
    Row nothing({});
    EXPECT_DIST_ERROR(ParameterServer(nothing, optimizer), Errc::invalid_argument, "no parameters");
  });
}

TEST(Ddp, RanksOfBatchBEqualOneRankOfBatchNB) {
  for (const int n : {1, 2, 3, 4}) {
    run_ranks(n, [n](int rank) {
      const auto model = perceptron();
      DistributedDataParallel ddp(*model);
      nn::SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
      for (int i = 0; i < 100; ++i) {
        train_step(ddp, share_of(batch_of(12), rank, n));
        optimizer.step();
        if (i > 0) continue;
        EXPECT_LT(relative_difference(flat_of(*model, &nn::Parameter::value), alone(12, 1)), 1e-6) << rank;
      }
      Tensor weights = flat_of(*model, &nn::Parameter::value);
      std::vector<Tensor> all;
      for (int r = 0; r < n; ++r) all.push_back(empty_like(weights));
      all_gather(all, weights);
      for (int r = 0; r < n; ++r)
        EXPECT_TRUE(equal(all[static_cast<std::size_t>(r)], weights)) << "ranks " << rank << " and " << r;
    });
  }
}

}  // namespace
}  // namespace dist::test
