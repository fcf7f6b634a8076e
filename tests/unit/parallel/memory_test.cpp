// How much is resident in real ranks. Gradients take memory once, as views of their buckets: measured with
// and without. fully_shard() takes what its header says.
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "dist/nn/adam.h"
#include "dist/nn/sequential.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/shard/fully_shard.h"

#include "ddp_support.h"
#include "support/process_ranks.h"

namespace dist::test {
namespace {

constexpr std::int64_t layers = 16, elements = 1 << 20;
constexpr std::size_t layer_bytes = std::size_t{elements} * sizeof(float), all_bytes = layers * layer_bytes;

// The most bytes that were resident in this process so far (VmHWM).
double resident_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

double least_of(ProcessRanks& ranks) {
  double least = std::numeric_limits<double>::max();
  for (const auto& report : ranks.join(std::chrono::seconds(60)))
    least = std::min(least, std::stod(report.text));
  return least;
}

// The same for a rank that took some steps: of two ranks, the smaller number.
double peak_of(const CommHook& hook) {
  ProcessRanks ranks(2, [&](int, const auto&) {
    init_process_group({.backend = "host"});
    {
      Row model(std::vector<std::int64_t>(layers, elements));
      // In their final form from the first step on: rearranging the buckets takes additional memory, once.
      DistributedDataParallel ddp(model, {.first_bucket_bytes = layer_bytes,
                                          .bucket_bytes = layer_bytes,
                                          .find_unused_parameters = true,
                                          .hook = hook});
      for (int i = 0; i < 3; ++i) step(ddp, 1);
    }
    destroy_process_group();
    return std::to_string(resident_peak());
  });
  return least_of(ranks);
}

// Copies the gradients into a separate tensor and back, as if they were not views of what is sent.
std::function<void()> copying_hook(const GradBucket& bucket) {
  Tensor copy = bucket.gradients.clone();
  Work work = all_reduce(copy, ReduceOp::avg, {.group = bucket.group, .async_op = true});
  return [work, copy, gradients = bucket.gradients]() mutable {
    work.wait();
    gradients.copy_(copy);
  };
}

TEST(DdpMemory, GradientsAndBucketsAreOneMemory) {
  const double views = peak_of(all_reduce_hook), copies = peak_of(copying_hook);
  RecordProperty("views_mib", static_cast<int>(views / (1 << 20)));
  RecordProperty("copies_mib", static_cast<int>(copies / (1 << 20)));
  EXPECT_GT(copies - views, 0.9 * all_bytes) << "resident with views " << views << ", with copies " << copies;
}

// One parameter, whose gradient is computed in place.
class Layer final : public nn::Module {
 public:
  Layer() {
    weight_.initialize(ones({elements / 1024, 1024}));
    register_parameter("weight", weight_);
  }

 private:
  Tensor run_forward(const Tensor& input) override { return input; }
  Tensor run_backward(const Tensor& grad_output) override {
    weight_.grad.add_(weight_.value, 1e-3);
    weight_.grad_is_ready();
    return grad_output;
  }
  nn::Parameter weight_;
};

// What three steps of Adam on two ranks add to what was resident before there was a model. Messages go over
// TCP: a rank that reads another rank's memory has those pages among its own resident ones.
double peak_of_training(bool sharded) {
  ProcessRanks ranks(2, [&](int, const auto&) {
    setenv("DIST_TRANSPORT", "tcp", 1);
    init_process_group({.backend = "host"});
    const double before = resident_peak();
    {
      nn::Sequential model;
      for (std::int64_t i = 0; i < layers; ++i) {
        nn::Module& layer = model.add<Layer>();
        if (sharded) fully_shard(layer);
      }
      std::optional<DistributedDataParallel> ddp;
      if (sharded)
        fully_shard(model);
      else
        ddp.emplace(model, DdpOptions{.first_bucket_bytes = layer_bytes,
                                      .bucket_bytes = layer_bytes,
                                      .find_unused_parameters = true});
      nn::Module& trained = sharded ? static_cast<nn::Module&>(model) : *ddp;
      nn::Adam optimizer(model.parameters(), {.lr = 1e-3});
      for (int i = 0; i < 3; ++i) {
        optimizer.zero_grad();
        (void)trained.forward(ones({1}));
        (void)trained.backward(ones({1}));
        optimizer.step();
      }
    }
    destroy_process_group();
    return std::to_string(resident_peak() - before);
  });
  return least_of(ranks);
}

// 64 MiB of parameters, 256 MiB with gradients and Adam's state. The root has no parameter.
TEST(FullyShardMemory, OfRealRanksIsTheHeaders) {
  constexpr double all = all_bytes, unit = layer_bytes, n = 2;
  const double sharded = 4 * all / n + (4 + 1 / n) * unit, whole = 4 * all;
  const double measured = peak_of_training(true), of_ddp = peak_of_training(false);
  const auto record = [](const char* name, double bytes) {
    RecordProperty(name, static_cast<int>(bytes / (1 << 20)));
  };
  record("formula_mib", sharded), record("measured_mib", measured), record("ddp_mib", of_ddp);
  EXPECT_NEAR(measured, sharded, 0.15 * sharded);
  EXPECT_NEAR(of_ddp - measured, whole - sharded, 0.15 * (whole - sharded)) << of_ddp << ' ' << measured;
}

}  // namespace
}  // namespace dist::test
