#include "distlab/train/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/nn/safetensors.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

constexpr std::string_view model_part = "model.", optimizer_part = "optimizer.", run_part = "run.",
                           progress_ending = "_done";

nn::StateDict read(const std::filesystem::path& file) {
  if (!std::filesystem::is_directory(file)) return nn::load_safetensors(file);
  nn::StateDict all =
      dist::load_whole(file, [](std::string_view name) { return !name.starts_with(optimizer_part); });
  for (auto& [name, tensor] : all)
    if (!name.starts_with(run_part)) name.insert(0, model_part);
  return all;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     const RunSettings& settings, const nn::StateDict& more) {
  nn::StateDict all = nn::with_prefix(model_part, model.state_dict());
  std::ranges::copy(nn::with_prefix(optimizer_part, optimizer.state_dict()), std::back_inserter(all));
  for (const auto& [name, value] : settings)
    all.push_back({std::string(run_part) + name, dist::tensor<std::int64_t>({value})});
  std::ranges::copy(nn::with_prefix(run_part, more), std::back_inserter(all));
  nn::save_safetensors(file, all);
}

void expect_setting(const std::filesystem::path& file, const std::string& name, std::int64_t found,
                    std::int64_t wanted) {
  if (found != wanted)
    dist::fail(dist::Errc::invalid_argument,
               "{} is from a run with {} = {}, but this run has {}; to resume, take the same value",
               file.string(), name, found, wanted);
}

void expect_same_progress(std::int64_t done, const std::filesystem::path& file) {
  const auto all = dist::all_gather_object(std::to_string(done));
  const auto other = std::ranges::find_if(all, [&](const auto& text) { return text != all.front(); });
  if (other != all.end())
    dist::fail(
        dist::Errc::mismatch,
        "{} is not the same file for all ranks: rank 0 would continue after {}, rank {} after {}; put it "
        "in a folder that all nodes share",
        file.string(), all.front(), other - all.begin(), *other);
}

Checkpoint::Checkpoint(const std::filesystem::path& file) : file_(file), all_(read(file)) {}

Checkpoint::Checkpoint(const std::filesystem::path& file, nn::StateDict all)
    : file_(file), all_(std::move(all)) {}

Checkpoint Checkpoint::settings_in(const std::filesystem::path& folder) {
  return {folder, dist::load_whole(folder, [](std::string_view name) { return name.starts_with(run_part); })};
}

bool Checkpoint::has(const std::string& name) const {
  return nn::find(all_, std::string(run_part) + name) != nullptr;
}

const dist::Tensor& Checkpoint::extra(const std::string& name) const {
  const auto* tensor = nn::find(all_, std::string(run_part) + name);
  if (tensor == nullptr)
    dist::fail(dist::Errc::invalid_argument,
               "{} is not a checkpoint of such a run, because it has no {}; name another file",
               file_.string(), name);
  return *tensor;
}

std::int64_t Checkpoint::setting(const std::string& name) const {
  const auto& tensor = extra(name);
  if (tensor.numel() != 1 || tensor.dtype() != dist::DType::i64)
    dist::fail(dist::Errc::invalid_argument,
               "{} is not a checkpoint of such a run, because its {} is not a number; name another file",
               file_.string(), name);
  return tensor.item<std::int64_t>();
}

std::int64_t Checkpoint::setting_or(const std::string& name, std::int64_t otherwise) const {
  return nn::find(all_, std::string(run_part) + name) ? setting(name) : otherwise;
}

std::string Checkpoint::expect(const RunSettings& settings) const {
  const auto is_size = [](const std::string& name) { return name == "ranks" || name == "batch_size"; };
  for (const auto& [name, wanted] : settings)
    if (!is_size(name) && !name.ends_with(progress_ending))
      expect_setting(file_, name, setting(name), wanted);
  const std::int64_t ranks = settings.at("ranks"), each = settings.at("batch_size");
  const std::int64_t ranks_before = setting_or("ranks", ranks), each_before = setting_or("batch_size", each);
  if (ranks == ranks_before && each == each_before) return "";
  return fmt::format(
      "from here on {} with {} each instead of {} with {}: a step has {} samples instead of {}; --lr stays",
      dist::counted(ranks, "rank"), each, ranks_before, each_before, ranks * each,
      ranks_before * each_before);
}

nn::StateDict Checkpoint::model() const { return nn::part(all_, model_part); }

dist::DType Checkpoint::dtype() const {
  const auto model = this->model();
  return model.empty() ? dist::DType::f32 : model.front().tensor.dtype();
}

void Checkpoint::expect(dist::DType dtype) const {
  const auto found = setting_or("bf16", 0) != 0 ? dist::DType::bf16 : this->dtype();
  if (dtype != found)
    dist::fail(dist::Errc::invalid_argument,
               "{} is from a run in {}, but this run is in {}; to resume, take --dtype {}", file_.string(),
               dist::name(found), dist::name(dtype), dist::name(found));
}

void Checkpoint::restore(nn::Module& model) const { model.load_state_dict(this->model()); }

void Checkpoint::restore(nn::Optimizer& optimizer) const {
  optimizer.load_state_dict(nn::part(all_, optimizer_part));
}

}  // namespace distlab
