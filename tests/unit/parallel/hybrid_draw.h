// Random GPTs on random meshes of up to 24 ranks.
#pragma once

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "dist/parallel/hybrid/hybrid_gpt.h"

namespace dist::test {

struct Drawn {
  HybridShape shape;
  nn::GptOptions gpt;
  HybridOptions options;
  std::int64_t rows = 0;

  std::string str() const {
    return fmt::format(
        "mesh {}; layers {} heads {} kv_heads {} width {} vocab {} context {} tied {} llama {}; "
        "micro_batches {} schedule {} chunks {} sequence {} recompute {}; rows {}",
        shape.str(), gpt.layers, gpt.heads, gpt.kv_heads, gpt.width, gpt.vocab_size, gpt.context, gpt.tied,
        gpt.rotary, options.micro_batches, pipeline::name(options.schedule), options.chunks,
        options.sequence_parallel, options.recompute, rows);
  }
};

inline Drawn draw(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto one_of = [&](std::initializer_list<int> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(generator() % values.size()));
  };
  Drawn d;
  const int ranks = one_of({1, 2, 3, 4, 6, 8, 12, 24});
  int rest = ranks;
  for (int HybridShape::*axis : {&HybridShape::tp, &HybridShape::pp, &HybridShape::cp, &HybridShape::fsdp}) {
    std::vector<int> divisors;
    for (int i = 1; i <= std::min(rest, 4); ++i)
      if (rest % i == 0) divisors.push_back(i);
    d.shape.*axis = divisors[generator() % divisors.size()];
    rest /= d.shape.*axis;
  }
  d.shape.dp = rest;
  if (d.shape.cp == 4) d.shape.cp_row = one_of({0, 1, 2, 4});
  const int size = one_of({1, 3});
  const bool llama = generator() % 3 == 0;
  d.gpt.kv_heads = d.shape.tp * one_of({1, 2});
  d.gpt.heads = d.gpt.kv_heads * one_of({1, 2});
  d.gpt.width = d.gpt.heads * (llama ? 2 : size);
  d.options.chunks = d.shape.pp > 1 ? one_of({1, 1, 2}) : 1;
  d.options.schedule = d.options.chunks > 1 ? pipeline::Kind::interleaved
                                            : std::array{pipeline::Kind::gpipe, pipeline::Kind::one_f_one_b,
                                                         pipeline::Kind::zb_h1}[generator() % 3];
  d.gpt.layers = d.shape.pp * d.options.chunks + one_of({0, 1});
  d.gpt.vocab_size = one_of({11, 13});
  d.gpt.context = 2 * d.shape.cp * d.shape.tp * one_of({1, 2});
  d.gpt.tied = generator() % 2 == 0;
  d.gpt.bias = generator() % 2 == 0;
  d.gpt.rms_norm = d.gpt.gated = d.gpt.rotary = llama;
  d.options.shape = d.shape;
  d.options.micro_batches = one_of({1, 2, 3, 5});
  d.options.sequence_parallel = d.shape.tp > 1 && generator() % 2 == 0;
  d.options.recompute = generator() % 3 == 0;
  d.rows = d.shape.data_ranks() * (d.options.micro_batches + one_of({0, 1}));
  return d;
}

// A number from the environment.
inline int number_of(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace dist::test
