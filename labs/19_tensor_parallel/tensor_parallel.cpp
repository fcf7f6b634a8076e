// Lab 19: write these functions. README.md is the handout, tensor_parallel.h is the
// specification.
//
//   ./distlab run 19      runs the demonstration with your code
//   ./distlab grade 19    tests your code
//   ./distlab hint 19     prints a hint
#include "tensor_parallel.h"

#include "dist/core/todo.h"

namespace lab {

// ------------------------------------------------------------------ Part 1: two kinds of layer

Linear cut_column(const Linear& whole, const ProcessGroup& group) {
  // TODO: which rows of the weight, and which entries of the bias (own_part)?
  DIST_TODO("lab 19, part 1: a column-parallel layer's part");
}

Linear cut_row(const Linear& whole, const ProcessGroup& group) {
  // TODO: the weight's columns, and the whole bias.
  DIST_TODO("lab 19, part 1: a row-parallel layer's part");
}

Tensor column_forward(const Linear& layer, const Tensor& x, const Context& context) {
  // TODO: one line.
  DIST_TODO("lab 19, part 1: forward of a column-parallel layer");
}

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  // TODO: what can be computed while the sum is on its way?
  DIST_TODO("lab 19, part 1: backward of a column-parallel layer");
}

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  // TODO: how often is the bias in the sum?
  DIST_TODO("lab 19, part 1: forward of a row-parallel layer");
}

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  // TODO: two lines.
  DIST_TODO("lab 19, part 1: backward of a row-parallel layer");
}

// ----------------------------------------------------------------------------- Part 2: the pair

Tensor pair_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                    Kept& kept) {
  // TODO: first, middle, second. What will backward need?
  DIST_TODO("lab 19, part 2: forward of a pair");
}

Tensor pair_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                     const Context& context) {
  // TODO: second, middle, first.
  DIST_TODO("lab 19, part 2: backward of a pair");
}

// ------------------------------------------------------------------------------- Part 3: heads

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  // TODO: where do the queries of this rank's heads begin? Its keys? Its values?
  DIST_TODO("lab 19, part 3: a rank's heads");
}

// -------------------------------------------------------------------------- Part 4: vocabulary

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  // TODO: what does a rank contribute for a token that it does not have?
  DIST_TODO("lab 19, part 4: an embedding divided by tokens");
}

void embedding_backward(Tensor& table_gradient, Range rows, const std::vector<std::int64_t>& tokens,
                        const Tensor& grad) {
  // TODO: the same token may occur twice.
  DIST_TODO("lab 19, part 4: the gradient of the table");
}

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  // TODO: which three numbers per token does every rank need from the others?
  DIST_TODO("lab 19, part 4: the loss of logits divided by tokens");
}

// ------------------------------------------------------------------- Part 5: sequence parallel

Tensor sequence_forward(const Pair& pair, const Tensor& x, const Middle& middle, const Context& context,
                        Kept& kept) {
  // TODO: gather, first, middle, second, reduce-scatter.
  DIST_TODO("lab 19, part 5: forward with divided tokens");
}

Tensor sequence_backward(Pair& pair, const Kept& kept, const Tensor& grad, const Middle& middle,
                         const Context& context) {
  // TODO: which two tensors must be gathered, and when is each of them needed?
  DIST_TODO("lab 19, part 5: backward with divided tokens");
}

void sum_gradients(std::vector<Tensor>& gradients, const ProcessGroup& group) {
  // TODO: one message is cheaper than many.
  DIST_TODO("lab 19, part 5: gradients of parameters that every rank has");
}

}  // namespace lab
