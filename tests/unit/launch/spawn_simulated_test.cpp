// spawn() under DIST_SIM.
#include "dist/launch/spawn_simulated.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/dist.h"
#include "dist/store/tcp_store.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

std::optional<SimulationAsked> asked(const std::string& text) {
  return simulation_asked([&](const std::string& name) {
    EXPECT_EQ(name, "DIST_SIM");
    return std::optional(text);
  });
}

TEST(DistSim, IsRead) {
  EXPECT_FALSE(simulation_asked([](const std::string&) { return std::nullopt; }));
  EXPECT_FALSE(asked(""));
  const auto all = asked(
      "ranks=1024,topology=summit,straggler=3x2.5,straggler=4x2,slow-link=0-1x10,lose=2@100us,links=yes,"
      "report=/tmp/r");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->ranks, 1024);
  EXPECT_EQ(all->options.topology, "summit");
  EXPECT_EQ(all->options.what_if.stragglers.size(), 2u);
  EXPECT_EQ(all->options.what_if.slow_links.size(), 1u);
  EXPECT_EQ(all->options.what_if.losses.size(), 1u);
  EXPECT_TRUE(all->options.links);
  EXPECT_EQ(all->report_file, "/tmp/r");
  EXPECT_EQ(asked("topology=laptop")->ranks, 0);
}

TEST(DistSim, PartsThatMakeNoSenseAreQuoted) {
  for (const char* part : {"ranks", "ranks=", "ranks=0", "ranks=-1", "ranks=many", "ranks=4x", "rank=4",
                           "1024", "=4", "straggler=3", "slow-link=0x1", "lose=2", "links=perhaps"}) {
    expect_error(Errc::invalid_argument, {"DIST_SIM has \"" + std::string(part) + "\""},
                 [&] { asked("topology=laptop," + std::string(part)); });
  }
  expect_error(Errc::invalid_argument, {"DIST_SIM has \"\""}, [] { asked("ranks=4,"); });
}

// Sets DIST_SIM for a while; spawn() appends its report to a file.
class Simulated : public testing::Test {
 protected:
  void SetUp() override {
    file_ = testing::TempDir() + "distlab-report-" + std::to_string(getpid());
    ask("topology=summit");
  }
  void TearDown() override {
    unsetenv("DIST_SIM");
    std::remove(file_.c_str());
  }
  void ask(const std::string& what) { setenv("DIST_SIM", (what + ",report=" + file_).c_str(), 1); }
  std::string report() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  static void sum(int) {
    init_process_group();
    Tensor t = ones({1});
    all_reduce(t);
    EXPECT_EQ(t.item<int>(), get_world_size());
    destroy_process_group();
  }
  std::string file_;
};

TEST_F(Simulated, AsManyRanksAsTheProgramAsksFor) {
  int ran = 0;
  for (const auto as : {Ranks::processes, Ranks::threads}) {
    spawn(
        5,
        [&](int rank) {
          sum(rank);
          ++ran;  // virtual ranks share the caller's variables
        },
        as);
  }
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(report().find("simulated: 5 ranks on summit, "), 0u) << report();
}

TEST_F(Simulated, AsManyRanksAsTheVariableSays) {
  ask("ranks=100,topology=dgx-h100-ndr,links=yes");
  int ran = 0;
  spawn(2, [&](int rank) {
    sum(rank);
    ++ran;
  });
  EXPECT_EQ(ran, 100);
  EXPECT_NE(report().find("simulated: 100 ranks on dgx-h100-ndr, "), std::string::npos) << report();
  EXPECT_NE(report().find("busiest links: "), std::string::npos) << report();
}

TEST_F(Simulated, AFailureIsThrownAsSpawnThrowsIt) {
  expect_error(Errc::peer_failed, {"rank 2: out of paper"}, [] {
    spawn(4, [](int rank) {
      init_process_group();
      if (rank == 2) throw std::runtime_error("out of paper");
      barrier();
    });
  });
  EXPECT_NE(report().find("rank 2: out of paper"), std::string::npos) << report();
}

TEST_F(Simulated, AFindingIsThrownToo) {
  expect_error(Errc::peer_failed, {"the simulation found: D1 deadlock"}, [] {
    spawn(2, [](int rank) {
      init_process_group();
      Tensor t = ones({1});
      send(t, 1 - rank);
    });
  });
  EXPECT_NE(report().find("cycle: rank 0 -> rank 1 -> rank 0"), std::string::npos) << report();
}

TEST_F(Simulated, AThreadThatARankMadeIsTold) {
  for (const bool async : {false, true}) {
    ask("ranks=2");
    expect_error(Errc::peer_failed, {"a thread that a simulated rank made is not part of the simulation"},
                 [async] {
                   spawn(2, [async](int rank) {
                     init_process_group();
                     const ProcessGroup group = new_group({0, 1});
                     std::exception_ptr error;
                     std::thread([&] {
                       try {
                         Tensor t = ones({1});
                         if (rank == 0) all_reduce(t, {.group = group, .async_op = async}).wait();
                       } catch (...) {
                         error = std::current_exception();
                       }
                     }).join();
                     if (error) std::rethrow_exception(error);
                   });
                 });
  }
}

TEST_F(Simulated, ALossIsReportedFirst) {
  ask("lose=1@5us");
  expect_error(Errc::peer_failed, {"rank 1 was lost at 5 us"}, [] {
    spawn(3, [](int) {
      init_process_group();
      for (;;) barrier();
    });
  });
}

TEST_F(Simulated, OptionsThatCannotBeServed) {
  ask("ranks=100000,topology=summit");
  expect_error(Errc::invalid_argument, {"27648 GPUs"}, [] { spawn(2, sum); });
  ask("topology=nowhere");
  expect_error(Errc::invalid_argument, {"'nowhere'"}, [] { spawn(2, sum); });
}

TEST_F(Simulated, MainThatJoinsAJobItselfIsTold) {
  expect_error(Errc::invalid_argument,
               {"init_process_group at spawn_simulated_test.cpp", "dist::spawn(n, rank_main)"},
               [] { init_process_group(); });
}

// Ranks that meet at a store that they made themselves: its server is another thread, and a rank that waits
// for it waits in virtual time.
TEST_F(Simulated, RealStoresAreWaitedForVirtually) {
  const StoreServer server("unix://@distlab-simulated-" + std::to_string(getpid()), "token");
  const auto started = std::chrono::steady_clock::now();
  spawn(3, [&](int rank) {
    const auto store = make_tcp_store(server.address(), "token", Deadline::after(std::chrono::seconds(10)));
    if (rank == 0) {
      dist::sleep(std::chrono::minutes(1));
      store->set("there", "yes");
    }
    EXPECT_EQ(store->get_text("there", Deadline::after(std::chrono::minutes(2))), "yes");
    const std::vector<std::string> never{"never"};
    expect_error(Errc::timeout, {"never"},
                 [&] { store->wait(never, Deadline::after(std::chrono::seconds(30))); });
  });
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20))
      << "a minute and a half, virtually";
}

}  // namespace
}  // namespace dist::test
