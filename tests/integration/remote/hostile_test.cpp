// Processes that die, are silent, or speak nonsense: they harm only their own rank.
#include <chrono>
#include <csignal>
#include <random>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dist/dist.h"
#include "dist/simulate/remote/protocol.h"
#include "dist/simulate/remote/rank.h"

#include "support/forked_ranks.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

// Rank 0 does `bad`; the others all_reduce, which cannot succeed.
sim::Report with_rank_0(const RankProcess& bad, const sim::ProcessOptions& limits = {},
                        const std::function<void()>& once_forked = {}) {
  sim::RunOptions options;
  options.ranks = 3;
  const RankProcess process = [&](int rank, UniqueFd socket) {
    if (rank == 0) return bad(rank, std::move(socket));
    sim::run_as_rank(std::move(socket), [](int) {
      init_process_group();
      Tensor t = zeros({4});
      all_reduce(t);
    });
  };
  return simulate_processes(options, process, limits, once_forked);
}

void join_and(const std::function<void()>& then, UniqueFd socket) {
  sim::run_as_rank(std::move(socket), [&](int) {
    init_process_group();
    then();
  });
}

// The report blames rank 0 first, in these words; the others fail because of it.
void expect_blamed(const sim::Report& report, const std::string& words) {
  ASSERT_EQ(report.failures.size(), 3u) << report.text();
  EXPECT_EQ(report.failures[0].rank, 0) << report.text();
  EXPECT_NE(report.failures[0].what.find(words), std::string::npos) << report.text();
}

TEST(Hostile, ItIsKilled) {
  expect_blamed(
      with_rank_0([](int, UniqueFd socket) { join_and([] { raise(SIGKILL); }, std::move(socket)); }),
      "its process is gone");
}

TEST(Hostile, ItLeavesWithoutAWord) {
  expect_blamed(with_rank_0([](int, UniqueFd socket) { join_and([] { _exit(0); }, std::move(socket)); }),
                "its process is gone");
}

TEST(Hostile, ItNeverComes) {
  const auto report = with_rank_0([](int, UniqueFd) {});
  ASSERT_FALSE(report.failures.empty());
  EXPECT_NE(report.text().find("rank 0: its process is gone"), std::string::npos) << report.text();
}

TEST(Hostile, ItDoesNothing) {
  const sim::ProcessOptions limits{.patience = 300ms};
  const auto begin = std::chrono::steady_clock::now();
  expect_blamed(
      with_rank_0([](int, UniqueFd socket) { join_and([] { ::usleep(1'500'000); }, std::move(socket)); },
                  limits),
      "its process has done nothing for 0.3 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// The caller that ends the processes decides which one is late, even where a connection stays open, as rank
// 0's does for a while.
TEST(Hostile, ItIsStopped) {
  std::stop_source stopped;
  const sim::ProcessOptions limits{.patience = no_timeout, .stopped = stopped.get_token()};
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stops;
  expect_blamed(
      with_rank_0([](int, UniqueFd socket) { join_and([] { ::usleep(1'500'000); }, std::move(socket)); },
                  limits,
                  [&] {
                    stops = std::jthread([&] {
                      std::this_thread::sleep_for(300ms);
                      stopped.request_stop();
                    });
                  }),
      "its process is gone (stopped)");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
}

TEST(Hostile, ItHasTooMuchUnderWay) {
  const sim::ProcessOptions limits{.most_bytes = std::size_t{1} << 20};
  expect_blamed(with_rank_0(
                    [](int, UniqueFd socket) {
                      join_and(
                          [] {
                            Tensor t = zeros({1 << 20});
                            all_reduce(t, ReduceOp::sum,
                                       {.algorithm = "ring"});  // a third of it in one message
                          },
                          std::move(socket));
                    },
                    limits),
                "more than 1 MiB of messages are under way");
}

void write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

TEST(Hostile, NoiseIsNoMessage) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto report = with_rank_0([seed](int, UniqueFd socket) {
      std::mt19937 random(seed);
      Bytes noise(random() % 300);
      for (auto& byte : noise) byte = static_cast<std::byte>(random() % (seed % 2 == 0 ? 256 : 4));
      write_all(socket.get(), noise);
    });
    ASSERT_FALSE(report.failures.empty()) << seed;
    ASSERT_NE(report.text().find("rank 0: "), std::string::npos) << seed << report.text();
  }
}

// Makes many calls in a row, of every kind and with random arguments: a refused call is an error, and the
// next one works.
TEST(Hostile, VerbsWithArgumentsOfChance) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto report = with_rank_0(
        [seed](int, UniqueFd socket) {
          std::mt19937 random(seed);
          Bytes said;
          for (int i = 0; i < 20; ++i) {
            wire::Writer message(
                static_cast<sim::Verb>(random() % (static_cast<unsigned>(sim::last_verb) + 1)));
            for (unsigned n = random() % 12; n > 0; --n) {
              switch (random() % 4) {
                case 0: message.put(random() % 4); break;
                case 1: message.put(std::uint64_t{random() % 4}); break;
                case 2: message.put(static_cast<std::uint8_t>(random() % 9)); break;
                case 3: message.put(std::string_view("train.cpp:7")); break;
              }
            }
            const Bytes frame = message.finish();
            said.insert(said.end(), frame.begin(), frame.end());
          }
          write_all(socket.get(), said);
          shutdown(socket.get(), SHUT_WR);
          std::array<std::byte, 4096> heard;
          while (::read(socket.get(), heard.data(), heard.size()) > 0) {
          }
        },
        {.patience = 5s});
    ASSERT_FALSE(report.failures.empty()) << seed;
  }
}

TEST(Hostile, OneSocketForEachRank) {
  sim::RunOptions options;
  options.ranks = 3;
  try {
    sim::run_processes(options, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace dist::test
