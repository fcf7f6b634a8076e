#include "distlab/train/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "dist/core/fail.h"
#include "dist/nn/safetensors.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

constexpr std::string_view model_part = "model.", optimizer_part = "optimizer.", run_part = "run.";

std::int64_t setting(const nn::StateDict& all, const std::string& name, const std::filesystem::path& file) {
  const auto* tensor = nn::find(all, std::string(run_part) + name);
  if (tensor == nullptr || tensor->numel() != 1)
    dist::fail(dist::Errc::invalid_argument,
               "{} is not a checkpoint of ./distlab train, because it has no {}; name another file",
               file.string(), name);
  return tensor->item<std::int64_t>();
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     const RunSettings& settings) {
  nn::StateDict all = nn::with_prefix(model_part, model.state_dict());
  std::ranges::copy(nn::with_prefix(optimizer_part, optimizer.state_dict()), std::back_inserter(all));
  for (const auto& [name, value] : settings)
    all.push_back({std::string(run_part) + name, dist::tensor<std::int64_t>({value})});
  nn::save_safetensors(file, all);
}

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer,
                    const RunSettings& settings) {
  const auto all = nn::load_safetensors(file);
  const auto epochs_done = setting(all, "epochs_done", file);
  for (const auto& [name, wanted] : settings) {
    const auto found = setting(all, name, file);
    if (name != "epochs_done" && found != wanted)
      dist::fail(dist::Errc::invalid_argument,
                 "{} is from a run with {} = {}, but this run has {}; to resume, take the same value",
                 file.string(), name, found, wanted);
  }
  model.load_state_dict(nn::part(all, model_part));
  optimizer.load_state_dict(nn::part(all, optimizer_part));
  return static_cast<int>(epochs_done);
}

}  // namespace distlab
