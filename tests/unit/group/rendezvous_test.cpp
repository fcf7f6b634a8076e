// Ranks that are threads: they meet in every way that there is, and in every way in which meeting can fail.
#include "dist/group/join/rendezvous.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/store/file_store.h"
#include "dist/store/memory_store.h"
#include "dist/store/socket.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

constexpr Timeout plenty = 20s;
Deadline soon() { return Deadline::after(plenty); }
int free_port() { return local_port(listen_at(parse_address("tcp://127.0.0.1:0")).get()); }
std::string fresh_address() { return "tcp://127.0.0.1:" + std::to_string(free_port()); }
GetEnv environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// Runs fn(rank) on n threads and returns what each threw: nothing, or its Error.
std::vector<std::optional<Error>> run(int n, const std::function<void(int)>& fn) {
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        fn(rank);
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

void expect_all_well(const std::vector<std::optional<Error>>& errors) {
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    EXPECT_FALSE(errors[rank]) << "rank " << rank << ": " << errors[rank]->what();
  }
}

void expect_all(const std::vector<std::optional<Error>>& errors, Errc code, std::vector<std::string> parts) {
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    ASSERT_TRUE(errors[rank]) << "rank " << rank << " saw no error";
    const std::string text = errors[rank]->what();
    EXPECT_EQ(name(errors[rank]->code()), name(code)) << text;
    EXPECT_EQ(text.find(fmt::format("rank {}: ", rank)), 0u) << text;
    for (const auto& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

InitOptions as_rank(int rank, int world_size, const std::string& method, Timeout timeout = plenty) {
  InitOptions options;
  options.init_method = method;
  options.rank = rank;
  options.world_size = world_size;
  options.timeout = timeout;
  return options;
}

// In a store that another process keeps.
InitOptions in_store(std::shared_ptr<Store> store, int rank, int world_size, Timeout timeout = plenty) {
  InitOptions options = as_rank(rank, world_size, "env://", timeout);
  options.store = std::move(store);
  return options;
}

// Joins, exchanges something through the store, and leaves.
void meet(const InitOptions& options, RankContext& context, const GetEnv& get_env = environment({})) {
  Job job = rendezvous(options, context, get_env);
  EXPECT_EQ(job.local_rank, job.rank);
  EXPECT_EQ(job.local_world_size, job.world_size);
  EXPECT_EQ(job.hosts, std::vector<int>(static_cast<std::size_t>(job.world_size), 0));
  EXPECT_FALSE(job.token.empty());
  job.store->set("hello/" + std::to_string(job.rank), job.token);
  for (int r = 0; r < job.world_size; ++r) {
    EXPECT_EQ(job.store->get_text("hello/" + std::to_string(r), soon()), job.token);
  }
  leave(job, Deadline::after(leave_patience));
  EXPECT_EQ(job.store, nullptr);
}

class EverySize : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EverySize, testing::Values(1, 2, 3, 5, 8));

TEST_P(EverySize, MeetsByTcp) {
  const int n = GetParam();
  const std::string address = fresh_address();
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    meet(as_rank(rank, n, address), context);
  }));
}

TEST_P(EverySize, MeetsByTcpWithAQuery) {
  const int n = GetParam();
  const std::string address = fresh_address();
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    meet(as_rank(-1, -1, fmt::format("{}?rank={}&world_size={}", address, rank, n)), context);
  }));
}

TEST_P(EverySize, MeetsByFileAndLeavesNone) {
  const int n = GetParam();
  const std::string path = testing::TempDir() + "distlab-meet-" + std::to_string(getpid());
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    for (int round = 0; round < 3; ++round) meet(as_rank(rank, n, "file://" + path), context);
  }));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_P(EverySize, MeetsByTheEnvironment) {
  const int n = GetParam();
  const std::string port = std::to_string(free_port());
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    meet({.timeout = plenty}, context,
         environment({{"RANK", std::to_string(rank)},
                      {"WORLD_SIZE", std::to_string(n)},
                      {"MASTER_ADDR", "localhost"},
                      {"MASTER_PORT", port}}));
  }));
}

TEST_P(EverySize, MeetsAtTheLaunchersStore) {
  const int n = GetParam();
  StoreServer server("tcp://127.0.0.1:0", "token");
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    for (int round = 0; round < 2; ++round) {
      meet({.timeout = plenty}, context,
           environment({{"RANK", std::to_string(rank)},
                        {"WORLD_SIZE", std::to_string(n)},
                        {"DIST_STORE", server.address()},
                        {"DIST_JOB_TOKEN", "token"}}));
    }
  }));
}

TEST_P(EverySize, MeetsUnderMpirunWithoutAnAddress) {
  const int n = GetParam();
  const std::string size = std::to_string(n);
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    const std::string me = std::to_string(rank);
    meet({.timeout = plenty}, context,
         environment({{"OMPI_COMM_WORLD_RANK", me},
                      {"OMPI_COMM_WORLD_SIZE", size},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", me},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", size},
                      {"PMIX_NAMESPACE", "test-" + std::to_string(getpid())}}));
  }));
}

TEST_P(EverySize, MeetsInASpawnedContextWhateverTheEnvironmentSays) {
  const int n = GetParam();
  auto store = make_memory_store();
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    context.store = store;
    context.launch.emplace();
    context.launch->rank = rank;
    context.launch->world_size = n;
    context.launch->launcher = "spawn";
    for (int round = 0; round < 3; ++round) {
      meet({.timeout = plenty}, context, environment({{"RANK", "77"}, {"WORLD_SIZE", "nonsense"}}));
    }
  }));
}

TEST_P(EverySize, MeetsAgainAndAgainWhereRankZeroKeepsTheStore) {
  const int n = GetParam();
  const std::string address = fresh_address();
  std::atomic<int> slowest = 0;
  expect_all_well(run(n, [&](int rank) {
    RankContext context;
    for (int round = 0; round < 6; ++round) {
      if ((rank + round) % 3 == 0) std::this_thread::sleep_for(5ms);
      meet(as_rank(rank, n, address), context);
      EXPECT_EQ(context.generation, round + 1);
    }
    ++slowest;
  }));
  EXPECT_EQ(slowest, n);
}

TEST(Rendezvous, TokensAreNewEachTime) {
  RankContext context;
  Job one = rendezvous(as_rank(0, 1, fresh_address()), context, environment({}));
  Job two = rendezvous(as_rank(0, 1, fresh_address()), context, environment({}));
  EXPECT_NE(one.token, two.token);
}

TEST(Rendezvous, TwoJobsOnOneStoreDoNotMeetUnderTheirPrefixes) {
  auto store = make_memory_store();
  expect_all_well(run(6, [&](int thread) {
    RankContext context;
    const InitOptions options =
        in_store(std::make_shared<PrefixStore>(thread % 2 ? "blue" : "red", store), thread / 2, 3);
    Job job = rendezvous(options, context, environment({}));
    EXPECT_EQ(job.store->add("members", 1) <= 3, true);
    job.store->set("colour", thread % 2 ? "blue" : "red");
    EXPECT_EQ(job.store->get_text("colour", soon()), thread % 2 ? "blue" : "red");
  }));
}

TEST(Rendezvous, ALateRankIsWaitedFor) {
  const std::string address = fresh_address();
  for (int late : {0, 2}) {
    expect_all_well(run(3, [&](int rank) {
      if (rank == late) std::this_thread::sleep_for(150ms);
      RankContext context;
      meet(as_rank(rank, 3, address), context);
    }));
  }
}

class MissingRanks : public testing::TestWithParam<bool> {};  // whether rank 0 keeps the store
INSTANTIATE_TEST_SUITE_P(Keeper, MissingRanks, testing::Bool(),
                         [](const auto& kept) { return kept.param ? "rank0" : "launcher"; });

TEST_P(MissingRanks, AreNamedOnEveryRankThatCame) {
  const std::string address = fresh_address();
  auto store = make_memory_store();
  std::atomic<int> number = 0;
  const auto start = Deadline::Clock::now();
  const auto errors = run(3, [&](int rank) {
    RankContext context;
    // The first to give up ends the wait of the others, long before their own time.
    InitOptions options = as_rank(rank, 5, address, rank == 1 ? Timeout(200ms) : plenty);
    if (!GetParam()) options.store = store;
    rendezvous(options, context, environment({}));
    ++number;
  });
  expect_all(errors, Errc::timeout, {"3 of 5 ranks joined", "missing: ranks 3, 4", "200 ms"});
  EXPECT_EQ(number, 0);
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
}

TEST_P(MissingRanks, CanMeetAtTheSecondAttempt) {
  const std::string address = fresh_address();
  auto store = make_memory_store();
  expect_all_well(run(3, [&](int rank) {
    RankContext context;
    InitOptions options = as_rank(rank, 3, address, 150ms);
    if (!GetParam()) options.store = store;
    if (rank == 2) {
      std::this_thread::sleep_for(300ms);
      if (!GetParam()) context.generation = 1;  // it has to know that the others have tried before
    } else {
      EXPECT_THROW(rendezvous(options, context, environment({})), Error);
    }
    options.timeout = plenty;
    meet(options, context);
  }));
}

TEST(Rendezvous, ARankThatComesAfterTheTimeoutIsToldSo) {
  auto store = make_memory_store();
  InitOptions options = in_store(store, 0, 2, 50ms);
  RankContext first, second;
  expect_error(Errc::timeout, {"missing: rank 1;"}, [&] { rendezvous(options, first, environment({})); });
  options.rank = 1;
  expect_error(Errc::timeout, {"rank 1: ", "missing: rank 1;"},
               [&] { rendezvous(options, second, environment({})); });
}

// How long the error takes does not grow with the number that was typed.
TEST(Rendezvous, AWorldOfAHundredMillionIsRefusedInTime) {
  RankContext alone;
  const auto began = std::chrono::steady_clock::now();
  expect_error(Errc::timeout, {"1 of 100000000 ranks joined", "15, 16 and 99999983 more"},
               [&] { rendezvous(as_rank(0, 100'000'000, fresh_address(), 50ms), alone, environment({})); });
  EXPECT_LT(std::chrono::steady_clock::now() - began, plenty);
}

TEST(Rendezvous, AWrongWorldSizeIsToldToEveryRankWithBothNumbers) {
  for (int odd : {0, 1, 3}) {
    for (bool kept : {true, false}) {
      const std::string address = fresh_address();
      auto store = make_memory_store();
      const auto errors = run(4, [&](int rank) {
        RankContext context;
        InitOptions options = as_rank(rank, rank == odd ? 5 : 4, address);
        if (!kept) options.store = store;
        rendezvous(options, context, environment({}));
      });
      expect_all(errors, Errc::mismatch, {fmt::format("rank {}", odd), "5", "4", "WORLD_SIZE"});
    }
  }
}

TEST(Rendezvous, TwoProcessesThatClaimOneRankAreBothToldSo) {
  for (int twice : {0, 1}) {
    const std::string address = fresh_address();
    const auto start = Deadline::Clock::now();
    const auto errors = run(2, [&](int thread) {
      if (thread == 1) std::this_thread::sleep_for(50ms);
      RankContext context;
      rendezvous(as_rank(twice, 3, address, twice == 0 ? plenty : Timeout(1s)), context, environment({}));
    });
    EXPECT_LT(Deadline::Clock::now() - start, 10s);
    for (const auto& error : errors) {
      ASSERT_TRUE(error);
      if (twice == 0) {
        EXPECT_NE(std::string(error->what()).find("two processes claim to be rank 0"), std::string::npos)
            << error->what();
      } else {
        EXPECT_EQ(error->code(), Errc::connection);  // no process keeps the store
      }
    }
  }
  auto store = make_memory_store();
  const auto errors = run(2, [&](int) {
    RankContext context;
    const InitOptions options = in_store(store, 1, 3);
    rendezvous(options, context, environment({}));
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::mismatch);
    EXPECT_NE(std::string(error->what()).find("two processes claim to be rank 1: process"),
              std::string::npos);
  }
}

TEST(Rendezvous, AFileOfAJobThatGaveUpServesTheNext) {
  const std::string path = testing::TempDir() + "distlab-stale-" + std::to_string(getpid());
  RankContext alone;
  expect_error(Errc::timeout, {"missing: rank 1;"},
               [&] { rendezvous(as_rank(0, 2, "file://" + path, 20ms), alone, environment({})); });
  expect_all_well(run(2, [&](int rank) {
    RankContext context;
    meet(as_rank(rank, 2, "file://" + path), context);
  }));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Rendezvous, AFileThatSomebodyElseWroteIsSuspected) {
  const std::string path = testing::TempDir() + "distlab-foreign-" + std::to_string(getpid());
  make_file_store(path)->set("job/0/0/join/0", "nonce\nhost\nprocess 1 on a host");
  RankContext context;
  expect_error(Errc::mismatch, {"rank 0", path, "remove it"},
               [&] { rendezvous(as_rank(0, 2, "file://" + path, 20ms), context, environment({})); });
  std::filesystem::remove(path);
}

TEST(Rendezvous, AnUnreachableMasterIsNamed) {
  const std::string address = fresh_address();
  RankContext context;
  expect_error(Errc::connection, {"rank 1: ", address, "Connection refused"},
               [&] { rendezvous(as_rank(1, 2, address, 100ms), context, environment({})); });
  EXPECT_EQ(context.generation, 0);
}

TEST(Rendezvous, APortOfAnotherProgramIsTaken) {
  const UniqueFd other = listen_at(parse_address("tcp://127.0.0.1:0"));
  const int port = local_port(other.get());
  RankContext context;
  expect_error(Errc::resource, {"rank 0: ", std::to_string(port), "taken", "MASTER_PORT"}, [&] {
    rendezvous(as_rank(0, 2, "tcp://127.0.0.1:" + std::to_string(port), 300ms), context, environment({}));
  });
  StoreServer stranger("tcp://127.0.0.1:0", "another token");
  expect_error(Errc::resource, {std::to_string(stranger.port()), "taken"},
               [&] { rendezvous(as_rank(0, 2, stranger.address(), 300ms), context, environment({})); });
}

TEST(Rendezvous, ARankThatDiesDoesNotHoldUpRankZero) {
  const std::string address = fresh_address();
  std::atomic<bool> left = false;
  expect_all_well(run(3, [&](int rank) {
    RankContext context;
    Job job = rendezvous(as_rank(rank, 3, address), context, environment({}));
    if (rank == 1) return;  // its handles are closed without a word, as when its process is killed
    if (rank == 2) {
      std::this_thread::sleep_for(200ms);
      EXPECT_FALSE(left);  // rank 0 keeps the store for those that are alive
      EXPECT_EQ(job.store->add("still", 1), 1);
      auto held = job.store;  // a group may still hold the handle when its rank leaves
      leave(job, soon());
      return;
    }
    const auto start = Deadline::Clock::now();
    leave(job, Deadline::after(leave_patience));
    left = true;
    EXPECT_LT(Deadline::Clock::now() - start, 5s);
  }));
}

TEST(Rendezvous, RankZeroWaitsNoLongerThanItsDeadline) {
  const std::string address = fresh_address();
  std::atomic<bool> done = false;
  expect_all_well(run(2, [&](int rank) {
    RankContext context;
    Job job = rendezvous(as_rank(rank, 2, address), context, environment({}));
    const auto start = Deadline::Clock::now();
    while (rank == 1 && !done) std::this_thread::sleep_for(5ms);
    leave(job, Deadline::after(100ms));
    if (rank == 0) {
      EXPECT_LT(Deadline::Clock::now() - start, 5s);
      done = true;
    }
  }));
}

TEST(Rendezvous, ALauncherCanEndAJoiningThatCannotBeComplete) {
  auto store = make_memory_store();
  const auto start = Deadline::Clock::now();
  const auto errors = run(3, [&](int rank) {
    RankContext context;
    const InitOptions options = in_store(store, rank, 3);
    Job job = rendezvous(options, context, environment({}));
    leave(job, soon());
    if (rank == 2) {  // it dies between joining twice
      cancel_rendezvous(store, 0, "rank 2 was killed by signal 9 (Killed)");
      fail(Errc::peer_failed, "rank 2: init_process_group: rank 2 was killed by signal 9 (Killed)");
    }
    rendezvous(options, context, environment({}));
  });
  expect_all(errors, Errc::peer_failed, {"rank 2 was killed by signal 9 (Killed)"});
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
}

class ARankThatHasEnded : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OthersWait, ARankThatHasEnded, testing::Bool());

TEST_P(ARankThatHasEnded, IsNotWaitedFor) {
  const bool others_wait = GetParam();  // otherwise they come when it has ended
  auto store = make_memory_store();
  const auto start = Deadline::Clock::now();
  const auto errors = run(3, [&](int rank) {
    RankContext context;
    const InitOptions options = in_store(store, rank, 3);
    meet(options, context);
    if ((rank == 1) == others_wait) std::this_thread::sleep_for(50ms);
    if (rank == 1) return note_end(store, 0, 1, 3);
    rendezvous(options, context, environment({}), {"train.cpp", 3});
  });
  for (const std::size_t rank : {0U, 2U}) {
    ASSERT_TRUE(errors[rank]) << rank;
    EXPECT_EQ(errors[rank]->code(), Errc::peer_failed);
    EXPECT_EQ(errors[rank]->what(),
              fmt::format("rank {}: init_process_group at train.cpp:3: rank 1 has ended without calling "
                          "it again; every rank must",
                          rank));
  }
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
}

TEST(Rendezvous, ARankThatHasEndedIsNotMissedWhereFewerJoin) {
  auto store = make_memory_store();
  note_end(store, 0, 1, 3);
  expect_all_well(run(2, [&](int rank) {
    RankContext context;
    const InitOptions options = in_store(store, rank, 2);
    meet(options, context);
  }));
}

TEST(Rendezvous, OptionsThatContradictAreRefusedBeforeAnythingMoves) {
  RankContext context;
  auto refused = [&](const InitOptions& options, const std::vector<std::string>& parts) {
    expect_error(Errc::invalid_argument, parts, [&] { rendezvous(options, context, environment({})); });
  };
  refused(as_rank(2, 2, "tcp://127.0.0.1:1"), {"rank 2 of world size 2"});
  refused(as_rank(-2, 2, "tcp://127.0.0.1:1"), {"rank -2"});
  refused(as_rank(0, 0, "tcp://127.0.0.1:1"), {"world size 0"});
  for (const Timeout none : {Timeout::zero(), Timeout(-1s)})
    refused(as_rank(0, 2, "tcp://127.0.0.1:1", none), {"the timeout must be greater than 0"});
  refused(as_rank(0, 2, "tcp://127.0.0.1:1?rank=1"), {"rank is 1 in init_method and 0 in the options"});
  refused(as_rank(0, 2, "tcp://127.0.0.1:1?rang=1"), {"'rang'"});
  refused(as_rank(-1, 2, "tcp://127.0.0.1:1?rank=x"), {"'x'", "not a number"});
  refused(as_rank(0, 2, "tcp://127.0.0.1"), {"port is missing"});
  refused(as_rank(0, 2, "tcp://127.0.0.1:0"), {"port 0"});
  refused(as_rank(0, 2, "file://here"), {"file://here", "begin with '/'"});
  refused(as_rank(0, 2, "http://host:80"), {"http://host:80", "scheme"});
  refused(as_rank(0, 2, ""), {"scheme"});
  expect_error(Errc::not_initialized, {"distrun"},
               [&] { rendezvous(as_rank(-1, 2, "tcp://127.0.0.1:1"), context, environment({})); });
  expect_error(Errc::not_initialized, {"distrun"}, [&] { rendezvous({}, context, environment({})); });
  EXPECT_EQ(context.generation, 0);
}

TEST(Rendezvous, OptionsComeBeforeTheEnvironment) {
  const std::string port = std::to_string(free_port());
  expect_all_well(run(2, [&](int rank) {
    RankContext context;
    InitOptions options = as_rank(rank, 2, "env://");
    Job job =
        rendezvous(options, context, environment({{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}}));
    EXPECT_EQ(job.rank, rank);
    EXPECT_EQ(job.launcher, "env");
    leave(job, soon());
  }));
}

TEST(Rendezvous, TheTimeoutIsTheOptionsOrTheEnvironments) {
  RankContext context;
  const std::string address = fresh_address();
  InitOptions options = as_rank(0, 1, address);
  EXPECT_EQ(rendezvous(options, context, environment({{"DIST_TIMEOUT", "3"}})).timeout, plenty);
  options.timeout.reset();
  EXPECT_EQ(rendezvous(options, context, environment({{"DIST_TIMEOUT", "3"}})).timeout, 3s);
  EXPECT_EQ(rendezvous(options, context, environment({})).timeout, default_timeout);
}

}  // namespace
}  // namespace dist::test
