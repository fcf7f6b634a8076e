// Recorded steps of a DistributedDataParallel: a graph up to each bucket, or one with its all-reduces in it,
// and the bits of steps without graphs.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/device/recording.h"
#include "dist/dist.h"
#include "dist/group/group_state.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/graphed_step.h"
#include "dist/nn/random.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "support/expect_error.h"
#include "support/fake_layers.h"
#include "support/nccl_on_layers.h"
#include "unit/device/on_backend.h"
#include "unit/nn/gradient_check.h"

namespace dist::test {
namespace {

constexpr int steps = 7;  // three before the graphs exist; the last step but one has a smaller batch

// How a run's steps are taken.
enum class How { plain, cut, in_one_graph };

struct Outcome {
  std::vector<double> losses;
  std::vector<Tensor> values;
  std::size_t graphs = 0;
  std::uint64_t collectives = 0;  // their numbers
};

// A ConvNet of this rank's device, with small buckets.
class Trained {
 public:
  explicit Trained(int rank, How how, bool find_unused = false, CommHook hook = all_reduce_hook)
      : device_(device_of(rank)),
        rank_(rank),
        how_(how),
        model_(made_on(device_)),
        ddp_(*model_, {.first_bucket_bytes = 32 << 10,
                       .bucket_bytes = 32 << 10,
                       .find_unused_parameters = find_unused,
                       .hook = std::move(hook)}),
        optimizer_(model_->parameters(), {.lr = 0.02, .momentum = 0.9}),
        graphed_(device_,
                 [this](const Tensor& inputs, const Tensor& targets) { return take(inputs, targets); },
                 {.has_collectives = how == How::in_one_graph}) {}

  nn::Loss step(int i, std::int64_t rows = 2) {
    const Tensor inputs = nn::scattered({rows, 1, 28, 28}, 10 * rank_ + i, DType::f32),
                 targets = arange(rows, DType::i64);
    optimizer_.set_lr(0.02 / (i + 1));
    return how_ == How::plain ? take(inputs.to(device_), targets.to(device_)) : graphed_(inputs, targets);
  }
  bool is_recorded() const { return graphed_.is_recorded(); }
  Outcome outcome(std::vector<double> losses) {
    Outcome outcome;
    outcome.losses = std::move(losses);
    outcome.graphs = graphed_.graphs();
    outcome.collectives = default_group().state()->collectives;
    for (const auto& [name, tensor] : model_->state_dict()) outcome.values.push_back(tensor.to(cpu));
    return outcome;
  }

 private:
  static std::unique_ptr<nn::ConvNet> made_on(Device device) {
    nn::manual_seed(1);
    auto model = std::make_unique<nn::ConvNet>();
    model->skip_input_grad();
    model->to(device);
    return model;
  }
  nn::Loss take(const Tensor& inputs, const Tensor& targets) {
    nn::Loss value = loss_.forward(ddp_.forward(inputs), targets);
    optimizer_.zero_grad();
    ddp_.backward(loss_.backward());
    optimizer_.step();
    return value;
  }

  const Device device_;
  const int rank_;
  const How how_;
  const std::unique_ptr<nn::ConvNet> model_;
  DistributedDataParallel ddp_;
  nn::SGD optimizer_;
  nn::CrossEntropyLoss loss_;
  nn::GraphedStep graphed_;
};

Outcome train(int rank, How how, bool find_unused = false, const CommHook& hook = all_reduce_hook) {
  Trained trained(rank, how, find_unused, hook);
  const std::uint64_t before = default_group().state()->collectives;
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) losses.push_back(trained.step(i, i == steps - 2 ? 1 : 2).item());
  Outcome outcome = trained.outcome(std::move(losses));
  outcome.collectives -= before;
  return outcome;
}

void expect_same(const Outcome& got, const Outcome& expected) {
  EXPECT_EQ(got.losses, expected.losses);
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (std::size_t i = 0; i < got.values.size(); ++i)
    EXPECT_TRUE(equal(got.values[i], expected.values[i])) << "tensor " << i;
}

TEST(GraphedDdp, HasTheBitsOfStepsWithoutGraphs) {
  constexpr std::chrono::microseconds rest(50);
  const std::vector<FakeDeviceOptions> machines{{.count = 1, .longest_rest = rest},
                                                {.count = 2, .longest_rest = rest},
                                                {.count = 2, .longest_rest = rest, .reaches_all = false}};
  for (const FakeDeviceOptions& machine : machines)
    for (const bool find_unused : {false, true}) {
      const FakeLayersGuard fake(machine);
      run_ranks(
          2,
          [&](int rank) {
            const Outcome plain = train(rank, How::plain, find_unused),
                          graphed = train(rank, How::cut, find_unused);
            expect_same(graphed, plain);
            EXPECT_GE(graphed.graphs, 3U) << "one up to each of several buckets";
            EXPECT_EQ(plain.graphs, 0U);
          },
          on_cuda());
    }
}

// One rank has the last, smaller batch while the other launches its graphs: the order of buckets is the same.
TEST(GraphedDdp, GoesTogetherWithARankWithoutGraphs) {
  const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50)});
  run_ranks(
      2,
      [&](int rank) {
        const Outcome plain = train(rank, How::plain, true),
                      mixed = train(rank, rank == 0 ? How::cut : How::plain, true);
        expect_same(mixed, plain);
      },
      on_cuda());
}

TEST(GraphedDdp, HooksMayMakeTensors) {
  const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50)});
  run_ranks(
      2,
      [&](int rank) {
        expect_same(train(rank, How::cut, false, bf16_compress_hook),
                    train(rank, How::plain, false, bf16_compress_hook));
      },
      on_cuda());
}

TEST(GraphedDdp, RefusesCollectivesOfTheStepItself) {
  const FakeLayersGuard fake;
  run_ranks(
      1,
      [&](int) {
        Tensor x = ones({3}, DType::f32, cuda(0));
        Recording recording(cuda(0));
        expect_error(Errc::unsupported,
                     {"all_reduce at graphed_ddp_test.cpp:", "while a step is recorded as a graph"},
                     [&] { all_reduce(x); });
      },
      on_cuda());
}

TEST(GraphedDdp, IsRecordedOnceItsBucketsStay) {
  const FakeLayersGuard fake;
  run_ranks(
      1,
      [&](int) {
        nn::ConvNet model;
        model.to(cuda(0));
        DistributedDataParallel ddp(model);
        nn::CrossEntropyLoss loss;
        nn::GraphedStep step(cuda(0),
                             [&](const Tensor& inputs, const Tensor& targets) {
                               const nn::Loss value = loss.forward(ddp.forward(inputs), targets);
                               ddp.backward(loss.backward());
                               return value;
                             },
                             {.warm_up = 1});
        const Tensor inputs = zeros({2, 1, 28, 28}), targets = zeros({2}, DType::i64);
        step(inputs, targets);
        expect_error(Errc::unsupported, {"record a later step", "warm_up of at least 2"},
                     [&] { step(inputs, targets); });
      },
      on_cuda());
}

// The all-reduces are nodes of the graph, parallel to the backward pass; the values are the same as without a
// graph. The smaller batch does without the graph on both ranks.
TEST(DdpInOneGraph, HasTheBitsOfStepsWithoutGraphs) {
  for (const int devices : {1, 2}) {
    const CommHook hook = devices == 1 ? all_reduce_hook : bf16_compress_hook;
    const FakeNcclOnLayers fake({.count = devices, .longest_rest = std::chrono::microseconds(50)});
    run_ranks(
        2,
        [&](int rank) {
          const Outcome plain = train(rank, How::plain, false, hook),
                        cut = train(rank, How::cut, false, hook),
                        graphed = train(rank, How::in_one_graph, false, hook);
          expect_same(cut, plain);
          expect_same(graphed, plain);
          EXPECT_GE(cut.graphs, 3U);
          EXPECT_EQ(graphed.graphs, 1U);
          EXPECT_EQ(cut.collectives, plain.collectives);
          EXPECT_EQ(graphed.collectives, plain.collectives + 1) << "the ranks agree on the graph";
        },
        on_nccl());
    fake.expect_all_is_well();
  }
}

// Where the backend cannot record, or the host must read which parameters were used.
TEST(DdpInOneGraph, IsCutWhereItMustBe) {
  for (const bool by_nccl : {false, true}) {
    const FakeNcclOnLayers fake;
    run_ranks(
        2,
        [&](int rank) {
          const Outcome plain = train(rank, How::plain, by_nccl),
                        graphed = train(rank, How::in_one_graph, by_nccl);
          expect_same(graphed, plain);
          EXPECT_GE(graphed.graphs, 3U);
        },
        by_nccl ? on_nccl() : on_cuda());
    fake.expect_all_is_well();
  }
}

// The figures of the handbook's page on graphs.
TEST(DdpInOneGraph, CostsOneLaunchAndNoCallOfNccl) {
  struct Costs {
    std::size_t graphs, kernels, copies, nccl, waits;
  };
  std::map<How, Costs> costs;
  for (const How how : {How::plain, How::cut, How::in_one_graph}) {
    const FakeNcclOnLayers fake;
    run_ranks(
        1,
        [&](int rank) {
          Trained trained(rank, how);
          for (int i = 0; i < 4; ++i) trained.step(i);
          const auto now = [&] {
            return Costs{fake.device->graph_launches(),
                         fake.device->launches() - fake.device->copies() - fake.device->graph_launches(),
                         fake.device->copies(), fake.nccl->groups().size(), fake.device->host_waits()};
          };
          fake.device->synchronize(cuda(0), nullptr);
          const Costs before = now();
          trained.step(4);
          const Costs after = now();
          const std::size_t nccl = after.nccl - before.nccl;
          costs[how] = {after.graphs - before.graphs,
                        after.kernels - before.kernels - (how == How::in_one_graph ? 0 : nccl),
                        after.copies - before.copies, nccl, after.waits - before.waits};
          fake.device->synchronize(cuda(0), nullptr);
        },
        on_nccl());
  }
  for (const auto& [how, name] : {std::pair{How::plain, "without a graph"},
                                  {How::cut, "graphs cut"},
                                  {How::in_one_graph, "in one graph"}})
    std::printf(
        "a step of the ConvNet by DDP, %s: %zu graphs, %zu kernels, %zu copies, %zu groups of NCCL, "
        "%zu waits of the host\n",
        name, costs[how].graphs, costs[how].kernels, costs[how].copies, costs[how].nccl, costs[how].waits);
  EXPECT_EQ(costs[How::plain].graphs, 0U);
  EXPECT_GE(costs[How::plain].nccl, 4U);
  EXPECT_EQ(costs[How::cut].nccl, costs[How::plain].nccl);
  EXPECT_EQ(costs[How::cut].waits, 0U);
  const Costs& one = costs[How::in_one_graph];
  EXPECT_EQ(one.graphs, 1U);
  EXPECT_EQ(one.kernels, 1U) << "the optimizer's";
  EXPECT_EQ(one.copies, 5U) << "the batch, and the loss";
  EXPECT_EQ(one.nccl, 0U);
  EXPECT_EQ(one.waits, 0U);
}

// Other collectives of the group, before and after the graph's, whether they have ended or not.
TEST(DdpInOneGraph, KeepsItsPlaceAmongOtherCollectives) {
  const FakeNcclOnLayers fake({.longest_rest = std::chrono::microseconds(200)});
  run_ranks(
      2,
      [&](int rank) {
        Trained trained(rank, How::in_one_graph);
        for (int i = 0; i < 8; ++i) {
          Tensor before = full({1000}, rank + i, DType::f32, cuda(0)), after = before.clone();
          Work pending = all_reduce(before, ReduceOp::sum, {.async_op = true});
          trained.step(i);
          all_reduce(after);
          pending.wait();
          for (const Tensor& t : {before, after})
            EXPECT_TRUE(equal(t.to(cpu), full({1000}, 1 + 2 * i, DType::f32))) << "step " << i;
        }
      },
      on_nccl());
  fake.expect_all_is_well();
}

// Two ranks take the steps before; then rank 0 goes on alone.
void expect_failure_of_rank_0(int steps_before, const std::function<void(Trained&)>& go_on) {
  const FakeNcclOnLayers fake;
  RankOptions options = on_nccl();
  options.init.timeout = std::chrono::seconds(3);
  std::atomic<bool> is_over = false;
  run_ranks(
      2,
      [&](int rank) {
        Trained trained(rank, How::in_one_graph);
        for (int i = 0; i < steps_before; ++i) trained.step(i);
        if (rank == 0) {
          go_on(trained);
          is_over = true;
        }
        while (!is_over) dist::sleep(std::chrono::milliseconds(1));
      },
      options);
  fake.expect_all_is_well();
}

TEST(DdpInOneGraph, TimesOutWhereARankDoesNotTakeTheStep) {
  expect_failure_of_rank_0(5, [](Trained& trained) {
    ASSERT_TRUE(trained.is_recorded());
    expect_error(Errc::aborted, {"earlier collective", "has not ended on cuda:0 in 3000 ms"}, [&] {
      for (int i = 5; i < 1000; ++i) {
        trained.step(i);
        dist::sleep(std::chrono::milliseconds(100));
      }
    });
  });
}

TEST(DdpInOneGraph, IsRecordedByAllRanksOrByNone) {
  expect_failure_of_rank_0(3, [](Trained& trained) {
    expect_error(Errc::timeout, {"all_reduce #", "rank 1"}, [&] { trained.step(3); });
    EXPECT_FALSE(trained.is_recorded());
  });
}

// NCCL ends a communicator when no graph has its work any more.
TEST(DdpInOneGraph, OutlivesItsGroupWithoutHoldingItUp) {
  const FakeNcclOnLayers fake;
  RankOptions options = on_nccl();
  run_ranks(
      2,
      [&](int rank) {
        Trained trained(rank, How::in_one_graph);
        for (int i = 0; i < 5; ++i) trained.step(i).item();
        const auto began = std::chrono::steady_clock::now();
        destroy_process_group();
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4));
        expect_error(Errc::not_initialized, {"a step that was recorded as a graph", "destroyed"},
                     [&] { trained.step(5); });
      },
      options);
  const Deadline deadline = Deadline::after(std::chrono::seconds(10));
  while (fake.nccl->comms_alive() > 0 && !deadline.passed()) dist::sleep(std::chrono::milliseconds(1));
  fake.expect_all_is_well();
}

// A step's own collectives, in its order; messages, and collectives that take lists, are refused.
TEST(RecordedCollectives, AreTheStepsOwn) {
  const FakeNcclOnLayers fake({.longest_rest = std::chrono::microseconds(100)});
  run_ranks(
      2,
      [&](int rank) {
        Tensor x = full({100}, rank + 1, DType::f32, cuda(0)), y = zeros({100}, DType::f32, cuda(0));
        all_reduce(y);
        Recording recording(cuda(0), true);
        Work work = all_reduce(x, ReduceOp::sum, {.async_op = true});
        y.add_(y);  // beside it
        work.wait();
        y.add_(x);
        broadcast(y, 1);
        Tensor both = zeros({200}, DType::f32, cuda(0));
        expect_error(Errc::unsupported,
                     {"all_gather_into_tensor at graphed_ddp_test.cpp:", "is recorded as a graph"},
                     [&] { all_gather_into_tensor(both, x); });
        expect_error(Errc::unsupported, {"send at graphed_ddp_test.cpp:"}, [&] { send(x, 1 - rank); });
        expect_error(Errc::unsupported, {"barrier at graphed_ddp_test.cpp:"}, [&] { barrier(); });
        RecordedWork recorded = recording.finish();
        EXPECT_EQ(recorded.graphs(), 1U);
        float sum = 3, total = 0;  // of x; in y
        for (int i = 0; i < 4; ++i) {
          recorded.launch();
          total = 2 * total + sum;
          EXPECT_EQ(x.to_vector<float>(), std::vector<float>(100, sum)) << "launch " << i;
          EXPECT_EQ(y.to_vector<float>(), std::vector<float>(100, total)) << "launch " << i;
          sum *= 2;
        }
      },
      on_nccl());
  fake.expect_all_is_well();
}

// As the handbook's page on graphs has it.
TEST(GraphedDdp, IsThreeLines) {
  const FakeLayersGuard fake;
  run_ranks(
      2,
      [&](int) {
        nn::ConvNet model;
        model.to(cuda(0));
        nn::SGD optimizer(model.parameters(), {.lr = 0.02});
        nn::CrossEntropyLoss loss;
        const Device device = cuda(0);
        const std::vector<std::pair<Tensor, Tensor>> loader(5,
                                                            {zeros({2, 1, 28, 28}), zeros({2}, DType::i64)});
        const auto train_step = [&](nn::Module& ddp, const Tensor& x, const Tensor& y) {
          const nn::Loss value = loss.forward(ddp.forward(x), y);
          optimizer.zero_grad();
          ddp.backward(loss.backward());
          optimizer.step();
          return value;
        };
        // clang-format off
dist::DistributedDataParallel ddp(model);
dist::nn::GraphedStep step(device, [&](const Tensor& x, const Tensor& y) { return train_step(ddp, x, y); });
for (const auto& [inputs, targets] : loader) step(inputs, targets);
        // clang-format on
        EXPECT_TRUE(step.is_recorded());
        EXPECT_GT(step.graphs(), 1U);
      },
      on_cuda());
}

}  // namespace
}  // namespace dist::test
