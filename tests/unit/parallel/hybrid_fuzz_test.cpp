// Random meshes of up to 24 virtual ranks, with random sizes: the gradients of one rank. HYBRID_FUZZ_SEED and
// HYBRID_FUZZ_CASES say which cases and how many; a case that fails is made smaller before it is reported.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "dist/parallel/hybrid/factor_detective.h"
#include "dist/simulate/simulate.h"

#include "hybrid_support.h"

namespace dist::test {
namespace {

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

Drawn draw(std::uint64_t seed) {
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

// What is wrong with a case; empty if nothing is.
std::string problem_of(const Drawn& d) {
  std::string problem;
  try {
    Reference one(d.gpt, d.rows);
    const double expected = one.gradients(0);
    const nn::StateDict whole = gradients_of(*one.gpt);
    sim::RunOptions run;
    run.ranks = d.shape.ranks();
    run.stack_bytes = std::size_t{1} << 20;
    const auto report = sim::run(run, [&](int rank) {
      init_process_group();
      {
        nn::manual_seed(17);
        HybridGpt gpt(d.gpt, d.options, DType::f64);
        const double loss = gradients(gpt, 0, d.rows, d.gpt.context);
        auto differences =
            compare_gradients(gpt.gradient_pieces(), whole, d.shape, d.options.micro_batches, 1e-9);
        // The gradient of the key bias is rounding errors alone.
        std::erase_if(differences,
                      [](const auto& difference) { return difference.name.ends_with("c_attn.bias"); });
        if (rank == 0 && std::abs(loss - expected) > 1e-11)
          problem = fmt::format("loss {} for {}", loss, expected);
        if (rank == 0 && !differences.empty()) problem = differences.front().sentence;
      }
      destroy_process_group();
    });
    if (!report.ok()) problem += report.text();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return problem;
}

// The same case without one of its complications, as long as it fails.
Drawn smaller(Drawn d) {
  const auto tries = [&](const auto& change) {
    Drawn less = d;
    change(less);
    less.options.shape = less.shape;
    if (!problem_of(less).empty()) d = less;
  };
  for (int HybridShape::*axis :
       {&HybridShape::dp, &HybridShape::fsdp, &HybridShape::cp, &HybridShape::tp, &HybridShape::pp})
    tries([axis](Drawn& l) {
      l.rows /= l.shape.data_ranks(), l.shape.*axis = 1, l.rows *= l.shape.data_ranks();
    });
  tries([](Drawn& l) { l.rows = l.rows / l.options.micro_batches * 1, l.options.micro_batches = 1; });
  tries([](Drawn& l) { l.options.recompute = false; });
  tries([](Drawn& l) { l.options.sequence_parallel = false; });
  tries([](Drawn& l) { l.gpt.tied = false; });
  return d;
}

TEST(HybridFuzz, EveryMeshHasTheGradientsOfOneRank) {
  const auto number = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
  };
  const int seed = number("HYBRID_FUZZ_SEED", 1), cases = number("HYBRID_FUZZ_CASES", 40);
  for (int i = 0; i < cases; ++i) {
    const Drawn d = draw(static_cast<std::uint64_t>(seed) * 1000 + static_cast<std::uint64_t>(i));
    if (problem_of(d).empty()) continue;
    const Drawn least = smaller(d);
    FAIL() << "case " << i << " of seed " << seed << ": " << least.str() << "\n" << problem_of(least);
  }
}

}  // namespace
}  // namespace dist::test
