// Random meshes of up to 24 virtual ranks, with random sizes, different numbers of rows and of targets that
// count on each data rank: the gradients of one rank. HYBRID_FUZZ_SEED and HYBRID_FUZZ_CASES say which cases
// and how many; a case that fails is made smaller before it is reported.
#include <cstdlib>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "dist/simulate/simulate.h"

#include "hybrid_support.h"
#include "mesh/factor_detective.h"

namespace dist::test {
namespace {

struct Drawn {
  HybridShape shape;
  nn::GptOptions gpt;
  HybridOptions options;
  std::vector<std::int64_t> rows_of = {};  // each data rank
  std::int64_t time = 0;                   // of a row
  int left_out = 0;                        // which targets do not count

  std::int64_t first_row(int data_rank) const {
    return std::accumulate(rows_of.begin(), rows_of.begin() + data_rank, std::int64_t{0});
  }
  std::int64_t rows() const { return first_row(static_cast<int>(rows_of.size())); }
  // All; two of three; those of each row's first half, which balanced context ranks have in different
  // numbers; none of the first data rank's, if there are others; one.
  bool counts(std::int64_t row, std::int64_t t) const {
    switch (left_out) {
      case 1: return (row + t) % 3 != 0;
      case 2: return 2 * t < time;
      case 3: return row >= (rows_of.size() > 1 ? rows_of[0] : 0);
      case 4: return row == rows() - 1 && t == 0;
      default: return true;
    }
  }

  std::string str() const {
    return fmt::format(
        "mesh {}; layers {} heads {} kv_heads {} width {} vocab {} context {} tied {} llama {}; "
        "micro_batches {} schedule {} chunks {} sequence {} recompute {}; rows {} of {}, targets left out: "
        "{}",
        shape.str(), gpt.layers, gpt.heads, gpt.kv_heads, gpt.width, gpt.vocab_size, gpt.context, gpt.tied,
        gpt.rotary, options.micro_batches, pipeline::name(options.schedule), options.chunks,
        options.sequence_parallel, options.recompute, fmt::join(rows_of, " + "), time, left_out);
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
  for (int rank = 0; rank < d.shape.data_ranks(); ++rank)
    d.rows_of.push_back(d.options.micro_batches + one_of({0, 0, 1, 2}));
  const std::int64_t parts = 2 * d.shape.cp * d.shape.tp;
  d.time = one_of({0, 1}) ? d.gpt.context : parts;
  if (!d.options.sequence_parallel)
    d.time = std::max<std::int64_t>(d.time - one_of({0, 0, 1}), 2 * d.shape.cp);
  d.left_out = one_of({0, 1, 2, 3, 4});
  return d;
}

// What is wrong with a case; empty if nothing is.
std::string problem_of(const Drawn& d) {
  std::string problem;
  try {
    Reference one(d.gpt, d.rows());
    const Counts counts = [&d](std::int64_t row, std::int64_t t) { return d.counts(row, t); };
    const double expected = one.gradients(0, d.time, counts);
    const nn::StateDict whole = gradients_of(*one.gpt);
    sim::RunOptions run;
    run.ranks = d.shape.ranks();
    run.stack_bytes = std::size_t{1} << 20;
    const auto report = sim::run(run, [&](int rank) {
      init_process_group();
      {
        nn::manual_seed(17);
        HybridGpt gpt(d.gpt, d.options, DType::f64);
        const std::int64_t first = d.first_row(gpt.data_rank()),
                           rows = d.rows_of[static_cast<std::size_t>(gpt.data_rank())];
        const double loss =
            gpt.step(batch(0, first, rows, 0, d.time), batch_targets(0, first, rows, d.time, counts));
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
      l.shape.*axis = 1;
      l.rows_of.resize(static_cast<std::size_t>(l.shape.data_ranks()));
    });
  tries([](Drawn& l) { l.options.micro_batches = 1; });
  tries([](Drawn& l) { l.left_out = 0; });
  tries([](Drawn& l) { l.time = l.gpt.context; });
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
