// Lab 19, the solution. NOTES.md explains it.
#include "tensor_parallel.h"

#include <cmath>
#include <limits>

namespace lab {

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(0), group);
  return with_gradients(copy_of_rows(whole.weight, own), copy_of_rows(whole.bias, own));
}

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  const Range own = own_part(whole.weight.size(1), group);
  return with_gradients(copy_of_columns(whole.weight, own), whole.bias.clone());
}

Tensor column_forward(const Linear& layer, const Tensor& x, const Context& context) {
  return context.multiply(x, layer.weight, layer.bias);
}

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::Work sum = dist::all_reduce(of_x, {.group = context.group, .async_op = true});
  context.add_gradients(layer, x, grad);
  sum.wait();
  return of_x;
}

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  const bool adds_bias = context.group.rank() == 0;
  Tensor y = context.multiply(x, layer.weight, adds_bias ? layer.bias : Tensor{});
  dist::all_reduce(y, {.group = context.group});
  return y;
}

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  return context.input_gradient(grad, layer.weight);
}

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  kept.x = x;
  kept.hidden = column_forward(pair.first, x, context);
  kept.inner = middle.forward(kept.hidden);
  return row_forward(pair.second, kept.inner, context);
}

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  const Tensor of_inner = row_backward(pair.second, kept.inner, grad, context);
  const Tensor of_hidden = middle.backward(kept.hidden, of_inner);
  return column_backward(pair.first, kept.x, of_hidden, context);
}

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t width = whole.second.weight.size(1), d = width / heads;
  const Range own = own_part(heads, group);
  std::vector<Tensor> weights, biases;
  for (std::int64_t which = 0; which < 3; ++which) {  // queries, keys, values
    const Range rows{which * width + own.first * d, own.count * d};
    weights.push_back(whole.first.weight.narrow(rows.first, rows.count));
    biases.push_back(whole.first.bias.narrow(rows.first, rows.count));
  }
  const Range columns{own.first * d, own.count * d};
  return {with_gradients(stacked(weights), stacked(biases)),
          with_gradients(copy_of_columns(whole.second.weight, columns), whole.second.bias.clone())};
}

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  Tensor y = dist::zeros({static_cast<std::int64_t>(tokens.size()), table.size(1)}, table.dtype());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t row = tokens[i] - rows.first;
    if (row >= 0 && row < rows.count) y[static_cast<std::int64_t>(i)].copy_(table[row]);
  }
  dist::all_reduce(y, {.group = group});
  return y;
}

void embedding_backward(Tensor& table_gradient, Range rows, const std::vector<std::int64_t>& tokens,
                        const Tensor& grad) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t row = tokens[i] - rows.first;
    if (row >= 0 && row < rows.count) table_gradient[row].add_(grad[static_cast<std::int64_t>(i)]);
  }
}

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
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  kept.x = x;
  Gather all = start_gather(x, context.group);
  all.work.wait();
  kept.hidden = column_forward(pair.first, all.all, context);
  kept.inner = middle.forward(kept.hidden);
  const bool adds_bias = context.group.rank() == 0;
  const Tensor y = context.multiply(kept.inner, pair.second.weight, adds_bias ? pair.second.bias : Tensor{});
  Tensor mine = dist::empty({x.size(0), y.size(1)}, y.dtype());
  dist::reduce_scatter_tensor(mine, y, {.group = context.group});
  return mine;
}

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
  context.add_gradients(pair.first, all_x.all, of_hidden);
  scatter.wait();
  return mine;
}

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  std::vector<Tensor> flat;
  for (const Tensor& gradient : gradients) flat.push_back(gradient.view({gradient.numel()}));
  Tensor all = stacked(flat);
  dist::all_reduce(all, {.group = group});
  std::int64_t at = 0;
  for (Tensor& part : flat) {  // shares its memory with the gradient
    part.copy_(all.narrow(at, part.numel()));
    at += part.numel();
  }
}

}  // namespace lab
