#include "distlab/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/group/process_group.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/random.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/replicas.h"

#include "distlab/file_text.h"
#include "distlab/train/devices.h"
#include "distlab/train/finite.h"

namespace distlab {
namespace {

namespace data = dist::data;
namespace nn = dist::nn;
using Clock = std::chrono::steady_clock;

constexpr const char *within_epoch = "epoch_steps_done", *loss_within_epoch = "epoch_loss";

std::unique_ptr<nn::Module> make_model(std::uint64_t seed) {
  nn::manual_seed(seed);
  auto model = std::make_unique<nn::ConvNet>();
  model->skip_input_grad();
  return model;
}

}  // namespace

Trainer::Trainer(const TrainOptions& options)
    : options_(options),
      lr_(options.lr.value_or(0.02)),
      batch_size_(options.batch_size.value_or(64)),
      rank_(dist::get_rank()),
      ranks_(dist::get_world_size()),
      devices_(devices_of(options)),
      data_(load_datasets(options)),
      sampler_(data_.train.size, {.num_replicas = ranks_, .rank = rank_, .seed = options.seed}),
      scheme_(scheme_named(options.scheme)
                  .make({.make_model = [seed = options.seed] { return make_model(seed); },
                         .make_optimizer = [this](nn::Module& model) { return make_sgd(model); },
                         .devices = devices_,
                         .is_one_graph = is_one_graph(options)})),
      ending_(devices_.front()),
      narrator_(rank_ != 0, options,
                {training_flops_per_image(), peak_of_all(options, devices_, dist::DType::f32)}) {
  if (has_gpu_steps(options, *scheme_))
    gpu_steps_.emplace(devices_.front(), [this](const dist::Tensor& inputs, const dist::Tensor& targets) {
      return enqueue_step(inputs, targets);
    });
  if (rank_ == 0 && !options.checkpoint.empty()) check_output("--checkpoint", options.checkpoint);
  if (rank_ == 0 && !options.plot.empty()) check_output_folder("--plot", options.plot);
  if (options.resume) {
    resume();
    expect_same_progress(steps_, options.checkpoint);
  }
}

std::unique_ptr<nn::Optimizer> Trainer::make_sgd(nn::Module& model) const {
  return std::make_unique<nn::SGD>(model.parameters(),
                                   nn::SGDOptions{.lr = lr_, .momentum = options_.momentum});
}

RunSettings Trainer::settings(int epochs_done) const {
  return {{"epochs_done", epochs_done},  {"ranks", ranks_ * copies()},
          {"batch_size", batch_size_},   {"mnist", options_.data == "mnist"},
          {"samples", data_.train.size}, {"seed", static_cast<std::int64_t>(options_.seed)}};
}

// Every rank reads the file, which must be in a place that all of them can read.
void Trainer::resume() {
  if (!std::filesystem::exists(options_.checkpoint)) {
    narrator_.say(fmt::format("{} does not exist yet: training starts from the beginning",
                              options_.checkpoint.string()));
    return;
  }
  const Checkpoint checkpoint(options_.checkpoint);
  first_epoch_ = static_cast<int>(checkpoint.setting("epochs_done"));
  const std::string change = checkpoint.expect(settings(0));
  checkpoint.restore(scheme_->model());
  checkpoint.restore(scheme_->optimizer());
  if (checkpoint.has(within_epoch)) {
    // The ranks have taken the samples of an epoch in turn, so a number of samples says where they are. Those
    // of a step that would be half done are taken once more.
    const double samples = static_cast<double>(
        checkpoint.setting(within_epoch) * checkpoint.setting("ranks") * checkpoint.setting("batch_size"));
    const auto of_a_step = static_cast<double>(step_size() * ranks_);
    epoch_steps_ = static_cast<std::int64_t>(samples / of_a_step);
    const double part = static_cast<double>(epoch_steps_) * of_a_step / samples;
    loss_sum_ = part * checkpoint.extra(loss_within_epoch).item<double>() / ranks_;
  }
  seen_ = std::min(epoch_steps_ * step_size(), static_cast<std::int64_t>(sampler_.size()));
  const std::string within =
      epoch_steps_ == 0 ? "" : fmt::format(" and {} of the next", dist::counted(epoch_steps_, "step"));
  narrator_.say(fmt::format("continuing after epoch {}{}, from {}", first_epoch_, within,
                            options_.checkpoint.string()));
  if (!change.empty()) narrator_.say(change);
  if (first_epoch_ >= options_.epochs)
    narrator_.say(fmt::format("epoch {} is done already; to train longer: --epochs {}", options_.epochs,
                              first_epoch_ + 1));
  steps_ = first_epoch_ * ((sampler_.size() + step_size() - 1) / step_size()) + epoch_steps_;
}

EpochResult Trainer::run() {
  EpochResult result;
  for (int epoch = first_epoch_; epoch < options_.epochs; ++epoch) {
    result = {};
    narrator_.begin(epoch + 1, seen_ * ranks_);
    train_epoch(epoch, result);
    expect_finite_weights(scheme_->model().parameters(), steps_, lr_, options_.checkpoint);
    if (ending_.is_agreed()) {
      end_early(epoch);
      return result;
    }
    evaluate(result);
    narrator_.end(result);
    if (rank_ == 0 && !options_.checkpoint.empty())
      save_checkpoint(options_.checkpoint, scheme_->model(), scheme_->optimizer(), settings(epoch + 1));
  }
  if (rank_ != 0) return result;
  if (const auto summary = history_.summary(); !summary.empty()) narrator_.say(summary);
  if (!options_.plot.empty() && !history_.empty())
    history_.plot(options_.plot,
                  fmt::format("{} x {}, batch {} each", ranks_ * copies(), options_.scheme, batch_size_));
  return result;
}

// The checkpoint of an unfinished epoch has the steps that it took and the losses that it summed.
void Trainer::end_early(int epoch) {
  const double loss_sum = summed({loss_sum_}, devices_.front())[0];
  RunSettings progress = settings(epoch);
  progress[within_epoch] = epoch_steps_;
  if (rank_ == 0 && !options_.checkpoint.empty())
    save_checkpoint(options_.checkpoint, scheme_->model(), scheme_->optimizer(), progress,
                    {{loss_within_epoch, dist::tensor<double>({loss_sum})}});
  narrator_.say(ending_.words(fmt::format("step {} of epoch {}", epoch_steps_, epoch + 1),
                              options_.checkpoint.string()));
}

void Trainer::train_epoch(int epoch, EpochResult& result) {
  scheme_->module().train();
  sampler_.set_epoch(epoch);
  const data::DataLoader loader(*data_.train.dataset, sampler_,
                                {.batch_size = step_size(), .workers = 1, .pin_for = devices_.front()});
  const auto start = Clock::now();
  const auto seen_before = seen_;
  const auto report = [&](double loss, std::int64_t rows, const StepOfRank&, const StepTimes& times) {
    history_.add(loss, times);
    loss_sum_ += loss * static_cast<double>(rows);
    seen_ += rows;
    narrator_.step(seen_ * ranks_, sampler_.size() * ranks_, loss);
  };
  std::int64_t skipped = epoch_steps_;
  Lap lap;
  for (const auto& batch : loader) {
    if (skipped-- > 0) continue;
    StepTimes times{.data = lap()};
    if (gpu_steps_) {
      gpu_steps_->take(batch, {rank_, ++steps_, lr_}, times, report);
    } else {
      const double loss = train_step(batch, times);
      report(loss, batch.size(), {}, times);
    }
    ++epoch_steps_;
    if (ending_.after_step()) break;
    lap();
  }
  if (gpu_steps_) gpu_steps_->finish(report);
  if (ending_.is_agreed()) return;
  const auto all = summed({loss_sum_, static_cast<double>(seen_), static_cast<double>(seen_ - seen_before)},
                          devices_.front());
  loss_sum_ = 0, seen_ = epoch_steps_ = 0;
  result.loss = all[0] / all[1];
  result.images = static_cast<std::int64_t>(all[2]);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

double Trainer::train_step(const data::Batch& batch, StepTimes& times) {
  Lap lap;
  ++steps_;
  const auto inputs = batch.inputs.to(devices_.front());
  const double loss = loss_.forward(scheme_->module().forward(inputs), batch.targets);
  expect_finite(loss, {rank_, steps_, lr_}, scheme_->model(), inputs);
  times.forward = lap();
  scheme_->optimizer().zero_grad();
  scheme_->module().backward(loss_.backward());
  times.backward = lap() - scheme_->exposed_in_backward();
  scheme_->step();
  times.update = lap() - scheme_->exposed_in_step();
  times.exposed = scheme_->exposed_in_backward() + scheme_->exposed_in_step();
  return loss;
}

nn::Loss Trainer::enqueue_step(const dist::Tensor& inputs, const dist::Tensor& targets) {
  const auto loss = loss_.forward(scheme_->module().forward(inputs), targets);
  scheme_->optimizer().zero_grad();
  scheme_->module().backward(loss_.backward());
  scheme_->step();
  return loss;
}

// Every rank evaluates its part of the test images. The ranks sum their counts, so the accuracy is exact.
void Trainer::evaluate(EpochResult& result) {
  nn::Module& model = scheme_->model();
  dist::broadcast_state(model, dist::default_group());  // running statistics differ from rank to rank
  model.eval();
  const data::ShardSampler share(data_.test.size, {rank_, ranks_});
  std::int64_t right = 0, seen = 0;
  for (const auto& [inputs, targets] : data::DataLoader(
           *data_.test.dataset, share, {.batch_size = 100, .workers = 1, .pin_for = devices_.front()})) {
    const auto logits = model.forward(inputs.to(devices_.front())).to(dist::cpu);
    const auto labels = targets.data<std::int64_t>();
    for (std::int64_t i = 0; i < targets.size(0); ++i) {
      const auto scores = logits[i];
      const auto row = std::as_const(scores).data<float>();
      right += std::ranges::max_element(row) - row.begin() == labels[static_cast<std::size_t>(i)];
    }
    seen += targets.size(0);
  }
  const auto all = summed({right, seen}, devices_.front());
  result.right = all[0];
  result.of = all[1];
}

}  // namespace distlab
