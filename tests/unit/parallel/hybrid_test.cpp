// HybridGpt: on every mesh the losses, gradients, norms and steps of one rank; saved on one mesh, loaded on
// another.
#include <filesystem>

#include <gtest/gtest.h>

#include "dist/mesh/placed.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/tensor/placements.h"

#include "hybrid_support.h"
#include "mesh/factor_detective.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

nn::GptOptions gpt_of(bool tied, bool llama = false) {
  nn::GptOptions options;
  options.vocab_size = 11, options.context = 12, options.layers = 4, options.heads = 4, options.width = 16;
  options.tied = tied;
  options.rms_norm = options.gated = options.rotary = llama;
  if (llama) options.kv_heads = 2;
  return options;
}

constexpr std::int64_t rows = 8;

struct Mesh {
  const char* text;
  int micro_batches = 1;
  pipeline::Kind schedule = pipeline::Kind::one_f_one_b;
  int chunks = 1;
  bool tied = true, llama = false, sequence = false, recompute = false;
};
void PrintTo(const Mesh& mesh, std::ostream* out) { *out << mesh.text; }

// The whole tensors of a rank's pieces, as far as it has them, compared with the reference's.
void expect_pieces(const Pieces& pieces, const nn::StateDict& whole, double tolerance, const char* what) {
  for (const Piece& piece : pieces) {
    const Tensor* const all = nn::find(whole, piece.name);
    ASSERT_NE(all, nullptr) << piece.name;
    ASSERT_EQ(all->shape(), piece.whole) << piece.name;
    const Tensor expected = zeros(piece.data.shape(), DType::f64);
    (void)copy_common({"", *all, piece.whole, Shape(piece.whole.size(), 0)},
                      {"", expected, piece.whole, piece.offset});
    const Tensor error = piece.data - expected;
    const double size = std::sqrt(sum(*all * *all) / static_cast<double>(all->numel()));
    const double most =
        std::sqrt(sum(error * error) / std::max<double>(1, static_cast<double>(error.numel())));
    EXPECT_LT(most, tolerance * std::max(size, 1e-4)) << what << ' ' << piece.name;
  }
}

double norm_of(const nn::StateDict& gradients) {
  double squares = 0;
  for (const auto& [name, gradient] : gradients) squares += sum(gradient * gradient);
  return std::sqrt(squares);
}

class Hybrid : public testing::TestWithParam<Mesh> {};

TEST_P(Hybrid, EqualsOneRank) {
  const Mesh c = GetParam();
  const nn::GptOptions options = gpt_of(c.tied, c.llama);
  const HybridShape shape = parse_hybrid_shape(c.text);
  Reference one(options, rows);
  const double limit = 0.5;
  const double first = one.step(0, 1e9);
  nn::StateDict whole;
  for (const auto& [name, parameter] : one.gpt->named_parameters())
    whole.push_back({name, parameter->grad.clone()});
  const double norm = one.norm, second = one.step(1, limit);
  run_ranks(shape.ranks(), [&](int) {
    nn::manual_seed(17);
    HybridGpt gpt(options,
                  {.shape = shape,
                   .micro_batches = c.micro_batches,
                   .schedule = c.schedule,
                   .chunks = c.chunks,
                   .sequence_parallel = c.sequence,
                   .recompute = c.recompute},
                  DType::f64);
    nn::Adam adam(gpt.parameters(), {.lr = 1e-2});
    const std::int64_t count = rows / gpt.data_ranks(), begin = gpt.data_rank() * count;
    EXPECT_NEAR(gpt.evaluate(batch(0, begin, count, 0), batch(0, begin, count, 1)), first, 1e-12);
    EXPECT_NEAR(gradients(gpt, 0, rows), first, 1e-12);
    expect_pieces(gpt.gradient_pieces(), whole, 1e-11, "gradient of");
    EXPECT_NEAR(gpt.clip_grad_norm(1e9), norm, 1e-11);
    adam.step();
    EXPECT_NEAR(gradients(gpt, 1, rows), second, 1e-6) << "after a step of Adam";
    EXPECT_NEAR(gpt.clip_grad_norm(limit), one.norm, 1e-5);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, Hybrid,
    testing::Values(Mesh{"dp=1"}, Mesh{"dp=2"}, Mesh{"fsdp=2", 2}, Mesh{"tp=2"},
                    Mesh{"tp=4", 1, {}, 1, false}, Mesh{"tp=2", 1, pipeline::Kind::gpipe, 1, true, true},
                    Mesh{"pp=2", 4}, Mesh{"pp=4", 3, pipeline::Kind::zb_h1},
                    Mesh{"pp=2", 4, pipeline::Kind::interleaved, 2, false}, Mesh{"cp=2"},
                    Mesh{"cp=3", 2, {}, 1, true, true}, Mesh{"dp=2,tp=2", 2}, Mesh{"dp=2,fsdp=2"},
                    Mesh{"fsdp=2,tp=2", 2, {}, 1, false}, Mesh{"dp=2,pp=2", 2}, Mesh{"fsdp=2,pp=2", 2},
                    Mesh{"tp=2,pp=2", 4, pipeline::Kind::one_f_one_b, 1, true, false, true},
                    Mesh{"tp=2,cp=2"}, Mesh{"dp=2,cp=2", 1, {}, 1, true, false, false, true},
                    Mesh{"dp=2,tp=2,pp=2", 2},
                    Mesh{"fsdp=2,tp=2,pp=2", 4, pipeline::Kind::zb_h1, 1, true, true},
                    Mesh{"dp=2,fsdp=2,tp=2", 1, {}, 1, true, false, true, true}, Mesh{"fsdp=2,cp=2,pp=2", 2},
                    Mesh{"cp=6:3"}, Mesh{"cp=6:2", 2, {}, 1, true, true}));

// Loss and gradients are means over the targets that count, wherever they are.
TEST(HybridTargets, CountEquallyOnEveryMesh) {
  const nn::GptOptions options = gpt_of(true);
  const std::vector<Counts> all{
      [](auto row, auto) { return row < 4; },             // none on data rank 1 of 2
      [](auto row, auto t) { return row < 5 && t < 3; },  // uneven over rows and time
      [](auto row, auto t) { return row == 7 && t == 11; }};
  for (const Counts& counts : all) {
    Reference one(options, rows);
    const double loss = one.gradients(0, 0, counts);
    const nn::StateDict whole = gradients_of(*one.gpt);
    for (const char* mesh :
         {"dp=1", "dp=2", "fsdp=4", "cp=2", "cp=3,dp=2", "tp=2,pp=2", "dp=2,pp=2", "dp=2,fsdp=2"}) {
      const HybridShape shape = parse_hybrid_shape(mesh);
      run_ranks(shape.ranks(), [&](int) {
        nn::manual_seed(17);
        HybridGpt gpt(options, {.shape = shape, .micro_batches = 2}, DType::f64);
        const std::int64_t count = rows / gpt.data_ranks(), first = gpt.data_rank() * count;
        const Tensor in = batch(0, first, count, 0), out = batch_targets(0, first, count, 12, counts);
        EXPECT_NEAR(gpt.evaluate(in, out), loss, 1e-12) << mesh;
        EXPECT_NEAR(gpt.step(in, out), loss, 1e-12) << mesh;
        expect_pieces(gpt.gradient_pieces(), whole, 1e-11, mesh);
      });
    }
  }
}

TEST(HybridCheckpoint, IsLoadedOnAnyMesh) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("distlab-hybrid-{}", getpid());
  const nn::GptOptions options = gpt_of(true);
  const auto run = [&](const char* mesh, bool saves) {
    const HybridShape shape = parse_hybrid_shape(mesh);
    double after = 0;
    run_ranks(shape.ranks(), [&](int rank) {
      nn::manual_seed(17);
      HybridGpt gpt(options, {.shape = shape, .micro_batches = 2}, DType::f64);
      nn::AdamW adam(nn::decay_groups(gpt.parameters()), {.lr = 1e-2});
      const auto step = [&](int number) {
        const double loss = gradients(gpt, number, rows);
        adam.step();
        return loss;
      };
      const auto all = [&] {
        Pieces pieces = gpt.pieces();
        for (Piece& piece : gpt.pieces(adam)) pieces.push_back(std::move(piece));
        return pieces;
      };
      for (int i = 0; i < (saves ? 2 : 1); ++i) step(saves ? i : 7);
      if (saves)
        save_sharded(folder, all());
      else
        load_sharded(folder, all());
      step(2);
      const double loss = step(3);
      if (rank == 0) after = loss;
    });
    return after;
  };
  const double expected = run("fsdp=2,tp=2", true);
  for (const char* mesh : {"dp=1", "fsdp=4", "tp=2", "dp=2,tp=4", "pp=2,fsdp=2", "fsdp=4,tp=2"})
    EXPECT_NEAR(run(mesh, false), expected, 1e-6) << mesh;
  std::filesystem::remove_all(folder);
}

// Eleven mistakes, planted in correct gradients.
TEST(FactorDetective, NamesWhatIsWrong) {
  struct Planted {
    const char *mesh, *where;
    std::function<void(HybridGpt& gpt, const Piece& piece)> mistake;
    const char* said;
    int micro_batches = 1;
  };
  const auto times = [](double factor) {
    return [factor](HybridGpt&, const Piece& p) { Tensor(p.data).mul_(factor); };
  };
  const auto alone = [](const char* axis, double factor) {
    return [axis, factor](HybridGpt& gpt, const Piece& p) {
      if (gpt.mesh().get_local_rank(axis) == 0) Tensor(p.data).mul_(factor);
    };
  };
  const auto last_rows = [](const char* axis, int rank) {
    return [axis, rank](HybridGpt& gpt, const Piece& p) {
      if (gpt.mesh().get_local_rank(axis) == rank) Tensor(p.data.narrow(p.data.size(0) - 2, 2)).zero_();
    };
  };
  const std::vector<Planted> planted{
      {"fsdp=3", "h.1.mlp.c_fc.weight", last_rows("fsdp", 2),
       "rows 62 to 63 are 0 on the rank that has them; were the last rows of an uneven shard lost?"},
      {"fsdp=2,tp=4", "h.1.mlp.c_fc.weight", times(0.5),
       "2.000 times too small: the size of fsdp (it was divided twice"},
      {"dp=2", "", times(2),
       "2.000 times too large: the size of dp (the sum over data ranks was not divided)"},
      {"tp=4", "h.0.attn.c_proj.bias", times(4),
       "4.000 times too large: the size of tp (a partial sum was added"},
      {"tp=2", "h.2.ln_1.weight", alone("tp", 0), "by no common factor: some ranks lack a part of the sum"},
      {"dp=2,fsdp=3", "", times(1.0 / 6), "6.000 times too small: the size of dp x fsdp"},
      {"pp=2", "h.3", times(3),
       "3.000 times too large: the size of the micro-batches (the loss was not divided", 3},
      {"pp=2", "wte", times(0), "is 0: it was never computed or never received"},
      {"cp=2", "wpe", times(0.5), "2.000 times too small: the size of cp (it was divided twice"},
      {"dp=2,cp=2", "ln_f", times(2),
       "the size of dp (the sum over data ranks was not divided), or the size of cp"},
      {"fsdp=2", "h.0", times(1.7), "1.700 times too large: no axis of the mesh has that size"}};
  nn::GptOptions options = gpt_of(true);
  for (const Planted& plant : planted) {
    Reference one(options, 12);
    (void)one.gradients(0);
    const nn::StateDict expected = gradients_of(*one.gpt);
    const HybridShape shape = parse_hybrid_shape(plant.mesh);
    run_ranks(shape.ranks(), [&](int) {
      nn::manual_seed(17);
      HybridGpt gpt(options, {.shape = shape, .micro_batches = plant.micro_batches}, DType::f64);
      (void)gradients(gpt, 0, 12);
      EXPECT_TRUE(
          compare_gradients(gpt.gradient_pieces(), expected, shape, plant.micro_batches, 1e-9).empty())
          << plant.mesh;
      std::size_t wrong = 0;
      for (const Piece& piece : gpt.gradient_pieces())
        if (piece.name.find(plant.where) != piece.name.npos) plant.mistake(gpt, piece), ++wrong;
      const auto found = compare_gradients(gpt.gradient_pieces(), expected, shape, plant.micro_batches, 1e-9);
      EXPECT_GE(found.size(), wrong > 0 ? 1U : 0U);
      for (const auto& difference : found) {
        EXPECT_NE(difference.sentence.find(plant.said), std::string::npos)
            << plant.mesh << ": " << difference.sentence;
        EXPECT_NE(difference.name.find(plant.where), std::string::npos);
      }
    });
  }
}

// Freezing the lower layers, and unfreezing them later, on meshes that average over replicas and on others.
TEST(HybridGpt, FollowsWhatIsFrozen) {
  const nn::GptOptions options = gpt_of(true);
  for (const char* shape : {"dp=2", "cp=2", "fsdp=2", "tp=2", "pp=2", "dp=2,pp=2"}) {
    SCOPED_TRACE(shape);
    Reference one(options, rows);
    std::vector<double> losses;
    const auto freeze = [](const std::vector<nn::NamedParameter>& parameters, int step) {
      for (const auto& [name, parameter] : parameters)
        parameter->requires_grad(step != 1 || name.find("ln_f") != name.npos ||
                                 name.find("h.1.") != name.npos);
    };
    for (int step = 0; step < 4; ++step) {
      freeze(one.gpt->named_parameters(), step);
      losses.push_back(one.step(step, 1));
    }
    const HybridShape mesh = parse_hybrid_shape(shape);
    run_ranks(mesh.ranks(), [&](int) {
      nn::manual_seed(17);
      HybridGpt gpt(options, {.shape = mesh}, DType::f64);
      nn::Adam adam(gpt.parameters(), {.lr = 1e-2});
      for (int step = 0; step < 4; ++step) {
        for (const auto& stage : gpt.stages()) freeze(stage->named_parameters(), step);
        EXPECT_NEAR(gradients(gpt, step, rows), losses[static_cast<std::size_t>(step)], 1e-11) << step;
        (void)gpt.clip_grad_norm(1);
        adam.step();
      }
    });
  }
}

// clip_grad_norm with wrong records of the parameters that every tensor rank has whole.
TEST(FactorDetective, NamesWhatIsWrongWithANorm) {
  const nn::GptOptions options = gpt_of(true);
  Reference one(options, rows);
  (void)one.gradients(0);
  const nn::StateDict expected = gradients_of(*one.gpt);
  run_ranks(2, [&](int) {
    nn::manual_seed(17);
    HybridGpt gpt(options, {.shape = parse_hybrid_shape("tp=2")}, DType::f64);
    (void)gradients(gpt, 0, rows);
    const auto parameters = gpt.stages()[0]->named_parameters();
    const auto said = [&](const auto& record_wrongly) {
      std::vector<std::shared_ptr<nn::Division>> right;
      for (const auto& [name, parameter] : parameters) {
        right.push_back(parameter->division);
        record_wrongly(*parameter);
      }
      const double norm = nn::clip_grad_norm(parameters, 1e9);
      for (std::size_t i = 0; i < right.size(); ++i) parameters[i].parameter->division = right[i];
      return compare_norm(norm, gpt.gradient_pieces(), expected, 1e-9);
    };
    const auto has = [&](const std::string& text, const std::string& part) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    EXPECT_EQ(said([](nn::Parameter&) {}), "");
    has(said([](nn::Parameter& p) {
          if (!p.division) place(p).copy_of = "another one";
        }),
        "it leaves out the replicated parameters, such as transformer.wte.weight");
    has(said([&](nn::Parameter& p) {
          if (!p.division)
            place(p).axes.push_back(
                {.name = "tp", .group = gpt.mesh().get_group("tp"), .placement = Shard(0)});
        }),
        "it counts replicated parameters, such as transformer.wte.weight, once per rank that has them");
    has(said([](nn::Parameter& p) { p.division = nullptr; }), "it is that of one rank's part");
    has(compare_norm(2 * norm_of(expected), gpt.gradient_pieces(), expected, 1e-9),
        "each element counts 4 times");
    has(compare_norm(1.1 * norm_of(expected), gpt.gradient_pieces(), expected, 1e-9),
        "no way of adding up the parts gives that");
  });
}

TEST(HybridShape, IsParsedAndChecked) {
  EXPECT_EQ(parse_hybrid_shape("tp=2,dp=4").str(), "dp=4, tp=2");
  EXPECT_EQ(parse_hybrid_shape("dp=2 x pp=3").ranks(), 6);
  EXPECT_EQ(parse_hybrid_shape("cp=1").str(), "1 rank");
  EXPECT_EQ(parse_hybrid_shape("cp=8:4,dp=2").str(), "dp=2, cp=8:4");
  struct Wrong {
    const char *mesh, *why;
  };
  for (const Wrong& wrong : {Wrong{"", "it has no axis"},
                             {"tp", "\"tp\" has no size"},
                             {"0", "\"0\" has no size"},
                             {"tp=", "\"\" is not a number of ranks"},
                             {"tp=0", "\"0\" is not a number of ranks"},
                             {"tp=-1", "\"-1\" is not a number of ranks"},
                             {"tp=2a", "\"2a\" is not a number of ranks"},
                             {"tp=4:2", "\"4:2\" is not a number of ranks"},
                             {"cp=4:0", "\"0\" is not a number of ranks"},
                             {"tp=2,tp=2", "tp has two sizes"},
                             {"dp=2,mp=2", "\"mp\" is not an axis"},
                             {"=2", "\"\" is not an axis"}}) {
    EXPECT_DIST_ERROR(parse_hybrid_shape(wrong.mesh), Errc::invalid_argument,
                      fmt::format("\"{}\" is not a mesh, since {}: name axes among", wrong.mesh, wrong.why));
  }
  nn::GptOptions gpt = gpt_of(true);
  gpt.kv_heads = 2;
  const auto refuses = [&](const char* mesh, const char* why, bool sequence_parallel = false) {
    const HybridShape shape = parse_hybrid_shape(mesh);
    EXPECT_DIST_ERROR(check_hybrid(shape, gpt, shape.ranks(), 1, sequence_parallel), Errc::invalid_argument,
                      why);
  };
  refuses("tp=3", "tp=3 does not divide the 4 heads");
  refuses("tp=4", "tp=4 does not divide the 2 heads of keys and values");
  refuses("pp=5", "pp=5 needs 5 layers, the model has 4");
  refuses("cp=4", "cp=4 does not divide a context of 12 tokens into 8 equal parts");
  gpt.kv_heads = 4, gpt.context = 18;
  refuses("cp=3,tp=4", "tp=4 does not divide the 6 tokens of a sequence on each rank", true);
  check_hybrid({.tp = 4, .cp = 3}, gpt, 12);
  EXPECT_DIST_ERROR(check_hybrid({.dp = 2}, gpt, 3), Errc::invalid_argument,
                    "the mesh dp=2 has 2 ranks, the job has 3");
}

}  // namespace
}  // namespace dist::test
