// fully_shard: equal to one rank in values; in collectives, bytes, memory and exposed time what the header
// says.
#include <tuple>

#include <gtest/gtest.h>

#include "dist/parallel/shard/flat_layout.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

TEST(FlatLayout, PacksAndUnpacksEveryRow) {
  for (const int n : {1, 2, 3, 4, 7}) {
    const FlatLayout layout({{6, 2}, {5}, {}, {1, 3}}, n);
    EXPECT_EQ(layout.whole_elements(), 12 + 5 + 1 + 3);
    const Tensor flat = arange(layout.whole_elements());
    const Tensor shards = full({layout.all_elements()}, -1), back = full({layout.whole_elements()}, -1);
    layout.pack(flat, shards);
    layout.unpack(shards, back);
    EXPECT_TRUE(equal(back, flat)) << n;
    std::int64_t rows = 0;
    for (int r = 0; r < n; ++r) {
      const Tensor mine = shards.narrow(r * layout.shard_elements(), layout.shard_elements());
      EXPECT_EQ(layout.part(mine, 0, r).shape(), (Shape{layout.rows(0, r), 2}));
      for (const int first : layout.part(mine, 0, r)
                                 .view({2 * layout.rows(0, r)})
                                 .narrow(0, layout.rows(0, r) > 0)
                                 .to_vector<int>())
        EXPECT_EQ(first, 2 * layout.first_row(0, r));
      rows += layout.rows(0, r);
    }
    EXPECT_EQ(rows, 6);
  }
}

struct Case {
  const char* name;
  int ranks;
  std::optional<bool> reshard = {};
  bool blocks = true;  // are units of their own
  int micro_batches = 1;
  bool no_sync = false;
  int replicas = 1;
  bool tied = true;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class FullyShard : public testing::TestWithParam<Case> {};

// Three steps of Adam; each rank and micro-batch has two rows.
TEST_P(FullyShard, EqualsOneRank) {
  const Case& c = GetParam();
  const auto reference = make_gpt(small_gpt(c.tied));
  nn::Adam one(reference->parameters(), {.lr = 1e-3});
  std::vector<nn::StateDict> gradients, values;
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    reference->zero_grad();
    losses.push_back(pass(*reference, 100 * step, 2 * c.ranks * c.micro_batches));
    nn::StateDict copies;
    for (const auto& [name, grad] : gradients_of(*reference)) copies.push_back({name, grad.clone()});
    gradients.push_back(copies);
    one.step();
    copies.clear();
    for (const auto& [name, value] : values_of(*reference)) copies.push_back({name, value.clone()});
    values.push_back(copies);
  }
  run_ranks(c.ranks, [&](int rank) {
    FullyShardOptions options{.reshard_after_forward = c.reshard};
    if (c.replicas > 1)
      options.mesh = init_device_mesh({c.replicas, c.ranks / c.replicas}, {"replicate", "shard"});
    const auto gpt = make_gpt(small_gpt(c.tied));
    if (c.blocks)
      for (nn::Block* const block : gpt->blocks()) fully_shard(*block, options);
    fully_shard(*gpt, options);
    nn::Adam adam(gpt->parameters(), {.lr = 1e-3});
    for (std::size_t step = 0; step < 3; ++step) {
      adam.zero_grad();
      double loss = 0;
      for (int m = 0; m < c.micro_batches; ++m) {
        const bool is_last = m + 1 == c.micro_batches;
        if (c.no_sync) set_requires_gradient_sync(*gpt, is_last);
        if (c.replicas > 1) set_requires_all_reduce(*gpt, is_last);
        loss += pass(*gpt, 100 * static_cast<std::int64_t>(step) + 2 * (m * c.ranks + rank), 2);
      }
      Tensor mean = full({1}, loss / c.micro_batches, DType::f64);
      all_reduce(mean, ReduceOp::avg);
      EXPECT_NEAR(mean.item<double>(), losses[step], 1e-12 * losses[step]);
      for (nn::Parameter* const parameter : gpt->parameters()) parameter->grad.div_(c.micro_batches);
      expect_state(unsharded_gradients(*gpt), gradients[step], 1e-12, "gradient");
      adam.step();
      if (step == 0) expect_state(unsharded_state_dict(*gpt), values[step], 1e-9, "value");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, FullyShard,
    testing::Values(Case{"n1", 1}, Case{"n2", 2}, Case{"n3_resharded", 3, true}, Case{"n4_kept", 4, false},
                    Case{"n6_untied", 6, {}, true, 1, false, 1, false}, Case{"n8", 8},
                    Case{"n3_one_unit", 3, {}, false}, Case{"n2_three_micro_batches", 2, {}, true, 3},
                    Case{"n3_no_sync", 3, {}, true, 3, true}, Case{"n4_hybrid", 4, {}, true, 1, false, 2},
                    Case{"n4_hybrid_three_micro_batches", 4, true, true, 3, false, 2},
                    Case{"n6_hybrid_no_sync", 6, {}, true, 2, true, 3}),
    [](const auto& test) { return test.param.name; });

// Expects what passes through a module to be of this dtype, inside of the unit's hook.
class Expects final : public nn::ModuleHook {
 public:
  explicit Expects(DType dtype) : dtype_(dtype) {}
  Tensor before_forward(nn::Module&, const Tensor& t) override { return checked(t); }
  Tensor after_forward(nn::Module&, const Tensor& t) override { return checked(t); }
  Tensor before_backward(nn::Module&, const Tensor& t) override { return checked(t); }
  Tensor after_backward(nn::Module&, const Tensor& t) override { return checked(t); }

 private:
  const Tensor& checked(const Tensor& t) const {
    EXPECT_EQ(t.dtype(), dtype_);
    return t;
  }
  const DType dtype_;
};

TEST(FullyShardMixed, ComputesInTheOtherDtypeAndKeepsItsOwn) {
  const auto reference = make_gpt(small_gpt());
  const double loss = pass(*reference, 0, 4);
  for (const auto& [gathered, computed, tolerance] : {std::tuple{DType::f32, DType::f32, 1e-5},
                                                      {DType::bf16, DType::bf16, 3e-2},
                                                      {DType::f16, DType::f32, 1e-2}}) {
    run_ranks(2, [&](int rank) {
      const auto gpt = make_gpt(small_gpt());
      FullyShardOptions options{.mixed_precision = {.param_dtype = gathered, .reduce_dtype = DType::f32}};
      for (nn::Block* const block : gpt->blocks()) {
        block->add_hook(std::make_shared<Expects>(computed));
        fully_shard(*block, options);
      }
      fully_shard(*gpt, options);
      Tensor mean = full({1}, pass(*gpt, 2 * rank, 2), DType::f64);
      all_reduce(mean, ReduceOp::avg);
      EXPECT_NEAR(mean.item<double>(), loss, tolerance * loss);
      for (nn::Parameter* const parameter : gpt->parameters()) {
        EXPECT_EQ(parameter->value.dtype(), DType::f64);
        EXPECT_EQ(parameter->grad.dtype(), DType::f64);
      }
      expect_state(unsharded_gradients(*gpt), gradients_of(*reference), tolerance, name(gathered).data());
    });
  }
}

// Only the blocks compute in bf16: what enters them is converted, and what leaves them is converted back.
TEST(FullyShardMixed, ConvertsAtTheUnitsBorders) {
  run_ranks(2, [](int rank) {
    const auto gpt = make_gpt(small_gpt());
    gpt->to(DType::f32);
    for (nn::Block* const block : gpt->blocks()) {
      block->add_hook(std::make_shared<Expects>(DType::bf16));
      fully_shard(*block, {.mixed_precision = {.param_dtype = DType::bf16, .output_dtype = DType::f32}});
      block->add_outermost_hook(std::make_shared<Expects>(DType::f32));
    }
    fully_shard(*gpt);
    pass(*gpt, 2 * rank, 2);
    const auto strict = make_gpt(small_gpt());
    strict->to(DType::f32);
    for (nn::Block* const block : strict->blocks())
      fully_shard(*block, {.mixed_precision = {.param_dtype = DType::bf16, .cast_forward_inputs = false}});
    fully_shard(*strict);
    EXPECT_DIST_ERROR(pass(*strict, 2 * rank, 2), Errc::invalid_argument, "bf16 on cpu is expected");
  });
}

// Equal gradients in bf16, summed 12 times: in f32, that is 12 times one of them.
TEST(FullyShardMixed, SumsBetweenReductionsAreOfTheReductionsDtype) {
  constexpr int passes = 12;
  run_ranks(2, [&](int rank) {
    const auto gpt = make_gpt(small_gpt());
    fully_shard(*gpt, {.mixed_precision = {.param_dtype = DType::bf16, .reduce_dtype = DType::f32}});
    pass(*gpt, 2 * rank, 2);
    nn::StateDict expected = unsharded_gradients(*gpt);
    for (auto& named : expected) named.tensor.mul_(passes);
    gpt->zero_grad();
    for (int i = 0; i < passes; ++i) {
      set_requires_gradient_sync(*gpt, i + 1 == passes);
      pass(*gpt, 2 * rank, 2);
    }
    expect_state(unsharded_gradients(*gpt), expected, 1e-5, "sum");
  });
}

TEST(FullyShardErrors, AreSaid) {
  run_ranks(2, [](int) {
    const auto gpt = make_gpt(small_gpt());
    nn::Block& block = *gpt->blocks()[0];
    fully_shard(block);
    EXPECT_DIST_ERROR(fully_shard(block), Errc::invalid_argument, "is already a unit");
    for (nn::Module* const module : gpt->modules())
      if (module->str() == "Embedding(11, 10)") fully_shard(*module);
    EXPECT_DIST_ERROR(fully_shard(*gpt), Errc::invalid_argument, "is tied to a parameter of another unit");
  });
}

// A layer whose forward and backward take some time, with one parameter [rows, width].
class Timed final : public nn::Module {
 public:
  Timed(std::int64_t rows, double forward, double backward) : forward_(forward), backward_(backward) {
    weight_.initialize(ones({rows, 16}));
    register_parameter("weight", weight_);
  }

 private:
  Tensor run_forward(const Tensor& input) override {
    sim::compute(forward_);
    return input;
  }
  Tensor run_backward(const Tensor& grad_output) override {
    sim::compute(backward_);
    weight_.grad.fill_(1);
    weight_.grad_is_ready();
    return grad_output;
  }
  double forward_, backward_;
  nn::Parameter weight_;
};

constexpr int layers = 6;
constexpr std::int64_t rows = 4096, layer_bytes = rows * 16 * 4;

// Six layers, and one that belongs to the root alone. Each is sharded as soon as it is there, so that a rank
// never has all of them.
nn::Sequential& build(nn::Sequential& all, bool sharded, const FullyShardOptions& options, double forward,
                      double backward) {
  for (int i = 0; i <= layers; ++i) {
    nn::Module& layer = all.add<Timed>(rows, forward, backward);
    if (sharded && i > 0) fully_shard(layer, options);
  }
  if (sharded) fully_shard(all, options);
  return all;
}

// Makes all ranks go on at exactly the same virtual time; after a barrier alone they are slightly apart.
Clock::time_point meet() {
  barrier();
  constexpr auto tick = std::chrono::seconds(1);
  dist::sleep(tick - Clock::now().time_since_epoch() % tick);
  return Clock::now();
}
double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

struct Measured {
  double seconds = 0;  // of one step after the first, until the last rank has ended it
  double bytes = 0;    // sent per rank in one step
  double peak = 0;     // buffers of a rank
};

// Planted: gathers_all gathers all units at the start of forward and of backward.
Measured measure(int ranks, const FullyShardOptions& of, double forward, double backward, bool sharded = true,
                 bool gathers_all = false, int replicas = 1) {
  Measured measured;
  const auto run = [&](int steps) {
    sim::RunOptions options;
    options.ranks = ranks;
    options.topology = "dgx-a100-hdr";
    measured.seconds = 0;
    return sim::run(options, [&, steps](int) {
      init_process_group();
      {
        nn::Sequential model;
        FullyShardOptions mine = of;
        if (replicas > 1) mine.mesh = init_device_mesh({replicas, ranks / replicas}, {"lines", "shards"});
        build(model, sharded, mine, forward, backward);
        for (int i = 0; i < steps; ++i) {
          const auto began = meet();
          if (gathers_all) unshard(model);
          (void)model.forward(ones({1}));
          if (gathers_all) unshard(model);
          (void)model.backward(ones({1}));
          if (i + 1 == steps) measured.seconds = std::max(measured.seconds, seconds_since(began));
        }
      }
      destroy_process_group();
    });
  };
  const auto two = run(2), three = run(3);
  EXPECT_TRUE(two.ok() && three.ok());
  measured.bytes = static_cast<double>(three.max_bytes_sent() - two.max_bytes_sent());
  measured.peak = static_cast<double>(three.max_peak_buffer_bytes());
  return measured;
}

TEST(FullyShardCosts, BytesAreTheHeaders) {
  for (const int n : {2, 4, 8}) {
    const double share = (n - 1.0) / n, all = (layers + 1.0) * layer_bytes, root = layer_bytes;
    const auto bytes = [&](std::optional<bool> reshard) {
      return measure(n, {.reshard_after_forward = reshard}, 1e-3, 2e-3).bytes;
    };
    const double slack = 4096;  // of the barrier
    EXPECT_NEAR(bytes({}), share * (3 * all - root), slack) << n;
    EXPECT_NEAR(bytes(true), share * 3 * all, slack) << n;
    EXPECT_NEAR(bytes(false), share * 2 * all, slack) << n;
  }
}

// The time until the last rank has the result of one layer's collective.
template <class F>
double seconds_of(int ranks, const F& collective) {
  double longest = 0;
  sim::RunOptions options;
  options.ranks = ranks;
  options.topology = "dgx-a100-hdr";
  const auto report = sim::run(options, [&](int) {
    init_process_group();
    Tensor all = zeros({rows * 16}), part = zeros({rows * 16 / get_world_size()});
    const auto began = meet();
    collective(all, part);
    longest = std::max(longest, seconds_since(began));
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok());
  return longest;
}

void gather_layer(Tensor& all, Tensor& part) { all_gather_into_tensor(all, part); }
void reduce_layer(Tensor& all, Tensor& part) { reduce_scatter_tensor(part, all, ReduceOp::avg); }
void average_layer(Tensor& all, Tensor&) { all_reduce(all, ReduceOp::avg); }

TEST(FullyShardCosts, OnlyTwoGathersAndTheLastReductionAreExposed) {
  const double forward = 1e-3, backward = 2e-3, compute = (layers + 1) * (forward + backward);
  const double gather = seconds_of(8, gather_layer), reduction = seconds_of(8, reduce_layer);
  const auto expect_exposed = [&](std::optional<bool> reshard, double formula) {
    const double exposed =
        measure(8, {.reshard_after_forward = reshard}, forward, backward).seconds - compute;
    RecordProperty(fmt::format("exposed_by_formula_{}", formula / gather), std::to_string(exposed / formula));
    EXPECT_NEAR(exposed, formula, 0.01 * formula)
        << "gather " << 1e6 * gather << " us, reduction " << 1e6 * reduction << " us";
  };
  expect_exposed({}, 2 * gather + reduction);
  expect_exposed(true, 3 * gather + reduction);  // the root is gathered again before the last unit
  expect_exposed(false, gather + reduction);
}

// With one rank per line, a unit is averaged as soon as its backward is over.
TEST(FullyShardCosts, OnlyTheLastAverageOverLinesIsExposed) {
  const double forward = 1e-3, backward = 2e-3, compute = (layers + 1) * (forward + backward);
  const double average = seconds_of(8, average_layer);
  EXPECT_NEAR(measure(8, {}, forward, backward, true, false, 8).seconds - compute, average, 0.01 * average);
  // In two lines of four, the last one cannot start before the last reduce-scatter has ended. Messages inside
  // a line share the ports with those between lines.
  const double line = 2 * seconds_of(4, gather_layer) + seconds_of(4, reduce_layer);
  EXPECT_LE(measure(8, {}, forward, backward, true, false, 2).seconds - compute, line + average);
}

// What a reduce-scatter of one layer holds besides its input and output.
double scratch_of_a_reduction(int ranks) {
  sim::RunOptions options;
  options.ranks = ranks;
  options.topology = "dgx-a100-hdr";
  const auto report = sim::run(options, [&](int) {
    init_process_group();
    Tensor all = zeros({rows * 16}), part = zeros({rows * 16 / get_world_size()});
    reduce_scatter_tensor(part, all, ReduceOp::avg, {.async_op = true}).wait();
    destroy_process_group();
  });
  return static_cast<double>(report.max_peak_buffer_bytes()) -
         static_cast<double>(layer_bytes) * (1 + 1.0 / ranks);
}

// The header's formula, and what the collectives hold.
TEST(FullyShardCosts, MemoryIsTheHeaders) {
  for (const int n : {4, 8}) {
    const double unit = layer_bytes, all = (layers + 1) * unit, scratch = scratch_of_a_reduction(n);
    RecordProperty(fmt::format("scratch_in_units_{}", n), std::to_string(scratch / unit));
    const double formula = 2 * all / n + 2 * unit + (4 + 1.0 / n) * unit + scratch;
    EXPECT_NEAR(measure(n, {}, 1e-3, 2e-3).peak, formula, 0.05 * 2 * all) << n << ' ' << scratch / unit;
    EXPECT_GT(measure(n, {}, 1e-3, 2e-3, true, true).peak, formula + 0.05 * 2 * all)
        << "its memory gives away a step that gathers all units at the start";
    EXPECT_GT(measure(n, {}, 1e-3, 2e-3, false).peak, 2 * all);
    // In bf16 the root with its gradients, a unit with its own, the next gather and a gather's input take
    // half the memory.
    const FullyShardOptions halves{
        .mixed_precision = {.param_dtype = DType::bf16, .reduce_dtype = DType::f32}};
    const double in_bf16 = 2 * unit + (3 + 1.0 / n) * unit;
    EXPECT_NEAR(measure(n, halves, 1e-3, 2e-3).peak,
                2 * all / n + in_bf16 / 2 + (1 + 1.0 / n) * unit + scratch, 0.05 * 2 * all)
        << n;
  }
}

}  // namespace
}  // namespace dist::test
