// Saves of a sharded checkpoint are killed at random moments, one rank or all of them: each time the previous
// save or the one in progress is there, complete. SAVE_KILLS sets how many; default: 20.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <sys/mman.h>

#include "dist/dist.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"

#include "kill_support.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds, std::chrono::microseconds;

constexpr int saving_ranks = 3;
constexpr std::int64_t rows = 9, width = 20'000;

// What the ranks tell the test, including those that are killed.
struct Shared {
  std::atomic<int> begun = 0, done = 0;        // the last save that began, and the last one that was in force
  std::atomic<std::int64_t> microseconds = 0;  // that one took
  std::atomic<bool> is_clean = true;  // when one save was complete, nothing was left of the killed ones
};

Shared& made_shared() {
  return *new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      Shared;
}

// A tensor of which each rank has a part, and one that all have.
Pieces pieces_of_save(int rank, int ranks, double number) {
  const std::int64_t share = rows / ranks;
  return {{"divided", full({share, width}, number), {rows, width}, {rank * share, 0}},
          {"whole", full({width}, number), {width}, {0}}};
}

// checkpoint.json, and the index and a file per rank of one save.
bool is_clean(const fs::path& folder) {
  int entries = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") return false;
    ++entries;
  }
  return entries == 1 + 1 + 1 + saving_ranks;
}

std::string save_again_and_again(int rank, const fs::path& folder, Shared& all,
                                 const std::function<void()>& ready) {
  init_process_group({.timeout = std::chrono::seconds(20)});
  // Rank 0 numbers the saves: after a kill the count goes on.
  for (bool is_first = true;; is_first = false) {
    Tensor number = full({1}, all.begun + 1, DType::i64);
    broadcast(number, 0);
    const int save = number.item<int>();
    if (rank == 0) all.begun = save;
    const auto began = ProcessRanks::Clock::now();
    save_sharded(folder, pieces_of_save(rank, saving_ranks, save));
    if (rank != 0) {
      if (is_first) ready();
      continue;
    }
    all.microseconds = std::chrono::duration_cast<microseconds>(ProcessRanks::Clock::now() - began).count();
    all.done = save;
    if (!is_clean(folder)) all.is_clean = false;
    if (is_first) ready();
  }
}

// The number of the save that is in force. The test fails unless all elements are of one save.
int loaded(const fs::path& folder) {
  const Pieces pieces = pieces_of_save(0, 1, -1);
  load_sharded(folder, pieces);
  const int number = static_cast<int>(max(pieces[0].data));
  for (const Piece& piece : pieces)
    EXPECT_TRUE(equal(piece.data, full(piece.whole, number))) << piece.name << " of " << number;
  return number;
}

TEST(SaveKilled, AWholeSaveIsAlwaysInForce) {
  const char* const asked = std::getenv("SAVE_KILLS");
  const int kills = asked ? std::atoi(asked) : 20;
  const auto folder = fs::temp_directory_path() / fmt::format("distlab-saves-{}", getpid());
  Shared& shared = made_shared();
  std::mt19937 random(7);
  int of_the_killed = 0;
  for (int trial = 0; trial < kills && !testing::Test::HasFailure(); ++trial) {
    ProcessRanks ranks(saving_ranks, [&](int rank, const auto& ready) {
      return save_again_and_again(rank, folder, shared, ready);
    });
    ASSERT_TRUE(ranks.wait_ready(milliseconds(30'000)));
    const auto moments = static_cast<std::uint64_t>(2 * shared.microseconds);
    std::this_thread::sleep_for(microseconds(random() % std::max<std::uint64_t>(moments, 1)));
    const int victim = trial % (saving_ranks + 1);  // the last: all of them
    SCOPED_TRACE(
        fmt::format("kill {}: {}", trial, victim < saving_ranks ? fmt::format("rank {}", victim) : "all"));
    for (int rank = 0; rank < saving_ranks; ++rank)
      if (victim == saving_ranks || rank == victim) ranks.signal(rank, SIGKILL);
    (void)ranks.join(milliseconds(20'000));
    const int number = loaded(folder);
    EXPECT_GE(number, shared.done);
    EXPECT_LE(number, shared.begun);
    of_the_killed += number > shared.done;
    EXPECT_TRUE(shared.is_clean) << "a save left something of one that was killed before it";
  }
  RecordProperty("saves", shared.begun.load());
  RecordProperty("in_force_and_not_yet_returned", of_the_killed);
  munmap(&shared, sizeof shared);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace dist::test
