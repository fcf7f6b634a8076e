// rows.cpp
#include "dist/dist.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"

static void train(int first_token) {
  dist::init_process_group();
  const dist::nn::GptOptions options{.vocab_size = 8, .context = 4, .layers = 1, .heads = 2, .width = 4};
  dist::HybridGpt gpt(options, {.shape = {.tp = 2}});
  const dist::Tensor tokens = dist::full({1, 4}, first_token, dist::DType::i64);
  gpt.step(tokens, dist::ones({1, 4}, dist::DType::i64));  // <- D13
}

void rank_main(int rank) {  // 2 ranks
  train(rank);              // both ranks are one data rank: they must have the same rows
}

void right_main(int) { train(0); }
