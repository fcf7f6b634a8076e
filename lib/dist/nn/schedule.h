// Learning rates as functions of the step: warm-up, then a constant, a line or half a cosine.
//   for (std::int64_t step = 0; step < steps; ++step) {
//     optimizer.set_lr(nn::lr_at(schedule, step));
#pragma once

#include <cstdint>

namespace dist::nn {

enum class Decay : std::uint8_t { constant, linear, cosine };

// The rate rises in `warmup` steps, falls until step `until`, and is `least` from then on. nanoGPT calls
// these numbers learning_rate, min_lr, warmup_iters and lr_decay_iters.
struct Schedule {
  Decay decay = Decay::constant;  // constant: the rate stays at its peak; the last number has no meaning
  double peak = 1e-3, least = 0;
  std::int64_t warmup = 0, until = 0;
};

// nanoGPT's get_lr() for a cosine. Steps count from 0; step s of the warm-up has peak (s + 1) / (warmup + 1),
// so that no step has rate 0.
double lr_at(const Schedule& schedule, std::int64_t step);

}  // namespace dist::nn
