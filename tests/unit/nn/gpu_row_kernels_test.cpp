// The GPU's kernels for transformers, run on the CPU, against the plain loops.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "unit/nn/kernel_ops.h"
#include "unit/nn/row_cases.h"

namespace dist::nn {
namespace {

// Grids run forwards, then backwards: the bits must not depend on the order of blocks.
TEST(GpuRowKernels, ComputeWhatPlainLoopsDo) {
  for (const RowCase& one : all_row_cases()) {
    SCOPED_TRACE(one.name);
    const auto expected = one.run(PlainOps(), cpu), got = one.run(KernelOps(), cpu),
               again = one.run(KernelOps(), cpu);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      one.is_by_element ? expect_same(got[i], expected[i], i) : expect_close(got[i], expected[i], i);
      expect_same(again[i], got[i], i);
    }
  }
}

// A parameter that is not trained has no gradient; the other results are the same.
TEST(GpuRowKernels, NormsOfWhichAPartIsNotTrained) {
  const auto run = [](const Ops& ops, bool weight, bool bias, bool batch) {
    const Tensor in = f32({6, 5}, 1), grad = f32({6, 5}, 2), grad_in = empty({6, 5});
    const Tensor of_weight = weight ? f32({5}, 3) : Tensor(), of_bias = bias ? f32({5}, 4) : Tensor();
    const Tensor out = empty({6, 5}), scale = f32({5}, 5), shift = f32({5}, 6);
    if (batch) {
      const NormTensors norm{scale, shift, zeros({5}), ones({5}), empty({5}), empty({5})};
      ops.batch_norm(out, in, norm, {1e-5, 0.1, true});
      ops.batch_norm_backward({of_weight, of_bias, grad_in}, grad, in, norm, true);
    } else {
      const RowNorm norm{scale, shift, empty({6}), empty({6})};
      ops.row_norm(out, in, norm, 1e-5);
      ops.row_norm_backward({of_weight, of_bias, grad_in}, grad, in, norm);
    }
    return std::array{grad_in, of_weight, of_bias};
  };
  const PlainOps plain;
  const KernelOps kernels;
  for (const Ops* const ops : {static_cast<const Ops*>(&plain), static_cast<const Ops*>(&kernels)})
    for (const bool batch : {true, false}) {
      const auto all = run(*ops, true, true, batch);
      for (const bool weight : {true, false})
        for (const bool bias : {true, false}) {
          const auto some = run(*ops, weight, bias, batch);
          for (std::size_t i = 0; i < 3; ++i)
            if (some[i].is_defined()) expect_same(some[i], all[i], i);
          EXPECT_EQ(some[1].is_defined(), weight);
        }
    }
}

TEST(GpuRowKernels, ATargetThatIsNoClassHasLossNan) {
  for (const std::int64_t target : {-1, 3}) {
    Tensor logits = f32({1, 3}, 1), losses = empty({1}, DType::f64), targets = empty({1}, DType::i64);
    targets.data<std::int64_t>()[0] = target;
    KernelOps().cross_entropy(logits, losses, targets, -100, ones({}, DType::f64));
    EXPECT_TRUE(std::isnan(losses.data<double>()[0]));
    EXPECT_NEAR(sum(logits), 1, 1e-6) << "the probabilities";
  }
}

TEST(GpuRowKernels, CountTargetsThatAreNotIgnored) {
  for (const std::int64_t rows : {0, 1, 7, 300, 1000}) {
    Tensor targets = row_cases::indices(rows, 0, 3, cpu), count = full({}, 99, DType::f64);
    KernelOps().count_targets(count, targets, 2);
    Tensor expected = full({}, 99, DType::f64);
    PlainOps().count_targets(expected, targets, 2);
    EXPECT_EQ(count.item<double>(), expected.item<double>()) << rows;
    const auto all = targets.data<std::int64_t>();
    EXPECT_EQ(expected.item<double>(), static_cast<double>(rows - std::ranges::count(all, 2))) << rows;
  }
}

TEST(GpuRowKernels, AQueryWithoutKeysHasOutputZero) {
  const Tensor q = f32({1, 5, 4}, 1), out = f32({1, 5, 4}, 2);
  Tensor lse = empty({1, 1, 5});
  const Heads heads{q, 0, 1, 4};
  AttentionOptions options;
  options.first_key = 3;
  KernelOps().attention({out, 0, 1, 4}, lse, heads, heads, heads, options);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(std::isinf(lse.data<float>()[i]), i < 3) << i;
  EXPECT_TRUE(equal(out[0].narrow(0, 3), zeros({3, 4})));
  EXPECT_TRUE(equal(out[0][3], q[0][0])) << "it sees only the first key";
}

// As on the CPU: no row, no query, no key.
TEST(GpuRowKernels, NothingIsComputedForEmptyTensors) {
  const Tensor none = empty({0, 4}), losses = empty({0}, DType::f64), index = empty({0}, DType::i64);
  const Tensor weight = ones({4}), grad = ones({4}), out = ones({1, 2, 4}), lse = empty({1, 1, 2});
  const KernelOps ops;
  const RowNorm norm{weight, {}, {}, empty({0})};
  ops.row_norm(none, none, norm, 1e-5);
  ops.row_norm_backward({grad, {}, none}, none, none, norm);
  ops.cross_entropy(none, losses, index, -100, zeros({}, DType::f64));
  ops.add_to_rows(none, none, index, 0);
  EXPECT_TRUE(equal(grad, ones({4})));
  const Tensor no_row = empty({1, 0, 4});
  const Heads nothing{no_row, 0, 1, 4}, queries{out, 0, 1, 4};
  ops.attention(nothing, empty({1, 1, 0}), nothing, queries, queries, {});
  ops.attention(queries, lse, queries, nothing, nothing, {});
  EXPECT_TRUE(equal(out, zeros({1, 2, 4})));
}

}  // namespace
}  // namespace dist::nn
