// Steps that are refused, and steps that fail in the middle: every rank learns it, nothing is left behind,
// and the next step is that of a pipeline that never saw the bad batch.
#include <chrono>

#include <gtest/gtest.h>

#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/pipeline/gpt_pipeline.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

using pipeline::Kind;

const nn::GptOptions model{
    .vocab_size = 11, .context = 6, .layers = 6, .heads = 2, .width = 8, .dropout = 0.1};

Tensor with(Tensor tokens, std::int64_t i, std::int64_t value) {
  tokens.data<std::int64_t>()[static_cast<std::size_t>(i)] = value;
  return tokens;
}
// Columns [0, count) of the usual tokens.
Tensor columns(std::int64_t rows, std::int64_t count, std::int64_t shift) {
  Tensor t = empty({rows, count}, DType::i64, cpu);
  const Tensor all = tokens(0, rows, shift);
  for (std::int64_t i = 0; i < rows * count; ++i)
    with(t, i, all.data<std::int64_t>()[static_cast<std::size_t>(i / count * 6 + i % count)]);
  return t;
}

// What f threw on this rank; empty: nothing.
std::string thrown(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// What f threw, the same on every rank.
std::string thrown_by_all(const std::function<void()>& f) {
  const auto texts = all_gather_object(thrown(f));
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  return texts[0];
}

struct Throws final : nn::ModuleHook {
  explicit Throws(int& calls_left) : left(calls_left) {}
  void count() const {
    if (left > 0 && --left == 0) throw std::runtime_error("planted");
  }
  Tensor before_forward(nn::Module&, const Tensor& input) override {
    count();
    return input;
  }
  Tensor before_backward(nn::Module&, const Tensor& grad) override {
    count();
    return grad;
  }
  int& left;
};

// A model's gradients, by the order of its parameters.
std::vector<Tensor> copies_of_gradients(const std::vector<nn::Parameter*>& parameters) {
  std::vector<Tensor> copies;
  for (const nn::Parameter* const parameter : parameters) copies.push_back(parameter->grad.clone());
  return copies;
}
void expect_gradients(const std::vector<nn::Parameter*>& parameters, const std::vector<Tensor>& expected,
                      const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(equal(parameters[i]->grad, expected[i])) << what << ": parameter " << i;
}

struct Stages {
  Kind kind;
  int ranks, chunks = 1;
};
void PrintTo(const Stages& run, std::ostream* out) {
  *out << pipeline::name(run.kind) << ' ' << run.ranks << " ranks, " << run.chunks << " chunks";
}
class FailedStep : public testing::TestWithParam<Stages> {};

// The k-th layer, forward or backward, or loss throws, on all ranks or on one.
TEST_P(FailedStep, LeavesNothing) {
  const Stages run = GetParam();
  run_ranks(run.ranks, [&](int rank) {
    int left = 0;
    LossFunction loss = cross_entropy_loss();
    loss.of = [&left, of = loss.of](const Tensor& output, const Tensor& targets) {
      Throws(left).count();
      return of(output, targets);
    };
    const auto make = [&] {
      nn::manual_seed(17);
      return std::make_unique<GptPipeline>(
          model,
          GptPipelineOptions{.schedule = run.kind,
                             .micro_batches = 3,
                             .chunks = run.chunks,
                             .loss = loss,
                             .prepare = [&left](nn::GPT& stage) {
                               stage.to(DType::f64);
                               for (nn::Block* const block : stage.blocks())
                                 block->add_hook(std::make_shared<Throws>(left));
                               stage.set_position({.seed = 5, .step = 1, .first_row = 0, .tokens = {}});
                             }});
    };
    const auto fresh = make();
    const double value = fresh->step(tokens(0, 5), targets(0, 5));
    const auto expected = copies_of_gradients(fresh->parameters());
    const auto hurt = make();
    for (int who = -1; who < run.ranks; ++who) {  // -1: all
      for (int k = 1, reached = 1; reached > 0; ++k) {
        left = who == -1 || who == rank ? k : 0;
        const std::string text = thrown([&] { (void)hurt->step(tokens(3, 5), targets(3, 5)); });
        Tensor ranks_that_throw = tensor<std::int64_t>({text.empty() ? 0 : 1});
        all_reduce(ranks_that_throw);
        reached = static_cast<int>(ranks_that_throw.item<std::int64_t>());
        ASSERT_TRUE(reached == 0 || reached == run.ranks) << k << ": " << text;
        if (reached > 0) {
          ASSERT_NE(text.find("planted"), text.npos) << text;
        }
        if (reached > 0 && k % 5 == 0) {
          const std::string said = thrown_by_all([&] { (void)hurt->step(tokens(3, 5), targets(3, 5)); });
          ASSERT_NE(said.find("call zero_grad() first"), said.npos) << k << ": " << said;
        }
        left = 0;
        hurt->zero_grad();
        ASSERT_EQ(hurt->step(tokens(0, 5), targets(0, 5)), value) << k;
        expect_gradients(hurt->parameters(), expected, fmt::format("{} of {}", k, who));
        hurt->zero_grad();
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Schedules, FailedStep,
                         testing::Values(Stages{Kind::gpipe, 1}, Stages{Kind::gpipe, 3},
                                         Stages{Kind::one_f_one_b, 2}, Stages{Kind::one_f_one_b, 3},
                                         Stages{Kind::interleaved, 1, 2}, Stages{Kind::interleaved, 2, 3},
                                         Stages{Kind::interleaved, 3, 2}, Stages{Kind::zb_h1, 1},
                                         Stages{Kind::zb_h1, 2}, Stages{Kind::zb_h1, 3}));

// The same on meshes. Ranks that compute a layer together must fail together; others may fail alone.
TEST(FailedStepOnAMesh, LeavesNothing) {
  struct Case {
    const char* mesh;
    Kind kind = Kind::one_f_one_b;
    bool recompute = false, alone = false;
  };
  for (const Case& c :
       {Case{"dp=2,pp=2", Kind::one_f_one_b, true, true}, Case{"dp=2,pp=2", Kind::zb_h1, false, true},
        Case{"tp=2,pp=2"}, Case{"cp=2,pp=2", Kind::gpipe, true}}) {
    const HybridShape shape = parse_hybrid_shape(c.mesh);
    nn::GptOptions gpt = model;
    gpt.layers = 2, gpt.context = 8, gpt.dropout = 0;
    run_ranks(shape.ranks(), [&](int rank) {
      int left = 0;
      const auto make = [&] {
        nn::manual_seed(17);
        auto made = std::make_unique<HybridGpt>(
            gpt,
            HybridOptions{.shape = shape, .micro_batches = 2, .schedule = c.kind, .recompute = c.recompute},
            DType::f64);
        for (const auto& stage : made->stages())
          for (nn::Block* const block : stage->blocks()) block->add_hook(std::make_shared<Throws>(left));
        return made;
      };
      const auto fresh = make(), hurt = make();
      const Tensor in = ones({3, 8}, DType::i64), out = full({3, 8}, 2, DType::i64);
      const double value = fresh->step(in, out);
      const auto expected = copies_of_gradients(fresh->parameters());
      for (int who = -1; who < (c.alone ? shape.ranks() : 0); ++who) {
        for (int k = 1; k < 7; ++k) {
          left = who == -1 || who == rank ? k : 0;
          (void)thrown([&] { (void)hurt->step(out, in); });
          left = 0;
          hurt->zero_grad();
          ASSERT_EQ(hurt->step(in, out), value) << c.mesh << ' ' << k;
          expect_gradients(hurt->parameters(), expected, fmt::format("{}, {} of {}", c.mesh, k, who));
          hurt->zero_grad();
        }
      }
    });
  }
}

// A rank that leaves a step while messages are under way, as after a timeout: no later step takes its
// messages.
TEST(FailedStepOnAMesh, MessagesOfABrokenStepAreNotTaken) {
  RankOptions options;
  options.init.timeout = std::chrono::seconds(1);
  run_ranks(
      2,
      [&](int rank) {
        nn::Linear layer(2, 2);
        layer.weight().value.fill_(rank + 1), layer.bias()->value.fill_(0);
        bool breaks = false;
        const LossFunction squares{.of =
                                       [&](const Tensor& out, const Tensor&) {
                                         if (std::exchange(breaks, false)) fail(Errc::timeout, "planted");
                                         return PartialLoss{sum(out * out), out * 2};
                                       },
                                   .count = [](const Tensor& t) { return t.numel(); }};
        Pipeline pipeline({&layer}, pipeline::make_schedule(Kind::gpipe, {2, 2, 1}), {.loss = squares});
        const double before = pipeline.step(ones({4, 2}), ones({4, 2}));
        const Tensor expected = layer.weight().grad.clone();
        layer.zero_grad();
        breaks = rank == 1;
        EXPECT_NE(thrown([&] { (void)pipeline.step(full({4, 2}, 7), ones({4, 2})); }), "");
        if (rank == 1) sleep(std::chrono::milliseconds(1500));  // rank 0 has waited for a gradient
        layer.zero_grad();
        EXPECT_EQ(pipeline.step(ones({4, 2}), ones({4, 2})), before);
        EXPECT_TRUE(equal(layer.weight().grad, expected));
      },
      options);
}

TEST(RefusedBatch, IsRefusedOnAllRanksWithTheSameSentence) {
  struct Case {
    Tensor tokens, targets;
    const char* said;
  };
  const std::vector<Case> cases{
      {with(tokens(0, 4), 11, 99), targets(0, 4),
       "token 99 at row 1, column 5 is not in the vocabulary (0 to 10)"},
      {with(tokens(0, 4), 0, -1), targets(0, 4), "token -1 at row 0, column 0 is not"},
      {tokens(0, 4), with(targets(0, 4), 23, 11),
       "target 11 at row 3, column 5 is not in the vocabulary (0 to 10), nor ignore_index (-100)"},
      {tokens(0, 4), targets(0, 5), "inputs [4, 6]"},
      {tokens(0, 4), targets(0, 5), "targets [5, 6]"},
      {tokens(0, 4), columns(4, 5, 1), "targets [4, 5]"},
      {tokens(0, 1), targets(0, 1), "the batch has 1 row, too few for 2 micro-batches"},
      {zeros({4, 6}), targets(0, 4), "the tokens are [4, 6] f32; [rows, time] i64 is expected"},
      {zeros({4, 7}, DType::i64), zeros({4, 7}, DType::i64), "the model takes 1 to 6 per row"},
      {Tensor(), targets(0, 4), "the inputs are undefined"},
      {tokens(0, 4), full({4, 6}, -100, DType::i64), "no target counts"}};
  for (const char* mesh : {"dp=1", "pp=2", "pp=3", "dp=2", "tp=2,pp=2", "cp=3"}) {
    const HybridShape shape = parse_hybrid_shape(mesh);
    run_ranks(shape.ranks(), [&](int rank) {
      const auto check = [&](auto& gpt) {
        const double before = gpt.step(tokens(0, 4), targets(0, 4));
        const auto expected = copies_of_gradients(gpt.parameters());
        for (const bool trains : {true, false})
          for (const Case& c : cases) {
            const std::string text = thrown_by_all(
                [&] { (void)(trains ? gpt.step(c.tokens, c.targets) : gpt.evaluate(c.tokens, c.targets)); });
            EXPECT_NE(text.find(c.said), text.npos) << mesh << ": " << text;
            EXPECT_EQ(text.find(trains ? "step at pipeline_fail" : "evaluate at pipeline_fail"), 0U) << text;
          }
        expect_gradients(gpt.parameters(), expected, mesh);  // nothing was added
        EXPECT_TRUE(gpt.stages()[0]->is_training());
        gpt.zero_grad();
        EXPECT_EQ(gpt.step(tokens(0, 4), targets(0, 4)), before);
        expect_gradients(gpt.parameters(), expected, mesh);
      };
      HybridGpt hybrid({.vocab_size = 11, .context = 6, .layers = 3, .heads = 2, .width = 8},
                       {.shape = shape, .micro_batches = 2}, DType::f64);
      check(hybrid);
      // Ranks with one data rank's part, and different data.
      if (hybrid.mesh().size() > hybrid.data_ranks()) {
        const std::string text = thrown_by_all([&] { (void)hybrid.step(tokens(rank, 4), targets(rank, 4)); });
        EXPECT_NE(text.find("rank 0 has inputs [4, 6] and targets [4, 6] (checksum"), text.npos) << text;
        EXPECT_NE(text.find("its number is data_rank(), not get_rank()"), text.npos) << text;
      }
      if (shape.pp != shape.ranks()) return;
      GptPipeline pipeline({.vocab_size = 11, .context = 6, .layers = 3, .heads = 2, .width = 8},
                           {.micro_batches = 2});
      check(pipeline);
    });
  }
}

// One rank takes a step, the other evaluates.
TEST(RefusedBatch, RanksAtDifferentPlacesAreTold) {
  run_ranks(3, [](int rank) {
    HybridGpt gpt({.vocab_size = 11, .context = 6, .layers = 3, .heads = 2, .width = 8},
                  {.shape = parse_hybrid_shape("pp=3")});
    const double before = gpt.step(tokens(0, 4), targets(0, 4));
    const std::string text = thrown([&] {
      (void)(rank == 1 ? gpt.evaluate(tokens(0, 4), targets(0, 4)) : gpt.step(tokens(0, 4), targets(0, 4)));
    });
    EXPECT_NE(text.find("rank 1 is at the beginning of evaluation 2"), text.npos) << text;
    EXPECT_NE(text.find("the others are at the beginning of step 2"), text.npos) << text;
    gpt.zero_grad();
    EXPECT_EQ(gpt.step(tokens(0, 4), targets(0, 4)), before);
  });
}

TEST(OtherShapes, AreTaken) {
  nn::GptOptions options = model;
  options.dropout = 0, options.layers = 3, options.context = 8;
  const auto alone = make_gpt(options);
  const std::array<std::array<std::int64_t, 2>, 6> shapes{{{8, 6}, {5, 6}, {8, 4}, {3, 4}, {2, 5}, {8, 6}}};
  struct Expected {
    double loss;
    nn::StateDict gradients;
  };
  std::vector<Expected> expected;
  for (const auto& [rows, time] : shapes) {
    alone->zero_grad();
    nn::CrossEntropyLoss loss;
    const double value = loss.forward(alone->forward(columns(rows, time, 0)), columns(rows, time, 1));
    (void)alone->backward(loss.backward());
    nn::StateDict gradients;
    for (const auto& [name, gradient] : gradients_of(*alone)) gradients.push_back({name, gradient.clone()});
    gradients.push_back({"lm_head.weight", *nn::find(gradients, "transformer.wte.weight")});
    expected.push_back({value, gradients});
  }
  for (const char* mesh : {"pp=3", "tp=2,pp=2", "cp=2,pp=2", "fsdp=2"}) {
    const HybridShape shape = parse_hybrid_shape(mesh);
    run_ranks(shape.ranks(), [&](int) {
      nn::manual_seed(17);
      HybridGpt gpt(options, {.shape = shape, .micro_batches = 2}, DType::f64);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const auto [rows, time] = shapes[i];
        if (rows < 2 * shape.data_ranks()) continue;
        const std::int64_t first = gpt.data_rank() * (rows / 2),
                           count = shape.data_ranks() == 1 ? rows : rows / 2 + gpt.data_rank() * (rows % 2);
        const Tensor in = columns(rows, time, 0).narrow(first, count).clone(),
                     out = columns(rows, time, 1).narrow(first, count).clone();
        gpt.zero_grad();
        EXPECT_NEAR(gpt.evaluate(in, out), expected[i].loss, 1e-12) << mesh << ' ' << i;
        EXPECT_NEAR(gpt.step(in, out), expected[i].loss, 1e-12) << mesh << ' ' << i;
        if (shape.pp == shape.ranks())
          for (const auto& stage : gpt.stages())
            expect_state(expected[i].gradients, gradients_of(*stage), 1e-12, mesh);
      }
    });
  }
}

TEST(SecondStep, AddsOnce) {
  const nn::GptOptions options = small_gpt();
  const auto alone = make_gpt(options);
  (void)pass(*alone, 0, 4);
  (void)pass(*alone, 2, 4);
  nn::StateDict all = gradients_of(*alone);
  all.push_back({"lm_head.weight", *nn::find(all, "transformer.wte.weight")});
  for (const auto& [kind, ranks, chunks] :
       {Stages{Kind::one_f_one_b, 2}, Stages{Kind::one_f_one_b, 3}, Stages{Kind::interleaved, 1, 3}})
    run_ranks(ranks, [&, kind = kind, ranks = ranks, chunks = chunks](int) {
      nn::manual_seed(17);
      GptPipeline gpt(options, {.schedule = kind, .micro_batches = 2, .chunks = chunks});
      for (const auto& stage : gpt.stages()) stage->to(DType::f64);
      const auto check = [&](const char* what) {
        for (const auto& stage : gpt.stages()) expect_state(all, gradients_of(*stage), 1e-12, what);
      };
      (void)gpt.step(tokens(0, 4), targets(0, 4));
      EXPECT_NE(thrown([&] { (void)gpt.step(tokens(0, 4), targets(0, 3)); }), "");
      (void)gpt.step(tokens(2, 4), targets(2, 4));
      check("two steps");
      nn::SGD(gpt.parameters(), {.lr = 0}).zero_grad();
      (void)gpt.step(tokens(0, 4), targets(0, 4));
      (void)gpt.step(tokens(2, 4), targets(2, 4));
      check("after an optimizer's zero_grad()");
    });
}

// The record says that each rank has other parameters, and which one is a copy.
TEST(PipelineRecord, NormsAreThoseOfTheWhole) {
  for (const bool tied : {true, false}) {
    const nn::GptOptions options = small_gpt(tied);
    const auto alone = make_gpt(options);
    (void)pass(*alone, 0, 4);
    const double expected = nn::clip_grad_norm(alone->parameters(), 1e9).item();
    for (const auto& [kind, ranks, chunks] :
         {Stages{Kind::one_f_one_b, 2}, Stages{Kind::one_f_one_b, 3}, Stages{Kind::interleaved, 1, 3}})
      run_ranks(ranks, [&, kind = kind, ranks = ranks, chunks = chunks](int) {
        nn::manual_seed(17);
        GptPipeline gpt(options, {.schedule = kind, .micro_batches = 2, .chunks = chunks});
        for (const auto& stage : gpt.stages()) stage->to(DType::f64);
        (void)gpt.step(tokens(0, 4), targets(0, 4));
        EXPECT_NEAR(nn::clip_grad_norm(gpt.parameters(), 1e9).item(), expected, 1e-12)
            << ranks << ' ' << chunks;
      });
  }
}

TEST(Evaluate, LeavesEachModuleInItsMode) {
  run_ranks(2, [](int) {
    GptPipeline gpt(model, {.micro_batches = 2});
    nn::GPT& stage = *gpt.stages()[0];
    stage.eval();
    stage.blocks()[1]->train();
    const auto check = [&] {
      EXPECT_FALSE(stage.is_training());
      EXPECT_FALSE(stage.blocks()[0]->is_training());
      EXPECT_TRUE(stage.blocks()[1]->is_training());
      EXPECT_TRUE(stage.blocks()[1]->mlp().is_training());
    };
    (void)gpt.evaluate(tokens(0, 4), targets(0, 4));
    check();
    EXPECT_NE(thrown([&] { (void)gpt.evaluate(tokens(0, 1), targets(0, 1)); }), "");
    check();
  });
}

// [rows, ...] to these axes for each row; without axes, to one axis for all.
struct To final : nn::Module {
  const Shape axes;
  Shape from;
  explicit To(Shape of_a_row) : axes(std::move(of_a_row)) {}
  Tensor run_forward(const Tensor& input) override {
    from = input.shape();
    Shape to{axes.empty() ? input.numel() : from[0]};
    to.insert(to.end(), axes.begin(), axes.end());
    return input.view(to).clone();
  }
  Tensor run_backward(const Tensor& grad) override { return grad.view(from).clone(); }
};

TEST(ActivationShapes, HaveAnyNumberOfAxes) {
  run_ranks(2, [](int rank) {
    Shape many(19, 1);
    many.back() = 4;
    To first(many), second(Shape{4});
    const LossFunction squares{.of =
                                   [](const Tensor& out, const Tensor&) {
                                     return PartialLoss{sum(out * out), out * 2};
                                   },
                               .count = [](const Tensor& t) { return t.numel(); }};
    const auto schedule = pipeline::make_schedule(Kind::one_f_one_b, {2, 2, 1});
    Pipeline pipeline({rank == 0 ? &first : &second}, schedule, {.loss = squares});
    EXPECT_EQ(pipeline.step(ones({4, 4}), zeros({4}, DType::i64)), 4);
    To flat(Shape{});
    Pipeline wrong({rank == 0 ? &flat : &second}, schedule, {.loss = squares});
    const std::string text = thrown_by_all([&] { (void)wrong.step(ones({4, 4}), zeros({4}, DType::i64)); });
    EXPECT_NE(text.find("rank 0: stage 0 gives [4] for one row; its first axis must be the rows"), text.npos)
        << text;
  });
}

}  // namespace
}  // namespace dist::test
