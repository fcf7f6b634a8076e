// ZeroOptimizer, clip_grad_norm of divided parameters, sharded checkpoints.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "dist/mesh/placed.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/clip_grad_norm.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

std::unique_ptr<nn::Optimizer> make_adam(std::vector<nn::Parameter*> parameters) {
  return std::make_unique<nn::Adam>(std::move(parameters), nn::AdamOptions{.lr = 1e-3});
}

TEST(ZeroOptimizer, EqualsOneRankWithPartOfTheState) {
  for (const int n : {1, 2, 3, 4}) {
    for (const std::size_t bucket_bytes : {std::size_t{1}, std::size_t{4000}, std::size_t{1} << 20}) {
      const auto reference = make_gpt(small_gpt());
      nn::Adam one(reference->parameters(), {.lr = 1e-3});
      for (int step = 0; step < 2; ++step) {
        one.zero_grad();
        pass(*reference, 50 * step, 2 * n);
        one.step();
      }
      run_ranks(n, [&](int rank) {
        const auto gpt = make_gpt(small_gpt());
        ZeroOptimizer zero(*gpt, make_adam, {.bucket_bytes = bucket_bytes});
        for (int step = 0; step < 2; ++step) {
          zero.zero_grad();
          pass(*gpt, 50 * step + 2 * rank, 2);
          zero.step();
        }
        expect_state(values_of(*gpt), values_of(*reference), 1e-9, "value");
        double state = 0, all = 0;
        for (const auto& [name, tensor] : zero.local().state_dict())
          state += static_cast<double>(tensor.numel());
        for (const auto& [name, tensor] : one.state_dict()) all += static_cast<double>(tensor.numel());
        Tensor most = full({1}, state);
        all_reduce(most);
        EXPECT_EQ(most.item<double>(), all + n - 1) << "each element once, and each rank's step";
      });
    }
  }
}

TEST(ZeroOptimizer, SendsAsMuchAsAllReduces) {
  const int n = 4;
  const auto sent = [&](int steps) {
    sim::RunOptions options;
    options.ranks = n;
    return sim::run(options,
                    [&, steps](int) {
                      init_process_group();
                      {
                        nn::Sequential model(
                            std::make_unique<nn::Linear>(64, 64, nn::LinearOptions{.bias = false}),
                            std::make_unique<nn::Linear>(64, 32, nn::LinearOptions{.bias = false}));
                        ZeroOptimizer zero(model, make_adam);
                        for (int i = 0; i < steps; ++i) {
                          (void)model.forward(ones({1, 64}));
                          (void)model.backward(ones({1, 32}));
                          zero.step();
                        }
                      }
                      destroy_process_group();
                    })
        .max_bytes_sent();
  };
  EXPECT_EQ(sent(3) - sent(2), 2 * (n - 1) * (64 * 64 + 64 * 32) * 4 / n);
}

TEST(ZeroOptimizer, SaysWhatIsMissing) {
  run_ranks(1, [](int) {
    nn::Linear model(2, 2);
    ZeroOptimizer zero(model, make_adam);
    EXPECT_DIST_ERROR(zero.step(), Errc::invalid_argument, "\"weight\" got no gradient");
    (void)model.forward(ones({1, 2}));
    (void)model.backward(ones({1, 2}));
    (void)model.forward(ones({1, 2}));
    EXPECT_DIST_ERROR((void)model.backward(ones({1, 2})), Errc::invalid_argument, "ready a second time");
  });
}

TEST(ClipGradNorm, CountsEachElementOnce) {
  run_ranks(6, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 3}, {"dp", "tp"});
    const ProcessGroup dp = mesh.get_group("dp"), tp = mesh.get_group("tp");
    // The numbers 1, 2, ..., 36: 6 on every rank, 6 divided by dp, 6 by tp, and 12 by both.
    const auto part = [](std::int64_t first, std::int64_t count) {
      Tensor t = empty({count}, DType::f64);
      for (std::int64_t i = 0; i < count; ++i)
        t.data<double>()[static_cast<std::size_t>(i)] = static_cast<double>(first + i);
      return t;
    };
    std::array<nn::Parameter, 4> p;
    nn::Parameter copy;
    copy.initialize(ones({2}, DType::f64));
    copy.grad.fill_(100);
    for (nn::Parameter& each : p) each.value = zeros({1}, DType::f64);
    p[0].grad = part(1, 6);
    p[1].grad = part(7 + 3 * mesh.get_local_rank("dp"), 3);
    p[2].grad = part(13 + 2 * mesh.get_local_rank("tp"), 2);
    p[3].grad = part(19 + 2 * rank, 2);
    double squares = 0;
    for (int i = 1; i <= 30; ++i) squares += i * i;
    const PlacedAxis by_dp{.name = "dp", .group = dp, .placement = Shard(0)},
        by_tp{.name = "tp", .group = tp, .placement = Shard(0)};
    place(p[1]).axes = {by_dp};
    place(p[2]).axes = {by_tp};
    place(p[3]).axes = {by_dp, by_tp};
    place(copy).copy_of = "another";
    const std::vector<nn::Parameter*> all{&p[0], &p[1], &p[2], &p[3], &copy};
    EXPECT_NEAR(nn::clip_grad_norm(all, 1000), std::sqrt(squares), 1e-10);
    const std::vector<DividedParameter> by_hand{
        {&p[0]}, {&p[1], 1}, {&p[2], 2}, {&p[3], 3}, {&copy, 0, false}};
    EXPECT_NEAR(clip_grad_norm(by_hand, {dp, tp}, 1000), std::sqrt(squares), 1e-10);
    EXPECT_EQ(placed_of(p[3])->axes.size(), 2u) << "its own record is back";
    EXPECT_EQ(p[0].grad.data<double>()[5], 6) << "a norm below the limit changes nothing";
    EXPECT_NEAR(nn::clip_grad_norm(all, 1), std::sqrt(squares), 1e-10);
    EXPECT_NEAR(p[3].grad.data<double>()[0], (19 + 2 * rank) / std::sqrt(squares), 1e-6);
    p[3].grad.fill_(std::nan(""));
    EXPECT_DIST_ERROR(nn::clip_grad_norm(all, 1, {.error_if_nonfinite = true}), Errc::invalid_argument,
                      "has norm nan");
  });
}

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("distlab-checkpoint-{}", getpid());
  ~Folder() { std::filesystem::remove_all(path); }
};

// A sharded GPT with its optimizer after some steps.
struct Training {
  std::unique_ptr<nn::GPT> gpt = make_gpt(small_gpt());
  std::unique_ptr<nn::Adam> adam;
  explicit Training(bool sharded = true) {
    if (sharded) {
      for (nn::Block* const block : gpt->blocks()) fully_shard(*block);
      fully_shard(*gpt);
    }
    adam = std::make_unique<nn::Adam>(gpt->parameters(), nn::AdamOptions{.lr = 1e-2});
  }
  // Every rank takes the same rows, so that any number of ranks takes the same steps.
  void step(int number) {
    adam->zero_grad();
    pass(*gpt, 10 * number, 3);
    adam->step();
  }
  Pieces pieces() {
    Pieces all = pieces_of(*gpt);
    for (Piece& piece : pieces_of(*adam, *gpt)) all.push_back(std::move(piece));
    return all;
  }
};

TEST(ShardedCheckpoint, IsLoadedByAnyNumberOfRanks) {
  const Folder folder;
  Training alone(false);
  for (int i = 0; i < 2; ++i) alone.step(i);
  run_ranks(4, [&](int) {
    Training training;
    for (int i = 0; i < 2; ++i) training.step(i);
    save_sharded(folder.path, training.pieces());
  });
  alone.step(2);
  for (const int n : {1, 3, 4, 6}) {
    run_ranks(n, [&](int) {
      Training training;
      training.step(7);  // so that the optimizer has its state, with other values
      load_sharded(folder.path, training.pieces());
      training.step(2);
      expect_state(unsharded_state_dict(*training.gpt), values_of(*alone.gpt), 1e-7,
                   fmt::format("{} ranks", n));
    });
  }
  Training unsharded(false);
  unsharded.step(7);
  load_sharded(folder.path, unsharded.pieces());
  unsharded.step(2);
  expect_state(values_of(*unsharded.gpt), values_of(*alone.gpt), 1e-7, "not sharded");
}

std::size_t saves_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.is_directory();
  return count;
}

TEST(ShardedCheckpoint, OneThatWasNotFinishedLeavesTheOneBefore) {
  const Folder folder;
  run_ranks(2, [&](int) {
    Training training;
    training.step(0);
    save_sharded(folder.path, training.pieces());
    const nn::StateDict saved = unsharded_state_dict(*training.gpt);
    training.step(1);
    {
      ShardedSave begun(folder.path, training.pieces());
      training.step(2);  // beside it
    }
    barrier();
    EXPECT_EQ(saves_in(folder.path), 2U);
    load_sharded(folder.path, training.pieces());
    expect_state(unsharded_state_dict(*training.gpt), saved, 1e-15, "the first save");
    ShardedSave second(folder.path, training.pieces());
    training.step(3);
    second.finish();
    barrier();
    EXPECT_EQ(saves_in(folder.path), 1U) << "the others are removed";
    load_sharded(folder.path, training.pieces());
    expect_state(unsharded_state_dict(*training.gpt), saved, 1e-15, "as it was when the save began");
  });
}

TEST(ShardedCheckpoint, SaysWhatIsWrong) {
  const Folder folder;
  run_ranks(2, [&](int rank) {
    Training training;
    EXPECT_DIST_ERROR(load_sharded(folder.path, training.pieces()), Errc::invalid_argument,
                      "is \"" + folder.path.string() + "\" the folder of a sharded checkpoint?");
    Pieces pieces = pieces_of(*training.gpt);
    Pieces fewer = pieces;
    if (rank == 1) fewer.erase(fewer.begin());
    EXPECT_DIST_ERROR(save_sharded(folder.path, fewer), Errc::mismatch, "of \"transformer.wte.weight\"");
    Pieces other = pieces;
    if (rank == 1) other[0].name = "else";
    EXPECT_DIST_ERROR(save_sharded(folder.path, other), Errc::mismatch, "have");
    save_sharded(folder.path, pieces);
    pieces[0].name = "else";
    EXPECT_DIST_ERROR(load_sharded(folder.path, pieces), Errc::invalid_argument, "has no \"else\"");
    pieces[0].name = pieces[1].name;
    EXPECT_DIST_ERROR(load_sharded(folder.path, pieces), Errc::invalid_argument,
                      "does it belong to another model?");
    EXPECT_DIST_ERROR(save_sharded("/dev/null/folder", pieces_of(*training.gpt)), Errc::resource,
                      "/dev/null/folder: Not a directory");
  });
}

// A user may keep files beside the saves, and failed saves must not fill up a disk.
TEST(ShardedCheckpoint, TouchesOnlyItsOwnSaves) {
  const Folder folder;
  run_ranks(2, [&](int rank) {
    Training training;
    const Pieces pieces = pieces_of(*training.gpt);
    EXPECT_FALSE(has_sharded(folder.path));
    save_sharded(folder.path, pieces);
    EXPECT_TRUE(has_sharded(folder.path));
    barrier();
    if (rank == 0) {
      for (const char* own : {"save-2024", "save-old", "save-000007x"})
        std::filesystem::create_directory(folder.path / own);
      std::ofstream(folder.path / "save-000002") << "a file";
      std::filesystem::create_directory(folder.path / "save-000009");  // of a save that was killed
    }
    barrier();
    save_sharded(folder.path, pieces);
    barrier();
    for (const char* kept : {"save-2024", "save-old", "save-000007x", "save-000002", "save-000003"})
      EXPECT_TRUE(std::filesystem::exists(folder.path / kept)) << kept;
    for (const char* gone : {"save-000001", "save-000009"})
      EXPECT_FALSE(std::filesystem::exists(folder.path / gone)) << gone;
  });
}

TEST(ShardedCheckpoint, ADamagedFileIsOneLine) {
  const Folder folder;
  const auto text_of = [](const std::filesystem::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  run_ranks(1, [&](int) {
    const Tensor t = ones({2, 3});
    const Pieces pieces{{"t", t, {2, 3}, {0, 0}}};
    save_sharded(folder.path, pieces);
    const auto index = folder.path / "save-000001" / "index.json", in_force = folder.path / "checkpoint.json";
    const std::string good_index = text_of(index), good_in_force = text_of(in_force);
    const auto refuses = [&](const std::filesystem::path& file, const std::string& text) {
      std::ofstream(file) << text;
      EXPECT_DIST_ERROR(load_sharded(folder.path, pieces), Errc::invalid_argument,
                        file.string() + " is damaged; use the checkpoint before it");
    };
    for (const char* text : {"", "[]", "null", "{}", R"({"save":5})", R"({"save":""})",
                             R"({"save":"../save-000001"})", R"({"save":"save-000001)"})
      refuses(in_force, text);
    std::ofstream(in_force) << good_in_force;
    const auto with = [&](std::string from, const std::string& to) {
      std::string text = good_index;
      const auto at = text.find(from);
      EXPECT_NE(at, text.npos) << from;
      return text.replace(at, from.size(), to);
    };
    for (const std::string& text :
         {std::string("[]"), std::string(R"({"tensors":{"t":5}})"), with("\"f32\"", "3"),
          with("\"shape\"", "\"size\""), with("\"file\": \"", "\"file\": \"/etc/"), with("\"t#0\"", "7"),
          with("\"offset\": [", "\"offset\": [1,"), with("\"offset\"", "\"offset\": [0,-1], \"x\""),
          with("\"offset\"", "\"offset\": [1,0], \"x\"")})
      refuses(index, text);
    std::ofstream(index) << good_index;
    load_sharded(folder.path, pieces);
  });
}

}  // namespace
}  // namespace dist::test
