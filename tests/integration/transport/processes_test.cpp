// The transport between processes: what threads cannot show.
#include "integration/transport/processes.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "dist/core/memory/arena.h"
#include "dist/core/sanitizer.h"

#include "support/left_files.h"

namespace dist::test {
namespace {

class BetweenProcesses : public testing::TestWithParam<World> {};

std::string exchange_all(Rank& me, std::size_t bytes, Memory out_memory, Memory in_memory,
                         std::uint64_t tag) {
  auto net = me.open({.tag = tag});
  std::vector<Message> out, in;
  std::vector<Request> requests;
  for (int peer = 0; peer < me.size(); ++peer) {
    out.emplace_back(bytes, out_memory).write(me.rank(), peer);
    in.emplace_back(bytes, in_memory).clear();
    requests.push_back(net->irecv(in.back().view(), peer));
    requests.push_back(net->isend(out.back().view(), peer));
  }
  for (auto& request : requests) request.wait();
  for (int peer = 0; peer < me.size(); ++peer) in[static_cast<std::size_t>(peer)].check(peer, me.rank());
  return "";
}

TEST_P(BetweenProcesses, sizes_and_memory) {
  Processes ranks(GetParam(), [](Rank& me) {
    std::uint64_t tag = 0;
    for (std::size_t bytes : {0u, 1u, 16u, 17u, 4096u, 4097u, 65537u, 1000003u})
      for (Memory out : {Memory::arena, Memory::foreign})
        for (Memory in : {Memory::arena, Memory::foreign}) exchange_all(me, bytes, out, in, ++tag);
    return "";
  });
  expect_all_well(ranks.join(60s));
}

// Rank 1 cannot map the others' arenas: what is in them arrives in pieces.
TEST_P(BetweenProcesses, without_room_to_map_the_others_arenas) {
#ifdef DIST_ASAN
  GTEST_SKIP() << "a sanitizer's shadow memory does not fit such a limit";
#endif
  if (built_with_tsan) GTEST_SKIP() << "a sanitizer's shadow memory does not fit such a limit";
  if (GetParam().n < 2) GTEST_SKIP() << "needs two ranks";
  const auto limit_address_space = [](int rank) {
    if (rank != 1) return;
    Arena::local().deallocate(Arena::local().allocate(1));
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * 4096 + (rlim_t{700} << 20);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  };
  Processes ranks(
      GetParam(),
      [](Rank& me) {
        std::uint64_t tag = 0;
        for (std::size_t bytes : {0u, 4097u, 1000003u})
          for (Memory out : {Memory::arena, Memory::foreign})
            for (Memory in : {Memory::arena, Memory::foreign})
              for (int turn = 0; turn < 3; ++turn) exchange_all(me, bytes, out, in, ++tag);
        return "";
      },
      limit_address_space);
  expect_all_well(ranks.join(60s));
}

TEST_P(BetweenProcesses, large_messages_cross_in_both_directions) {
  Processes ranks(GetParam(), [](Rank& me) {
    if (me.size() > 3) return "";
    exchange_all(me, 8 << 20, Memory::arena, Memory::arena, 1);
    exchange_all(me, 8 << 20, Memory::foreign, Memory::foreign, 2);
    return "";
  });
  expect_all_well(ranks.join(60s));
}

TEST_P(BetweenProcesses, mismatches_timeouts_and_cancelled_sends) {
  if (GetParam().n != 2) GTEST_SKIP() << "needs two ranks";
  Processes ranks(GetParam(), [](Rank& me) {
    Message big(200000, Memory::arena), small(64, Memory::arena);
    {
      auto net = me.open({.tag = 1, .mode = SendMode::rendezvous, .name = me.rank() == 0 ? "recv" : "send"});
      auto request = me.rank() == 0 ? net->irecv(small.view(), 1) : net->isend(big.view(), 0);
      expect_error(error_of([&] { request.wait(); }), Errc::mismatch, {"64", "200000"});
    }
    {
      auto net = me.open({.tag = 2, .timeout = 50ms});
      if (me.rank() == 0)
        expect_error(error_of([&] { net->irecv(big.view(), 1).wait(); }), Errc::timeout,
                     {"got 0 of 200000 bytes"});
    }
    auto net = me.open({.tag = 3});
    auto control = me.open({.tag = 4});
    if (me.rank() == 0) {
      { auto cancelled = net->isend(big.view(), 1); }
      big.clear();
      control->isend(small.view(), 1).wait();
    } else {
      control->irecv(small.view(), 0).wait();
      expect_error(error_of([&] { net->irecv(big.view(), 0).wait(); }), Errc::peer_failed,
                   {"gave up its send"});
    }
    exchange_all(me, 3000, Memory::arena, Memory::arena, 5);
    return "";
  });
  expect_all_well(ranks.join(30s));
}

TEST_P(BetweenProcesses, a_rank_that_exits_without_a_goodbye_is_dead) {
  Processes ranks(GetParam(), [](Rank& me) -> std::string {
    auto net = me.open({.tag = 17, .name = "ring_all_reduce", .what = {16384, DType::f32}});
    auto pair = me.open({.tag = 1});
    Message message(8, Memory::arena);
    if (me.rank() == 1) {
      for (int peer = 0; peer < me.size(); ++peer)
        if (peer != 1) pair->irecv(message.view(), peer).wait();
      ::_exit(0);
    }
    pair->isend(message.view(), 1).wait();
    const Error error = error_of([&] { net->irecv(message.view(), 1).wait(); });
    expect_error(error, Errc::peer_failed, {": ring_all_reduce #17 (16384 f32): rank 1 died"});
    return "";
  });
  auto reports = ranks.join(10s);
  expect_all_well(reports);
}

INSTANTIATE_TEST_SUITE_P(Worlds, BetweenProcesses,
                         testing::Values(World{2, "auto"}, World{2, "tcp"}, World{3, "auto"},
                                         World{5, "auto", {"a", "a", "b", "b", "c"}}),
                         [](const auto& param_info) { return param_info.param.str(); });

// More ranks than cores: a rank that waits sleeps.
TEST(Oversubscribed, waiting_costs_little) {
  Processes ranks({6}, [](Rank& me) {
    exchange_all(me, 100, Memory::arena, Memory::arena, 1);
    auto net = me.open({.tag = 2});
    Message message(8, Memory::arena);
    const auto cpu_seconds = [] {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    };
    const double before = cpu_seconds();
    if (me.rank() == 0) {
      std::this_thread::sleep_for(1s);
      for (int peer = 1; peer < me.size(); ++peer) net->isend(message.view(), peer).wait();
    } else {
      net->irecv(message.view(), 0).wait();
    }
    EXPECT_LT(cpu_seconds() - before, 0.05);
    return "";
  });
  expect_all_well(ranks.join(20s));
}

// Whichever step hits the limit, every rank gets one error that says so.
TEST(Limits, too_few_descriptors_is_one_clear_error) {
  for (rlim_t limit = 9; limit <= 30; limit += 3) {
    Processes ranks(
        {3}, [](Rank& me) { return exchange_all(me, 8, Memory::arena, Memory::arena, 1) + "connected"; },
        [&](int rank) {
          const rlimit few{limit, limit};
          if (rank == 1) setrlimit(RLIMIT_NOFILE, &few);
        });
    const auto reports = ranks.join(30s);
    if (reports[1].text.starts_with("connected")) {
      EXPECT_GT(limit, 9u);
      continue;
    }
    EXPECT_NE(reports[1].text.find("ulimit -n"), std::string::npos) << limit << ": " << reports[1].text;
    for (int rank : {0, 2}) {
      const std::string& text = reports[static_cast<std::size_t>(rank)].text;
      EXPECT_NE(text.find("rank 1"), std::string::npos) << limit << ": " << text;
    }
  }
}

int open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<int>(std::distance(begin(entries), end(entries)));
}

TEST(Traces, connecting_and_leaving_leaves_no_descriptor_and_no_file) {
  const auto shared_before = left_files_in("/dev/shm");
  int before = 0;
  const auto count_before = [&](int) {
    Arena::local().deallocate(Arena::local().allocate(1));  // its own descriptors stay
    before = open_descriptors();
  };
  Processes ranks(
      {3},
      [&](Rank& me) -> std::string {
        exchange_all(me, 100000, Memory::arena, Memory::arena, 1);
        me.endpoint().close("");
        me.die();
        const int after = open_descriptors();
        // The store may have opened one more connection.
        return after <= before + 1 ? "" : fmt::format("{} descriptors before, {} after", before, after);
      },
      count_before);
  expect_all_well(ranks.join(20s));
  EXPECT_EQ(left_files_in("/dev/shm"), shared_before);
}

}  // namespace
}  // namespace dist::test
