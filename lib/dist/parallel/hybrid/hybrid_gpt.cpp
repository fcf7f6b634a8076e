// HybridGpt: a pipeline (of one stage where there is none) whose stages are divided further, from the inside
// out (prepare: tp, cp, recomputation, fsdp). Means over data and context ranks are taken during its last
// backward (start_averages), sums over tied tables (the pipeline) and over tensor ranks after it. At the end,
// pieces for checkpoints.
#include "dist/parallel/hybrid/hybrid_gpt.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "dist/group/check_same.h"
#include "dist/group/diagnosis/compare_copies.h"
#include "dist/nn/checkpoint.h"
#include "dist/parallel/gradient_buckets.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"

namespace dist {

namespace {

nn::GptOptions with_kv_heads(nn::GptOptions gpt) {
  if (gpt.kv_heads == 0) gpt.kv_heads = gpt.heads;
  return gpt;
}

std::string description(const HybridOptions& o, DType dtype) {
  return fmt::format(
      "shape {}\nmicro_batches {}\nschedule {}\nchunks {}\nsequence_parallel {}\nrecompute {}\n"
      "ignore_index {}\ndtype {}\n",
      o.shape.str(), o.micro_batches, name(o.schedule), o.chunks, o.sequence_parallel, o.recompute,
      o.ignore_index, name(dtype));
}

void compare_rows(const DeviceMesh& mesh, const Tensor& tokens, const Tensor& targets, CallSite where) {
  for (const char* const axis : {"pp", "cp", "tp"})
    if (const ProcessGroup group = mesh.get_group(axis); compares_copies(group))
      compare_replicas(group, {{"the batch of tokens", tokens}, {"the batch of targets", targets}}, where,
                       axis,
                       "give all ranks of one data rank the same rows: those of HybridGpt::data_rank()");
}

// Bytes; the first bucket is small, so that communication starts early.
constexpr std::array bucket_limits{std::size_t{1} << 20, std::size_t{4} << 20};

// Averages a bucket in pieces. A single gradient of a large model takes long to send, and what the other
// axes send in the meantime, for which computation waits, would have to wait for it.
std::function<void()> average_in_pieces(const GradBucket& bucket) {
  const std::int64_t all = bucket.gradients.numel(),
                     most = static_cast<std::int64_t>((std::size_t{4} << 20) /
                                                      size_of(bucket.gradients.dtype()));
  std::vector<Work> works;
  for (std::int64_t first = 0; first < all; first += most) {
    Tensor piece = bucket.gradients.narrow(first, std::min(most, all - first));
    works.push_back(
        all_reduce(piece, ReduceOp::avg, {.group = bucket.group, .async_op = true}, bucket.where));
  }
  return [works = std::move(works)]() mutable {
    for (Work& work : works) work.wait();
  };
}

}  // namespace

struct HybridGpt::Averages {
  DeviceGroups groups;
  std::unique_ptr<GradientBuckets> buckets;
  // The parameters whose gradients are complete before the last backward begins: with zb-h1, those whose
  // gradients are not deferred. The first step finds them.
  std::vector<std::size_t> early;
};

HybridGpt::HybridGpt(const nn::GptOptions& gpt, const HybridOptions& options, DType dtype, Caller at)
    : gpt_(with_kv_heads(gpt)), options_(options), where_(users_line(at)), dtype_(dtype) {
  at = where_;
  check_same("HybridGpt", description(gpt_) + description(options_, dtype), ProcessGroup(), at);
  const HybridShape& shape = options.shape;
  check_hybrid(shape, gpt_, get_world_size({}, at), options.chunks, options.sequence_parallel);
  mesh_ = make_hybrid_mesh(shape, at);
  replicas_ = mesh_.flatten({"dp", "cp"}, "dp_cp");
  data_rank_ = mesh_.get_local_rank("dp") * shape.fsdp + mesh_.get_local_rank("fsdp");
  pipeline_ = std::make_unique<GptPipeline>(
      gpt_,
      GptPipelineOptions{.group = mesh_.get_group("pp"),
                         .schedule = options.schedule,
                         .micro_batches = options.micro_batches,
                         .chunks = options.chunks,
                         .loss = cross_entropy_loss(options.ignore_index),
                         .prepare = [this](nn::GPT& stage) { prepare(stage); },
                         .slice = [this](const Tensor& whole) { return slice(whole); },
                         .step_ranks = step_ranks(),
                         .on_last_backward = [this](int n) { return start_averages(n); }},
      at);
}

HybridGpt::~HybridGpt() = default;

void HybridGpt::prepare(nn::GPT& stage) {
  const HybridShape& shape = options_.shape;
  stage.to(dtype_);
  if (dtype_ == DType::bf16)
    stage.to(DType::f32);  // master weights begin with numbers that bf16 can represent
  if (shape.tp > 1)
    parallelize(stage, mesh_["tp"], {.sequence_parallel = options_.sequence_parallel}, where_);
  if (shape.cp > 1)
    contexts_.push_back(std::make_unique<ContextParallel>(
        stage, ContextParallelOptions{.group = mesh_.get_group("cp"), .balanced = true, .row = shape.cp_row},
        where_));
  if (options_.recompute)
    for (nn::Block* const block : stage.blocks()) nn::checkpoint(*block);
  if (replicas_.size() > 1 && !has_units()) {
    compare_start(stage.named_parameters(), replicas_.get_group(), where_, "dp and cp");
    averages_.push_back({DeviceGroups(stage, replicas_.get_group(), where_), nullptr, {}});
    make_averages(stage, averages_.back());
  }
  if (!has_units()) return;
  FullyShardOptions sharded{.mesh = replicas_.size() > 1 ? mesh_[{"dp_cp", "fsdp"}] : mesh_["fsdp"]};
  if (dtype_ == DType::bf16)
    sharded.mixed_precision = {.param_dtype = DType::bf16, .reduce_dtype = DType::f32};
  for (nn::Block* const block : stage.blocks()) fully_shard(*block, sharded, where_);
  fully_shard(stage, sharded, where_);
}

void HybridGpt::make_averages(nn::GPT& stage, Averages& averages) {
  averages.buckets = nullptr;  // its parameters stop reporting to it
  averages.buckets = std::make_unique<GradientBuckets>(trained_of(stage.named_parameters()), averages.groups,
                                                       average_in_pieces, where_);
  averages.buckets->arrange_in_reverse(bucket_limits);
  averages.early.clear();
}

// If parameters were frozen or unfrozen since the buckets were made, makes others. The step compares the
// ranks.
void HybridGpt::follow_requires_grad() {
  for (std::size_t i = 0; i < averages_.size(); ++i)
    if (nn::GPT& stage = *stages()[i];
        !are_trained(averages_[i].buckets->parameters(), stage.named_parameters()))
      make_averages(stage, averages_[i]);
}

// All ranks; the mesh has the axes pp, dp, fsdp, cp, tp, in that order. Ranks of one tensor group compute the
// same loss, and the first one's counts.
StepRanks HybridGpt::step_ranks() const {
  const HybridShape& shape = options_.shape;
  StepRanks ranks{.group = default_group(where_),
                  .counts = mesh_.get_local_rank("tp") == 0,
                  .averaged = shape.data_ranks() * shape.cp};
  for (int rank = 0; rank < shape.ranks(); ++rank)
    if (rank / (shape.cp * shape.tp) % shape.data_ranks() == data_rank_) ranks.same_batch.push_back(rank);
  return ranks;
}

// Every stage has the same slice of a sequence.
Tensor HybridGpt::slice(const Tensor& whole) {
  const HybridShape& shape = options_.shape;
  Tensor mine = whole;
  for (const auto& context : contexts_) mine = context->slice(whole);
  if (mine.size(1) == 0 || (options_.sequence_parallel && mine.size(1) % shape.tp != 0))
    fail(Errc::invalid_argument, "{} tokens per row cannot be divided among the ranks of {}", whole.size(1),
         shape.str());
  return mine;
}

double HybridGpt::step(const Tensor& tokens, const Tensor& targets, Caller at) {
  compare_rows(mesh_, tokens, targets, at);
  follow_requires_grad();
  if (has_units())
    for (const auto& stage : stages()) set_requires_all_reduce(*stage, false);
  double loss = 0;
  try {
    loss = pipeline_->step(tokens, targets, at);
  } catch (...) {
    for (const Averages& averages : averages_) averages.buckets->abandon();
    throw;
  }
  // Sums and means over different axes may be taken in any order.
  if (options_.shape.tp > 1)
    for (const auto& stage : stages()) finish_gradients(*stage, at);
  return loss;
}

double HybridGpt::evaluate(const Tensor& tokens, const Tensor& targets, Caller at) {
  compare_rows(mesh_, tokens, targets, at);
  return pipeline_->evaluate(tokens, targets, at);
}

// Units sum the gradients of micro-batches, and average the sums over replicas in the last backward. A rank
// that has failed sends what it has, since its replicas wait for it.
std::function<void(bool)> HybridGpt::start_averages(int stage) {
  const auto number = static_cast<std::size_t>(stage);
  if (has_units()) set_requires_all_reduce(*stages()[number], true);
  if (averages_.empty()) return [](bool) {};
  Averages& averages = averages_[number];
  averages.buckets->begin();
  for (const std::size_t i : averages.early) averages.buckets->on_ready(i);
  return [&averages](bool is_complete) {
    for (const std::size_t i : averages.buckets->missing()) {
      averages.buckets->on_ready(i);
      if (is_complete) averages.early.push_back(i);
    }
    averages.buckets->finish();
  };
}

void HybridGpt::set_step(std::uint64_t seed, std::uint64_t step, std::int64_t rows) {
  for (const auto& stage : stages()) {
    nn::Position position = stage->position();
    position.seed = seed, position.step = step, position.first_row = data_rank_ * rows;
    stage->set_position(position);
  }
}

double HybridGpt::clip_grad_norm(double max_norm, const nn::ClipOptions& options) {
  std::vector<nn::NamedParameter> all;
  for (const auto& stage : stages())
    for (const nn::NamedParameter& named : stage->named_parameters()) all.push_back(named);
  return nn::clip_grad_norm(all, max_norm, options);
}

Pieces HybridGpt::pieces() {
  Pieces pieces;
  for (const auto& stage : stages()) std::ranges::move(pieces_of(*stage), std::back_inserter(pieces));
  return pieces;
}

Pieces HybridGpt::gradient_pieces() {
  Pieces pieces;
  for (const auto& stage : stages())
    std::ranges::move(gradient_pieces_of(*stage), std::back_inserter(pieces));
  return pieces;
}

Pieces HybridGpt::pieces(nn::Optimizer& optimizer) {
  std::vector<nn::Module*> modules;
  for (const auto& stage : stages()) modules.push_back(stage.get());
  return pieces_of(optimizer, modules);
}

}  // namespace dist
