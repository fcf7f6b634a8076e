// Gradients take memory once, as views of their buckets: how much is resident, measured with and without.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "dist/parallel/distributed_data_parallel.h"

#include "ddp_support.h"
#include "support/process_ranks.h"

namespace dist::test {
namespace {

constexpr std::int64_t layers = 16, elements = 1 << 20;
constexpr std::size_t layer_bytes = std::size_t{elements} * sizeof(float), all_bytes = layers * layer_bytes;

// The most bytes that were resident in a rank that took some steps, of two ranks the one with fewer.
double peak_of(const CommHook& hook) {
  ProcessRanks ranks(2, [&](int, const auto&) {
    init_process_group({.backend = "host"});
    {
      Row model(std::vector<std::int64_t>(layers, elements));
      // As they are from the first step on: to rearrange the buckets takes memory of its own, once.
      DistributedDataParallel ddp(model, {.first_bucket_bytes = layer_bytes,
                                          .bucket_bytes = layer_bytes,
                                          .find_unused_parameters = true,
                                          .hook = hook});
      for (int i = 0; i < 3; ++i) step(ddp, 1);
    }
    destroy_process_group();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::to_string(usage.ru_maxrss);
  });
  double least = std::numeric_limits<double>::max();
  for (const auto& report : ranks.join(std::chrono::seconds(60)))
    least = std::min(least, std::stod(report.text) * 1024);
  return least;
}

// Into a tensor beside the gradients and back, as if they were not views of what is sent.
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

}  // namespace
}  // namespace dist::test
