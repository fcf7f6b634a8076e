// One rank's training steps of a GPT, for comparison with any mesh, and the batches that both see.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dist/nn/clip_grad_norm.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

#include "gpt_support.h"

namespace dist::test {

// Rows [first, first + count) of a step's batch, each as long as the context.
inline Tensor batch(int step, std::int64_t first, std::int64_t count, std::int64_t shift,
                    std::int64_t context = 12) {
  Tensor t = empty({count, context}, DType::i64, cpu);
  const auto tokens = t.data<std::int64_t>();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t place = 240 * step + first * context + static_cast<std::int64_t>(i) + shift;
    tokens[i] = (place * 7 + place / 5) % 11;
  }
  return t;
}

// The targets of these rows; those for which counts(row, time) is false do not count.
using Counts = std::function<bool(std::int64_t row, std::int64_t time)>;
inline Tensor batch_targets(int step, std::int64_t first, std::int64_t count, std::int64_t context,
                            const Counts& counts = {}) {
  Tensor t = batch(step, first, count, 1, context);
  const auto all = t.data<std::int64_t>();
  for (std::int64_t i = 0; counts && i < std::ssize(all); ++i)
    if (!counts(first + i / context, i % context)) all[static_cast<std::size_t>(i)] = -100;
  return t;
}

struct Reference {
  std::unique_ptr<nn::GPT> gpt;
  std::unique_ptr<nn::Adam> adam;
  std::int64_t rows;
  double norm = 0;  // of the last step's gradient
  Reference(const nn::GptOptions& options, std::int64_t of_batch)
      : gpt(make_gpt(options)),
        adam(std::make_unique<nn::Adam>(gpt->parameters(), nn::AdamOptions{.lr = 1e-2})),
        rows(of_batch) {}

  // `time` 0: the whole context.
  double gradients(int number, std::int64_t time = 0, const Counts& counts = {}) {
    gpt->zero_grad();
    if (time == 0) time = gpt->options().context;
    nn::CrossEntropyLoss loss;
    const double value = loss.forward(gpt->forward(batch(number, 0, rows, 0, time)),
                                      batch_targets(number, 0, rows, time, counts));
    (void)gpt->backward(loss.backward());
    return value;
  }
  double step(int number, double max_norm) {
    const double value = gradients(number);
    norm = nn::clip_grad_norm(gpt->parameters(), max_norm);
    adam->step();
    return value;
  }
};

// forward and backward of this data rank's rows.
inline double gradients(HybridGpt& gpt, int number, std::int64_t rows, std::int64_t context = 12) {
  const std::int64_t count = rows / gpt.data_ranks(), begin = gpt.data_rank() * count;
  gpt.zero_grad();
  return gpt.step(batch(number, begin, count, 0, context), batch(number, begin, count, 1, context));
}

}  // namespace dist::test
