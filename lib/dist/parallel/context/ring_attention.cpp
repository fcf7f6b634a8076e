// Blocks (packed keys and values of one rank), the partial attention of a rank's queries to one block, which
// is merged into the result, and its gradient; how blocks travel is in rings.h.
#include "dist/parallel/context/ring_attention.h"

#include <cmath>
#include <limits>
#include <utility>

#include "dist/core/axes.h"
#include "dist/core/fail.h"
#include "dist/core/view.h"
#include "dist/group/check_same.h"
#include "dist/nn/checks.h"
#include "dist/nn/ops.h"
#include "dist/parallel/context/rings.h"

namespace dist {

namespace {

using nn::AttentionOptions;
using nn::Heads;

// The columns of some heads, as a tensor of their own.
Tensor columns(const Heads& heads) { return narrow(heads.of, 2, heads.first, heads.count * heads.size); }

// Entries of an axis other than the first: those from `at` on, plus `part`, which may be of another dtype.
void add_entries(Tensor to, std::int64_t axis, std::int64_t at, const Tensor& part) {
  put(to, axis, at, narrow(to, axis, at, part.size(axis)).add_(part.to(to.dtype())));
}

void add_columns(const Heads& to, const Tensor& part) { add_entries(to.of, 2, to.first, part); }

Heads whole(const Tensor& t, const Heads& like) { return {t, 0, like.count, like.size}; }

// Rows [at, at + count) of axis 1.
struct Part {
  nn::Position::Run run;
  std::int64_t at;
};
std::vector<Part> parts_of(const ContextSlice& slice, int rank) {
  std::vector<Part> parts;
  std::int64_t at = 0;
  for (const auto& run : slice.runs(rank)) {
    if (run.count > 0) parts.push_back({run, at});
    at += run.count;
  }
  return parts;
}

// Calls f(part of the queries, part of the keys) for all that see each other.
template <class F>
void for_each_pair(const ContextSlice& slice, int queries, int keys, bool causal, const F& f) {
  for (const Part& q : parts_of(slice, queries))
    for (const Part& k : parts_of(slice, keys))
      if (!causal || k.run.first < q.run.first + q.run.count) f(q, k);
}

AttentionOptions at_positions(AttentionOptions options, const Part& q, const Part& k) {
  options.first_query = q.run.first;
  options.first_key = k.run.first;
  return options;
}

// Room for keys and values of one owner, or for their gradients: [2, batch, tokens, width].
Tensor make_block(const ContextSlice& slice, int owner, const Tensor& like_rows, DType dtype) {
  return empty({2, like_rows.size(0), slice.count(owner), like_rows.size(2)}, dtype, like_rows.device());
}

Tensor packed(const ContextSlice& slice, int rank, const Tensor& keys, const Tensor& values) {
  Tensor block = make_block(slice, rank, keys, keys.dtype());
  block[0].copy_(keys), block[1].copy_(values);
  return block;
}

// This rank's row and column of the grid (one row: one ring).
struct Rings {
  Rings(const ProcessGroup& group, int row_size) {
    const int n = get_world_size(group), rank = get_rank(group), width = row_size > 0 ? row_size : n;
    if (n % width != 0)
      fail(Errc::invalid_argument,
           "RingAttention: rings of {} ranks do not divide a group of {}; choose a divisor", width, n);
    row = {group, width, rank % width, rank / width * width, 1};
    column = {group, n / width, rank / width, rank % width, width};
  }
  int rank_at(int r, int c) const { return r * row.size + c; }
  BlockRing row, column;
};

}  // namespace

std::shared_ptr<const RingAttention> RingAttention::with_block(
    std::shared_ptr<const nn::AttentionCore> block) const {
  auto ring = std::make_shared<RingAttention>(*this);
  ring->block_ = std::move(block);
  return ring;
}

void RingAttention::forward(Heads out, Tensor lse, const Heads& q, const Heads& k, const Heads& v,
                            const AttentionOptions& options) const {
  const Rings rings(group_, row_);
  const Tensor queries = columns(q), keys = columns(k), values = columns(v);
  const int rank = get_rank(group_);
  Tensor result = zeros(queries.shape(), lse.dtype(), queries.device());
  lse.fill_(-std::numeric_limits<double>::infinity());
  const auto attend = [&](const Tensor& block, int owner) {
    for_each_pair(slice_, rank, owner, options.causal, [&](const Part& qp, const Part& kp) {
      const Tensor some = narrow(queries, 1, qp.at, qp.run.count);
      const Tensor part = empty_like(some),
                   part_lse = empty({some.size(0), q.count, some.size(1)}, lse.dtype(), lse.device());
      block_->forward(whole(part, q), part_lse, whole(some, q),
                      whole(narrow(block[0], 1, kp.at, kp.run.count), k),
                      whole(narrow(block[1], 1, kp.at, kp.run.count), v), at_positions(options, qp, kp));
      nn::ops_for(result.device()).merge_attention(result, lse, part, part_lse, qp.at);
    });
  };
  const auto room = [&](int r, int c, DType dtype) {
    return make_block(slice_, rings.rank_at(r, c), keys, dtype);
  };
  for_each_block(
      rings.column, packed(slice_, rank, keys, values),
      [&](int r, DType dtype) { return room(r, rings.row.place, dtype); },
      [&](const Tensor& block, int r) {
        for_each_block(
            rings.row, block, [&](int c, DType dtype) { return room(r, c, dtype); },
            [&](const Tensor& each, int c) { attend(each, rings.rank_at(r, c)); });
      });
  put(out.of, 2, out.first, result.to(queries.dtype()));
}

void RingAttention::backward(nn::RowOps::AttentionGrads grads, const Heads& grad_out, const Heads& out,
                             const Tensor& lse, const Heads& q, const Heads& k, const Heads& v,
                             const AttentionOptions& options) const {
  const Rings rings(group_, row_);
  const Tensor queries = columns(q), keys = columns(k), values = columns(v);
  const Tensor gs = columns(grad_out), outs = columns(out);
  const int rank = get_rank(group_);
  const Tensor of_queries = zeros(queries.shape(), lse.dtype(), queries.device());
  // The gradient of one block of keys and values from this rank's queries.
  const auto of_block = [&](const Tensor& kv, int owner) {
    const Tensor gradient = zeros(kv.shape(), lse.dtype(), kv.device());
    for_each_pair(slice_, rank, owner, options.causal, [&](const Part& qp, const Part& kp) {
      const auto rows = [&qp](const Tensor& t) { return narrow(t, 1, qp.at, qp.run.count); };
      const auto entries = [&kp](const Tensor& t) { return narrow(t, 1, kp.at, kp.run.count); };
      const Tensor some = rows(queries), some_keys = entries(kv[0]), some_values = entries(kv[1]);
      const Tensor of_some = zeros_like(some), of_keys = zeros_like(some_keys),
                   of_values = zeros_like(some_values);
      block_->backward({whole(of_some, q), whole(of_keys, k), whole(of_values, v)}, whole(rows(gs), q),
                       whole(rows(outs), q), narrow(lse, 2, qp.at, qp.run.count), whole(some, q),
                       whole(some_keys, k), whole(some_values, v), at_positions(options, qp, kp));
      add_entries(of_queries, 1, qp.at, of_some);
      add_entries(gradient[0], 1, kp.at, of_keys);
      add_entries(gradient[1], 1, kp.at, of_values);
    });
    return gradient;
  };
  const auto room = [&](int r, int c, DType dtype) {
    return make_block(slice_, rings.rank_at(r, c), keys, dtype);
  };
  const Tensor own = sum_gradients(
      rings.column, packed(slice_, rank, keys, values),
      [&](int r, DType dtype) { return room(r, rings.row.place, dtype); },
      [&](const Tensor& block, int r) {
        return sum_gradients(
            rings.row, block, [&](int c, DType dtype) { return room(r, c, dtype); },
            [&](const Tensor& each, int c) { return of_block(each, rings.rank_at(r, c)); });
      });
  add_columns(grads.q, of_queries);
  add_columns(grads.k, own[0]);
  add_columns(grads.v, own[1]);
}

ContextParallel::ContextParallel(nn::GPT& gpt, const ContextParallelOptions& options, Caller at)
    : gpt_(gpt),
      group_(options.group),
      slice_{.tokens = 0, .ranks = get_world_size(options.group), .balanced = options.balanced} {
  if (gpt.options().dropout > 0)
    fail(Errc::invalid_argument,
         "ContextParallel: dropout of {} would draw for each rank's slice alone; make the GPT with dropout 0",
         gpt.options().dropout);
  check_same("ContextParallel", fmt::format("balanced {}\nrow {}", options.balanced, options.row), group_,
             users_line(at));
  const auto core = std::make_shared<RingAttention>(group_, slice_, options.row);
  for (nn::Block* const block : gpt.blocks()) block->attn().set_core(core);
}

Tensor ContextParallel::slice(const Tensor& whole) {
  slice_.tokens = whole.size(1);
  nn::Position position = gpt_.position();
  position.tokens = slice_.runs(get_rank(group_));
  gpt_.set_position(position);
  return slice_.slice(whole, get_rank(group_));
}

Tensor tree_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                      const ProcessGroup& group) {
  const std::int64_t batch = q.size(0), queries = q.size(1), size = q.size(2) / heads;
  const DType dtype = nn::compute_dtype(q.dtype());
  Tensor out = zeros(q.shape(), q.dtype(), q.device());
  Tensor lse = full({batch, heads, queries}, -std::numeric_limits<double>::infinity(), dtype, q.device());
  AttentionOptions options;
  options.causal = false;
  options.scale = 1 / std::sqrt(static_cast<double>(size));
  if (k.size(1) > 0)
    nn::ops_for(q.device())
        .attention({out, 0, heads, size}, lse, {q, 0, heads, size}, {k, 0, heads, size}, {v, 0, heads, size},
                   options);
  Tensor highest = lse.clone();
  all_reduce(highest, ReduceOp::max, {.group = group});
  // Numerators and denominators of all softmaxes, relative to the highest: [batch, queries, heads, size + 1].
  Tensor sums = empty({batch, queries, heads, size + 1}, dtype, q.device());
  const Tensor weights = transpose(exp(lse - highest), 1, 2).view({batch, queries, heads, 1});
  put(sums, 3, size, weights);
  const Tensor repeated = cat(std::vector<Tensor>(static_cast<std::size_t>(size), weights), 3);
  put(sums, 3, 0, out.to(dtype).view({batch, queries, heads, size}) * repeated);
  all_reduce(sums, ReduceOp::sum, {.group = group});
  const Tensor total = narrow(sums, 3, size, 1);
  const Tensor divisors = cat(std::vector<Tensor>(static_cast<std::size_t>(size), total), 3);
  return (narrow(sums, 3, 0, size) / divisors).view(q.shape()).to(q.dtype());
}

}  // namespace dist
