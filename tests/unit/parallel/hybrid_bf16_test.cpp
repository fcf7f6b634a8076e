// HybridGpt in bf16. Where each rank computes whole layers, the gradients are exactly the mean in f32 of what
// one rank in bf16 has for the same rows. Where layers are divided, they differ by rounding, as two runs in
// bf16 do. Steps on one rank give the same bits as a GPT in bf16 with master weights, and a checkpoint keeps
// them.
#include <cmath>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include "hybrid_support.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

// Rows and tokens are powers of two, so that dividing by their number rounds nothing.
constexpr std::int64_t rows = 8, context = 16, layers = 2;
constexpr double rounding = 1.0 / 512;  // of a number to the nearest one in bf16, relative to it

nn::GptOptions gpt_of(bool tied, bool llama = false) {
  nn::GptOptions options;
  options.vocab_size = 11, options.context = context, options.layers = layers, options.heads = 4;
  options.width = 32, options.tied = tied;
  options.rms_norm = options.gated = options.rotary = llama;
  return options;
}

std::unique_ptr<nn::GPT> gpt_in_bf16(const nn::GptOptions& options) {
  nn::manual_seed(17);
  auto gpt = std::make_unique<nn::GPT>(options);
  gpt->to(DType::bf16);
  return gpt;
}

// The loss of some rows, and the gradients of its mean over them.
double one_rank(nn::GPT& gpt, int step, std::int64_t first, std::int64_t count) {
  gpt.zero_grad();
  nn::CrossEntropyLoss loss;
  const double value =
      loss.forward(gpt.forward(batch(step, first, count, 0, context)), batch(step, first, count, 1, context));
  (void)gpt.backward(loss.backward());
  return value;
}

// The mean in f32 of one rank's gradients for the first, second, ... of `parts` equal parts of the rows.
nn::StateDict mean_of_parts(nn::GPT& gpt, std::int64_t parts) {
  nn::StateDict mean;
  for (std::int64_t part = 0; part < parts; ++part) {
    (void)one_rank(gpt, 0, part * rows / parts, rows / parts);
    for (const auto& [name, parameter] : gpt.named_parameters()) {
      const Tensor share = parameter->grad.to(DType::f32) * (1.0 / static_cast<double>(parts));
      if (part == 0)
        mean.push_back({name, share});
      else
        Tensor(*nn::find(mean, name)).add_(share);
    }
  }
  return mean;
}

// Two sums over the elements of a piece: of the squared differences from one rank's values, and of the
// squares of these values.
struct Squares {
  double error = 0, size = 0;
};
Squares squares_of(const Piece& piece, const nn::StateDict& whole) {
  const Tensor& all = *nn::find(whole, piece.name);
  const Tensor expected = zeros(piece.data.shape(), DType::f64);
  (void)copy_common({"", all.to(DType::f64), piece.whole, Shape(piece.whole.size(), 0)},
                    {"", expected, piece.whole, piece.offset});
  const Tensor error = piece.data.to(DType::f64) - expected;
  return {sum(error * error), sum(expected * expected)};
}

struct Mesh {
  const char* text;
  int micro_batches = 1;
  pipeline::Kind schedule = pipeline::Kind::one_f_one_b;
  bool tied = false, llama = false, sequence = false, recompute = false;

  HybridOptions options() const {
    return {.shape = parse_hybrid_shape(text),
            .micro_batches = micro_batches,
            .schedule = schedule,
            .sequence_parallel = sequence,
            .recompute = recompute};
  }
};
void PrintTo(const Mesh& mesh, std::ostream* out) { *out << mesh.text; }

HybridGpt make_hybrid(const nn::GptOptions& gpt, const HybridOptions& options) {
  nn::manual_seed(17);
  return {gpt, options, DType::bf16};
}

class WholeLayersInBf16 : public testing::TestWithParam<Mesh> {};

TEST_P(WholeLayersInBf16, HaveTheMeanInF32OfOneRanksGradients) {
  const Mesh c = GetParam();
  const HybridOptions options = c.options();
  const nn::GptOptions gpt = gpt_of(c.tied, c.llama);
  const auto one = gpt_in_bf16(gpt);
  const std::int64_t parts = std::int64_t{options.shape.data_ranks()} * c.micro_batches;
  const nn::StateDict expected = mean_of_parts(*one, parts);
  run_ranks(options.shape.ranks(), [&](int) {
    HybridGpt mesh = make_hybrid(gpt, options);
    (void)gradients(mesh, 0, rows, context);
    for (const Piece& piece : mesh.gradient_pieces()) {
      EXPECT_EQ(piece.data.dtype(), DType::f32);
      const Squares squares = squares_of(piece, expected);
      EXPECT_LE(std::sqrt(squares.error), 1e-6 * std::sqrt(squares.size)) << piece.name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Meshes, WholeLayersInBf16,
                         testing::Values(Mesh{"dp=1"}, Mesh{"dp=2", 1, {}, true}, Mesh{"dp=2", 4},
                                         Mesh{"fsdp=2", 2, {}, true, true}, Mesh{"fsdp=4"},
                                         Mesh{"dp=2,fsdp=2", 2}, Mesh{"pp=2"}, Mesh{"pp=2", 4},
                                         Mesh{"pp=2", 2, pipeline::Kind::gpipe, false, true},
                                         Mesh{"pp=2", 4, pipeline::Kind::zb_h1},
                                         Mesh{"dp=2,pp=2", 2, pipeline::Kind::zb_h1},
                                         Mesh{"dp=2,fsdp=2,pp=2", 2, pipeline::Kind::zb_h1},
                                         Mesh{"fsdp=2,pp=2", 2, {}, false, false, false, true}));

// The result of each operation is rounded to bf16: an error of at most `rounding` of its norm. Rounding
// errors are independent, so that their squares add: at the end of R operations, one after the other, a run
// is sqrt(R) roundings away from exact numbers, and sqrt(2 R) from another run. A gradient passes these
// operations: in forward, the sum of two embeddings; in each of the two halves of a layer, a norm, two
// products, what is between them (attention, GELU) and the sum of the residual; then the last norm and the
// head. There are as many in backward, and its own rounding comes last. A mesh adds the sums over tensor
// ranks: two per layer each way.
constexpr double operations = 2 * (1 + layers * (2 * 5 + 2) + 2) + 1;

class MeshInBf16 : public testing::TestWithParam<Mesh> {};

TEST_P(MeshInBf16, IsAsFarFromOneRankAsRoundingIs) {
  const Mesh c = GetParam();
  const HybridOptions options = c.options();
  const nn::GptOptions gpt = gpt_of(c.tied, c.llama);
  const auto one = gpt_in_bf16(gpt);
  const double loss = one_rank(*one, 0, 0, rows), bound = std::sqrt(2 * operations) * rounding;
  const nn::StateDict expected = gradients_of(*one);
  run_ranks(options.shape.ranks(), [&](int) {
    HybridGpt mesh = make_hybrid(gpt, options);
    EXPECT_NEAR(gradients(mesh, 0, rows, context), loss, bound * loss);
    for (const Piece& piece : mesh.gradient_pieces()) {
      Squares squares = squares_of(piece, expected);
      // The gradient of the key bias is 0 apart from rounding: it is measured against those next to it.
      const Tensor whole = nn::find(expected, piece.name)->to(DType::f64);
      if (piece.name.ends_with("c_attn.bias")) squares.size = sum(whole * whole);
      EXPECT_LE(std::sqrt(squares.error), bound * std::sqrt(squares.size)) << piece.name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Meshes, MeshInBf16,
                         testing::Values(Mesh{"dp=2", 2}, Mesh{"fsdp=2"}, Mesh{"tp=2"},
                                         Mesh{"tp=4", 1, {}, true}, Mesh{"tp=2", 2, {}, true, true},
                                         Mesh{"tp=2", 1, {}, false, false, true}, Mesh{"pp=2", 2, {}, true},
                                         Mesh{"cp=2"}, Mesh{"cp=4:2", 1, {}, true, true},
                                         Mesh{"dp=2,cp=2", 2}, Mesh{"dp=2,tp=2,pp=2", 2, {}, true},
                                         Mesh{"fsdp=2,cp=2", 2, {}, true, false, false, true},
                                         Mesh{"tp=2,cp=2"}));

TEST(HybridBf16, AMeshOfOneRankHasTheBitsOfAGptInBf16) {
  const auto one = gpt_in_bf16(gpt_of(true));
  nn::AdamW alone(nn::decay_groups(one->parameters()), {.lr = 1e-2});
  run_ranks(1, [&](int) {
    HybridGpt mesh = make_hybrid(gpt_of(true), {});
    nn::AdamW adam(nn::decay_groups(mesh.parameters()), {.lr = 1e-2});
    for (int step = 0; step < 3; ++step) {
      EXPECT_EQ(gradients(mesh, step, rows, context), one_rank(*one, step, 0, rows)) << step;
      adam.step();
      alone.step();
    }
    std::size_t compared = 0;
    for (const auto& [key, master] : alone.state_dict()) {
      if (!key.ends_with(".master_param")) continue;
      EXPECT_TRUE(equal(adam.parameters()[compared]->value, master)) << key;
      ++compared;
    }
    EXPECT_EQ(compared, adam.parameters().size());
  });
}

// All pieces of a rank, of the model and of its optimizer.
Pieces state_of(HybridGpt& gpt, nn::Optimizer& optimizer) {
  Pieces all = gpt.pieces();
  for (Piece& piece : gpt.pieces(optimizer)) all.push_back(std::move(piece));
  return all;
}

TEST(HybridBf16, ACheckpointIsLoadedBitForBit) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("distlab-bf16-{}", getpid());
  const nn::GptOptions options = gpt_of(true);
  std::mutex mutex;
  std::map<std::string, Tensor> saved;  // whole
  double next = 0;                      // the loss of the step after the save
  const auto on = [&](const char* text, int steps, const auto& f) {
    const HybridShape shape = parse_hybrid_shape(text);
    run_ranks(shape.ranks(), [&](int rank) {
      HybridGpt gpt = make_hybrid(options, {.shape = shape, .micro_batches = 2});
      nn::AdamW adam(nn::decay_groups(gpt.parameters()), {.lr = 1e-2});
      for (int step = 0; step < steps; ++step) {
        (void)gradients(gpt, step, rows, context);
        adam.step();
      }
      f(gpt, adam, rank);
    });
  };
  on("fsdp=2,tp=2", 3, [&](HybridGpt& gpt, nn::AdamW& adam, int rank) {
    const Pieces pieces = state_of(gpt, adam);
    save_sharded(folder, pieces);
    {
      const std::lock_guard lock(mutex);
      for (const Piece& piece : pieces) {
        Tensor& whole = saved[piece.name];
        if (!whole.is_defined()) whole = zeros(piece.whole, piece.data.dtype());
        (void)copy_common(piece, {"", whole, piece.whole, Shape(piece.whole.size(), 0)});
      }
    }
    const double loss = gradients(gpt, 3, rows, context);
    if (rank == 0) next = loss;
  });
  for (const char* text : {"fsdp=2,tp=2", "dp=1", "dp=2,pp=2", "cp=2"})
    on(text, 1, [&](HybridGpt& gpt, nn::AdamW& adam, int) {
      const Pieces pieces = state_of(gpt, adam);
      load_sharded(folder, pieces);
      for (const Piece& piece : pieces) {
        const Tensor same = zeros(piece.data.shape(), piece.data.dtype());
        (void)copy_common({"", saved.at(piece.name), piece.whole, Shape(piece.whole.size(), 0)},
                          {"", same, piece.whole, piece.offset});
        EXPECT_TRUE(equal(piece.data, same)) << text << ' ' << piece.name;
      }
      const double loss = gradients(gpt, 3, rows, context);
      if (text == std::string("fsdp=2,tp=2"))
        EXPECT_EQ(loss, next);
      else
        EXPECT_NEAR(loss, next, std::sqrt(2 * operations) * rounding * next) << text;
    });
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dist::test
