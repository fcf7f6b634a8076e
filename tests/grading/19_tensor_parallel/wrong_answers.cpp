// Wrong answers to lab 19, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "tensor_parallel.h"

//// adds_the_bias_on_every_rank
// Misconception: every rank has the bias, so every rank adds it.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: adds_the_bias_n_times

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, layer.bias);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

//// averages_the_input
// Misconception: x must be the same on all ranks, so it is averaged before it is used.
// Replaces: column_forward
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: reduces_too_much

Tensor column_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor equal = x.clone();
  dist::all_reduce(equal, dist::ReduceOp::avg, {.group = context.group});
  return context.multiply(equal, layer.weight, layer.bias);
}

//// averages_the_input_gradient
// Misconception: gradients of several ranks are averaged, as in data parallelism.
// Replaces: column_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: averages_instead_of_sums

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::Work mean = dist::all_reduce(of_x, dist::ReduceOp::avg, {.group = context.group, .async_op = true});
  context.add_gradients(layer, x, grad);
  mean.wait();
  return of_x;
}

//// averages_the_summands
// Misconception: what several ranks have computed is averaged.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: averages_instead_of_sums

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  const bool adds_bias = context.group.rank() == 0;
  Tensor y = context.multiply(x, layer.weight, adds_bias ? layer.bias : Tensor{});
  dist::all_reduce(y, dist::ReduceOp::avg, {.group = context.group});
  return y;
}

//// averages_the_weights_first
// Misconception: the ranks' copies of the whole weight may differ, so they are averaged before they are cut.
// Replaces: cut_column
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: reduces_too_much

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  Linear equal{whole.weight.clone(), whole.bias.clone(), {}, {}};
  dist::all_reduce(equal.weight, dist::ReduceOp::avg, {.group = group});
  return right_cut_column(equal, group);
}

//// clears_the_bias
// Misconception: the bias is needed on rank 0 alone, so the other ranks may clear theirs.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: none

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor bias = layer.bias;  // shares its memory
  if (context.group.rank() != 0) bias.zero_();
  Tensor y = context.multiply(x, layer.weight, bias);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

//// clears_the_column_gradients
// Misconception: before a backward the gradients are set to zero, so the layer does it.
// Replaces: column_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradients

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  layer.weight_gradient.zero_();
  layer.bias_gradient.zero_();
  return right_column_backward(layer, x, grad, context);
}

//// cuts_the_columns_of_the_stored_weight
// Misconception: a column-parallel layer divides the columns of its weight (as PyTorch stores it, these are
// its inputs).
// Replaces: cut_column
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_other_axis

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(1), group);
  return with_gradients(copy_of_columns(whole.weight, own),
                        copy_of_rows(whole.bias, own_part(whole.bias.size(0), group)));
}

//// cuts_the_gradients_too
// Misconception: a part of a layer is a part of all its tensors.
// Replaces: cut_row
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_gradients

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(1), group);
  return {copy_of_columns(whole.weight, own), whole.bias.clone(), copy_of_columns(whole.weight_gradient, own),
          whole.bias_gradient.clone()};
}

//// divides_the_row_bias
// Misconception: all parameters of a layer that is divided are divided.
// Replaces: cut_row
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: cuts_the_row_bias

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  const Linear right = right_cut_row(whole, group);
  return with_gradients(right.weight, copy_of_rows(whole.bias, own_part(whole.bias.size(0), group)));
}

//// forgets_the_backward_all_reduce
// Misconception: a layer whose forward sends nothing has a backward that sends nothing.
// Replaces: column_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: forgets_the_backward_all_reduce

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  return context.input_gradient(grad, layer.weight);
}

//// forgets_the_forward_all_reduce
// Misconception: each rank has computed its part of the layer, so the layer is computed.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: forgets_the_forward_all_reduce

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  return context.multiply(x, layer.weight, layer.bias);
}

//// keeps_a_view_of_the_whole_weight
// Misconception: a view of some rows takes no memory, so it is the best part of a weight.
// Replaces: cut_column
// Killed by: Part1Layers.only_parts_are_kept
// Diagnosis: keeps_the_whole_weight

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(0), group);
  return with_gradients(whole.weight.narrow(own.first, own.count), whole.bias.narrow(own.first, own.count));
}

//// loses_the_last_outputs
// Misconception: outputs / n outputs per rank; the division leaves no remainder.
// Replaces: cut_column
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: loses_the_last_entries

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const std::int64_t count = whole.weight.size(0) / group.size();
  const Range own{group.rank() * count, count};
  return with_gradients(copy_of_rows(whole.weight, own), copy_of_rows(whole.bias, own));
}

//// one_all_reduce_per_token
// Misconception: a token is a row of its own, so its gradient travels by itself, as early as possible.
// Replaces: column_backward
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: one_all_reduce_per_piece

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  std::vector<dist::Work> sums;
  std::vector<Tensor> rows = of_x.chunk(of_x.size(0));
  for (Tensor& token : rows)
    sums.push_back(dist::all_reduce(token, {.group = context.group, .async_op = true}));
  context.add_gradients(layer, x, grad);
  for (dist::Work& sum : sums) sum.wait();
  return of_x;
}

//// rank_0_of_the_job_adds_the_bias
// Misconception: rank 0 is in every group.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: no_rank_adds_the_bias

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, dist::get_rank() == 0 ? layer.bias : Tensor{});
  dist::all_reduce(y, {.group = context.group});
  return y;
}

//// replaces_the_row_gradients
// Misconception: a backward computes gradients, so those of an earlier one are old.
// Replaces: row_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradients

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  layer = with_gradients(layer.weight, layer.bias);
  return right_row_backward(layer, x, grad, context);
}

//// shares_the_row_bias
// Misconception: every rank has the whole bias, so there is nothing to copy.
// Replaces: cut_row
// Killed by: Part1Layers.parts_of_the_weights
// Diagnosis: shares_memory_with_the_whole

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  return with_gradients(right_cut_row(whole, group).weight, whole.bias);
}

//// sums_a_gradient_that_is_whole
// Misconception: forward had an all_reduce, so backward has one, too.
// Replaces: row_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: sums_what_is_whole

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  Tensor whole = grad.clone();
  dist::all_reduce(whole, {.group = context.group});
  return context.input_gradient(whole, layer.weight);
}

//// sums_in_f64
// Misconception: sums of f32 lose digits, so they are computed and returned as f64.
// Replaces: row_forward
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: none

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  const bool adds_bias = context.group.rank() == 0;
  Tensor y = context.multiply(x, layer.weight, adds_bias ? layer.bias : Tensor{}).to(dist::DType::f64);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

//// sums_in_row_backward
// Misconception: each backward ends with a sum over the ranks. (Their columns are not even equally many.)
// Replaces: row_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: communicates_where_nothing_is_needed

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = right_row_backward(layer, x, grad, context);
  dist::all_reduce(of_x, {.group = context.group});
  return of_x;
}

//// sums_the_bias_by_itself
// Misconception: the products are summed over the ranks, and the bias, which one rank contributes, is summed,
// too.
// Replaces: row_forward
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: reduces_too_much

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, Tensor{});
  dist::all_reduce(y, {.group = context.group});
  Tensor bias = context.group.rank() == 0 ? layer.bias.clone() : dist::zeros_like(layer.bias);
  dist::all_reduce(bias, {.group = context.group});
  for (std::int64_t i = 0; i < y.size(0); ++i) y[i].add_(bias);
  return y;
}

//// sums_the_weight_gradients
// Misconception: after backward the ranks must agree on the gradients of the weights, as in data parallelism.
// Replaces: column_backward
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: sums_the_weight_gradients

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  const Tensor of_x = right_column_backward(layer, x, grad, context);
  dist::all_reduce(layer.weight_gradient, {.group = context.group});
  return of_x;
}

//// the_sum_is_never_there
// Misconception: a sum that no line waits for takes no time, so it is left out.
// Replaces: column_backward
// Killed by: Part1Layers.the_sum_is_hidden
// Diagnosis: forgets_the_backward_all_reduce

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  return context.input_gradient(grad, layer.weight);
}

//// waits_before_the_weight_gradient
// Misconception: the gradient of the input must be complete before anything else is computed.
// Replaces: column_backward
// Killed by: Part1Layers.the_sum_is_hidden
// Diagnosis: waits_before_the_weight_gradient

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::all_reduce(of_x, {.group = context.group});
  context.add_gradients(layer, x, grad);
  return of_x;
}

//// weight_gradient_first
// Misconception: the sum is asynchronous, so it does not matter when it starts.
// Replaces: column_backward
// Killed by: Part1Layers.the_sum_is_hidden
// Diagnosis: waits_before_the_weight_gradient

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::all_reduce(of_x, {.group = context.group, .async_op = true}).wait();
  return of_x;
}

//// all_reduces_after_each_layer
// Misconception: each of the two layers is divided, so each of them ends with an all_reduce.
// Replaces: pair_forward
// Killed by: Part2Pair.one_all_reduce_each_way
// Diagnosis: reduces_too_much

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  kept.x = x;
  kept.hidden = column_forward(pair.first, x, context);
  const Tensor own = middle.forward(kept.hidden);
  // All columns on all ranks, each in its place; then this rank's again.
  Tensor count = dist::full({1}, own.size(1), dist::DType::i64);
  std::vector<Tensor> counts;
  for (int rank = 0; rank < context.group.size(); ++rank)
    counts.push_back(dist::empty({1}, dist::DType::i64));
  dist::all_gather(counts, count, {.group = context.group});
  std::int64_t all = 0, first = 0;
  for (int rank = 0; rank < context.group.size(); ++rank) {
    if (rank == context.group.rank()) first = all;
    all += counts[static_cast<std::size_t>(rank)].item<std::int64_t>();
  }
  const auto wide = static_cast<std::size_t>(all), from = static_cast<std::size_t>(first);
  std::vector<double> elements(static_cast<std::size_t>(own.size(0)) * wide);
  const std::vector<double> mine = own.to_vector<double>();
  const auto width = static_cast<std::size_t>(own.size(1));
  for (std::size_t i = 0; i < mine.size(); ++i) elements[i / width * wide + from + i % width] = mine[i];
  Tensor whole =
      dist::tensor<double>(std::span<const double>(elements)).to(own.dtype()).view({own.size(0), all});
  dist::all_reduce(whole, {.group = context.group});
  kept.inner = copy_of_columns(whole, {first, own.size(1)});
  return row_forward(pair.second, kept.inner, context);
}

//// clears_the_gradients_of_a_pair
// Misconception: one backward of a pair is one training step, so its gradients begin at zero.
// Replaces: pair_backward
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: overwrites_the_gradients

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  for (Linear* layer : {&pair.first, &pair.second}) {
    layer->weight_gradient.zero_();
    layer->bias_gradient.zero_();
  }
  return right_pair_backward(pair, kept, grad, middle, context);
}

//// gathers_the_weights
// Misconception: to compute a layer, a rank needs its whole weight: it is gathered first, as in fully sharded
// data parallelism.
// Replaces: pair_forward
// Killed by: Part2Pair.one_all_reduce_each_way
// Diagnosis: gathers_what_is_divided

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  std::vector<Tensor> all;
  const Tensor& mine = pair.second.weight;
  const std::int64_t most = (mine.numel() / 64 + 1) * 64;
  for (int rank = 0; rank < context.group.size(); ++rank) all.push_back(dist::empty({most}, mine.dtype()));
  Tensor padded = dist::zeros({most}, mine.dtype());
  padded.narrow(0, mine.numel()).copy_(mine.view({mine.numel()}));
  dist::all_gather(all, padded, {.group = context.group});
  return right_pair_forward(pair, x, middle, context, kept);
}

//// keeps_the_input_of_the_middle
// Misconception: what the second layer needs in backward is what the first one gave.
// Replaces: pair_forward
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: keeps_the_wrong_activation

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  const Tensor y = right_pair_forward(pair, x, middle, context, kept);
  kept.inner = kept.hidden;
  return y;
}

//// sums_the_gradient_twice
// Misconception: the gradient is summed after each of the two layers, as it is not known which of them needs
// it.
// Replaces: pair_backward
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: sums_what_is_whole

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  Tensor of_x = right_pair_backward(pair, kept, grad, middle, context);
  dist::all_reduce(of_x, {.group = context.group});
  return of_x;
}

//// the_middle_gets_its_output
// Misconception: backward of the middle needs what the middle computed.
// Replaces: pair_backward
// Killed by: Part2Pair.as_on_one_rank
// Diagnosis: gives_the_middle_its_own_output

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  return right_pair_backward(
      pair, {kept.x, kept.hidden.numel() == kept.inner.numel() ? kept.inner : kept.hidden, kept.inner}, grad,
      middle, context);
}

//// at_least_one_head
// Misconception: every rank computes something, so a rank without heads computes the last one.
// Replaces: cut_heads
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: none

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t width = whole.second.weight.size(1), d = width / heads;
  Range own = own_part(heads, group);
  if (own.count == 0) own = {heads - 1, 1};
  std::vector<Tensor> weights, biases;
  for (std::int64_t which = 0; which < 3; ++which) {
    weights.push_back(whole.first.weight.narrow(which * width + own.first * d, own.count * d));
    biases.push_back(whole.first.bias.narrow(which * width + own.first * d, own.count * d));
  }
  const Range columns{own.first * d, own.count * d};
  return {with_gradients(stacked(weights), stacked(biases)),
          with_gradients(copy_of_columns(whole.second.weight, columns), whole.second.bias.clone())};
}

//// cuts_across_heads
// Misconception: queries, keys and values are matrices of `width` rows each, so each of them is divided by
// rows.
// Replaces: cut_heads
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_across_heads

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t width = whole.second.weight.size(1);
  const Range own = own_part(width, group);
  std::vector<Tensor> weights, biases;
  for (std::int64_t which = 0; which < 3; ++which) {
    weights.push_back(whole.first.weight.narrow(which * width + own.first, own.count));
    biases.push_back(whole.first.bias.narrow(which * width + own.first, own.count));
  }
  return {with_gradients(stacked(weights), stacked(biases)),
          with_gradients(copy_of_columns(whole.second.weight, own), whole.second.bias.clone())};
}

//// cuts_the_fused_weight_in_one_piece
// Misconception: the fused layer is a column-parallel layer like any other: its rows are divided among the
// ranks.
// Replaces: cut_heads
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_the_fused_weight_in_one_piece

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  return {cut_column(whole.first, group), right_cut_heads(whole, heads, group).second};
}

//// heads_of_f64
// Misconception: all numbers are f64.
// Replaces: cut_heads
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: none

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  Pair pair = right_cut_heads(whole, heads, group);
  for (Linear* layer : {&pair.first, &pair.second})
    for (Tensor* t : {&layer->weight, &layer->bias, &layer->weight_gradient, &layer->bias_gradient})
      *t = t->to(dist::DType::f64);
  return pair;
}

//// takes_heads_side_by_side
// Misconception: each head has its query, its key and its value in 3 d consecutive rows.
// Replaces: cut_heads
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_the_fused_weight_in_one_piece

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t d = whole.second.weight.size(1) / heads;
  const Range own = own_part(heads, group), rows{3 * d * own.first, 3 * d * own.count};
  return {with_gradients(copy_of_rows(whole.first.weight, rows), copy_of_rows(whole.first.bias, rows)),
          right_cut_heads(whole, heads, group).second};
}

//// a_token_counts_once
// Misconception: each token has one row in the table, so its gradient is copied there.
// Replaces: embedding_backward
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: overwrites_the_gradient

void embedding_backward(Tensor& table_gradient, Range rows, const std::vector<std::int64_t>& tokens,
                        const Tensor& grad) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t row = tokens[i] - rows.first;
    if (row >= 0 && row < rows.count) table_gradient[row].copy_(grad[static_cast<std::int64_t>(i)]);
  }
}

//// adds_the_largest_logit_first
// Misconception: the logarithm of the sum is the largest logit and a bit more. (Where it is large, the bit is
// lost.)
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: loses_digits

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});
  Tensor target = dist::zeros({t}, dist::DType::f64), sums = dist::zeros({t}, dist::DType::f64);
  for (std::int64_t i = 0; i < t; ++i) {
    const std::int64_t column = targets[static_cast<std::size_t>(i)] - columns.first;
    const auto at = static_cast<std::size_t>(i);
    for (std::int64_t k = 0; k < columns.count; ++k)
      sums.data<double>()[at] += std::exp(logits[i].data<double>()[static_cast<std::size_t>(k)] - max[at]);
    if (column >= 0 && column < columns.count)
      target.data<double>()[at] = logits[i].data<double>()[static_cast<std::size_t>(column)];
  }
  dist::all_reduce(sums, {.group = group});
  dist::all_reduce(target, {.group = group});
  Loss loss = right_vocabulary_loss(logits, columns, targets, group);
  loss.mean = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t); ++i)
    loss.mean +=
        (max[i] + std::log(sums.data<double>()[i]) - target.data<double>()[i]) / static_cast<double>(t);
  return loss;
}

//// an_all_reduce_for_each_token
// Misconception: each token is looked up by itself, so its row is summed by itself.
// Replaces: embedding_forward
// Killed by: Part4Vocabulary.logits_stay_where_they_are
// Diagnosis: one_all_reduce_per_piece

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  Tensor y = dist::zeros({static_cast<std::int64_t>(tokens.size()), table.size(1)}, table.dtype());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    y.narrow(static_cast<std::int64_t>(i), 1).copy_(right_embedding_forward(table, rows, {tokens[i]}, group));
  return y;
}

//// exponentials_without_maximum
// Misconception: softmax is exp(x) / sum of exp(x); logits are small numbers.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: overflows

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  largest.zero_();

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// gathers_the_logits
// Misconception: a softmax needs the whole row, so the logits are gathered first.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.logits_stay_where_they_are
// Diagnosis: gathers_what_is_divided

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t padded = 16 * logits.size(0);
  Tensor mine = dist::zeros({padded}, dist::DType::f64),
         all = dist::empty({padded * group.size()}, dist::DType::f64);
  mine.narrow(0, logits.numel()).copy_(logits.view({logits.numel()}));
  dist::all_gather_into_tensor(all, mine, {.group = group});
  return right_vocabulary_loss(logits, columns, targets, group);
}

//// gradient_of_the_summed_loss
// Misconception: the loss is a mean, and a gradient is a gradient.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: gradient_of_the_sum

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = element / of_token[i] - (is_target ? 1 : 0);
    }
  }
  return loss;
}

//// largest_of_its_own_logits
// Misconception: each rank subtracts its largest logit, because that is what makes exp() safe.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: mixes_numbers_of_ranks

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// leaves_without_columns
// Misconception: a rank that has no column has nothing to say about the loss.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: none

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  if (columns.count == 0) return {0, logits.clone()};
  return right_vocabulary_loss(logits, columns, targets, group);
}

//// looks_up_in_floats
// Misconception: numbers of a model need no more than a float has, so rows of the table go through f32.
// Replaces: embedding_forward
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: none

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  return right_embedding_forward(table.to(dist::DType::f32).to(table.dtype()), rows, tokens, group);
}

//// looks_up_without_offset
// Misconception: a token is the number of a row.
// Replaces: embedding_forward
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: forgets_the_offset

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  return right_embedding_forward(table, {0, rows.count}, tokens, group);
}

//// maximum_begins_at_minus_1e9
// Misconception: -1e9 stands for minus infinity.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: overflows

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -1e9, dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i)
      max[static_cast<std::size_t>(i)] = std::max(-1e9, dist::max(logits[i]));
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// maximum_begins_at_zero
// Misconception: the largest logit is positive.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: overflows

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::zeros({t}, dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i)
      max[static_cast<std::size_t>(i)] = std::max(0.0, dist::max(logits[i]));
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// normalises_by_its_own_sum
// Misconception: the probabilities of a rank add up to 1.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: normalises_by_the_local_sum

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  const std::vector<double> own = sums.to_vector<double>();
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / own[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// overwrites_the_logits
// Misconception: after the loss no rank needs the logits, so their memory may become that of the gradient.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: none

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  Loss loss = right_vocabulary_loss(logits, columns, targets, group);
  Tensor memory = logits;
  memory.copy_(loss.gradient);
  loss.gradient = memory;
  return loss;
}

//// remembers_the_first_part
// Misconception: a rank has the same part of everything, so it is computed once.
// Replaces: embedding_forward
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: remembers_the_call_before

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  static const Range first = rows;
  return right_embedding_forward(table, {first.first, rows.count}, tokens, group);
}

//// targets_without_offset
// Misconception: a target is the number of a column.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: forgets_the_offset

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

//// the_largest_logit_is_gone
// Misconception: what was subtracted from the logits is a constant, and constants do not matter.
// Replaces: vocabulary_loss
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: forgets_to_add_the_largest

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});
  Tensor target = dist::zeros({t}, dist::DType::f64), sums = dist::zeros({t}, dist::DType::f64);
  for (std::int64_t i = 0; i < t; ++i) {
    const std::int64_t column = targets[static_cast<std::size_t>(i)] - columns.first;
    const auto at = static_cast<std::size_t>(i);
    for (std::int64_t k = 0; k < columns.count; ++k)
      sums.data<double>()[at] += std::exp(logits[i].data<double>()[static_cast<std::size_t>(k)] - max[at]);
    if (column >= 0 && column < columns.count)
      target.data<double>()[at] = logits[i].data<double>()[static_cast<std::size_t>(column)];
  }
  dist::all_reduce(sums, {.group = group});
  dist::all_reduce(target, {.group = group});
  Loss loss = right_vocabulary_loss(logits, columns, targets, group);
  loss.mean = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t); ++i)
    loss.mean += (std::log(sums.data<double>()[i]) - target.data<double>()[i]) / static_cast<double>(t);
  return loss;
}

//// all_reduces_and_cuts
// Misconception: the sum over the ranks is an all_reduce, of which each rank takes its tokens.
// Replaces: sequence_forward
// Killed by: Part5Sequence.gathers_and_scatters
// Diagnosis: all_reduces_and_cuts

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  kept.x = x;
  Gather all = start_gather(x, context.group);
  all.work.wait();
  kept.hidden = column_forward(pair.first, all.all, context);
  kept.inner = middle.forward(kept.hidden);
  const Tensor y = row_forward(pair.second, kept.inner, context);
  return copy_of_rows(y, {context.group.rank() * x.size(0), x.size(0)});
}

//// averages_the_gradients_of_norms
// Misconception: gradients of parameters that every rank has are averaged, as in data parallelism.
// Replaces: sum_gradients
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: averages_instead_of_sums

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.view({gradient.numel()}));
  Tensor all = stacked(flat);
  dist::all_reduce(all, dist::ReduceOp::avg, {.group = group});
  std::int64_t at = 0;
  for (Tensor& part : flat) {  // shares its memory with the gradient
    part.copy_(all.narrow(at, part.numel()));
    at += part.numel();
  }
}

//// gathers_the_input_when_it_is_needed
// Misconception: a tensor is gathered right before it is needed.
// Replaces: sequence_backward
// Killed by: Part5Sequence.collectives_are_hidden
// Diagnosis: waits_where_it_could_compute

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  Gather all_x = start_gather(kept.x, context.group);
  all_x.work.wait();
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, all_x.all, of_hidden);
  scatter.wait();
  return mine;
}

//// gathers_x_beside_the_gradient
// Misconception: the earlier a gather starts, the better, so both start at once.
// Replaces: sequence_backward
// Killed by: Part5Sequence.collectives_are_hidden
// Diagnosis: gathers_x_too_early

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_x = start_gather(kept.x, context.group);
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  all_x.work.wait();
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, all_x.all, of_hidden);
  scatter.wait();
  return mine;
}

//// gradients_are_matrices
// Misconception: a gradient has rows and columns.
// Replaces: sum_gradients
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: none

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients)
    flat.push_back(gradient.view({gradient.size(0) * gradient.size(1)}));
  right_sum_gradients(flat, group);  // they share their memory with the gradients
}

//// gradients_of_its_own_tokens
// Misconception: a rank has its own tokens, so it adds the gradients of these; each token is counted on one
// rank.
// Replaces: sequence_backward
// Killed by: Part5Sequence.as_on_one_rank
// Diagnosis: gradients_of_own_tokens_only

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  Gather all_x = start_gather(kept.x, context.group);
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  all_x.work.wait();
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, kept.x,
                        of_hidden.narrow(context.group.rank() * kept.x.size(0), kept.x.size(0)));
  scatter.wait();
  return mine;
}

//// keeps_a_view_of_all_tokens
// Misconception: a view of this rank's tokens takes no memory.
// Replaces: sequence_forward
// Killed by: Part5Sequence.only_own_tokens_are_kept
// Diagnosis: keeps_all_tokens

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  Gather all = start_gather(x, context.group);
  all.work.wait();
  kept.x = all.all.narrow(context.group.rank() * x.size(0), x.size(0));
  kept.hidden = column_forward(pair.first, all.all, context);
  kept.inner = middle.forward(kept.hidden);
  const bool adds_bias = context.group.rank() == 0;
  const Tensor y = context.multiply(kept.inner, pair.second.weight, adds_bias ? pair.second.bias : Tensor{});
  Tensor mine = dist::empty({x.size(0), y.size(1)}, y.dtype());
  dist::reduce_scatter_tensor(mine, y, {.group = context.group});
  return mine;
}

//// one_all_reduce_per_norm
// Misconception: each gradient is a tensor of its own, so each has its all_reduce.
// Replaces: sum_gradients
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: one_all_reduce_per_piece

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  for (Tensor& gradient : gradients) dist::all_reduce(gradient, {.group = group});
}

//// own_tokens_for_the_gradients
// Misconception: x is what forward was given, and backward has it.
// Replaces: sequence_backward
// Killed by: Part5Sequence.as_on_one_rank
// Diagnosis: gradients_of_other_tokens

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, kept.x, of_hidden);
  scatter.wait();
  return mine;
}

//// replaces_the_first_layers_gradients
// Misconception: with all tokens gathered, the gradients of the first layer are complete, so nothing is
// added.
// Replaces: sequence_backward
// Killed by: Part5Sequence.as_on_one_rank
// Diagnosis: overwrites_the_gradients

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  pair.first = with_gradients(pair.first.weight, pair.first.bias);
  return right_sequence_backward(pair, kept, grad, middle, context);
}

//// takes_the_largest_gradient
// Misconception: every rank has the same gradients of what is outside the pairs, so their sum is n times
// the largest.
// Replaces: sum_gradients
// Killed by: Part5Sequence.gradients_are_summed_once
// Diagnosis: none

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.view({gradient.numel()}));
  Tensor all = stacked(flat);
  dist::all_reduce(all, dist::ReduceOp::max, {.group = group});
  all.mul_(group.size());
  std::int64_t at = 0;
  for (Tensor& part : flat) {
    part.copy_(all.narrow(at, part.numel()));
    at += part.numel();
  }
}

//// waits_for_the_reduce_scatter
// Misconception: the gradient of the input must be complete before the gradients of the weights are computed.
// Replaces: sequence_backward
// Killed by: Part5Sequence.collectives_are_hidden
// Diagnosis: waits_where_it_could_compute

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  Gather all_x = start_gather(kept.x, context.group);
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  all_x.work.wait();
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  scatter.wait();
  context.add_gradients(pair.first, all_x.all, of_hidden);
  return mine;
}

//// waits_for_x_before_the_middle
// Misconception: the gather of x has had the time of the second layer, so it is done. (It may take longer.)
// Replaces: sequence_backward
// Killed by: Part5Sequence.collectives_are_hidden
// Diagnosis: waits_where_it_could_compute

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  Gather all_grad = start_gather(grad, context.group);
  all_grad.work.wait();
  Gather all_x = start_gather(kept.x, context.group);
  const Tensor of_inner = row_backward(pair.second, kept.inner, all_grad.all, context);
  all_x.work.wait();
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  const Tensor of_x = context.input_gradient(of_hidden, pair.first.weight);
  Tensor mine = dist::empty(kept.x.shape(), of_x.dtype());
  dist::Work scatter = dist::reduce_scatter_tensor(mine, of_x, {.group = context.group, .async_op = true});
  context.add_gradients(pair.first, all_x.all, of_hidden);
  scatter.wait();
  return mine;
}
