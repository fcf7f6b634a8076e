// A rank of a fully sharded model dies in each phase of a step, and while a checkpoint is written.
#include "dist/dist.h"
#include "dist/nn/adam.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/gpt.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/shard/fully_shard.h"

#include "kill_support.h"

namespace dist::test {
namespace {

using std::chrono::milliseconds;

enum class Phase : std::uint8_t { gather_in_forward, gather_in_backward, reduce_scatter, optimizer, save };
constexpr std::array phases{Phase::gather_in_forward, Phase::gather_in_backward, Phase::reduce_scatter,
                            Phase::optimizer, Phase::save};
constexpr std::array phase_names{"gather in forward", "gather in backward", "reduce-scatter", "optimizer",
                                 "save"};

// Hooks around a block, inside its unit's own hook: they run when the next unit's gather, or this unit's
// reduction, has just begun on other ranks.
struct Deadly final : nn::ModuleHook {
  explicit Deadly(std::function<void(Phase)> reaches) : at(std::move(reaches)) {}
  Tensor before_forward(nn::Module&, const Tensor& input) override {
    at(Phase::gather_in_forward);
    return input;
  }
  Tensor before_backward(nn::Module&, const Tensor& grad) override {
    at(Phase::gather_in_backward);
    return grad;
  }
  Tensor after_backward(nn::Module&, const Tensor& grad) override {
    at(Phase::reduce_scatter);
    return grad;
  }
  std::function<void(Phase)> at;
};

// Trains until an error; the victim dies in the phase of the fourth step, `late` after its beginning.
std::string train_in_shards(bool is_victim, Phase phase, std::chrono::microseconds late,
                            const std::filesystem::path& folder) {
  init_process_group({.timeout = std::chrono::seconds(20)});
  nn::GptOptions options;
  options.width = 48, options.heads = 4, options.context = 24, options.layers = 3;
  nn::GPT gpt(options);
  for (nn::Block* const block : gpt.blocks()) fully_shard(*block);
  fully_shard(gpt);
  int step = 0;
  const auto reaches = [&](Phase reached) {
    if (is_victim && step == 3 && reached == phase) die_after(late);
  };
  gpt.blocks()[1]->add_hook(std::make_shared<Deadly>(reaches));
  nn::Adam optimizer(gpt.parameters(), {.lr = 1e-3});
  nn::CrossEntropyLoss loss;
  const Tensor tokens = ones({2, 24}, DType::i64);
  for (; step < 1'000'000; ++step) {
    (void)loss.forward(gpt.forward(tokens), tokens);
    optimizer.zero_grad();
    (void)gpt.backward(loss.backward());
    reaches(Phase::optimizer);
    optimizer.step();
    ShardedSave save(folder, pieces_of(gpt));
    reaches(Phase::save);
    save.finish();
  }
  return "done";
}

TEST(ShardedKilled, InEachPhaseTheOthersEndWithin2Seconds) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("distlab-killed-{}", getpid());
  constexpr int ranks_in_all = 3;
  for (std::size_t i = 0; i < phases.size(); ++i)
    for (const int late : {0, 150, 400}) {
      const int victim = (static_cast<int>(i) + late) % ranks_in_all;
      SCOPED_TRACE(
          fmt::format("rank {} dies {} us after the beginning of: {}", victim, late, phase_names[i]));
      ProcessRanks ranks(ranks_in_all, [&](int rank, const auto&) {
        return train_in_shards(rank == victim, phases[i], std::chrono::microseconds(late), folder);
      });
      const auto reports = ranks.join(milliseconds(20'000));
      const auto& dead = reports[static_cast<std::size_t>(victim)];
      EXPECT_EQ(dead.signal, SIGKILL) << dead.text;
      expect_all_name(victim, reports, dead.ended);
    }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dist::test
