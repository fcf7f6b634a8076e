// The construction of a run, its steps, its validation, its checkpoints, and its end.
#include "distlab/train/text/text_trainer.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "dist/data/sampler.h"
#include "dist/group/process_group.h"
#include "dist/nn/adam.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/gpt_flops.h"
#include "dist/nn/random.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include "distlab/file_text.h"
#include "distlab/train/devices.h"
#include "distlab/train/finite.h"
#include "distlab/train/text/generate.h"
#include "distlab/train/text/other_kind.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/text/text_schedule.h"
#include "distlab/train/weights/export.h"

namespace distlab {
namespace {

namespace data = dist::data;
namespace nn = dist::nn;

// A resumed run takes all values from its checkpoint later.
std::unique_ptr<nn::Module> make_gpt(const nn::GptOptions& gpt, const TrainOptions& options,
                                     std::string& about) {
  nn::manual_seed(options.seed);
  auto model = std::make_unique<nn::GPT>(gpt);
  if (const auto file = adapted_file(options); !file.empty() && file == options.text.from)
    about = begin_with_file(*model, options);
  model->to(dtype_of(options.text));
  add_text_lora(*model, options.text.lora);
  return model;
}

}  // namespace

TextTrainer::TextTrainer(const TrainOptions& options)
    : options_(with_model_of_file(options)),
      is_in_folder_(options.resume && dist::has_sharded(options.checkpoint)),
      batch_size_(options.batch_size.value_or(default_text_batch)),
      rank_(dist::get_rank()),
      ranks_(dist::get_world_size()),
      device_(devices_of(options).front()),
      text_(load_text(options_)),
      train_(text_.train(options_.text.context)),
      validation_(text_.validation(options_.text.context)),
      gpt_(gpt_options(options_.text, text_.vocabulary.size())),
      sampler_(train_.size(),
               {.batch_size = batch_size_, .num_replicas = ranks_, .rank = rank_, .seed = options.seed}),
      scheme_(scheme_named(options.scheme)
                  .make({.make_model = [this] { return make_gpt(gpt_, options_, about_); },
                         .make_optimizer =
                             [](nn::Module& model) {
                               return std::make_unique<nn::AdamW>(nn::decay_groups(model.parameters()),
                                                                  text_adamw);
                             },
                         .devices = {device_},
                         .bucket_bytes = ddp_text_bucket_bytes,
                         .is_one_graph = is_one_graph(options)})),
      ending_(device_),
      narrator_(rank_ != 0, options, ranks_ * batch_size_ * options_.text.context,
                {nn::training_flops_per_token(gpt_, options_.text.lora),
                 peak_of_all(options, {device_}, dtype_of(options_.text))}) {
  if (has_gpu_steps(options, *scheme_))
    gpu_steps_.emplace(device_, [this](const dist::Tensor& inputs, const dist::Tensor& targets) {
      return enqueue_step(inputs, targets);
    });
  if (options.text.sample) text_.vocabulary.encode(*options.text.sample, "the prompt");  // or throws
  if (rank_ == 0 && !options.checkpoint.empty())
    is_in_folder_ ? check_output_folder("--checkpoint", options.checkpoint)
                  : check_output("--checkpoint", options.checkpoint);
  if (rank_ == 0 && !options.plot.empty()) check_output_folder("--plot", options.plot);
  if (rank_ == 0 && !options.text.export_to.empty()) check_output("--export", options.text.export_to);
  if (options.resume) {
    resume();
    expect_same_progress(done_, options.checkpoint);
  }
}

StepResult TextTrainer::run() {
  if (done_ == 0) {
    std::int64_t elements = 0, trained = 0;
    for (const auto* parameter : model().parameters()) {
      elements += parameter->value.numel();
      if (parameter->requires_grad()) trained += parameter->value.numel();
    }
    narrator_.say(fmt::format("{}: {:.2f} million parameters, {} different tokens, {} to learn from",
                              model().str(), static_cast<double>(elements) / 1e6, gpt_.vocab_size,
                              data::split_text(text_.tokens).train.size()));
    if (!about_.empty()) narrator_.say(about_);
    if (!text_.about.empty()) narrator_.say(text_.about);
    if (trained < elements)
      narrator_.say(fmt::format("training {} of {} parameters: LoRA of rank {} beside the model of {}",
                                trained, elements, options_.text.lora, options_.text.from.string()));
  }
  StepResult result;
  const std::int64_t every = options_.text.eval_every;
  while (done_ < options_.text.steps) {
    result = train_until(std::min(options_.text.steps, (done_ / every + 1) * every));
    expect_finite_weights(model().parameters(), done_, options_.lr.value_or(result.lr), options_.checkpoint);
    if (!ending_.is_agreed()) {
      result.validation_loss = validation_loss();
      expect_finite_validation(result.validation_loss, done_, options_.lr.value_or(result.lr),
                               options_.checkpoint);
      narrator_.end(result);
    }
    if (!options_.checkpoint.empty()) save();
    if (!ending_.is_agreed()) continue;
    narrator_.say(ending_.words(fmt::format("step {}", done_), options_.checkpoint.string()));
    return result;
  }
  if (rank_ == 0) finish();
  return result;
}

StepResult TextTrainer::train_until(std::int64_t last) {
  scheme_->module().train();
  sampler_.set_steps(done_, last);
  const data::DataLoader loader(train_, sampler_,
                                {.batch_size = batch_size_, .workers = 1, .pin_for = device_});
  narrator_.begin(done_);
  double loss_sum = 0, steps = 0;
  const auto report = [&](double loss, std::int64_t, const StepOfRank& at, const StepTimes& times) {
    history_.add(loss, times);
    loss_sum += loss;
    ++steps;
    narrator_.step(at.step, loss, at.lr, grad_norm_);
  };
  Lap lap;
  for (const auto& batch : loader) {
    StepTimes times{.data = lap()};
    if (gpu_steps_) {
      begin_step();
      gpu_steps_->take(batch, {rank_, done_, scheme_->optimizer().lr()}, times, report);
    } else {
      const double loss = train_step(batch, times);
      report(loss, batch.size(), {rank_, done_, scheme_->optimizer().lr()}, times);
    }
    if (ending_.after_step()) break;
    lap();
  }
  if (gpu_steps_) gpu_steps_->finish(report);
  const double rate = narrator_.rate(done_);
  const auto all = summed({loss_sum, steps}, device_);
  return {.done = done_, .loss = all[0] / all[1], .lr = scheme_->optimizer().lr(), .tokens_per_s = rate};
}

void TextTrainer::begin_step() {
  model().set_position(
      {.seed = options_.seed, .step = static_cast<std::uint64_t>(done_), .first_row = rank_ * batch_size_});
  scheme_->optimizer().set_lr(text_lr(options_, done_++));
}

nn::Loss TextTrainer::enqueue_step(const dist::Tensor& inputs, const dist::Tensor& targets) {
  const auto loss = loss_.forward(scheme_->module().forward(inputs), targets);
  scheme_->optimizer().zero_grad();
  scheme_->module().backward(loss_.backward());
  nn::clip_grad_norm(model().parameters(), text_most_norm);
  scheme_->step();
  return loss;
}

double TextTrainer::train_step(const data::Batch& batch, StepTimes& times) {
  Lap lap;
  begin_step();
  auto& optimizer = scheme_->optimizer();
  const auto inputs = batch.inputs.to(device_);
  const double loss = loss_.forward(scheme_->module().forward(inputs), batch.targets);
  expect_finite(loss, {rank_, done_, optimizer.lr()}, model(), inputs);
  times.forward = lap();
  optimizer.zero_grad();
  scheme_->module().backward(loss_.backward());
  times.backward = lap() - scheme_->exposed_in_backward();
  grad_norm_ = nn::clip_grad_norm(model().parameters(), text_most_norm, {.error_if_nonfinite = true});
  scheme_->step();
  times.update = lap() - scheme_->exposed_in_step();
  times.exposed = scheme_->exposed_in_backward() + scheme_->exposed_in_step();
  return loss;
}

// Every rank computes its part of the blocks. The ranks sum their losses, so the mean is exact.
double TextTrainer::validation_loss() {
  model().eval();
  const data::ShardSampler share(validation_.size(), {rank_, ranks_});
  double sum = 0, count = 0;
  for (const auto& batch :
       data::DataLoader(validation_, share, {.batch_size = batch_size_, .workers = 1, .pin_for = device_})) {
    const double loss = loss_.forward(model().forward(batch.inputs.to(device_)), batch.targets);
    model().forget_forward();
    sum += loss * static_cast<double>(batch.size());
    count += static_cast<double>(batch.size());
  }
  const auto all = summed({sum, count}, device_);
  return all[0] / all[1];
}

RunSettings TextTrainer::settings() const {
  RunSettings all = settings_of(gpt_);
  all.insert({{"steps_done", done_},
              {"ranks", ranks_},
              {"batch_size", batch_size_},
              {"text", text_.checksum},
              {"seed", static_cast<std::int64_t>(options_.seed)}});
  if (options_.text.lora > 0) all.insert({"lora", options_.text.lora});
  if (text_.vocabulary.is_numbers()) all.insert({numbers_setting, 1});
  return all;
}

void TextTrainer::save() {
  const auto& file = options_.checkpoint;
  if (is_in_folder_) {
    RunSettings all = settings();
    all.insert({"bf16", dtype_of(options_.text) == dist::DType::bf16 ? 1 : 0});
    return save_as_folder(file, model(), scheme_->optimizer(), run_pieces(all, state_of(text_.vocabulary)));
  }
  if (rank_ == 0)
    save_checkpoint(file, model(), scheme_->optimizer(), settings(), state_of(text_.vocabulary));
}

// Every rank reads the file, which must be in a place that all of them can read.
void TextTrainer::resume() {
  if (!is_in_folder_ && !std::filesystem::exists(options_.checkpoint)) {
    narrator_.say(fmt::format("{} does not exist yet: training starts from the beginning",
                              options_.checkpoint.string()));
    return;
  }
  const Checkpoint checkpoint(options_.checkpoint);
  expect_setting(options_.checkpoint, "lora", lora_of(checkpoint), options_.text.lora);
  expect_setting(options_.checkpoint, numbers_setting, checkpoint.setting_or(numbers_setting, 0),
                 text_.vocabulary.is_numbers());
  expect_variant(options_.checkpoint, gpt_, [&](const std::string& name, std::int64_t usual) {
    return checkpoint.setting_or(name, usual);
  });
  const std::string change = checkpoint.expect(settings());
  checkpoint.expect(dtype_of(options_.text));
  if (is_in_folder_) {
    restore_from_folder(options_.checkpoint, model(), scheme_->optimizer());
  } else {
    checkpoint.restore(model());
    checkpoint.restore(scheme_->optimizer());
  }
  done_ = checkpoint.setting("steps_done");
  narrator_.say(fmt::format("continuing after step {}, from {}", done_, options_.checkpoint.string()));
  if (!change.empty()) narrator_.say(change);
  if (done_ >= options_.text.steps)
    narrator_.say(fmt::format("step {} is done already; to train longer: --steps {}", options_.text.steps,
                              done_ + options_.text.eval_every));
}

void TextTrainer::finish() {
  if (const auto summary = history_.summary(); !summary.empty()) narrator_.say(summary);
  if (!options_.plot.empty() && !history_.empty())
    history_.plot(options_.plot, fmt::format("{} x {}, batch {} each", ranks_, options_.scheme, batch_size_));
  if (options_.text.sample) narrator_.say(sample_text(model(), text_.vocabulary, options_, device_));
  if (const auto& file = options_.text.export_to; !file.empty()) narrator_.say(export_weights(file, model()));
}

}  // namespace distlab
