// Ring attention of device tensors, on the fake device: it gives what one rank computes on the CPU, and
// nothing goes through the host's memory.
#include <chrono>

#include <gtest/gtest.h>

#include "gpt_support.h"
#include "support/fake_layers.h"
#include "unit/device/on_backend.h"
#include "unit/parallel/ring_case.h"

namespace dist::test {
namespace {

class RingOnDevices : public testing::TestWithParam<RingCase> {};

TEST_P(RingOnDevices, EqualsFullAttentionOnTheCpu) {
  const RingCase c = GetParam();
  for (const int devices : {1, c.ranks}) {
    const FakeLayersGuard fake(
        {.count = devices, .longest_rest = std::chrono::microseconds(50), .caches = true});
    run_ranks(
        c.ranks,
        [&](int rank) {
          RingRank mine(c, rank, device_of(rank));
          barrier();
          const std::size_t host_bytes = fake->host_bytes();
          barrier();
          mine.run();
          barrier();
          EXPECT_EQ(fake->host_bytes(), host_bytes);
          barrier();
          EXPECT_LE(mine.error(), c.bound()) << devices << " devices";
        },
        on_cuda());
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, RingOnDevices,
                         testing::Values(RingCase{1, 5}, RingCase{2, 9, 2}, RingCase{3, 13, 1, false},
                                         RingCase{3, 12, 4, true, false}, RingCase{4, 16, 2, true, true, 2},
                                         RingCase{2, 9, 2, true, true, 0, DType::bf16},
                                         RingCase{4, 16, 4, true, true, 2, DType::bf16}));

TEST(ContextParallelOnDevices, AGptHasTheGradientsOfOneRank) {
  nn::GptOptions options = small_gpt();
  options.context = 12, options.width = 8, options.rotary = true;
  const auto made = [&](Device device) {
    nn::manual_seed(17);
    auto gpt = std::make_unique<nn::GPT>(options);
    gpt->to(device);
    return gpt;
  };
  const auto reference = made(cpu);
  const Tensor all = tokens(0, 4).view({2, 12}), next = targets(0, 4).view({2, 12});
  nn::CrossEntropyLoss loss;
  const double expected = loss.forward(reference->forward(all), next);
  (void)reference->backward(loss.backward());
  const FakeLayersGuard fake({.count = 2, .longest_rest = std::chrono::microseconds(50)});
  run_ranks(
      2,
      [&](int rank) {
        const Device device = device_of(rank);
        const auto gpt = made(device);
        ContextParallel context(*gpt);
        nn::CrossEntropyLoss own;
        const Tensor mine = context.slice(all.to(device)), wanted = context.slice(next.to(device));
        Tensor value = full({1}, own.forward(gpt->forward(mine), wanted).item(), DType::f64, device);
        (void)gpt->backward(own.backward());
        all_reduce(value, ReduceOp::avg);
        EXPECT_NEAR(value.to(cpu).item<double>(), expected, 1e-6 * expected);
        nn::StateDict gradients;
        for (const auto& [name, parameter] : gpt->named_parameters()) {
          all_reduce(parameter->grad, ReduceOp::avg);
          gradients.push_back({name, parameter->grad.to(cpu)});
        }
        expect_state(gradients, gradients_of(*reference), 1e-5, "gradient");
      },
      on_cuda());
}

}  // namespace
}  // namespace dist::test
