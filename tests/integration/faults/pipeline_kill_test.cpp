// A rank of a pipeline dies during a step: its neighbours and all others name it.
#include "dist/dist.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/pipeline/gpt_pipeline.h"

#include "kill_support.h"

namespace dist::test {
namespace {

std::string train_in_stages(pipeline::Kind schedule, const std::function<void()>& ready) {
  init_process_group({.timeout = std::chrono::seconds(20)});
  nn::GptOptions options;
  options.width = 32, options.heads = 4, options.context = 16, options.layers = 8;
  const bool is_interleaved = schedule == pipeline::Kind::interleaved;
  GptPipeline gpt(options, {.schedule = schedule, .micro_batches = 6, .chunks = is_interleaved ? 2 : 1});
  nn::SGD optimizer(gpt.parameters(), {.lr = 0.01});
  const Tensor tokens = ones({6, 16}, DType::i64);
  for (int step = 0; step < 1'000'000; ++step) {
    if (step == 3) ready();
    gpt.zero_grad();
    (void)gpt.step(tokens, tokens);
    optimizer.step();
  }
  return "done";
}

TEST(PipelineKilled, TheOthersEndWithin2Seconds) {
  kill_in_training(12, [](int, int trial, const auto& ready) {
    const auto kind = pipeline::kind_names[static_cast<std::size_t>(trial) % pipeline::kind_names.size()];
    return train_in_stages(kind.kind, ready);
  });
}

}  // namespace
}  // namespace dist::test
