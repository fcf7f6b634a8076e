// Random faults: a model that is divided in a random way goes through steps that fail or are given up, is
// saved, loaded, partly frozen, and gets inputs of other shapes; after zero_grad() its next step must be that
// of a model which never saw any of it. HYBRID_FUZZ_SEED and FAULT_FUZZ_CASES say which cases and how many.
#include <cstdlib>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/nn/checkpoint.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/full_state.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/simulate/simulate.h"

#include "unit/parallel/gpt_support.h"

namespace dist::test {
namespace {

// A number from the environment.
int number_of(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

struct Planned : std::runtime_error {
  Planned() : std::runtime_error("planned") {}
};

// Throws at the `left`-th hook of a step.
struct Thrower final : nn::ModuleHook {
  std::int64_t& left;
  explicit Thrower(std::int64_t& countdown) : left(countdown) {}
  Tensor count(const Tensor& t) const {
    if (left > 0 && --left == 0) throw Planned();
    return t;
  }
  Tensor before_forward(nn::Module&, const Tensor& t) override { return count(t); }
  Tensor after_forward(nn::Module&, const Tensor& t) override { return count(t); }
  Tensor before_backward(nn::Module&, const Tensor& t) override { return count(t); }
  Tensor after_backward(nn::Module&, const Tensor& t) override { return count(t); }
};

enum class Way : std::uint8_t { alone, ddp, shard, shard_2d, tensor, tensor_sequence, tensor_in_shard };
constexpr int ways = 7;

enum class Event : std::uint8_t {
  throws,       // at a random hook, on all ranks
  bad_token,    // refused by the embedding
  thrown_loss,  // between forward and backward
  second_backward,
  evaluates,  // without a backward
  steps,      // a whole step with the optimizer
  unsynced,   // a backward without reduction
  saves,      // and loads
  freezes,    // or trains again
};
constexpr int events = 9;

struct Plan {
  Way way{};
  int ranks = 1;
  bool recompute = false, units_in_blocks = false, by_optimizer = false;
  std::vector<std::pair<Event, std::uint64_t>> events;

  std::string str() const {
    std::string text =
        fmt::format("way {} ranks {} recompute {} units in blocks {} zero_grad by optimizer {}; events",
                    static_cast<int>(way), ranks, recompute, units_in_blocks, by_optimizer);
    for (const auto& [event, number] : events) text += fmt::format(" {}:{}", static_cast<int>(event), number);
    return text;
  }
};

Plan planned(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto below = [&](std::uint64_t n) { return generator() % n; };
  Plan plan;
  plan.way = static_cast<Way>(below(ways));
  plan.ranks = plan.way == Way::alone                                          ? 1
               : plan.way == Way::shard_2d || plan.way == Way::tensor_in_shard ? 4
                                                                               : 2;
  if (plan.way == Way::shard || plan.way == Way::ddp) plan.ranks += static_cast<int>(below(2));
  plan.recompute = below(3) == 0, plan.units_in_blocks = below(2) == 0, plan.by_optimizer = below(2) == 0;
  for (std::uint64_t i = 0, n = 1 + below(4); i < n; ++i)
    plan.events.emplace_back(static_cast<Event>(below(events)), 1 + below(160));
  return plan;
}

// The model of a plan on this rank.
struct Divided {
  Plan plan;
  std::unique_ptr<nn::GPT> gpt = make_gpt(small_gpt());
  std::unique_ptr<DistributedDataParallel> ddp;
  std::unique_ptr<nn::SGD> optimizer;
  DeviceMesh data;  // along which rows are divided
  bool is_tensor = false;
  std::int64_t left = 0;

  explicit Divided(Plan of) : plan(std::move(of)) {
    const Way way = plan.way;
    const bool both = way == Way::tensor_in_shard;
    DeviceMesh shards;
    if (way == Way::tensor || way == Way::tensor_sequence || both) {
      const DeviceMesh mesh = init_device_mesh({both ? 2 : 1, 2}, {"fsdp", "tp"});
      parallelize(*gpt, mesh["tp"], {.sequence_parallel = way != Way::tensor});
      is_tensor = true;
      data = mesh["fsdp"];
      if (both) shards = mesh["fsdp"];
    } else if (way == Way::shard_2d) {
      shards = init_device_mesh({2, 2}, {"replicate", "shard"});
      data = shards.flatten({"replicate", "shard"}, "data");
    } else {
      data = init_device_mesh({get_world_size()}, {"data"});
      if (way == Way::shard) shards = data;
    }
    if (shards)
      for (nn::Block* const block : gpt->blocks()) {
        if (plan.units_in_blocks)
          fully_shard(block->attn(), {.mesh = shards}), fully_shard(block->mlp(), {.mesh = shards});
        if (!plan.units_in_blocks && plan.recompute) nn::checkpoint(*block);
        fully_shard(*block, {.mesh = shards});
      }
    if (plan.recompute && (!shards || plan.units_in_blocks))
      for (nn::Block* const block : gpt->blocks()) nn::checkpoint(*block);
    if (shards) fully_shard(*gpt, {.mesh = shards});
    if (way == Way::ddp) ddp = std::make_unique<DistributedDataParallel>(*gpt);
    optimizer = std::make_unique<nn::SGD>(gpt->parameters(), nn::SGDOptions{.lr = 0.1});
    for (nn::Module* const module : gpt->modules()) module->add_hook(std::make_shared<Thrower>(left));
  }

  nn::Module& model() { return ddp ? static_cast<nn::Module&>(*ddp) : *gpt; }
  void zero_grad() { plan.by_optimizer ? optimizer->zero_grad() : model().zero_grad(); }
  void finish() {
    if (is_tensor) finish_gradients(*gpt);
  }
  // This rank's part of `rows` rows per data rank, from row `first` on.
  double pass(std::int64_t first, std::int64_t rows) {
    const std::int64_t own = first + data.get_local_rank(0) * rows;
    return test::pass(model(), own, rows);
  }

  void run(Event event, std::uint64_t number) {
    const auto first = static_cast<std::int64_t>(number % 7);
    switch (event) {
      case Event::throws:
        left = static_cast<std::int64_t>(number);
        pass(first, 2);
        left = 0;
        finish();
        return;
      case Event::bad_token: {
        Tensor bad = tokens(first, 2);
        bad.data<std::int64_t>()[3] = 99;
        (void)model().forward(bad);
        return;
      }
      case Event::thrown_loss: (void)model().forward(tokens(first, 1)); throw Planned();
      case Event::second_backward:
        pass(first, 2);
        (void)model().backward(zeros({2, 6, 11}, DType::f64));
        return;
      case Event::evaluates:
        if (number % 2 == 0) model().eval();
        (void)model().forward(tokens(first, 3));
        model().train();
        return;
      case Event::steps:
        zero_grad();
        pass(first, 2);
        finish();
        optimizer->step();
        return;
      case Event::unsynced: {
        std::optional<DistributedDataParallel::NoSync> off;
        if (ddp) off.emplace(ddp->no_sync());
        const auto syncs = number % 2 == 0 && plan.way == Way::shard_2d ? set_requires_all_reduce
                                                                        : set_requires_gradient_sync;
        syncs(*gpt, false);
        pass(first, 1);
        syncs(*gpt, true);
        return;
      }
      case Event::saves: {
        const auto folder =
            std::filesystem::temp_directory_path() / fmt::format("distlab-faults-{}", getpid());
        save_sharded(folder, pieces_of(*gpt));
        load_sharded(folder, pieces_of(*gpt), ShardedCheckpointOptions{});
        if (get_rank() == 0) std::filesystem::remove_all(folder);
        barrier();
        return;
      }
      case Event::freezes: {
        nn::Module& block = *gpt->blocks()[number % gpt->blocks().size()];
        block.requires_grad(!block.parameters().front()->requires_grad());
        return;
      }
    }
  }
};

// What is wrong with a plan; empty if nothing is.
std::string problem_of(const Plan& plan) {
  std::string problem;
  sim::RunOptions run;
  run.ranks = plan.ranks;
  run.stack_bytes = std::size_t{1} << 20;
  const auto report = sim::run(run, [&](int rank) {
    init_process_group();
    {
      Divided divided(plan);
      for (const auto& [event, number] : plan.events) try {
          divided.run(event, number);
        } catch (const Planned&) {
        } catch (const Error& error) {
          if (event != Event::bad_token && event != Event::second_backward) throw;
        }
      divided.left = 0;
      divided.zero_grad();
      const nn::StateDict values = full_state_dict(*divided.gpt);
      const double loss = divided.pass(20, 2);
      divided.finish();
      const auto alone = make_gpt(small_gpt());
      alone->load_state_dict(values);
      const auto theirs = alone->named_parameters();
      for (std::size_t i = 0; i < theirs.size(); ++i)
        theirs[i].parameter->requires_grad(divided.gpt->parameters()[i]->requires_grad());
      const std::int64_t all = 2 * divided.data.size();
      const double expected = pass(*alone, 20, all);
      const nn::StateDict got = full_gradients(*divided.gpt);
      if (rank == 0 && divided.data.size() == 1 && std::abs(loss - expected) > 1e-12)
        problem = fmt::format("loss {} for {}", loss, expected);
      for (const auto& [name, parameter] : theirs) {
        const Tensor* const gradient = nn::find(got, name);
        if (!gradient || !parameter->requires_grad()) {
          if (parameter->requires_grad() || gradient) problem = name + " is frozen on one side";
        } else if (const double error = difference(*gradient, parameter->grad); !(error < 1e-9)) {
          if (name.ends_with("c_attn.bias")) continue;  // a key's bias has gradients of rounding alone
          problem = fmt::format("the gradient of {} differs by {} of its size", name, error);
        }
      }
    }
    destroy_process_group();
  });
  if (!report.ok()) problem += report.text();
  return problem;
}

TEST(FaultFuzz, AfterAnyFaultTheNextStepIsAFreshModels) {
  const int seed = number_of("HYBRID_FUZZ_SEED", 1), cases = number_of("FAULT_FUZZ_CASES", 40);
  for (int i = 0; i < cases; ++i) {
    Plan plan = planned(static_cast<std::uint64_t>(seed) * 100000 + static_cast<std::uint64_t>(i));
    if (problem_of(plan).empty()) continue;
    for (std::size_t e = plan.events.size(); e-- > 0;) {  // without one of its events, as long as it fails
      Plan less = plan;
      less.events.erase(less.events.begin() + static_cast<std::ptrdiff_t>(e));
      if (!problem_of(less).empty()) plan = less;
    }
    ADD_FAILURE() << "case " << i << " of seed " << seed << ": " << plan.str() << "\n" << problem_of(plan);
    if (number_of("FAULT_FUZZ_ALL", 0) == 0) return;
  }
}

}  // namespace
}  // namespace dist::test
