// How a GPT learns here: nanoGPT's settings for small models.
#pragma once

#include <cstdint>

#include "dist/nn/adam.h"

#include "distlab/train/options.h"

namespace distlab {

inline constexpr std::int64_t default_text_batch = 16;  // blocks per data rank
inline constexpr double text_most_norm = 1;             // of the gradient, after clipping
inline constexpr dist::nn::AdamWOptions text_adamw{.betas = {0.9, 0.99}, .weight_decay = 0.1};

// The learning rate of a step, counted from 0: warm-up, then a cosine to a tenth.
double text_lr(const TrainOptions& options, std::int64_t step);

}  // namespace distlab
