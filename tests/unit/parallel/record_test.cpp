// What the record of each parameter is for: one call clips, gathers and sums a model that is divided in any
// way.
#include <gtest/gtest.h>

#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"

#include "support/expect_error.h"
#include "support/ranks.h"
#include "unit/parallel/gpt_support.h"

namespace dist::test {
namespace {

constexpr std::int64_t rows = 4;

// One rank: gradients of two batches, clipped.
struct Alone {
  std::unique_ptr<nn::GPT> gpt = make_gpt(small_gpt());
  double norm = 0;
  Alone() {
    (void)pass(*gpt, 0, rows);
    norm = nn::clip_grad_norm(gpt->named_parameters(), 0.5);
  }
};

void expect_gradients(nn::Module& module, nn::GPT& alone, const char* how) {
  const nn::StateDict got = full_gradients(module);
  for (const auto& [name, parameter] : alone.named_parameters())
    EXPECT_LE(difference(*nn::find(got, name), parameter->grad), 1e-9) << how << ": " << name;
}

// Two axes at once, tensor parallel inside fully sharded, included.
TEST(Record, OneCallClipsAnyModule) {
  Alone alone;
  for (const bool sequence : {false, true})
    run_ranks(4, [&](int) {
      const DeviceMesh mesh = init_device_mesh({2, 2}, {"fsdp", "tp"});
      const auto gpt = make_gpt(small_gpt());
      parallelize(*gpt, mesh["tp"], {.sequence_parallel = sequence});
      for (nn::Block* const block : gpt->blocks()) fully_shard(*block, {.mesh = mesh["fsdp"]});
      fully_shard(*gpt, {.mesh = mesh["fsdp"]});
      const std::int64_t own = rows / 2;
      (void)pass(*gpt, mesh.get_local_rank("fsdp") * own, own);
      if (sequence)
        expect_error(Errc::invalid_argument,
                     {"still to be summed over the ranks of tp: call finish_gradients() first"},
                     [&] { (void)nn::clip_grad_norm(gpt->named_parameters(), 0.5); });
      finish_gradients(*gpt);
      EXPECT_NEAR(nn::clip_grad_norm(gpt->named_parameters(), 0.5), alone.norm, 1e-9 * alone.norm);
      expect_gradients(*gpt, *alone.gpt, sequence ? "sequence" : "whole");
      const nn::StateDict state = full_state_dict(*gpt);
      for (const auto& [name, value] : alone.gpt->state_dict())
        EXPECT_LE(difference(*nn::find(state, name), value), 1e-15) << name;
    });
}

TEST(Record, APipelineIsClippedByTheNormOfAllStages) {
  Alone alone;
  for (const char* const mesh : {"pp=3", "pp=2,tp=2", "pp=2,fsdp=2"})
    run_ranks(parse_hybrid_shape(mesh).ranks(), [&](int) {
      nn::manual_seed(17);
      HybridGpt gpt(small_gpt(), {.shape = parse_hybrid_shape(mesh), .micro_batches = 2}, DType::f64);
      const std::int64_t own = rows / gpt.data_ranks();
      gpt.step(tokens(gpt.data_rank() * own, own), targets(gpt.data_rank() * own, own));
      EXPECT_NEAR(nn::clip_grad_norm(gpt.parameters(), 0.5), alone.norm, 1e-9 * alone.norm) << mesh;
    });
}

// A second backward without zero_grad() adds to what has been summed, once.
TEST(Record, SumsOfSummandsAreAddedOnce) {
  const auto alone = make_gpt(small_gpt());
  for (const std::int64_t first : {0, 4, 8}) (void)pass(*alone, first, rows);
  for (const bool sharded : {false, true})
    run_ranks(2, [&](int) {
      const DeviceMesh mesh = init_device_mesh({1, 2}, {"fsdp", "tp"});
      const auto gpt = make_gpt(small_gpt());
      parallelize(*gpt, mesh["tp"], {.sequence_parallel = true});
      if (sharded) fully_shard(*gpt, {.mesh = mesh["fsdp"]});
      for (const std::int64_t first : {0, 4}) {
        (void)pass(*gpt, first, rows);
        finish_gradients(*gpt);
        finish_gradients(*gpt);  // nothing to do
      }
      (void)pass(*gpt, 8, rows);
      finish_gradients(*gpt);
      expect_gradients(*gpt, *alone, sharded ? "sharded" : "whole");
    });
}

// Throws where it is asked to.
struct Thrower final : nn::ModuleHook {
  int& left;
  explicit Thrower(int& countdown) : left(countdown) {}
  void count() const {
    if (--left == 0) throw std::runtime_error("out of memory");
  }
  Tensor before_forward(nn::Module&, const Tensor& t) override { return count(), t; }
  Tensor after_backward(nn::Module&, const Tensor& t) override { return count(), t; }
};

TEST(Record, AFailedTensorParallelStepLeavesNothing) {
  const auto alone = make_gpt(small_gpt());
  (void)pass(*alone, 4, rows);
  run_ranks(2, [&](int) {
    const auto gpt = make_gpt(small_gpt());
    parallelize(*gpt, init_device_mesh({2}, {"tp"}), {.sequence_parallel = true});
    int left = 0, failed = 0;
    for (nn::Module* const module : gpt->modules()) module->add_hook(std::make_shared<Thrower>(left));
    for (int at = 1;; ++at) {
      left = at;
      try {
        (void)pass(*gpt, 0, rows);
        finish_gradients(*gpt);
        break;
      } catch (const std::runtime_error&) {
        ++failed;
      }
      left = 0;
      gpt->zero_grad();
      (void)pass(*gpt, 4, rows);
      finish_gradients(*gpt);
      expect_gradients(*gpt, *alone, "after an error");
    }
    EXPECT_GE(failed, 60);
  });
}

}  // namespace
}  // namespace dist::test
