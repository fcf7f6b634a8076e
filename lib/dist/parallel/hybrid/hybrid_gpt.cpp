// HybridGpt: a pipeline (of one stage where there is none) whose stages are divided further, from the inside
// out (prepare: tp, cp, recomputation, fsdp). Means over data and context ranks are taken during its last
// backward (start_averages), sums over tied tables (the pipeline) and over tensor ranks after it. At the end,
// pieces for checkpoints.
#include "dist/parallel/hybrid/hybrid_gpt.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "dist/core/axes.h"
#include "dist/core/fail.h"
#include "dist/core/view.h"
#include "dist/group/check_same.h"
#include "dist/group/diagnosis/compare_copies.h"
#include "dist/nn/checkpoint.h"
#include "dist/parallel/clip_grad_norm.h"
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
    compare_start(stage.named_parameters(), replicas_.get_group(), where_, "dp_cp");
    const DeviceGroups groups(stage, replicas_.get_group(), where_);
    auto buckets =
        std::make_unique<GradientBuckets>(stage.named_parameters(), groups, average_in_pieces, where_);
    buckets->arrange_in_reverse(bucket_limits);
    averages_.push_back({std::move(buckets), {}});
  }
  if (!has_units()) return;
  FullyShardOptions sharded{.mesh = replicas_.size() > 1 ? mesh_[{"dp_cp", "fsdp"}] : mesh_["fsdp"]};
  if (dtype_ == DType::bf16)
    sharded.mixed_precision = {.param_dtype = DType::bf16, .reduce_dtype = DType::f32};
  for (nn::Block* const block : stage.blocks()) fully_shard(*block, sharded, where_);
  fully_shard(stage, sharded, where_);
}

// Every stage has the same slice of a sequence.
Tensor HybridGpt::slice(const Tensor& whole) {
  Tensor mine = whole;
  for (const auto& context : contexts_) mine = context->slice(whole);
  return mine;
}

double HybridGpt::step(const Tensor& tokens, const Tensor& targets) {
  compare_rows(mesh_, tokens, targets, where_);
  if (has_units())
    for (const auto& stage : stages()) set_requires_all_reduce(*stage, false);
  double loss = 0;
  try {
    loss = pipeline_->step(slice(tokens), slice(targets));
  } catch (...) {
    for (const Averages& averages : averages_) averages.buckets->abandon();
    throw;
  }
  // Sums and means over different axes may be taken in any order.
  if (options_.shape.tp > 1)
    for (const auto& stage : stages()) finish_gradients(*stage, where_);
  return mean_over_ranks(loss);
}

double HybridGpt::evaluate(const Tensor& tokens, const Tensor& targets) {
  compare_rows(mesh_, tokens, targets, where_);
  return mean_over_ranks(pipeline_->evaluate(slice(tokens), slice(targets)));
}

// The mean over the ranks that have a loss, those of the last stage.
double HybridGpt::mean_over_ranks(double loss) {
  if (options_.shape.ranks() == 1) return loss;
  const bool has_loss = mesh_.get_local_rank("pp") == options_.shape.pp - 1;
  const std::array<double, 2> own{has_loss ? loss : 0, has_loss ? 1.0 : 0};
  Tensor sums = tensor(std::span<const double>(own), cpu);
  all_reduce(sums, ReduceOp::sum, {}, where_);
  return sums.data<double>()[0] / sums.data<double>()[1];
}

// Units sum the gradients of micro-batches, and average the sums over replicas in the last backward.
std::function<void()> HybridGpt::start_averages(int stage) {
  const auto number = static_cast<std::size_t>(stage);
  if (has_units()) set_requires_all_reduce(*stages()[number], true);
  if (averages_.empty()) return [] {};
  Averages& averages = averages_[number];
  averages.buckets->begin();
  for (const std::size_t i : averages.early) averages.buckets->on_ready(i);
  return [&averages] {
    for (const std::size_t i : averages.buckets->missing()) {
      averages.buckets->on_ready(i);
      averages.early.push_back(i);
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

double HybridGpt::clip_grad_norm(double max_norm) {
  constexpr std::uint32_t over_fsdp = 1, over_tp = 2, over_pp = 4;
  const HybridShape& shape = options_.shape;
  std::vector<DividedParameter> all;
  const auto& tables = pipeline_->tables();
  for (const auto& stage : stages()) {
    std::map<std::string, bool> is_split;
    if (shape.tp > 1)
      for (const auto& placement : placements_of(*stage, where_))
        is_split[placement.name] = std::holds_alternative<Shard>(placement.placement);
    for (const auto& [name, parameter] : stage->named_parameters()) {
      const bool is_copy = stage->has_head() && name == "lm_head.weight" && !tables.empty();
      all.push_back(
          {parameter, over_pp | (shape.fsdp > 1 ? over_fsdp : 0) | (is_split[name] ? over_tp : 0), !is_copy});
    }
  }
  return dist::clip_grad_norm(all, {mesh_.get_group("fsdp"), mesh_.get_group("tp"), mesh_.get_group("pp")},
                              max_norm, false, where_);
}

// Some rows of a parameter's local tensor, and where they are in the whole one.
struct HybridGpt::Box {
  std::string name;
  nn::Parameter* parameter;
  std::int64_t first, rows;  // of the local tensor; a scalar or a whole tensor has all of them
  Shape whole, offset;

  Piece piece(const Tensor& local) const { return {name, local.narrow(first, rows), whole, offset}; }
};

// What tp left of a parameter is one run of its axis per part (queries, keys and values are three); fsdp left
// some rows of that.
std::vector<HybridGpt::Box> HybridGpt::boxes() {
  std::vector<Box> boxes;
  for (const auto& stage : stages()) {
    std::map<std::string, ParameterPlacement> placements;
    if (options_.shape.tp > 1)
      for (auto& placement : placements_of(*stage, where_)) placements[placement.name] = std::move(placement);
    std::map<std::string, ShardedParameter> sharded;
    for (auto& of : sharded_parameters(*stage)) sharded[of.name] = std::move(of);
    for (const auto& [name, parameter] : stage->named_parameters()) {
      const auto at = placements.find(name);
      const auto in_shards = sharded.find(name);
      const std::int64_t rows = parameter->value.size(0);
      const std::int64_t first = in_shards == sharded.end() ? 0 : in_shards->second.first_row;
      const Shard* const shard = at == placements.end() ? nullptr : std::get_if<Shard>(&at->second.placement);
      // A tied head is the table, even where it is a copy.
      Box box{gpt_.tied && name == "lm_head.weight" ? "transformer.wte.weight" : name,
              parameter,
              0,
              rows,
              {},
              {}};
      box.whole = parameter->value.shape();
      if (in_shards != sharded.end()) box.whole = in_shards->second.shape;
      if (shard) box.whole = at->second.shape;  // sharded rows are those of a tensor rank's part
      box.offset.assign(box.whole.size(), 0);
      const int n = options_.shape.tp, r = mesh_.get_local_rank("tp");
      if (!shard || shard->axis != 0) {
        box.offset[0] = first;
        if (shard)
          box.offset[static_cast<std::size_t>(shard->axis)] =
              torch_chunk_begin(box.whole[static_cast<std::size_t>(shard->axis)], r, n);
        boxes.push_back(box);
        continue;
      }
      std::int64_t in_local = 0, in_whole = 0;  // where a part begins
      for (const std::int64_t part : at->second.parts) {
        const std::int64_t begin = torch_chunk_begin(part, r, n),
                           count = torch_chunk_begin(part, r + 1, n) - begin;
        const std::int64_t low = std::max(in_local, first), high = std::min(in_local + count, first + rows);
        if (low < high) {
          box.first = low - first, box.rows = high - low;
          box.offset[0] = in_whole + begin + low - in_local;
          boxes.push_back(box);
        }
        in_local += count;
        in_whole += part;
      }
    }
  }
  return boxes;
}

Pieces HybridGpt::pieces() {
  Pieces pieces;
  for (const Box& box : boxes()) pieces.push_back(box.piece(box.parameter->value));
  return pieces;
}

Pieces HybridGpt::gradient_pieces() {
  Pieces pieces;
  for (const Box& box : boxes()) pieces.push_back(box.piece(box.parameter->grad));
  return pieces;
}

Pieces HybridGpt::pieces(const nn::Optimizer& optimizer) {
  const std::vector<Box> boxes = this->boxes();
  return pieces_of(optimizer, [&](const nn::Parameter& parameter, const Tensor& tensor) {
    Pieces pieces;
    for (const Box& box : boxes)
      if (box.parameter == &parameter) pieces.push_back(box.piece(tensor));
    return pieces;
  });
}

}  // namespace dist
