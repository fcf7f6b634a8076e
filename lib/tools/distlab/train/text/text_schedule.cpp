#include "distlab/train/text/text_schedule.h"

#include <algorithm>

#include "dist/nn/schedule.h"

namespace distlab {

double text_lr(const TrainOptions& options, std::int64_t step) {
  constexpr double default_lr = 1e-3, least_share = 0.1;
  constexpr std::int64_t most_warmup = 100;
  const double peak = options.lr.value_or(default_lr);
  const std::int64_t until = options.text.decay_steps > 0 ? options.text.decay_steps : options.text.steps;
  return dist::nn::lr_at({.decay = dist::nn::Decay::cosine,
                          .peak = peak,
                          .least = peak * least_share,
                          .warmup = std::min(most_warmup, until / 10),
                          .until = until},
                         step);
}

}  // namespace distlab
