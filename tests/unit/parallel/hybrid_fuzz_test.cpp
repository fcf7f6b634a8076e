// Random meshes of up to 24 virtual ranks, with random sizes: the gradients of one rank. HYBRID_FUZZ_SEED and
// HYBRID_FUZZ_CASES say which cases and how many; a case that fails is made smaller before it is reported.
#include <gtest/gtest.h>

#include "dist/parallel/hybrid/factor_detective.h"
#include "dist/simulate/simulate.h"

#include "hybrid_draw.h"
#include "hybrid_support.h"

namespace dist::test {
namespace {

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
  const int seed = number_of("HYBRID_FUZZ_SEED", 1), cases = number_of("HYBRID_FUZZ_CASES", 40);
  for (int i = 0; i < cases; ++i) {
    const Drawn d = draw(static_cast<std::uint64_t>(seed) * 1000 + static_cast<std::uint64_t>(i));
    if (problem_of(d).empty()) continue;
    const Drawn least = smaller(d);
    FAIL() << "case " << i << " of seed " << seed << ": " << least.str() << "\n" << problem_of(least);
  }
}

}  // namespace
}  // namespace dist::test
