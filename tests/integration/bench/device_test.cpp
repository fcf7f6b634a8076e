// What bench measures, with tensors on the fake device, whose memory the CPU cannot touch.
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "distlab/bench/measure.h"
#include "distlab/bench/sides.h"
#include "support/fake_device.h"
#include "support/ranks.h"

namespace distlab::bench {
namespace {

class BenchOnADevice : public testing::TestWithParam<Collective> {};

TEST_P(BenchOnADevice, GetsRightResultsAndATime) {
  const dist::test::FakeDeviceGuard fake;
  dist::test::RankOptions options;
  options.init.backend = "cuda";
  dist::test::run_ranks(
      2,
      [](int rank) {
        constexpr std::int64_t count = 1000;
        const Question question{GetParam(), 2, rank, 0, dist::DType::f32, dist::ReduceOp::sum, count};
        constexpr std::size_t bytes = 4 * 2 * count * sizeof(float);
        Memory in(bytes, question.dtype, false, dist::cuda(0)),
            out(bytes, question.dtype, false, dist::cuda(0));
        std::vector<Slot> slots = make_slots(question, forms(question.collective)[0], in, out, 2);
        OurSide ours(question, "", slots);
        const bool is_within = elements(question.collective, 1, 1, true).in == 0;
        if (slots[0].out.is_defined()) fill_garbage(slots[0].out);
        if (slots[0].in.is_defined()) fill_input(question, slots[0].in);
        if (is_within && slots[0].out.is_defined()) fill_input(question, slots[0].out);
        ours.synchronise();
        const dist::Tensor answer = ours.answer();
        ours.synchronise();
        if (answer.is_defined()) {
          EXPECT_EQ(count_wrong(question, answer), 0) << name(question.collective);
        }
        in.clear();
        out.clear();
        const Measured measured = measure(ours, nullptr, {.iterations = 2, .repeats = 2, .warm_up = 2});
        EXPECT_GT(measured.ours.at(0), 0) << name(question.collective);
      },
      options);
}

INSTANTIATE_TEST_SUITE_P(Bench, BenchOnADevice,
                         testing::Values(Collective::all_reduce, Collective::broadcast,
                                         Collective::all_gather, Collective::reduce_scatter,
                                         Collective::all_to_all, Collective::scatter, Collective::gather,
                                         Collective::send_recv),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace distlab::bench
