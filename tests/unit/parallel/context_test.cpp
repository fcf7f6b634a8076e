// Context parallelism: equal to full attention on one rank; balanced; as many bytes as the header says.
#include <gtest/gtest.h>

#include "dist/core/axes.h"
#include "dist/nn/ops.h"
#include "dist/parallel/context/ring_attention.h"
#include "dist/parallel/targets_per_rank.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

Tensor numbers(Shape shape, double seed) {
  Tensor t = empty(std::move(shape), DType::f64, cpu);
  for (double& x : t.data<double>()) x = std::sin(seed += 0.7);
  return t;
}

TEST(ContextSlice, HasEveryTokenOnceAndBalancesScores) {
  for (const int n : {1, 2, 3, 4, 8}) {
    for (const std::int64_t tokens : {0, 1, 5, 24, 1000}) {
      for (const bool balanced : {false, true}) {
        const ContextSlice slice{tokens, n, balanced};
        std::vector<int> seen(static_cast<std::size_t>(tokens));
        for (int r = 0; r < n; ++r)
          for (const auto& run : slice.runs(r))
            for (std::int64_t i = run.first; i < run.first + run.count; ++i)
              ++seen[static_cast<std::size_t>(i)];
        EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(tokens), 1));
      }
    }
    const ContextSlice balanced{1000, n, true}, contiguous{1000, n, false};
    double most = 0, plain = 0;
    for (int r = 0; r < n; ++r) {
      most = std::max(most, static_cast<double>(balanced.scores(r)));
      plain = std::max(plain, static_cast<double>(contiguous.scores(r)));
    }
    const double mean = 1000 * 1001 / 2.0 / n;
    EXPECT_LT(most, 1.02 * mean);
    EXPECT_GE(plain, (n > 1 ? 1.4 : 1) * mean);
  }
}

struct Case {
  int ranks;
  std::int64_t tokens;
  bool balanced, causal;
  std::int64_t kv_heads;
  int row = 0;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.ranks << " ranks, " << c.tokens << " tokens" << (c.balanced ? ", balanced" : "")
       << (c.causal ? ", causal" : "") << ", rows of " << c.row;
}

class RingOfRanks : public testing::TestWithParam<Case> {};

TEST_P(RingOfRanks, EqualsFullAttention) {
  const Case c = GetParam();
  const std::int64_t batch = 2, heads = 4, size = 3, width = (heads + 2 * c.kv_heads) * size;
  const Tensor qkv = numbers({batch, c.tokens, width}, 1), g = numbers({batch, c.tokens, heads * size}, 5);
  const auto parts = [&](const Tensor& of) {
    return std::array{nn::Heads{of, 0, heads, size}, nn::Heads{of, heads * size, c.kv_heads, size},
                      nn::Heads{of, (heads + c.kv_heads) * size, c.kv_heads, size}};
  };
  nn::AttentionOptions options;
  options.scale = 0.6, options.causal = c.causal;
  const auto run = [&](const nn::AttentionCore& core, const Tensor& in, const Tensor& grad) {
    const std::int64_t time = in.size(1);
    const Tensor out = empty({batch, time, heads * size}, DType::f64),
                 lse = empty({batch, heads, time}, DType::f64);
    const Tensor grads = zeros(in.shape(), DType::f64);
    const auto [q, k, v] = parts(in);
    const auto [gq, gk, gv] = parts(grads);
    core.forward({out, 0, heads, size}, lse, q, k, v, options);
    core.backward({gq, gk, gv}, {grad, 0, heads, size}, {out, 0, heads, size}, lse, q, k, v, options);
    return std::pair(out, grads);
  };
  const auto [out, grads] = run(nn::AttentionCore(), qkv, g);
  run_ranks(c.ranks, [&, out = out, grads = grads](int rank) {
    const ContextSlice slice{c.tokens, c.ranks, c.balanced};
    const auto [mine, of_mine] =
        run(RingAttention({}, slice, c.row), slice.slice(qkv, rank), slice.slice(g, rank));
    EXPECT_LT(difference(mine, slice.slice(out, rank)), 1e-12);
    EXPECT_LT(difference(of_mine, slice.slice(grads, rank)), 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(Rings, RingOfRanks,
                         testing::Values(Case{1, 5, true, true, 4}, Case{2, 8, true, true, 4},
                                         Case{2, 9, false, true, 2}, Case{3, 13, true, true, 1},
                                         Case{3, 12, false, false, 4}, Case{4, 16, true, true, 2},
                                         Case{4, 3, false, true, 4}, Case{5, 31, true, false, 4},
                                         Case{4, 17, true, true, 2, 2}, Case{6, 25, true, true, 4, 3},
                                         Case{6, 11, false, true, 1, 2}, Case{6, 24, true, false, 4, 1},
                                         Case{9, 40, true, true, 2, 3}));

TEST(RingOfRanks, RefusesRowsThatDoNotDivide) {
  run_ranks(3, [](int) {
    const ContextSlice slice{6, 3, true};
    const Tensor t = zeros({1, 2, 4}), lse = zeros({1, 1, 2});
    const nn::Heads heads{t, 0, 1, 4};
    EXPECT_DIST_ERROR(RingAttention({}, slice, 2).forward(heads, lse, heads, heads, heads, {}),
                      Errc::invalid_argument, "rings of 2 ranks do not divide a group of 3");
  });
}

TEST(ContextParallel, AGptEqualsOneRank) {
  for (const bool rotary : {false, true}) {
    for (const int n : {2, 3}) {
      nn::GptOptions options = small_gpt();
      options.context = 12, options.width = 8, options.rotary = rotary;
      const auto reference = make_gpt(options);
      const Tensor all = tokens(0, 4).view({2, 12}), next = targets(0, 4).view({2, 12});
      nn::CrossEntropyLoss loss;
      const double expected = loss.forward(reference->forward(all), next);
      (void)reference->backward(loss.backward());
      run_ranks(n, [&](int) {
        const auto gpt = make_gpt(options);
        ContextParallel context(*gpt);
        nn::CrossEntropyLoss own;
        const Tensor mine = context.slice(all);
        Tensor value = full({1}, own.forward(gpt->forward(mine), context.slice(next)).item(), DType::f64);
        (void)gpt->backward(own.backward());
        all_reduce(value, ReduceOp::avg);
        EXPECT_NEAR(value.item<double>(), expected, 1e-12);
        for (nn::Parameter* const parameter : gpt->parameters()) all_reduce(parameter->grad, ReduceOp::avg);
        expect_state(gradients_of(*gpt), gradients_of(*reference), 1e-12, "gradient");
      });
    }
  }
  // Padded ends: the ranks have different numbers of targets that count.
  nn::GptOptions options = small_gpt();
  options.context = 12;
  const auto reference = make_gpt(options);
  const Tensor all = tokens(0, 4).view({2, 12});
  Tensor next = targets(0, 4).view({2, 12});
  for (const std::int64_t row : {0, 1}) next[row].narrow(3 + row, 9 - row).fill_(-100);
  nn::CrossEntropyLoss loss;
  const double expected = loss.forward(reference->forward(all), next);
  (void)reference->backward(loss.backward());
  run_ranks(3, [&](int) {
    const auto gpt = make_gpt(options);
    ContextParallel context(*gpt);
    nn::CrossEntropyLoss own;
    const Tensor mine = context.slice(all), mine_next = context.slice(next);
    const double count = targets_per_rank(mine_next);
    EXPECT_EQ(count, 7 / 3.0);
    Tensor value = full({1}, own.forward(gpt->forward(mine), mine_next, count).item(), DType::f64);
    (void)gpt->backward(own.backward());
    all_reduce(value, ReduceOp::avg);
    EXPECT_NEAR(value.item<double>(), expected, 1e-12);
    for (nn::Parameter* const parameter : gpt->parameters()) all_reduce(parameter->grad, ReduceOp::avg);
    expect_state(gradients_of(*gpt), gradients_of(*reference), 1e-12, "gradient");
    EXPECT_DIST_ERROR(targets_per_rank(full({2}, -100, DType::i64)), Errc::invalid_argument,
                      "no target counts on any rank");
  });
  run_ranks(1, [](int) {
    nn::GptOptions drops = small_gpt();
    drops.dropout = 0.1;
    nn::GPT gpt(drops);
    EXPECT_DIST_ERROR(ContextParallel(gpt).slices(), Errc::invalid_argument, "make the GPT with dropout 0");
  });
}

// What attention over `time` tokens per rank costs on virtual ranks.
sim::Report cost_of(sim::RunOptions options, std::int64_t time, int row, bool with_backward) {
  constexpr std::int64_t width = 16;
  return sim::run(options, [=, n = options.ranks](int) {
    init_process_group();
    {
      const ContextSlice slice{time * n, n, true};
      const RingAttention ring({}, slice, row);
      const Tensor qkv = zeros({1, time, 3 * width}), out = zeros({1, time, width}),
                   lse = zeros({1, 1, time});
      const auto part = [=](const Tensor& t, int i) { return nn::Heads{t, i * width, 1, width}; };
      const nn::Heads all{out, 0, 1, width};
      ring.forward(all, lse, part(qkv, 0), part(qkv, 1), part(qkv, 2), {});
      const Tensor grads = zeros({1, time, 3 * width});
      if (with_backward)
        ring.backward({part(grads, 0), part(grads, 1), part(grads, 2)}, all, all, lse, part(qkv, 0),
                      part(qkv, 1), part(qkv, 2), {});
    }
    destroy_process_group();
  });
}

TEST(RingAttentionCosts, BytesAreTheHeaders) {
  const int n = 4;
  const std::int64_t time = 8;
  sim::RunOptions options;
  options.ranks = n;
  const std::uint64_t block = 2 * time * 16 * 4;
  for (const int row : {0, 2, 4}) {
    const auto sent = [&](bool backward) { return cost_of(options, time, row, backward).max_bytes_sent(); };
    const std::uint64_t forward = sent(false);
    EXPECT_EQ(forward, (n - 1) * block) << "rows of " << row;
    EXPECT_EQ(sent(true) - forward, 2 * (n - 1) * block) << "rows of " << row;
  }
}

// Where nodes are rows, one exchange in eight crosses nodes, and all network cards take part in it.
TEST(RingAttentionCosts, RowsAsNodesSpareTheLinksBetweenNodes) {
  sim::RunOptions options;
  options.ranks = 32;
  options.topology = "dgx-h100-ndr";
  const auto seconds = [&](int row) { return cost_of(options, 64, row, true).virtual_time_s; };
  EXPECT_LT(seconds(8), 0.6 * seconds(0));
}

TEST(TreeAttention, EqualsAttentionToAllKeys) {
  const std::int64_t heads = 2, size = 3, keys = 11;
  const Tensor q = numbers({2, 1, heads * size}, 1), k = numbers({2, keys, heads * size}, 2),
               v = numbers({2, keys, heads * size}, 3);
  const Tensor out = empty(q.shape(), DType::f64), lse = empty({2, heads, 1}, DType::f64);
  nn::AttentionOptions options;
  options.causal = false, options.scale = 1 / std::sqrt(3.0);
  nn::ops_for(cpu).attention({out, 0, heads, size}, lse, {q, 0, heads, size}, {k, 0, heads, size},
                             {v, 0, heads, size}, options);
  for (const int n : {1, 3, 4, 13})
    run_ranks(n, [&](int rank) {
      const auto mine = [&](const Tensor& t) {
        return chunk(t, n, 1)[static_cast<std::size_t>(rank)].clone();
      };
      EXPECT_LT(difference(tree_attention(q, mine(k), mine(v), heads), out), 1e-12);
    });
}

}  // namespace
}  // namespace dist::test
