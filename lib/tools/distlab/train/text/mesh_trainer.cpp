// The construction of a run on a mesh, its steps, its validation, and its comparison with one rank.
#include "distlab/train/text/mesh_trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/data/data_loader.h"
#include "dist/data/sampler.h"
#include "dist/group/process_group.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/gpt_flops.h"
#include "dist/nn/random.h"

#include "distlab/file_text.h"
#include "distlab/terminal.h"
#include "distlab/train/finite.h"
#include "distlab/train/text/generate.h"
#include "distlab/train/text/mesh_finite.h"
#include "distlab/train/text/step_timeline.h"
#include "distlab/train/text/text_model.h"
#include "distlab/train/text/text_schedule.h"
#include "distlab/train/text/whole_gpt.h"
#include "distlab/train/weights/export.h"
#include "mesh/factor_detective.h"

namespace distlab {
namespace {

namespace data = dist::data;
namespace nn = dist::nn;

dist::HybridGpt make_model(const nn::GptOptions& gpt, const TrainOptions& options) {
  nn::manual_seed(options.seed);
  return {gpt, hybrid_options(options.text), options.text.verify ? dist::DType::f64 : dtype_of(options.text)};
}

}  // namespace

MeshTrainer::MeshTrainer(const TrainOptions& options)
    : options_(with_model_of_file(options)),
      is_in_file_(options.resume && std::filesystem::is_regular_file(options.checkpoint)),
      batch_size_(options.batch_size.value_or(default_text_batch)),
      text_(load_text(options_)),
      train_(text_.train(options_.text.context)),
      validation_(text_.validation(options_.text.context)),
      gpt_(gpt_options(options_.text, text_.vocabulary.size())),
      model_(make_model(gpt_, options_)),
      about_(begin_mesh_with_file(model_, options_)),
      optimizer_(nn::decay_groups(model_.parameters()), text_adamw),
      sampler_(train_.size(), {.batch_size = batch_size_,
                               .num_replicas = model_.data_ranks(),
                               .rank = model_.data_rank(),
                               .seed = options.seed}),
      narrator_(
          dist::get_rank() != 0, options, model_.data_ranks() * batch_size_ * options_.text.context,
          {nn::training_flops_per_token(gpt_), peak_of_all(options, {dist::cpu}, dtype_of(options_.text))}) {
  if (options.text.steps > 0 && !options.text.verify) (void)validation_rows();  // or throws
  if (!options.plot.empty()) memory_.emplace(model_);
  if (dist::get_rank() == 0 && !options.plot.empty()) check_output_folder("--plot", options.plot);
  if (dist::get_rank() == 0 && !options.checkpoint.empty())
    is_in_file_ ? check_output("--checkpoint", options.checkpoint)
                : check_output_folder("--checkpoint", options.checkpoint);
  if (dist::get_rank() == 0 && !options.text.export_to.empty())
    check_output("--export", options.text.export_to);
  if (options.resume) {
    resume();
    expect_same_progress(done_, options.checkpoint);
  }
}

void MeshTrainer::run() {
  std::int64_t elements = 0;
  for (const auto* const parameter : model_.parameters()) elements += parameter->value.numel();
  narrator_.say(fmt::format(
      "GPT({}, {}, width {}, context {}) on a mesh: {}; rank 0 has {:.3f} million of its parameters",
      dist::counted(gpt_.layers, "layer"), dist::counted(gpt_.heads, "head"), gpt_.width, gpt_.context,
      dist::parse_hybrid_shape(options_.text.mesh).str(), static_cast<double>(elements) / 1e6));
  if (!about_.empty()) narrator_.say(about_);
  if (!text_.about.empty()) narrator_.say(text_.about);
  if (options_.text.verify) return verify();
  const std::int64_t every = options_.text.eval_every;
  while (done_ < options_.text.steps) {
    const std::int64_t last = std::min(options_.text.steps, (done_ / every + 1) * every);
    sampler_.set_steps(done_, last);
    narrator_.begin(done_);
    double sum = 0;
    const data::DataLoader loader(train_, sampler_, {.batch_size = batch_size_, .workers = 1});
    for (const auto& batch : loader) {
      const double loss = train_step(batch);
      sum += loss;
      narrator_.step(done_, loss, optimizer_.lr(), grad_norm_);
      if (ending_.after_step()) break;
    }
    expect_finite_weights(model_.parameters(), done_, options_.lr.value_or(optimizer_.lr()),
                          options_.checkpoint);
    if (ending_.is_agreed()) {
      if (!options_.checkpoint.empty()) save();
      return narrator_.say(ending_.words(fmt::format("step {}", done_), options_.checkpoint.string()));
    }
    StepResult result{.done = done_,
                      .loss = sum / static_cast<double>(loader.size()),
                      .lr = optimizer_.lr(),
                      .tokens_per_s = narrator_.rate(done_)};
    result.validation_loss = validation_loss();
    expect_finite_validation(result.validation_loss, done_, options_.lr.value_or(result.lr),
                             options_.checkpoint);
    narrator_.end(result);
    if (!options_.checkpoint.empty()) save();
  }
  draw_step();
  use();
}

void MeshTrainer::draw_step() {
  if (!memory_ || memory_->is_empty() || dist::get_rank() != 0) return;
  const auto mesh = hybrid_options(options_.text);
  narrator_.say(memory_->text(terminal_width()));
  memory_->plot(options_.plot, fmt::format("Memory of a step: rank 0 of {}", mesh.shape.str()));
  narrator_.say(timeline_line(timeline_));
  plot_timeline(options_.plot, timeline_, {mesh.shape.pp, mesh.micro_batches, mesh.chunks},
                fmt::format("A step on {}, in ms", mesh.shape.str()));
}

void MeshTrainer::use() {
  const auto& file = options_.text.export_to;
  if (!options_.text.sample && file.empty()) return;
  const auto whole = gather_whole_gpt(model_, gpt_);
  if (!whole) return;
  if (!file.empty()) narrator_.say(export_weights(file, *whole));
  if (!options_.text.sample) return;
  whole->to(dtype_of(options_.text));
  narrator_.say(sample_text(*whole, text_.vocabulary, options_, dist::cpu));
}

double MeshTrainer::train_step(const data::Batch& batch) {
  // The first step makes the optimizer's state, so the second one is typical.
  const bool is_drawn = memory_ && done_ == std::min<std::int64_t>(1, options_.text.steps - 1);
  if (is_drawn) dist::barrier(), memory_->begin();
  model_.set_step(options_.seed, static_cast<std::uint64_t>(done_), batch_size_);
  optimizer_.set_lr(text_lr(options_, done_++));
  model_.zero_grad();
  const double loss = model_.step(batch.inputs, batch.targets);
  const double lr = options_.lr.value_or(optimizer_.lr());
  expect_finite_on_mesh(loss, done_, lr, model_, batch);
  grad_norm_ = clip_finite_on_mesh(done_, lr, model_, text_most_norm);
  optimizer_.step();
  if (is_drawn) {
    memory_->update();
    memory_->end();
    timeline_ = gather_timeline(model_, dist::parse_hybrid_shape(options_.text.mesh));
  }
  return loss;
}

// How many sequences a data rank validates on at once: a batch, or what there is.
std::int64_t MeshTrainer::validation_rows() const {
  const std::int64_t all = std::min(batch_size_, validation_.size() / model_.data_ranks());
  const std::int64_t micro_batches = options_.text.micro_batches;
  if (all < micro_batches)
    dist::fail(
        dist::Errc::invalid_argument,
        "the text's last part, which validates, has {} of {} tokens; {} data ranks with {} need {}: give a "
        "longer text or a smaller --context",
        dist::counted(validation_.size(), "sequence"), options_.text.context, model_.data_ranks(),
        dist::counted(micro_batches, "micro-batch", "micro-batches"), micro_batches * model_.data_ranks());
  return all / micro_batches * micro_batches;
}

// Validates on as many whole batches as every data rank has.
double MeshTrainer::validation_loss() {
  const std::int64_t rows = validation_rows(), batches = validation_.size() / (rows * model_.data_ranks());
  const data::ShardSampler share(validation_.size(), {model_.data_rank(), model_.data_ranks()});
  double sum = 0;
  std::int64_t done = 0;
  for (const auto& batch : data::DataLoader(validation_, share, {.batch_size = rows, .workers = 1})) {
    if (done++ == batches) break;
    sum += model_.evaluate(batch.inputs, batch.targets);
  }
  return sum / static_cast<double>(batches);
}

// The first batch on the mesh, and the same on this rank alone.
void MeshTrainer::verify() {
  const auto shape = dist::parse_hybrid_shape(options_.text.mesh);
  const int data_ranks = model_.data_ranks();
  const auto first_batch = [&](int ranks, int rank) {
    data::StepSampler sampler(train_.size(), {.batch_size = batch_size_ * data_ranks / ranks,
                                              .num_replicas = ranks,
                                              .rank = rank,
                                              .seed = options_.seed});
    sampler.set_steps(0, 1);
    const data::DataLoader loader(train_, sampler,
                                  {.batch_size = batch_size_ * data_ranks / ranks, .workers = 1});
    return *loader.begin();
  };
  nn::manual_seed(options_.seed);
  nn::GPT alone(gpt_);
  if (!options_.text.from.empty()) (void)begin_with_file(alone, options_);
  alone.to(dist::DType::f64);
  alone.set_position({.seed = options_.seed, .step = 0, .first_row = 0, .tokens = {}});
  const data::Batch whole = first_batch(1, 0), mine = first_batch(data_ranks, model_.data_rank());
  nn::CrossEntropyLoss criterion;
  const double expected = criterion.forward(alone.forward(whole.inputs), whole.targets);
  (void)alone.backward(criterion.backward());
  nn::StateDict gradients;
  for (const auto& [name, parameter] : alone.named_parameters()) gradients.push_back({name, parameter->grad});
  model_.set_step(options_.seed, 0, batch_size_);
  const double loss = model_.step(mine.inputs, mine.targets);
  constexpr double tolerance = 1e-8, no_limit = 1e300;
  std::vector<std::string> wrong;
  if (std::abs(loss - expected) > tolerance * std::abs(expected))
    wrong.push_back(fmt::format("the loss is {:.9f}, one rank has {:.9f}", loss, expected));
  const dist::Pieces pieces = model_.gradient_pieces();
  const auto differences = dist::compare_gradients(pieces, gradients, shape,
                                                   static_cast<int>(options_.text.micro_batches), tolerance);
  for (const auto& difference : differences) wrong.push_back(difference.sentence);
  const double norm = model_.clip_grad_norm(no_limit);
  if (differences.empty())
    if (auto sentence = dist::compare_norm(norm, pieces, gradients, tolerance); !sentence.empty())
      wrong.push_back(std::move(sentence));
  if (wrong.empty())
    return narrator_.say(
        fmt::format("as on one rank in f64: loss {:.9f}, norm {:.9f}, and the gradients of {} parameters",
                    loss, norm, gradients.size()));
  for (const auto& sentence : wrong) narrator_.say(sentence);
  dist::fail(dist::Errc::mismatch, "--verify: {} of {} comparisons differ from the run on one rank",
             wrong.size(), gradients.size() + 2);
}

}  // namespace distlab
