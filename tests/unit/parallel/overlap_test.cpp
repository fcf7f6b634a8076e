// How much of the communication backward hides, in virtual time: against the best that its order allows.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "dist/parallel/distributed_data_parallel.h"
#include "dist/simulate/simulate.h"

#include "ddp_support.h"

namespace dist::test {
namespace {

using Seconds = std::chrono::duration<double>;

struct Workload {
  const char* name;
  std::string topology;
  int ranks;
  std::vector<std::int64_t> layers;  // parameters of each, first layer first
  double seconds_a_layer;            // of backward
  std::size_t bucket_bytes;
};
void PrintTo(const Workload& workload, std::ostream* out) { *out << workload.name; }

sim::RunOptions options_of(const Workload& workload) {
  sim::RunOptions options;
  options.ranks = workload.ranks;
  options.topology = workload.topology;
  return options;
}

// A barrier ends a little earlier on some ranks than on others; this is one time for all.
Clock::time_point begun_together() {
  barrier();
  const auto begin = std::chrono::ceil<std::chrono::seconds>(Clock::now() + std::chrono::seconds(1));
  sleep(begin - Clock::now());
  return begin;
}

// Until the last rank has its result.
double seconds_of_one_all_reduce(const Workload& workload, std::int64_t count) {
  Seconds longest{};
  const auto report = sim::run(options_of(workload), [&](int) {
    init_process_group();
    Tensor t = zeros({count});
    const auto began = begun_together();
    all_reduce(t, ReduceOp::avg);
    longest = std::max<Seconds>(longest, Clock::now() - began);
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok());
  return longest.count();
}

struct Step {
  double backward = 0, exposed = 0;
  std::vector<std::int64_t> buckets;  // elements
};

Step measured(const Workload& workload) {
  Step step;
  const auto report = sim::run(options_of(workload), [&](int rank) {
    init_process_group();
    {
      Row model(workload.layers);
      model.before_ready = [&](std::size_t) { sim::compute(workload.seconds_a_layer); };
      std::vector<std::int64_t> sizes;
      DistributedDataParallel ddp(model, {.first_bucket_bytes = workload.bucket_bytes,
                                          .bucket_bytes = workload.bucket_bytes,
                                          .hook = [&](const GradBucket& bucket) {
                                            if (bucket.index == 0) sizes.clear();
                                            sizes.push_back(bucket.gradients.numel());
                                            return all_reduce_hook(bucket);
                                          }});
      for (int i = 0; i < 2; ++i) test::step(ddp, 1);  // the second has the buckets of all later ones
      const auto began = begun_together();
      test::step(ddp, 1);
      if (rank == 0) step = {Seconds(Clock::now() - began).count(), Seconds(ddp.exposed()).count(), sizes};
    }
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok());
  return step;
}

// A bucket starts when its last gradient is ready and the bucket before it is done.
double least_exposed(const Workload& workload, const Step& step) {
  double computed = 0, done = 0;
  auto layer = workload.layers.rbegin();
  for (const std::int64_t bucket : step.buckets) {
    for (std::int64_t filled = 0; filled < bucket; filled += *layer++) computed += workload.seconds_a_layer;
    done = std::max(done, computed) + seconds_of_one_all_reduce(workload, bucket);
  }
  return done - computed;
}

class Overlap : public testing::TestWithParam<Workload> {};

TEST_P(Overlap, ExposedCommunicationIsNearTheLeastPossible) {
  const Step step = measured(GetParam());
  EXPECT_GT(step.buckets.size(), 1U);
  const double least = least_exposed(GetParam(), step);
  EXPECT_LE(step.exposed, 1.1 * least) << "of " << step.backward << " s";
  EXPECT_GE(step.exposed, 0.5 * least) << "then the bound is wrong";
  RecordProperty("exposed_us", std::to_string(1e6 * step.exposed));
  RecordProperty("least_us", std::to_string(1e6 * least));
}

const std::vector<std::int64_t> eight_layers(8, 100'000), uneven{10, 3'000'000, 64, 500'000, 2'000'000, 1000};
INSTANTIATE_TEST_SUITE_P(
    Workloads, Overlap,
    testing::Values(Workload{"compute_rules", "dgx-a100-hdr", 16, eight_layers, 2e-4, 800'000},
                    Workload{"about_even", "dgx-a100-hdr", 16, eight_layers, 3e-5, 400'000},
                    Workload{"communication_rules", "10gbe", 4, eight_layers, 1e-4, 800'000},
                    Workload{"uneven_layers", "10gbe", 5, uneven, 5e-3, 4 << 20}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dist::test
