// Ranks that are processes: they end without leaving the job, stop, fork, and report what they are doing when
// a signal asks for it.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/dist.h"
#include "dist/group/rank_context.h"

#include "support/expect_error.h"
#include "support/process_ranks.h"

namespace dist {
namespace {

using test::ProcessRanks;
using namespace std::chrono_literals;

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

InitOptions patient_init() {
  InitOptions init;
  init.timeout = 20s;
  return init;
}

TEST(ProcessLife, EndingWithoutDestroyIsAGoodbye) {
  ProcessRanks ranks(3, [](int rank, const auto&) -> std::string {
    init_process_group(patient_init());
    Tensor t = full({4}, rank);
    all_reduce(t);
    if (rank == 0) std::exit(0);  // main returns: no destroy_process_group
    if (rank == 1) {
      try {
        recv(t, 0);
        return "received something";
      } catch (const Error& error) {
        send(t, 2);  // the others still work together
        destroy_process_group();
        return error.what();
      }
    }
    recv(t, 1);
    destroy_process_group();
    return "fine";
  });
  const auto reports = ranks.join(30s);
  EXPECT_EQ(reports[0].signal, 0);
  expect_has(reports[1].text, "rank 0");
  EXPECT_EQ(reports[2].text, "fine");
}

// The last rank to leave removes the store's file: no thread of the library may still hold the store then.
TEST(ProcessLife, AnOrderlyJobLeavesNoFileOfItsStore) {
  constexpr int jobs = 40, world = 4;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("distlab-life-{}", getpid());
  for (int job = 0; job < jobs; ++job) {
    for (int rank = 0; rank < world; ++rank) {
      if (fork() != 0) continue;
      init_process_group({.init_method = "file://" + path.string(), .rank = rank, .world_size = world});
      Tensor t = full({10}, 1);
      all_reduce(t);
      destroy_process_group();
      std::_Exit(t.data<float>()[0] == world ? 0 : 1);
    }
    for (int rank = 0; rank < world; ++rank) {
      int status = 0;
      wait(&status);
      EXPECT_EQ(status, 0);
    }
    EXPECT_FALSE(std::filesystem::remove(path)) << "left behind by job " << job;
  }
}

TEST(ProcessLife, EndingWhileAThreadStandsInACallIsADeath) {
  ProcessRanks ranks(3, [](int rank, const auto&) -> std::string {
    init_process_group(patient_init());
    Tensor t = full({4}, rank);
    all_reduce(t);
    if (rank == 1) {
      std::thread([t]() mutable { all_reduce(t); }).detach();
      std::thread([t]() mutable { recv(t, 0); }).detach();
      std::this_thread::sleep_for(100ms);
      std::exit(0);
    }
    try {
      recv(t, 1);
      return "received something";
    } catch (const Error& error) {
      return error.what();
    }
  });
  const auto reports = ranks.join(30s);
  EXPECT_EQ(reports[1].signal, 0);
  for (const std::size_t other : {0U, 2U}) expect_has(reports[other].text, "rank 1 died");
}

// A port of this host that no process uses just now.
int free_port() {
  const UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

TEST(ProcessLife, AForkedChildDoesNotHideItsParentsDeath) {
  ProcessRanks ranks(2, [](int rank, const auto&) -> std::string {
    init_process_group(patient_init());
    barrier();
    if (rank == 1) {
      if (fork() == 0) {  // no exec: the child has copies of all open descriptors
        prctl(PR_SET_PDEATHSIG, 0);
        ::sleep(5);
        _exit(0);
      }
      raise(SIGKILL);
    }
    Tensor t = zeros({1});
    try {
      recv(t, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was noticed";
  });
  const auto start = std::chrono::steady_clock::now();
  const auto reports = ranks.join(9s);
  EXPECT_LT(reports[0].ended - start, 2s);
  expect_has(reports[0].text, "rank 1 died");
}

class StoppedRank : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Which, StoppedRank, testing::Values(0, 2),
                         [](const auto& of) { return "rank" + std::to_string(of.param); });

// Rank 0 keeps the store here: when it is stopped, no rank can ask another, and the error still comes in
// time.
TEST_P(StoppedRank, IsNamedAndHoldsNobodyUp) {
  const int stopped = GetParam(), port = free_port();
  ProcessRanks ranks(3, [&](int rank, const auto& ready) -> std::string {
    rank_context().launch.reset();
    InitOptions init = patient_init();
    init.init_method = fmt::format("tcp://127.0.0.1:{}", port);
    init.rank = rank;
    init.world_size = 3;
    init_process_group(init);
    barrier();
    ready();
    if (rank == stopped) raise(SIGSTOP);
    Tensor t = zeros({1});
    std::string text;
    const auto start = std::chrono::steady_clock::now();
    try {
      recv(t, stopped, {.timeout = 500ms});
    } catch (const Error& error) {
      text = error.what();
    }
    leave_job(rank_context(), "the test is over");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return fmt::format("{:.1f}\n{}", took.count(), text);
  });
  ASSERT_TRUE(ranks.wait_ready(20s));
  const auto reports = ranks.join(9s);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string& text = reports[static_cast<std::size_t>(rank)].text;
    if (rank == stopped) continue;
    EXPECT_LT(std::atof(text.c_str()), 8) << text;
    expect_has(text, fmt::format("from rank {}", stopped));
    if (stopped != 0) expect_has(text, fmt::format("rank {} is silent: dead or stuck", stopped));
  }
}

TEST(ProcessLife, AForkedChildLeavesTheJobAlone) {
  ProcessRanks ranks(2, [](int rank, const auto&) -> std::string {
    init_process_group(patient_init());
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) {
        Tensor mine = full({1000}, 7);
        try {
          all_reduce(mine);  // it would be the parent's, on the parent's connections
          _exit(1);
        } catch (const Error& error) {
          const bool told =
              error.code() == Errc::not_initialized &&
              std::string(error.what()).find("a forked process is not in a job") != std::string::npos;
          std::exit(!told || is_initialized() ? 1 : 0);  // its exit handlers run
        }
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) return "the child saw its parent's job";
    }
    Tensor t = full({1000}, rank);
    all_reduce(t);
    barrier();
    destroy_process_group();
    return fmt::format("{}", max(t));
  });
  for (const auto& report : ranks.join(30s)) EXPECT_EQ(report.text, "1");
}

TEST(ProcessLife, OneRanksWishToCompareCallsIsEnough) {
  ProcessRanks ranks(3, [&](int rank, const auto&) -> std::string {
    if (rank == 1)
      setenv("DIST_DEBUG", "detail", 1);
    else
      unsetenv("DIST_DEBUG");
    init_process_group(patient_init());
    Tensor t = full({5}, rank);
    all_reduce(t);
    if (t.to_vector<float>() != std::vector<float>(5, 3)) return "wrong sum";
    std::string text = "no error";
    try {
      rank == 2 ? barrier() : all_reduce(t);
    } catch (const Error& error) {
      text = error.what();
    }
    destroy_process_group();
    return text;
  });
  for (const auto& report : ranks.join(30s)) {
    EXPECT_NE(report.text.find("rank 2 is in barrier"), std::string::npos) << report.text;
    EXPECT_NE(report.text.find("ranks 0, 1 are in all_reduce"), std::string::npos) << report.text;
  }
}

TEST(ProcessLife, SigusrWritesTheFlightRecordAndSaysWhereInOneLine) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("distlab_stderr_{}", getpid());
  ProcessRanks ranks(2, [&](int rank, const auto&) -> std::string {
    unsetenv("DIST_DUMP_DIR");
    init_process_group(patient_init());
    Tensor t = full({5}, rank);
    all_reduce(t);
    if (rank == 1) {
      const UniqueFd file(open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
      dup2(file.get(), STDERR_FILENO);
      raise(SIGUSR1);
      const auto until = std::chrono::steady_clock::now() + 10s;
      while (std::filesystem::file_size(path) == 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(5ms);
      }
    }
    barrier();
    raise(SIGUSR1);  // late ones do no harm
    destroy_process_group();
    raise(SIGUSR1);
    return "fine";
  });
  for (const auto& report : ranks.join(30s)) EXPECT_EQ(report.text, "fine");
  std::ifstream said(path);
  const std::string text{std::istreambuf_iterator<char>(said), {}}, before = "flight records in ";
  const auto lines = std::ranges::count(text, '\n');
  EXPECT_TRUE(lines >= 1 && lines <= 3)
      << "one for each signal: " << text;  // late ones may still be answered
  ASSERT_NE(text.find(before), std::string::npos) << text;
  const auto begin = text.find(before) + before.size();
  const std::filesystem::path folder(text.substr(begin, text.find(' ', begin) - begin));
  std::ifstream file(folder / "distlab_rank1.json");
  nlohmann::json record;
  file >> record;
  std::filesystem::remove_all(folder.parent_path());
  EXPECT_EQ(record["reason"], "SIGUSR1");
  EXPECT_EQ(record["rank"], 1);
  EXPECT_EQ(record["records"][1]["operation"], "all_reduce");
  EXPECT_EQ(record["records"][1]["count"], 5);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace dist
