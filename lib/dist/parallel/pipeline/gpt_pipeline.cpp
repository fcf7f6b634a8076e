// How a GPT is cut (split_by_cost), what a step refuses (admit), and the two tables of a tied head.
#include "dist/parallel/pipeline/gpt_pipeline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/shape.h"
#include "dist/group/check_same.h"
#include "dist/group/diagnosis/compare_copies.h"
#include "dist/mesh/placed.h"

namespace dist {

namespace {

void check_tokens(const char* what, const Tensor& t, std::int64_t vocabulary,
                  std::optional<std::int64_t> ignored) {
  if (t.dtype() != DType::i64 || t.dim() != 2)
    fail(Errc::invalid_argument, "the {}s are {} {}; [rows, time] i64 is expected", what,
         to_string(t.shape()), name(t.dtype()));
  const Tensor on_host = t.to(cpu);
  const auto all = on_host.data<std::int64_t>();
  const auto wrong = std::ranges::find_if(
      all, [&](std::int64_t token) { return (token < 0 || token >= vocabulary) && token != ignored; });
  if (wrong == all.end()) return;
  const std::int64_t i = wrong - all.begin();
  fail(Errc::invalid_argument, "{} {} at row {}, column {} is not in the vocabulary (0 to {}){}", what,
       *wrong, i / t.size(1), i % t.size(1), vocabulary - 1,
       ignored ? fmt::format(", nor ignore_index ({})", *ignored) : "");
}

}  // namespace

// costs[s][last]: of the best way to cut the first `last` blocks into s stages.
std::vector<nn::GptSlice> split_by_cost(const nn::GptOptions& options, int stages) {
  const std::int64_t layers = options.layers, width = options.width;
  if (stages > layers)
    fail(Errc::invalid_argument, "a GPT of {} cannot be cut into {} stages; each has at least one block",
         counted(layers, "block"), stages);
  const double block =
      12.0 * static_cast<double>(width * width) + 2.0 * static_cast<double>(options.context * width);
  const auto cost = [&](std::int64_t first, std::int64_t last) {
    return static_cast<double>(last - first) * block +
           (last == layers ? static_cast<double>(options.vocab_size * width) : 0);
  };
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const double none = std::numeric_limits<double>::infinity();
  std::vector costs(index(stages) + 1, std::vector<double>(index(layers) + 1, none));
  std::vector begins(index(stages) + 1, std::vector<std::int64_t>(index(layers) + 1));
  costs[0][0] = 0;
  for (int s = 1; s <= stages; ++s)
    for (std::int64_t last = s; last <= layers; ++last)
      for (std::int64_t first = s - 1; first < last; ++first) {
        const double most = std::max(costs[index(s - 1)][index(first)], cost(first, last));
        if (most < costs[index(s)][index(last)]) {
          costs[index(s)][index(last)] = most;
          begins[index(s)][index(last)] = first;
        }
      }
  std::vector<nn::GptSlice> slices(index(stages));
  std::int64_t last = layers;
  for (int s = stages; s > 0; --s) {
    slices[index(s - 1)] = {begins[index(s)][index(last)], last};
    last = slices[index(s - 1)].first;
  }
  return slices;
}

std::string description(const nn::GptOptions& o) {
  return fmt::format(
      "vocab_size {}\ncontext {}\nlayers {}\nheads {}\nwidth {}\nkv_heads {}\ndropout {}\nbias {}\ntied {}\n"
      "rms_norm {}\ngated {}\nrotary {}\nhidden {}\ngelu_tanh {}\nnorm_eps {}\nrotary_base {}\n",
      o.vocab_size, o.context, o.layers, o.heads, o.width, o.kv_heads, o.dropout, o.bias, o.tied, o.rms_norm,
      o.gated, o.rotary, o.hidden, o.gelu_tanh, o.norm_eps, o.rotary_base);
}

namespace {

std::string description(const GptPipelineOptions& o) {
  return fmt::format("schedule {}\nmicro_batches {}\nchunks {}\n", name(o.schedule), o.micro_batches,
                     o.chunks);
}

// Stages of which no two have one parameter would not show that they are parts of different models.
void compare_key(std::uint64_t key, const ProcessGroup& group, CallSite where) {
  const std::array<double, 2> halves{static_cast<double>(key >> 32), static_cast<double>(key & 0xffffffff)};
  compare_replicas(
      group, {{"what the initial weights are drawn from", tensor(std::span<const double>(halves), cpu)}},
      where);
}

}  // namespace

GptPipeline::GptPipeline(const nn::GptOptions& gpt, const GptPipelineOptions& options, Caller at)
    : gpt_(gpt), options_(options) {
  at = users_line(at);
  check_same("GptPipeline", description(gpt) + description(options), options.group, at);
  const int rank = get_rank(options.group, at), ranks = get_world_size(options.group, at);
  const pipeline::Shape shape{ranks, options.micro_batches, options.chunks};
  const auto slices = split_by_cost(gpt, shape.stages());
  const std::uint64_t key = nn::random_key();  // every stage draws the numbers of the whole
  compare_key(key, options.group, at);
  std::vector<nn::Module*> mine;
  for (int stage = rank; stage < shape.stages(); stage += ranks) {
    stages_.push_back(std::make_unique<nn::GPT>(gpt, slices[static_cast<std::size_t>(stage)], key));
    if (options.prepare) options.prepare(*stages_.back());
    mine.push_back(stages_.back().get());
  }
  pipeline_ = std::make_unique<Pipeline>(
      std::move(mine), pipeline::make_schedule(options.schedule, shape),
      PipelineOptions{.group = options.group,
                      .loss = options.loss,
                      .step_ranks = options.step_ranks,
                      .same_shape = options.loss.ignore_index.has_value(),
                      .admit = [this](Tensor& tokens, Tensor& targets) { admit(tokens, targets); },
                      .on_begin = [this] { take_tables_apart(); },
                      .on_last_backward = options.on_last_backward},
      at);
  if (gpt.tied && shape.stages() > 1) find_tables(at);
}

// A tied head that is apart from its embedding.
void GptPipeline::find_tables(CallSite at) {
  for (const auto& stage : stages_)
    for (const auto& [name, parameter] : stage->named_parameters()) {
      if (name != "transformer.wte.weight" && name != "lm_head.weight") continue;
      tables_.push_back(parameter);
      if (name == "lm_head.weight") place(*parameter).copy_of = "transformer.wte.weight";
    }
  for (nn::Parameter* const table : tables_)
    for (PlacedAxis& axis : place(*table).axes)
      if (axis.is_stage)
        axis.remedy = "the tables of the first and of the last stage are summed after backward()";
  if (!tables_.empty())
    tables_.back()->listen(nn::Parameter::Event::cleared, "tied table", this,
                           [this] { tables_are_summed_ = false; });
  const int rank = get_rank(options_.group, at), last = get_world_size(options_.group, at) - 1;
  if (last == 0) return;
  tied_group_ = split_group(rank == 0 || rank == last ? 0 : -1, rank, {.parent = options_.group}, at);
}

double GptPipeline::step(const Tensor& tokens, const Tensor& targets, Caller at) {
  const double loss = pipeline_->step(tokens, targets, at);
  sum_tied_gradients(at);
  return loss;
}

void GptPipeline::admit(Tensor& tokens, Tensor& targets) const {
  const bool has_all = bool(options_.step_ranks.group);
  if (has_all || stages_.front()->has_embedding()) {
    check_tokens("token", tokens, gpt_.vocab_size, {});
    if (const std::int64_t time = tokens.size(1); time < 1 || time > gpt_.context)
      fail(Errc::invalid_argument, "the tokens are {}, and the model takes 1 to {} per row",
           to_string(tokens.shape()), gpt_.context);
  }
  if (options_.loss.ignore_index && (has_all || stages_.back()->has_head()))
    check_tokens("target", targets, gpt_.vocab_size, options_.loss.ignore_index);
  if (!options_.slice) return;
  tokens = options_.slice(tokens);
  targets = options_.slice(targets);
}

// The sum is in both; the next step adds to the first one alone what is already there.
void GptPipeline::take_tables_apart() {
  if (tables_.size() == 2)
    tables_[1]->requires_grad(tables_[0]->requires_grad());  // one parameter to the user
  if (tables_are_summed_ && stages_.back()->has_head()) tables_.back()->grad.zero_();
  tables_are_summed_ = false;
}

void GptPipeline::sum_tied_gradients(CallSite at) {
  if (tables_.empty() || !tables_[0]->requires_grad()) return;
  if (tables_.size() == 2) {
    tables_[0]->grad.add_(tables_[1]->grad);
    tables_[1]->grad.copy_(tables_[0]->grad);
  } else {
    all_reduce(tables_[0]->grad, ReduceOp::sum, {.group = tied_group_}, at);
  }
  tables_are_summed_ = true;
}

void GptPipeline::zero_grad() {
  for (const auto& stage : stages_) stage->zero_grad();
}

std::vector<nn::Parameter*> GptPipeline::parameters() {
  std::vector<nn::Parameter*> all;
  for (const auto& stage : stages_)
    for (nn::Parameter* const parameter : stage->parameters()) all.push_back(parameter);
  return all;
}

}  // namespace dist
