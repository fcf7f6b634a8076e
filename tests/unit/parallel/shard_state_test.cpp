// fully_shard() off the beaten path: what is gathered, and for how long; which part of a parameter a rank
// has; frozen parameters; ranks that compute different units. ZeroOptimizer with a model that changes.
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/dist.h"
#include "dist/mesh/placed.h"
#include "dist/nn/checkpoint.h"
#include "dist/nn/nn.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/full_state.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"

namespace dist::test {
namespace {

// Goes through its layers in an order that can change.
struct Layers final : nn::Module {
  nn::Linear a{4, 4}, b{4, 4}, c{4, 4};
  std::vector<nn::Module*> order{&a, &b, &c};
  Layers() {
    register_module("a", a), register_module("b", b), register_module("c", c);
    nn::manual_seed(3);
    for (nn::Parameter* const parameter : parameters())
      parameter->initialize(nn::uniform(parameter->value.shape(), 0.5));
    to(DType::f64);
  }
  Tensor run_forward(const Tensor& input) override {
    Tensor x = input;
    for (nn::Module* const layer : order) x = layer->forward(x);
    return x;
  }
  Tensor run_backward(const Tensor& grad) override {
    Tensor g = grad;
    for (std::size_t i = order.size(); i-- > 0;) g = order[i]->backward(g);
    return g;
  }
};

void shard(Layers& layers, const FullyShardOptions& options = {}) {
  for (nn::Linear* const layer : {&layers.a, &layers.b, &layers.c}) fully_shard(*layer, options);
  fully_shard(layers, options);
}

// All ranks have the same input, so one rank's gradients are the mean.
void pass(nn::Module& model, double x) { (void)model.backward(model.forward(full({3, 4}, x, DType::f64))); }

TEST(Gathered, IsNeverOlderThanTheShards) {
  const auto orders = [](Layers& l) {
    return std::vector<std::vector<nn::Module*>>{{&l.a, &l.b, &l.c}, {&l.c, &l.a, &l.b}, {&l.a},
                                                 {&l.a, &l.b, &l.c}, {&l.b, &l.c},       {&l.b, &l.b, &l.a}};
  };
  for (const int n : {1, 2, 3}) {
    for (const std::optional<bool> reshard :
         {std::optional<bool>(), std::optional(true), std::optional(false)}) {
      run_ranks(n, [&](int) {
        Layers alone, sharded;
        shard(sharded, {.reshard_after_forward = reshard});
        for (Layers* const each : {&alone, &sharded}) each->set_forwards_kept(2), each->eval(), each->train();
        nn::SGD one(alone.parameters(), {.lr = 0.05}), two(sharded.parameters(), {.lr = 0.05});
        for (std::size_t step = 0; step < 6; ++step) {
          for (Layers* const each : {&alone, &sharded}) {
            each->zero_grad();
            each->order = orders(*each)[step];
            if (step % 2 == 1) each->eval(), (void)each->forward(ones({3, 4}, DType::f64)), each->train();
            each->abandon_step();
            pass(*each, static_cast<double>(step));
          }
          expect_state(unsharded_gradients(sharded), gradients_of(alone), 1e-13,
                       fmt::format("step {}", step));
          one.step(), two.step();
        }
        expect_state(unsharded_state_dict(sharded), alone.state_dict(), 1e-13, "value");
      });
    }
  }
}

// A recomputation gathers its units for the backward that follows.
TEST(Gathered, ByARecomputationOnce) {
  run_ranks(2, [](int) {
    const auto alone = make_gpt(small_gpt()), sharded = make_gpt(small_gpt());
    for (nn::Block* const block : sharded->blocks()) {
      fully_shard(block->attn());
      fully_shard(block->mlp());
      nn::checkpoint(*block);
    }
    fully_shard(*sharded);
    nn::SGD one(alone->parameters(), {.lr = 0.1}), two(sharded->parameters(), {.lr = 0.1});
    for (int step = 0; step < 3; ++step) {
      for (nn::GPT* const gpt : {alone.get(), sharded.get()}) gpt->zero_grad(), test::pass(*gpt, 4 * step, 2);
      one.step(), two.step();
    }
    expect_state(unsharded_state_dict(*sharded), values_of(*alone), 1e-12, "value");
  });
  const auto bytes = [](bool recomputes, int steps) {
    sim::RunOptions options;
    options.ranks = 4;
    const auto report = sim::run(options, [&](int) {
      init_process_group();
      {
        const auto gpt = make_gpt(small_gpt());
        for (nn::Block* const block : gpt->blocks()) {
          fully_shard(block->attn());
          fully_shard(block->mlp());
          if (recomputes) nn::checkpoint(*block);
        }
        fully_shard(*gpt);
        for (int step = 0; step < steps; ++step) test::pass(*gpt, 4 * step, 2);
      }
      destroy_process_group();
    });
    EXPECT_TRUE(report.ok()) << report.text();
    return report.max_bytes_sent();
  };
  EXPECT_EQ(bytes(true, 2) - bytes(true, 1), bytes(false, 2) - bytes(false, 1));
}

TEST(Gathered, IsGivenUpWhereValuesAreUsed) {
  run_ranks(2, [](int) {
    Layers other, gathered, settled;
    for (nn::Parameter* const parameter : other.parameters()) parameter->value.mul_(2);
    shard(other), shard(gathered, {.reshard_after_forward = false}), shard(settled);
    const Tensor input = ones({3, 4}, DType::f64);
    const auto is_whole = [&] { return gathered.a.weight().value.size(0) == 4; };
    (void)gathered.forward(input);
    EXPECT_TRUE(is_whole());
    expect_state(gathered.state_dict(), settled.state_dict(), 0x1p-60, "saved");
    EXPECT_FALSE(is_whole());
    (void)gathered.forward(input);
    gathered.load_state_dict(other.state_dict());
    EXPECT_EQ(gathered.forward(input).to_vector<double>(), other.forward(input).to_vector<double>());
    // A backward() in spite of that gathers again.
    const Tensor grad = ones({3, 4}, DType::f64);
    gathered.zero_grad();
    (void)other.backward(grad), (void)gathered.backward(grad);
    expect_state(unsharded_gradients(gathered), unsharded_gradients(other), 0x1p-60, "gradient");
    // An optimizer's step while all is gathered.
    (void)gathered.forward(input), (void)other.forward(input);
    reshard(other);
    for (Layers* const each : {&gathered, &other}) nn::SGD(each->parameters(), {.lr = 1}).step();
    expect_state(unsharded_state_dict(gathered), unsharded_state_dict(other), 0x1p-60, "stepped");
  });
}

class AsksForState final : public nn::ModuleHook {
  Tensor after_forward(nn::Module& module, const Tensor& t) override { return (void)module.state_dict(), t; }
};

TEST(Gathered, IsNotUsedInTheMiddle) {
  run_ranks(2, [](int) {
    Layers layers;
    layers.add_hook(std::make_shared<AsksForState>());
    fully_shard(layers);
    EXPECT_DIST_ERROR((void)layers.forward(ones({3, 4}, DType::f64)), Errc::invalid_argument,
                      "is gathered for the forward() or backward() that is under way");
  });
}

// A unit can be used by itself, inside a model whose order is known, too.
TEST(Gathered, ByAUnitOnItsOwn) {
  run_ranks(2, [](int) {
    Layers alone, sharded;
    shard(sharded);
    for (int step = 0; step < 3; ++step) {
      for (Layers* const each : {&alone, &sharded}) {
        each->zero_grad();
        if (step != 1) pass(*each, 1);
        pass(each->b, 2);
        pass(each->b, 3);
      }
      expect_state(unsharded_gradients(sharded), gradients_of(alone), 1e-13, "gradient");
    }
  });
}

TEST(FullyShard, TakesOverTensorsThatTheUserReplaces) {
  run_ranks(2, [](int rank) {
    Layers alone, sharded;
    shard(sharded);
    pass(alone, 1), pass(sharded, 1);
    const auto of = [](Layers& l) -> nn::Parameter& { return l.b.weight(); };
    for (Layers* const each : {&alone, &sharded}) {
      of(*each).value = of(*each).value.clone().mul_(3);
      of(*each).grad = of(*each).grad.clone().mul_(5);
      pass(*each, 1);
      of(*each).value = full(of(*each).value.shape(), 2, DType::f64);
      pass(*each, 2);
    }
    expect_state(unsharded_gradients(sharded), gradients_of(alone), 1e-13, "gradient");
    of(sharded).value = zeros({rank + 7, 4}, DType::f64);
    EXPECT_DIST_ERROR(pass(sharded, 1), Errc::invalid_argument, "the value of \"b.weight\" is f64");
  });
  run_ranks(2, [](int) {
    Layers layers;
    shard(layers);
    pass(layers, 1);
    layers.to(DType::f32);
    EXPECT_DIST_ERROR(
        (void)layers.forward(ones({3, 4})), Errc::invalid_argument,
        "the value of \"a.weight\" is f32 2x4 on cpu now and was f64 2x4 on cpu when the model was "
        "made parallel: call Module::to() before that");
    layers.to(DType::f64);  // back again
    layers.zero_grad();
    pass(layers, 1);
  });
}

TEST(FullyShard, RecordsWhatARankHas) {
  run_ranks(4, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2}, {"dp", "fsdp"});
    Layers alone, sharded;
    fully_shard(sharded, {.mesh = mesh});
    const Placed& placed = *placed_of(sharded.a.weight());
    EXPECT_EQ(placed.whole, (Shape{4, 4}));
    ASSERT_EQ(placed.axes.size(), 2U);
    EXPECT_EQ(placed.axes[0].name, "dp");
    EXPECT_EQ(placed.axes[0].placement, Placement(Replicate()));
    EXPECT_EQ(placed.axes[1].name, "fsdp");
    EXPECT_EQ(placed.axes[1].grad_placement, Placement(Shard(0)));
    ASSERT_EQ(placed.boxes().size(), 1U);
    EXPECT_EQ(placed.boxes()[0].offset, (Shape{rank % 2 * 2, 0}));
    pass(alone, 1), pass(sharded, 1);
    const double norm = nn::clip_grad_norm(alone.named_parameters(), 0.1);
    EXPECT_NEAR(nn::clip_grad_norm(sharded.named_parameters(), 0.1), norm, 1e-12 * norm);
    expect_state(unsharded_gradients(sharded), gradients_of(alone), 1e-13, "clipped");
    Layers twice;
    fully_shard(twice.a, {.mesh = mesh["fsdp"]});
    EXPECT_DIST_ERROR(ZeroOptimizer(twice, {}), Errc::invalid_argument,
                      "the gradient of \"a.weight\" is reduced by fully_shard() already");
  });
}

TEST(FullyShard, RefusesDtypesThatAreNotFloatingPoint) {
  run_ranks(1, [](int) {
    Layers layers;
    EXPECT_DIST_ERROR(fully_shard(layers, {.mixed_precision = {.param_dtype = DType::i64}}),
                      Errc::invalid_argument, "mixed_precision.param_dtype is i64");
    EXPECT_DIST_ERROR(fully_shard(layers, {.mixed_precision = {.reduce_dtype = DType::u8}}),
                      Errc::invalid_argument, "mixed_precision.reduce_dtype is u8");
    EXPECT_EQ(layers.a.weight().division, nullptr) << "nothing has changed";
    DistributedDataParallel ddp(layers);
    EXPECT_DIST_ERROR(fully_shard(layers), Errc::invalid_argument, "belongs to a DistributedDataParallel");
  });
}

// Rank 0 computes `a` where rank 1 computes `b`, at first or after some good steps.
void branch_by_rank(int good_steps) {
  Layers layers;
  fully_shard(layers.a);
  fully_shard(layers.b);
  fully_shard(layers);
  layers.order = {&layers.a, &layers.c};
  for (int i = 0; i < good_steps; ++i) pass(layers, 1);
  layers.order[0] = get_rank() == 0 ? &layers.c : &layers.b;
  if (good_steps == 0 && get_rank() == 0) layers.order[0] = &layers.a;
  pass(layers, 1);
}

TEST(FullyShard, NamesRanksThatComputeDifferentUnits) {
  run_ranks(2, [](int) {
    EXPECT_DIST_ERROR(branch_by_rank(0), Errc::mismatch,
                      "rank 0 calls forward() of unit 0, Linear(4, 4) (\"weight\") at shard_state_test.cpp:");
  });
  sim::RunOptions options;
  options.ranks = 2;
  const auto report = sim::run(options, [](int) {
    init_process_group();
    branch_by_rank(0);
    destroy_process_group();
  });
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_EQ(report.findings[0].code, check::Code::mismatched_collective) << report.text();
}

// Ranks have other rows of the inner unit, and its name must not tell them apart.
TEST(FullyShard, TakesAnInnerUnitWhoseRowsAreUneven) {
  run_ranks(2, [](int) {
    nn::Sequential model;
    model.add<nn::Linear>(4, 5);
    model.add<nn::Linear>(5, 2);
    fully_shard(model[0]);
    fully_shard(model);
    for (int step = 0; step < 2; ++step) (void)model.backward(model.forward(ones({2, 4})));
  });
}

// A parameter that was trained later than the others has a step count of its own, also in a checkpoint.
TEST(FullyShard, AParameterThatWasUnfrozenLaterContinuesWithItsOwnSteps) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("distlab-own-steps-{}", getpid());
  run_ranks(2, [&](int) {
    const auto step = [](Layers& model, nn::Optimizer& adam) {
      adam.zero_grad();
      pass(model, 0.3);
      adam.step();
    };
    Layers model;
    shard(model);
    nn::AdamW adam(model.parameters(), {.lr = 0.05});
    model.a.requires_grad(false);
    for (int i = 0; i < 3; ++i) step(model, adam);
    model.a.requires_grad(true);
    for (int i = 0; i < 2; ++i) step(model, adam);
    save_sharded(folder, all_pieces_of(model, adam));
    Layers again;
    nn::AdamW fresh(again.parameters(), {.lr = 0.05});
    load_sharded(folder, all_pieces_of(again, fresh));
    for (int i = 0; i < 2; ++i) step(model, adam), step(again, fresh);
    const nn::StateDict expected = full_state_dict(model);
    for (const auto& [name, value] : again.state_dict()) {
      const auto got = value.to_vector<double>(), wanted = nn::find(expected, name)->to_vector<double>();
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-13) << name;
    }
    barrier();
  });
  std::filesystem::remove_all(folder);
}

// A layer that respects requires_grad: y = x + sum of its weights; the gradient of each is the same.
class Frozen final : public nn::Module {
 public:
  explicit Frozen(std::int64_t rows) {
    for (nn::Parameter* const p : {&w, &v}) p->initialize(ones({rows, 2}, DType::f64));
    register_parameter("w", w), register_parameter("v", v);
  }
  nn::Parameter w, v;

 private:
  Tensor run_forward(const Tensor& input) override {
    Tensor output = input.clone();
    for (const nn::Parameter* const p : {&w, &v}) output.add_(full({1}, sum(p->value), DType::f64));
    return output;
  }
  Tensor run_backward(const Tensor& grad_output) override {
    for (nn::Parameter* const p : {&v, &w}) {
      if (!p->requires_grad()) continue;
      p->grad.add_(full(p->value.shape(), sum(grad_output), p->grad.dtype()));
      p->grad_is_ready();
    }
    return grad_output;
  }
};

struct Stack final : nn::Module {
  Frozen bottom{5}, middle{4}, top{3};
  bool stops_early = false;  // backward() does not reach the bottom
  Stack() {
    register_module("bottom", bottom), register_module("middle", middle), register_module("top", top);
  }
  Tensor run_forward(const Tensor& input) override {
    return top.forward(middle.forward(bottom.forward(input)));
  }
  Tensor run_backward(const Tensor& grad) override {
    const Tensor g = middle.backward(top.backward(grad));
    return stops_early ? Tensor() : bottom.backward(g);
  }
};

TEST(FullyShard, GathersFrozenParametersAndReducesNothing) {
  for (const int n : {1, 2, 3}) {
    for (const bool is_mixed : {false, true}) {
      run_ranks(n, [&](int) {
        Stack alone, sharded;
        FullyShardOptions options;
        if (is_mixed) options.mixed_precision = {.param_dtype = DType::f64, .reduce_dtype = DType::f32};
        for (Frozen* const each : {&sharded.bottom, &sharded.middle, &sharded.top})
          fully_shard(*each, options);
        fully_shard(sharded, options);
        for (int step = 0; step < 7; ++step) {
          for (Stack* const each : {&alone, &sharded}) {
            if (step % 2 == 0) each->zero_grad();
            if (step == 1) each->middle.w.requires_grad(false);
            if (step == 2) each->bottom.requires_grad(false), each->stops_early = true;
            if (step == 3) each->middle.w.requires_grad(true), each->middle.v.requires_grad(false);
            if (step == 5) each->requires_grad(true), each->stops_early = false;
            (void)each->forward(ones({1}, DType::f64));
            if (step == 6) each->top.v.requires_grad(false), each->top.v.requires_grad(true);
            (void)each->backward(full({1}, 1 + step, DType::f64));
          }
          nn::StateDict expected;
          for (const auto& [name, grad] : gradients_of(alone))
            if (grad.is_defined()) expected.push_back({name, grad});
          const nn::StateDict got = unsharded_gradients(sharded);
          EXPECT_EQ(got.size(), expected.size()) << step;
          expect_state(got, expected, 1e-6, fmt::format("step {}", step));
          for (const nn::Parameter* const parameter : sharded.parameters())
            EXPECT_LT(parameter->value.size(0), n == 1 ? 6 : 4) << "no gather is left behind";
        }
      });
    }
  }
}

// The bytes of the second step: two gathers of each unit but the root, and reductions of what is trained.
TEST(FullyShard, SendsNothingForFrozenGradients) {
  static constexpr std::int64_t rows = 64;
  const auto bytes = [](const std::function<void(nn::Sequential&)>& freeze) {
    const auto run = [&](int steps) {
      sim::RunOptions options;
      options.ranks = 4;
      const auto report = sim::run(options, [&](int) {
        init_process_group();
        {
          nn::Sequential model;
          for (int i = 0; i < 3; ++i) fully_shard(model.add<Frozen>(rows));
          fully_shard(model);
          freeze(model);
          for (int i = 0; i < steps; ++i) {
            (void)model.forward(ones({1}, DType::f64));
            (void)model.backward(ones({1}, DType::f64));
          }
        }
        destroy_process_group();
      });
      EXPECT_TRUE(report.ok()) << report.text();
      return static_cast<double>(report.max_bytes_sent());
    };
    return run(3) - run(2);
  };
  const double parameter = 0.75 * rows * 2 * 8;  // (n-1)/n of its bytes
  EXPECT_EQ(bytes([](nn::Sequential&) {}), (12 + 6) * parameter);
  EXPECT_EQ(bytes([](nn::Sequential& model) { model[0].requires_grad(false); }), (12 + 4) * parameter);
  EXPECT_EQ(bytes([](nn::Sequential& model) {
              for (std::size_t i = 0; i < 3; ++i) static_cast<Frozen&>(model[i]).w.requires_grad(false);
            }),
            (12 + 3) * parameter);
}

std::unique_ptr<nn::Optimizer> make_sgd(std::vector<nn::Parameter*> parameters) {
  return std::make_unique<nn::SGD>(std::move(parameters), nn::SGDOptions{.lr = 0.1, .momentum = 0.9});
}

TEST(ZeroOptimizer, FollowsTheModel) {
  for (const int n : {1, 2, 3}) {
    run_ranks(n, [&](int rank) {
      Layers alone, model, saved;
      for (nn::Parameter* const parameter : saved.parameters()) parameter->value.mul_(2);
      ZeroOptimizer zero(model, make_sgd);
      const auto one = make_sgd(alone.parameters());
      for (int step = 0; step < 4; ++step) {
        for (Layers* const each : {&alone, &model}) {
          if (step == 1) each->load_state_dict(saved.state_dict());
          if (step == 2) each->b.weight().value = ones({4, 4}, DType::f64);
          each->zero_grad();
          if (step == 3) each->c.weight().grad = zeros({4, 4}, DType::f64);
          pass(*each, step + 1);
        }
        const double norm = nn::clip_grad_norm(alone.named_parameters(), 0.5);
        EXPECT_DIST_ERROR(nn::clip_grad_norm(model.named_parameters(), 0.5), Errc::invalid_argument,
                          "call the ZeroOptimizer's clip_grad_norm()");
        EXPECT_NEAR(zero.clip_grad_norm(0.5), norm, 1e-12 * norm);
        one->step(), zero.step();
        expect_state(model.state_dict(), alone.state_dict(), 1e-12, fmt::format("step {}", step));
      }
      const Placed& placed = *placed_of(*zero.local().parameters()[0]);
      EXPECT_EQ(zero.local().parameters()[0]->name, "a.weight");
      EXPECT_EQ(placed.whole, (Shape{4, 4}));
      EXPECT_EQ(placed.boxes().empty(), zero.local().parameters()[0]->value.numel() == 0);
      pass(model, 1);
      zero.step();
      model.to(DType::f32);
      EXPECT_DIST_ERROR((void)model.backward(model.forward(ones({3, 4}))), Errc::invalid_argument,
                        "is f32 4 on cpu now and was f64 4 on cpu when the model was made parallel");
      EXPECT_GE(rank, 0);
    });
  }
}

// What is frozen keeps its values and its optimizer's state; what is trained again goes on.
TEST(ZeroOptimizer, LeavesFrozenParametersAlone) {
  for (const int n : {1, 2, 3}) {
    for (const std::size_t bucket_bytes : {std::size_t{1}, std::size_t{1} << 20}) {
      run_ranks(n, [&](int) {
        Layers alone, model;
        for (Layers* const each : {&alone, &model}) each->c.bias()->requires_grad(false);
        ZeroOptimizer zero(model, make_sgd, {.bucket_bytes = bucket_bytes});
        const auto one = make_sgd(alone.parameters());
        for (int step = 0; step < 5; ++step) {
          for (Layers* const each : {&alone, &model}) {
            if (step == 1) each->a.requires_grad(false);
            if (step == 2) each->b.weight().requires_grad(false), each->c.bias()->requires_grad(true);
            if (step == 4) each->requires_grad(true);
            each->zero_grad();
            pass(*each, step + 1);
          }
          const double norm = nn::clip_grad_norm(alone.named_parameters(), 0.5);
          EXPECT_NEAR(zero.clip_grad_norm(0.5), norm, 1e-12 * norm) << step;
          one->step(), zero.step();
          expect_state(model.state_dict(), alone.state_dict(), 1e-12, fmt::format("step {}", step));
        }
        model.requires_grad(false);
        zero.step();  // of nothing
        expect_state(model.state_dict(), alone.state_dict(), 1e-12, "all frozen");
      });
    }
  }
}

// Saved by 3 ranks, loaded by any number: the next steps are those of one rank.
TEST(ZeroOptimizer, ItsStateIsLoadedByAnyNumberOfRanks) {
  const TemporaryFolder folder;
  const auto train = [](nn::Module& model, int step) {
    model.zero_grad();
    pass(model, step + 1);
  };
  const auto pieces_of_both = [](Layers& model, ZeroOptimizer& zero) {
    Pieces pieces = pieces_of(model);
    zero.local().make_state();
    for (Piece& piece : pieces_of(zero.local(), model)) pieces.push_back(std::move(piece));
    return pieces;
  };
  Layers alone;
  const auto one = make_sgd(alone.parameters());
  for (int step = 0; step < 4; ++step) train(alone, step), one->step();
  run_ranks(3, [&](int) {
    Layers model;
    ZeroOptimizer zero(model, make_sgd);
    for (int step = 0; step < 2; ++step) train(model, step), zero.step();
    save_sharded(folder.path, pieces_of_both(model, zero));
  });
  for (const int n : {1, 2, 3, 5}) {
    run_ranks(n, [&](int) {
      Layers model;
      ZeroOptimizer zero(model, make_sgd);
      load_sharded(folder.path, pieces_of_both(model, zero));
      for (int step = 2; step < 4; ++step) train(model, step), zero.step();
      expect_state(model.state_dict(), alone.state_dict(), 1e-12, fmt::format("{} ranks", n));
    });
  }
}

TEST(ZeroOptimizer, RefusesModelsThatSomethingElseReduces) {
  run_ranks(2, [](int) {
    Layers layers;
    {
      ZeroOptimizer zero(layers, make_sgd);
      EXPECT_DIST_ERROR(ZeroOptimizer(layers, make_sgd), Errc::invalid_argument,
                        "is reduced by another ZeroOptimizer already");
      EXPECT_DIST_ERROR(fully_shard(layers), Errc::invalid_argument, "belongs to a ZeroOptimizer");
    }
    EXPECT_EQ(layers.a.weight().division, nullptr);
    DistributedDataParallel ddp(layers);
    EXPECT_DIST_ERROR(ZeroOptimizer(layers, make_sgd), Errc::invalid_argument,
                      "the gradient of \"a.weight\" is reduced by a DistributedDataParallel already");
    Layers divided;
    place(divided.b.weight())
        .axes.push_back({.name = "tp", .placement = Shard(0), .grad_placement = Shard(0)});
    EXPECT_DIST_ERROR(ZeroOptimizer(divided, make_sgd), Errc::invalid_argument,
                      "have divided \"b.weight\" among them along tp (Shard(0))");
    EXPECT_DIST_ERROR(fully_shard(divided), Errc::invalid_argument, "have divided \"b.weight\"");
  });
}

}  // namespace
}  // namespace dist::test
