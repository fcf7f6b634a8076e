#include "distlab/bench/train/peer.h"

#include <vector>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/json_error.h"

#include "distlab/bench/pytorch_script.h"

namespace distlab::bench {
namespace {

std::vector<std::string> arguments(const TrainBenchOptions& options, const std::filesystem::path& weights) {
  std::vector<std::string> words{"--turns", "--model",     options.model, "--device",      options.device,
                                 "--dtype", options.dtype, "--weights",   weights.string()};
  const auto add = [&words](const std::string& name, std::int64_t value) {
    words.insert(words.end(), {"--" + name, std::to_string(value)});
  };
  add("layers", options.layers), add("heads", options.heads), add("width", options.width);
  add("context", options.context), add("vocab", options.vocab), add("batch", options.batch_size);
  add("threads", options.threads), add("warmup", 0);
  return words;
}

}  // namespace

PyTorchTrain::PyTorchTrain(const TrainBenchOptions& options, const std::filesystem::path& weights)
    : python_(pytorch_train_script(), arguments(options, weights)) {}

TrainTurn PyTorchTrain::train(int steps) {
  const std::string answer = python_.train(steps);
  try {
    const auto figures = dist::parse_json(answer);
    const auto number = [&figures](const char* key) { return figures.at(key).get<double>(); };
    constexpr double milli = 1e-3;
    blas_ = figures.at("blas").get<std::string>();
    return {.step = number("step_ms") * milli,
            .cpu = number("cpu_ms") * milli,
            .loss = number("loss"),
            .peak_bytes = number("peak_rss_bytes")};
  } catch (const dist::Json::exception& error) {
    dist::fail(dist::Errc::peer_failed, "PyTorch's process answered \"{}\": {}", answer,
               dist::json_error(error.what()));
  }
}

}  // namespace distlab::bench
