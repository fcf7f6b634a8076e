// fully_shard() and ZeroOptimizer after a step that failed, or was given up: zero_grad() and the next step
// are those of a fresh model, whatever was under way.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/checkpoint.h"
#include "dist/nn/nn.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/simulate/simulate.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

struct Fault : std::runtime_error {
  Fault() : std::runtime_error("the planted fault") {}
};

// Counts what happens in a model, and throws at one of these times.
struct Countdown {
  int at = -1, count = 0;  // -1: never
  void tick() {
    if (count++ == at) throw Fault();
  }
};

class Throws final : public nn::ModuleHook {
 public:
  explicit Throws(Countdown& countdown) : countdown_(countdown) {}
  Tensor before_forward(nn::Module&, const Tensor& t) override { return countdown_.tick(), t; }
  Tensor after_forward(nn::Module&, const Tensor& t) override { return countdown_.tick(), t; }
  Tensor before_backward(nn::Module&, const Tensor& t) override { return countdown_.tick(), t; }
  Tensor after_backward(nn::Module&, const Tensor& t) override { return countdown_.tick(), t; }

 private:
  Countdown& countdown_;
};

struct Pair final : nn::Module {
  nn::Linear a{3, 3}, b{3, 3};
  Pair() { register_module("a", a), register_module("b", b); }
  Tensor run_forward(const Tensor& input) override { return b.forward(a.forward(input)); }
  Tensor run_backward(const Tensor& grad) override { return a.backward(b.backward(grad)); }
};

struct Tower final : nn::Module {
  nn::Linear first{2, 3}, last{3, 2};
  Pair p, q;
  Countdown countdown;
  Tower() {
    register_module("first", first), register_module("p", p), register_module("q", q),
        register_module("last", last);
    nn::manual_seed(7);
    for (nn::Parameter* const parameter : parameters())
      parameter->initialize(nn::uniform(parameter->value.shape(), 1));
    to(DType::f64);
  }
  Tensor run_forward(const Tensor& input) override {
    return last.forward(q.forward(p.forward(first.forward(input))));
  }
  Tensor run_backward(const Tensor& grad) override {
    return first.backward(p.backward(q.backward(last.backward(grad))));
  }
};

struct Case {
  const char* name;
  int ranks = 2;
  int replicas = 1;
  bool accumulates = false;  // two backwards per step
  bool mixed = false;
  bool recomputes = false;  // checkpoint() around units
  std::optional<bool> reshard = {};
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::unique_ptr<Tower> make_tower(const Case& c) {
  auto tower = std::make_unique<Tower>();
  FullyShardOptions options{.reshard_after_forward = c.reshard};
  if (c.mixed) options.mixed_precision = {.param_dtype = DType::bf16, .reduce_dtype = DType::f32};
  if (c.replicas > 1)
    options.mesh = init_device_mesh({c.replicas, c.ranks / c.replicas}, {"replicate", "shard"});
  const auto inner = std::make_shared<Throws>(tower->countdown),
             outer = std::make_shared<Throws>(tower->countdown);
  for (nn::Module* const module : tower->modules()) module->add_hook(inner);
  for (Pair* const pair : {&tower->p, &tower->q}) {
    if (c.recomputes) nn::checkpoint(*pair);
    fully_shard(pair->a, options);
    fully_shard(pair->b, options);
  }
  fully_shard(tower->first, options);
  fully_shard(*tower, options);
  for (nn::Module* const module : tower->modules()) module->add_outermost_hook(outer);
  return tower;
}

void run_once(nn::Module& model, double x, bool with_backward = true) {
  const Tensor output = model.forward(full({3, 2}, x, DType::f64));
  if (with_backward) (void)model.backward(output);
}

// One step of gradients; `at`: when it fails.
void step(Tower& tower, const Case& c, int at = -1) {
  tower.zero_grad();
  const double x = 1 + get_rank();
  tower.countdown = {at, 0};
  if (c.accumulates) {
    const auto sync = c.replicas > 1 ? set_requires_all_reduce : set_requires_gradient_sync;
    sync(tower, false);
    run_once(tower, x + 10);
    sync(tower, true);
  }
  run_once(tower, x);
}

// The gradients of this rank, bit for bit.
std::vector<std::vector<double>> gradient_bits(nn::Module& model) {
  std::vector<std::vector<double>> all;
  for (nn::Parameter* const parameter : model.parameters())
    all.push_back(parameter->grad.to_vector<double>());
  return all;
}

class ShardFaults : public testing::TestWithParam<Case> {};

// Faults at every time, or at every n-th.
void sweep(const Case& c, int every = 1) {
  const auto good = make_tower(c);
  step(*good, c);
  const auto expected = gradient_bits(*good);
  const int times = good->countdown.count;
  const auto known = make_tower(c);  // one that has had a good step
  step(*known, c);
  for (int at = 0; at < times; at += every) {
    const auto fresh = make_tower(c);
    for (Tower* const tower : {fresh.get(), known.get()}) {
      EXPECT_THROW(step(*tower, c, at), Fault) << at;
      step(*tower, c);
      EXPECT_EQ(gradient_bits(*tower), expected) << "thrown at " << at << " of " << times;
      EXPECT_EQ(tower->countdown.count, times) << at;
    }
  }
}

TEST_P(ShardFaults, AreForgotten) {
  run_ranks(GetParam().ranks, [](int) { sweep(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Steps, ShardFaults,
                         testing::Values(Case{"n1", 1}, Case{"n2", 2}, Case{"n3_accumulates", 3, 1, true},
                                         Case{"n2_mixed", 2, 1, true, true},
                                         Case{"n2_recomputes", 2, 1, false, false, true},
                                         Case{"n2_kept", 2, 1, false, false, true, false},
                                         Case{"n2_replicas", 2, 2, true},
                                         Case{"n4_hybrid", 4, 2, true, true, true, true}),
                         [](const auto& test) { return test.param.name; });

// On virtual ranks, the checker has nothing to say about what is dropped on the way.
TEST(ShardFaults, AreNoFindings) {
  sim::RunOptions options;
  options.ranks = 2;
  const auto report = sim::run(options, [](int) {
    init_process_group();
    sweep({.name = "sim", .accumulates = true, .recomputes = true}, 13);
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ShardFaults, AGivenUpStepIsForgotten) {
  const Case c{"given_up", 2, 1, true};
  run_ranks(2, [&](int) {
    const auto good = make_tower(c), tower = make_tower(c);
    step(*good, c);
    const auto expected = gradient_bits(*good);
    for (const int way : {0, 1, 2, 3, 4}) {
      if (way == 0) run_once(*tower, 5, false);  // a forward alone
      if (way == 1) {                            // sums that are not reduced
        set_requires_gradient_sync(*tower, false);
        run_once(*tower, 5), run_once(*tower, 6, false);
        set_requires_gradient_sync(*tower, true);
      }
      if (way == 2) run_once(*tower, 5);  // a backward without a step
      if (way == 3) {
        EXPECT_THROW((void)tower->forward(zeros({3, 5}, DType::f64)), Error);
      }
      if (way == 4) {
        EXPECT_THROW((void)tower->backward(zeros({3, 2}, DType::f64)), Error);
      }
      step(*tower, c);
      EXPECT_EQ(gradient_bits(*tower), expected) << way;
      run_once(*tower, 1 + get_rank()), run_once(*good, 1 + get_rank());  // a second one adds once
      EXPECT_EQ(gradient_bits(*tower), gradient_bits(*good)) << way;
      step(*good, c);
    }
  });
}

// A forward that fails between two backwards takes nothing from the sums, as without sharding.
TEST(ShardFaults, ABadMicroBatchCanBeLeftOut) {
  run_ranks(2, [](int) {
    const Case c{"left_out"};
    const auto good = make_tower(c), tower = make_tower(c);
    for (Tower* const each : {good.get(), tower.get()}) {
      set_requires_gradient_sync(*each, false);
      run_once(*each, 3);
      if (each == tower.get()) {
        EXPECT_THROW((void)each->forward(zeros({3, 5}, DType::f64)), Error);
      }
      set_requires_gradient_sync(*each, true);
      run_once(*each, 4);
    }
    EXPECT_EQ(gradient_bits(*tower), gradient_bits(*good));
  });
}

std::unique_ptr<nn::Optimizer> make_momentum(std::vector<nn::Parameter*> parameters) {
  return std::make_unique<nn::SGD>(std::move(parameters), nn::SGDOptions{.lr = 1e-4, .momentum = 0.9});
}

// A ZeroOptimizer: faults and steps given up at every time, in buckets of one and of all parameters.
TEST(ZeroFaults, AreForgotten) {
  for (const int n : {1, 2, 3}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{200}, std::size_t{1} << 20}) {
      run_ranks(n, [&](int rank) {
        Tower tower, good;
        for (Tower* const each : {&tower, &good})
          for (nn::Module* const module : each->modules())
            module->add_hook(std::make_shared<Throws>(each->countdown));
        ZeroOptimizer zero(tower, make_momentum, {.bucket_bytes = bytes}),
            other(good, make_momentum, {.bucket_bytes = bytes});
        const auto train = [&](Tower& model, ZeroOptimizer& optimizer) {
          optimizer.zero_grad();
          run_once(model, 1 + rank);
          optimizer.step();
        };
        train(tower, zero), train(good, other);
        const int times = good.countdown.count;
        for (int at = 0; at < times; ++at) {
          tower.countdown = {at, 0};
          tower.zero_grad();
          EXPECT_THROW(run_once(tower, 5), Fault);
          tower.countdown = {};
          if (at % 3 == 0) zero.zero_grad(), run_once(tower, 6);  // given up
          train(tower, zero), train(good, other);
          for (const auto& [name, value] : good.state_dict())
            EXPECT_EQ(nn::find(tower.state_dict(), name)->to_vector<double>(), value.to_vector<double>())
                << name << ", " << at;
        }
      });
    }
  }
}

}  // namespace
}  // namespace dist::test
