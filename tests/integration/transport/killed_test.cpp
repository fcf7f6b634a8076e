// A rank is killed at any moment, even while the ranks connect: every survivor ends within 2 s and names it.
#include <filesystem>
#include <fstream>
#include <random>

#include "integration/transport/processes.h"

namespace dist::test {
namespace {

// Keeps every kind of message flowing until something goes wrong.
std::string talk_for_ever(Rank& me) {
  const int n = me.size(), next = mod(me.rank() + 1, n), previous = mod(me.rank() - 1, n);
  const std::size_t sizes[] = {8, 3000, 100000, 700000};
  std::vector<Message> out, in;
  for (std::size_t i = 0; i < 8; ++i) {
    out.emplace_back(sizes[i % 4], i < 4 ? Memory::arena : Memory::foreign);
    in.emplace_back(sizes[i % 4], Memory::arena);
  }
  for (std::uint64_t step = 0;; ++step) {
    auto net = me.open({.tag = step, .name = "ring_all_reduce", .what = {16384, DType::f32}});
    const std::size_t i = step % 8;
    send_recv(*net, out[i].view(), next, in[i].view(), previous);
  }
}

void kill_one_at_random(const World& world, std::mt19937& random, int longest_ms) {
  const int victim = static_cast<int>(random() % static_cast<unsigned>(world.n));
  const auto delay = std::chrono::microseconds(random() % static_cast<unsigned>(longest_ms * 1000));
  Processes ranks(world, talk_for_ever);
  std::this_thread::sleep_for(delay);
  const auto killed = Processes::Clock::now();
  ranks.kill(victim);
  const auto reports = ranks.join(10s);
  for (int rank = 0; rank < world.n; ++rank) {
    const auto& report = reports[static_cast<std::size_t>(rank)];
    if (rank == victim) {
      EXPECT_EQ(report.signal, SIGKILL);
      continue;
    }
    EXPECT_NE(report.text.find("rank " + std::to_string(victim)), std::string::npos)
        << "rank " << rank << " of " << world.str() << ", victim " << victim << " killed after "
        << delay.count() << " us: " << report.text;
    EXPECT_LT(report.ended - killed, 2s) << report.text;
  }
}

class Killed : public testing::TestWithParam<World> {};

TEST_P(Killed, at_a_random_moment) {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(GetParam().str())));
  for (int i = 0; i < 17 && !HasFailure(); ++i) kill_one_at_random(GetParam(), random, i % 2 ? 40 : 200);
}

INSTANTIATE_TEST_SUITE_P(Worlds, Killed,
                         testing::Values(World{4, "auto"}, World{3, "tcp"},
                                         World{4, "auto", {"a", "a", "b", "b"}}),
                         [](const auto& param_info) { return param_info.param.str(); });

TEST(Killed, leaves_nothing_behind) {
  std::mt19937 random(1);
  kill_one_at_random({3}, random, 100);
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);)
    EXPECT_EQ(line.find("@distlab-test-" + std::to_string(getpid())), std::string::npos) << line;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    EXPECT_EQ(entry.path().string().find("distlab"), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace dist::test
