// Sharded checkpoints off the paved road: boxes that are wrong, copies that differ, saves that meet, loads
// that fail on one rank, optimizers before their first step.
#include <filesystem>

#include <gtest/gtest.h>

#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/full_state.h"
#include "dist/parallel/tensor/parallelize.h"

#include "support/expect_error.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"
#include "unit/parallel/gpt_support.h"

namespace dist::test {
namespace {

// After a save that throws, the one before is in force, and loads.
TEST(CheckpointChecks, ABadSaveLeavesTheGoodOne) {
  const TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    const double mine = rank;
    const auto row = [&](std::int64_t first, std::int64_t rows, double value) {
      return Piece{"t", full({rows, 2}, value), {4, 2}, {first, 0}};
    };
    save_sharded(folder.path, {row(2 * rank, 2, mine)});
    const auto refuses = [&](const Pieces& pieces, const std::vector<std::string>& said) {
      expect_error(Errc::mismatch, said, [&] { save_sharded(folder.path, pieces); });
      Pieces loaded{row(2 * rank, 2, 9)};
      load_sharded(folder.path, loaded);
      EXPECT_EQ(loaded[0].data.to_vector<float>(), std::vector<float>(4, static_cast<float>(rank)));
    };
    refuses({row(2 * rank, 2 + rank, mine)},
            {"of \"t\", [4,2], rank 1 has [3,2] at [2,0], which is not inside"});
    refuses({row(rank, 3, mine)}, {"of \"t\", ranks 0 and 1 have boxes that overlap"});
    refuses({row(3 * rank, 1, mine)}, {"of \"t\"", "the ranks have 4 elements together"});
    refuses({row(0, 4, mine)}, {"rank 0 and rank 1 have other values of \"t\"", "broadcast_state(model)"});
    Pieces buffers{row(0, 4, mine)};
    buffers[0].may_differ = true;
    save_sharded(folder.path, buffers);
    Pieces loaded{row(0, 4, 9)};
    load_sharded(folder.path, loaded);
    EXPECT_EQ(sum(loaded[0].data), 0) << "rank 0's count";
  });
}

TEST(CheckpointChecks, SavesToOneFolderQueue) {
  const TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    const auto piece = [&](double value) { return Pieces{{"t", full({2}, value), {4}, {2 * rank}}}; };
    ShardedSave first(folder.path, piece(1)), second(folder.path, piece(2));
    Pieces loaded = piece(0);
    barrier();
    load_sharded(folder.path, loaded);
    EXPECT_EQ(sum(loaded[0].data), 2) << "the second one has finished the first";
    first.finish();  // does nothing
    second.finish();
    load_sharded(folder.path, loaded);
    EXPECT_EQ(sum(loaded[0].data), 4);
  });
}

TEST(CheckpointChecks, ALoadSucceedsOnAllRanksOrOnNone) {
  const TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    Pieces pieces{{"t", full({2}, rank), {4}, {2 * rank}}};
    save_sharded(folder.path, pieces);
    barrier();
    Pieces wanted{{rank == 1 ? "u" : "t", full({2}, 9), {4}, {2 * rank}}};
    expect_error(Errc::invalid_argument, {"loading failed on rank 1, and so on all: ", "has no \"u\""},
                 [&] { load_sharded(folder.path, wanted, ShardedCheckpointOptions{}); });
    EXPECT_EQ(sum(wanted[0].data), 18) << "nothing has been filled";
    barrier();
    if (rank == 0) std::filesystem::remove(folder.path / "save-000001" / "rank-00001.safetensors");
    barrier();
    expect_error(Errc::invalid_argument, {"loading failed on rank 1, and so on all: "},
                 [&] { load_sharded(folder.path, pieces, ShardedCheckpointOptions{}); });
  });
}

// Adam's state goes into an optimizer that has not stepped yet, on another number of tensor-parallel ranks.
TEST(CheckpointChecks, AFreshOptimizerTakesItsState) {
  const TemporaryFolder folder;
  const nn::GptOptions options = small_gpt();
  const auto train = [&](nn::GPT& gpt, nn::AdamW& adam, std::int64_t rows) {
    gpt.zero_grad();
    (void)pass(gpt, rows, 3);
    adam.step();
  };
  const auto all_of = [](nn::GPT& gpt, nn::AdamW& adam) {
    Pieces all = pieces_of(gpt);
    for (Piece& piece : pieces_of(adam, gpt)) all.push_back(std::move(piece));
    return all;
  };
  const auto alone = make_gpt(options);
  nn::AdamW adam(alone->parameters(), {.lr = 0.1});
  train(*alone, adam, 0);
  run_ranks(1, [&](int) { save_sharded(folder.path, all_of(*alone, adam)); });
  train(*alone, adam, 3);
  run_ranks(2, [&](int) {
    nn::manual_seed(99);
    nn::GPT gpt(options);
    gpt.to(DType::f64);
    parallelize(gpt, init_device_mesh({2}, {"tp"}));
    nn::AdamW fresh(gpt.parameters(), {.lr = 0.1});
    load_sharded(folder.path, all_of(gpt, fresh), ShardedCheckpointOptions{});
    train(gpt, fresh, 3);
    const nn::StateDict got = full_state_dict(gpt);
    for (const auto& [name, parameter] : alone->named_parameters()) {
      if (name.ends_with("c_attn.bias")) continue;  // the true gradient of a key's bias is 0
      EXPECT_LE(difference(*nn::find(got, name), parameter->value), 1e-9) << name;
    }
  });
}

}  // namespace
}  // namespace dist::test
