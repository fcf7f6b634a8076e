#include "dist/nn/schedule.h"

#include <cmath>
#include <numbers>

namespace dist::nn {

namespace {

// How much of the way from `least` to `peak` is left, after this fraction of the steps between them.
double left_of(Decay decay, double progress) {
  switch (decay) {
    case Decay::constant: return 1;
    case Decay::linear: return 1 - progress;
    case Decay::cosine: return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
  return 1;
}

}  // namespace

double lr_at(const Schedule& schedule, std::int64_t step) {
  const auto& [decay, peak, least, warmup, until] = schedule;
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  if (decay == Decay::constant) return peak;
  if (step >= until) return least;
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(until - warmup);
  return least + (peak - least) * left_of(decay, progress);
}

}  // namespace dist::nn
