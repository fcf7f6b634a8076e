// `./distlab train --device cuda` and the steps that bench measures, on the fake device with a fake NCCL:
// what each step costs the host, and that it computes what a run without graphs computes.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "distlab/bench/ddp/training.h"
#include "distlab/bench/train/training.h"
#include "distlab/train/text/text_trainer.h"
#include "distlab/train/trainer.h"
#include "support/nccl_on_layers.h"
#include "support/ranks.h"
#include "unit/device/on_backend.h"

namespace distlab {
namespace {

namespace fs = std::filesystem;
using dist::test::FakeNcclOnLayers;

constexpr int ranks = 2;

TrainOptions on_gpus(const std::string& model, bool graph) {
  TrainOptions options;
  options.model = model;
  options.device = "cuda";
  options.graph = graph;
  return options;
}

// What all ranks together did.
struct Outcome {
  double loss = 0;         // of rank 0's last epoch or validation
  std::size_t graphs = 0;  // launched
  std::size_t groups = 0;  // of NCCL, launched by the host
};

// Each rank trains on a device of its own.
Outcome outcome_of(const std::string& backend, const std::function<double()>& train) {
  Outcome outcome;
  const FakeNcclOnLayers fake({.count = ranks, .longest_rest = std::chrono::microseconds(20)});
  dist::test::run_ranks(
      ranks,
      [&](int rank) {
        const double loss = train();
        if (rank == 0) outcome.loss = loss;
      },
      dist::test::on_backend(backend));
  outcome.graphs = fake.device->graph_launches();
  outcome.groups = fake.nccl->groups().size();
  fake.expect_all_is_well();
  return outcome;
}

// Five batches of four images and one of two per epoch and rank: three steps come before the graph, and the
// small batch does without it.
Outcome of_images(const std::string& backend, bool graph) {
  TrainOptions options = on_gpus("convnet", graph);
  options.samples = 22 * ranks;
  options.test_samples = 4;
  options.batch_size = 4;
  options.epochs = 2;
  return outcome_of(backend, [&] { return Trainer(options).run().loss; });
}
constexpr std::size_t graphed_steps_of_images = (2 + 5) * ranks;

TEST(TrainOnDevices, TakesAStepByNcclAsOneGraph) {
  const Outcome plain = of_images("nccl", false), graphed = of_images("nccl", true);
  EXPECT_EQ(graphed.loss, plain.loss);
  EXPECT_EQ(plain.graphs, 0U);
  EXPECT_EQ(graphed.graphs, graphed_steps_of_images);
  EXPECT_LT(graphed.groups, plain.groups) << "the host calls NCCL for the other steps alone";
}

TEST(TrainOnDevices, CutsTheGraphsWhereTheBackendHasNone) {
  const Outcome plain = of_images("cuda", false), graphed = of_images("cuda", true);
  EXPECT_EQ(graphed.loss, plain.loss);
  EXPECT_EQ(plain.graphs, 0U);
  EXPECT_GE(graphed.graphs, 3 * graphed_steps_of_images);
}

TEST(TrainOnDevices, AGptTakesAStepByNcclAsOneGraph) {
  const fs::path text = fs::temp_directory_path() / "distlab-train-on-devices.txt";
  {
    std::ofstream out(text);
    for (int i = 0; i < 40; ++i) out << "rank " << i * i % 97 << " sends\n";
  }
  const auto train = [&](bool graph) {
    TrainOptions options = on_gpus("gpt", graph);
    options.data = text;
    options.batch_size = 2;
    options.text.layers = 1, options.text.heads = 2, options.text.width = 8, options.text.context = 8;
    options.text.dropout = 0.1;
    options.text.steps = 8, options.text.eval_every = 5;
    return outcome_of("nccl", [&] { return TextTrainer(options).run().validation_loss; });
  };
  const Outcome plain = train(false), graphed = train(true);
  fs::remove(text);
  EXPECT_EQ(graphed.loss, plain.loss);
  EXPECT_EQ(plain.graphs, 0U);
  EXPECT_EQ(graphed.graphs, 5U * ranks) << "eight steps but the first three";
}

// The steps of `bench ddp --device cuda`.
TEST(BenchOnDevices, MeasuresTheStepsOfDdp) {
  const auto train = [](bool is_one_graph) {
    bench::Training ours(2, dist::test::device_of(dist::get_rank()), is_one_graph);
    ours.train(5);
    const double loss = ours.loss();
    ours.compute(5);
    ours.communicate(2);
    ours.graphs(2);
    return loss;
  };
  const Outcome cut = outcome_of("nccl", [&] { return train(false); }),
                one = outcome_of("nccl", [&] { return train(true); }),
                shared = outcome_of("cuda", [&] { return train(true); });
  EXPECT_EQ(one.loss, cut.loss);
  EXPECT_EQ(one.loss, shared.loss);
  EXPECT_GT(one.loss, 0);
  constexpr std::size_t alone = 2 * ranks, of_ddp = (2 + 2) * ranks;
  EXPECT_EQ(one.graphs, of_ddp + alone);
  EXPECT_GE(cut.graphs, 3 * of_ddp + alone);
  EXPECT_EQ(shared.graphs, cut.graphs);
}

// Those of `bench train --device cuda`, against the same on a CPU.
TEST(BenchOnDevices, MeasuresTheStepsOfOneRank) {
  for (const std::string model : {"gpt", "convnet"}) {
    const dist::test::FakeLayersGuard fake;
    const auto loss_on = [&](const std::string& device) {
      TrainBenchOptions options;
      options.model = model;
      options.device = device;
      options.batch_size = 2;
      options.layers = 1, options.heads = 2, options.width = 8, options.context = 4, options.vocab = 10;
      bench::TrainSteps steps(options);
      const auto turn = steps.train(6);
      EXPECT_GT(turn.step, 0);
      if (device == "cuda") {
        EXPECT_GT(steps.graphs_alone(2), 0);
        EXPECT_EQ(fake->graph_launches(), 3U + 2U);
      }
      return turn.loss;
    };
    const double expected = loss_on("cpu");
    EXPECT_NEAR(loss_on("cuda"), expected, 1e-4 * expected) << model;
  }
}

}  // namespace
}  // namespace distlab
