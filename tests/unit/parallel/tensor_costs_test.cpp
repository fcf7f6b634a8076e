// What a step of a divided GPT sends: its collectives, and exactly how many bytes they send by the ring.
#include <map>

#include <gtest/gtest.h>

#include "dist/simulate/simulate.h"

#include "support/expect_error.h"
#include "unit/parallel/tensor_support.h"

namespace dist::test {
namespace {

struct Costs {
  std::map<std::string, std::int64_t> calls;  // of each rank
  std::vector<std::uint64_t> bytes;           // by rank
};

// The costs of forward, loss, backward and finish_gradients(): two steps, less one step.
Costs costs_of(const TensorCase& c) {
  const ScopedEnv rings("DIST_ALGO", "all_gather:ring,reduce_scatter:ring,all_reduce:ring");
  const auto run = [&](int steps) {
    sim::RunOptions options;
    options.ranks = c.tp;
    options.trace = true;
    const sim::Report report = sim::run(options, [&](int) {
      init_process_group();
      {
        const DeviceMesh mesh = init_device_mesh({c.tp}, {"tp"});
        const auto gpt = make_model(c.model);
        parallelize(*gpt, mesh, c.split);
        VocabParallelCrossEntropy divided(mesh, c.model.vocab_size);
        nn::CrossEntropyLoss whole;
        for (int step = 0; step < steps; ++step) {
          const Tensor logits = gpt->forward(numbers(c.rows, c.time, c.model.vocab_size, 3));
          const Tensor targets = numbers(c.rows, c.time, c.model.vocab_size, 5);
          if (c.split.vocabulary_parallel) {
            (void)divided.forward(logits, targets);
            gpt->backward(divided.backward());
          } else {
            (void)whole.forward(logits, targets);
            gpt->backward(whole.backward());
          }
          finish_gradients(*gpt);
        }
      }
      destroy_process_group();
    });
    EXPECT_EQ(report.text(), "");
    Costs costs;
    for (const auto& event : report.trace.events)
      if (event.kind == trace::Kind::call && event.rank == 0) ++costs.calls[event.name];
    for (const auto& traffic : report.traffic) costs.bytes.push_back(traffic.bytes_sent);
    return costs;
  };
  Costs costs = run(2);
  const Costs less = run(1);
  for (const auto& [name, count] : less.calls)
    if ((costs.calls[name] -= count) == 0) costs.calls.erase(name);
  for (std::size_t i = 0; i < costs.bytes.size(); ++i) costs.bytes[i] -= less.bytes[i];
  return costs;
}

class TensorCosts : public testing::TestWithParam<int> {
 protected:
  const int n = GetParam();
  // Sizes that n divides, so that every rank sends the same.
  TensorCase of(GptParallelOptions split, bool llama) const {
    TensorCase c{1, n, split, small_model(n, true, llama)};
    c.model.vocab_size = 12, c.model.hidden = 24, c.model.context = 12, c.model.layers = 3;
    c.model.width = 24, c.model.heads = llama ? 24 / 2 : 12, c.model.kv_heads = 12;
    return c;
  }
  // Bytes of an activation, of one f64 per token, and the ring's part of an all-gather of that.
  std::uint64_t ring(std::int64_t elements) const {
    return static_cast<std::uint64_t>(elements) * 8 * static_cast<std::uint64_t>(n - 1) /
           static_cast<std::uint64_t>(n);
  }
};

TEST_P(TensorCosts, OfTensorParallelLayers) {
  for (const bool llama : {false, true}) {
    const TensorCase c = of({}, llama);
    const std::int64_t bsh = c.rows * c.time * c.model.width, layers = c.model.layers;
    const Costs costs = costs_of(c);
    EXPECT_EQ(costs.calls, (std::map<std::string, std::int64_t>{{"all_reduce", 4 * layers}}));
    EXPECT_EQ(costs.bytes, std::vector(static_cast<std::size_t>(n), ring(8 * bsh * layers))) << llama;
  }
}

// One all-reduce more forward (the embedding) and backward (the head), three small ones for the loss.
TEST_P(TensorCosts, OfAVocabularyParallelModel) {
  const TensorCase c = of({.vocabulary_parallel = true}, false);
  const std::int64_t bs = c.rows * c.time, bsh = bs * c.model.width, layers = c.model.layers;
  const Costs costs = costs_of(c);
  EXPECT_EQ(costs.calls, (std::map<std::string, std::int64_t>{{"all_reduce", 4 * layers + 2 + 3}}));
  EXPECT_EQ(costs.bytes,
            std::vector(static_cast<std::size_t>(n), ring((8 * layers + 4) * bsh) + ring(6 * bs)));
}

// Each pair: all-gather, reduce-scatter; backward all-gather of the gradient and of the kept part,
// reduce-scatter. The embedding and the head are one more pair.
TEST_P(TensorCosts, OfSequenceParallelLayers) {
  for (const bool llama : {false, true}) {
    const TensorCase c = of({.sequence_parallel = true, .vocabulary_parallel = true}, llama);
    const std::int64_t bs = c.rows * c.time, h = c.model.width, layers = c.model.layers;
    const Costs costs = costs_of(c);
    const std::int64_t pairs = 2 * layers + 1;
    EXPECT_EQ(costs.calls,
              (std::map<std::string, std::int64_t>{
                  {"all_gather", 3 * pairs}, {"reduce_scatter", 2 * pairs}, {"all_reduce", 3 + 1}}));
    const std::int64_t norms = (2 * layers + 1) * h * (llama ? 1 : 2) + (llama ? 0 : c.model.context * h);
    EXPECT_EQ(costs.bytes, std::vector(static_cast<std::size_t>(n),
                                       ring(5 * pairs * bs * h) + ring(6 * bs) + ring(2 * norms)))
        << llama;
  }
}

// Computes for some time after the sum of the input's gradient has been sent, as the weight's gradient does.
class WeightGradTime final : public nn::ModuleHook {
 public:
  explicit WeightGradTime(double seconds) : seconds_(seconds) {}
  void on_input_grad(nn::Module&, Tensor&) override { sim::compute(seconds_); }

 private:
  double seconds_;
};

// How long work() takes, until the last rank is done.
double seconds_of(const std::function<void()>& work) {
  barrier();
  const auto begin = std::chrono::ceil<std::chrono::seconds>(Clock::now() + std::chrono::seconds(1));
  sleep(begin - Clock::now());
  work();
  Tensor taken = full({1}, std::chrono::duration<double>(Clock::now() - begin).count(), DType::f64);
  all_reduce(taken, ReduceOp::max);
  return taken.item<double>();
}

// On 8 nodes of 8 GPUs, with T the time of an all-reduce and w that of a weight's gradient: 2 T per layer
// forward, and, in backward, the part of 2 T that exceeds w.
TEST(TensorTime, ExposedCommunicationIsTheFormulas) {
  nn::GptOptions model;
  model.vocab_size = 8, model.context = 64, model.layers = 2, model.heads = 8, model.width = 64;
  const std::int64_t rows = 8;
  sim::RunOptions options;
  options.ranks = 64, options.topology = "dgx-h100-ndr";
  const sim::Report report = sim::run(options, [&](int) {
    init_process_group();
    {
      const DeviceMesh mesh = init_device_mesh({8, 8}, {"dp", "tp"});
      Tensor activation = zeros({rows * model.context * model.width});
      const double whole = seconds_of([&] { all_reduce(activation, {.group = mesh.get_group("tp")}); });
      for (const double part : {0.0, 0.5, 2.0}) {
        nn::GPT gpt(model);
        parallelize(gpt, mesh["tp"]);
        for (nn::Block* const block : gpt.blocks())
          for (const auto& [name, module] : block->named_modules())
            if (name == "attn.c_attn" || name == "mlp.c_fc")
              module->add_outermost_hook(std::make_shared<WeightGradTime>(part * whole));
        const double step = seconds_of([&] {
          const Tensor logits = gpt.forward(zeros({rows, model.context}, DType::i64));
          gpt.backward(zeros_like(logits));
        });
        const auto layers = static_cast<double>(model.layers);
        const double exposed = step - 2 * layers * part * whole;
        EXPECT_NEAR(exposed / (whole * (2 * layers + 2 * layers * std::max(0.0, 1 - part))), 1, 0.01) << part;
      }
    }
    destroy_process_group();
  });
  EXPECT_EQ(report.text(), "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, TensorCosts, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace dist::test
