// Joining, leaving, and everything that goes wrong around them.
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "dist/backend/backend.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
using test::run_unjoined;
using test::ScopedEnv;
using namespace std::chrono_literals;

InitOptions joining(int rank, int n, const std::shared_ptr<Store>& store, Timeout timeout = 20s) {
  InitOptions init;
  init.rank = rank;
  init.world_size = n;
  init.store = store;
  init.timeout = timeout;
  return init;
}

TEST(Lifecycle, NothingWorksBeforeInit) {
  run_unjoined(1, [](int, const std::shared_ptr<Store>&) {
    EXPECT_FALSE(is_initialized());
    Tensor t = zeros({1});
    const std::string advice = "call init_process_group first";
    expect_error(Errc::not_initialized, {advice}, [&] { all_reduce(t); });
    expect_error(Errc::not_initialized, {advice}, [] { get_rank(); });
    expect_error(Errc::not_initialized, {advice}, [] { get_local_rank(); });
    expect_error(Errc::not_initialized, {advice}, [] { default_group(); });
    expect_error(Errc::not_initialized, {advice}, [] { new_group({0}); });
    expect_error(Errc::not_initialized, {advice}, [] { destroy_process_group(); });
  });
}

TEST(Lifecycle, ASecondInitIsRefused) {
  run_unjoined(2, [](int rank, const std::shared_ptr<Store>& store) {
    init_process_group(joining(rank, 2, store));
    expect_error(Errc::invalid_argument, {"in a job already", "destroy_process_group"},
                 [&] { init_process_group(joining(rank, 2, store)); });
    barrier();
    destroy_process_group();
  });
}

TEST(Lifecycle, AgainAfterDestroy) {
  run_unjoined(3, [](int rank, const std::shared_ptr<Store>& store) {
    ProcessGroup old;
    for (int round = 0; round < 3; ++round) {
      init_process_group(joining(rank, 3, store));
      Tensor t = full({2}, rank);
      all_reduce(t);
      EXPECT_EQ(max(t), 3);
      if (round == 0) old = default_group();
      if (round > 0) {
        expect_error(Errc::not_initialized, {"was destroyed"},
                     [&] { all_reduce(t, ReduceOp::sum, {.group = old}); });
      }
      destroy_process_group();
      EXPECT_FALSE(is_initialized());
      expect_error(Errc::not_initialized, {}, [&] { all_reduce(t); });
    }
    EXPECT_EQ(old.size(), 3) << "a handle still tells what it was";
  });
}

TEST(Lifecycle, UnknownAndMissingBackends) {
  REAL_RANKS_ONLY("a simulation stands in for every backend");
  run_unjoined(1, [](int, const std::shared_ptr<Store>& store) {
    InitOptions init = joining(0, 1, store);
    init.backend = "foo";
    expect_error(Errc::invalid_argument, {"\"foo\" does not exist", "host", "nccl"},
                 [&] { init_process_group(init); });
    for (const char* name : {"cuda", "nccl", "mpi", "sim"}) {
      if (backend_named(name).available(nullptr)) continue;
      init.backend = name;
      expect_error(Errc::unsupported, {name, "use"}, [&] { init_process_group(init); });
    }
    EXPECT_FALSE(is_initialized());
    init.backend = "gloo";
    init_process_group(init);
    EXPECT_EQ(get_backend(), "host");
    destroy_process_group();
  });
}

TEST(Lifecycle, WrongSettingsAreNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"DIST_DEBUG", "loud"},           {"DIST_SEND", "later"},
      {"DIST_TRANSPORT", "pigeon"},     {"DIST_FLIGHT_RECORDER_SIZE", "-1"},
      {"DIST_ALGO", "all_reduce=ring"}, {"DIST_ALGO", "all_reduce:magic"}};
  for (const auto& [variable, value] : wrong) {
    const ScopedEnv environment(variable, value);
    run_unjoined(1, [&](int, const std::shared_ptr<Store>& store) {
      expect_error(Errc::invalid_argument, {variable, value},
                   [&] { init_process_group(joining(0, 1, store)); });
      EXPECT_FALSE(is_initialized());
    });
  }
}

TEST(Lifecycle, AMissingRankIsNamed) {
  REAL_RANKS_ONLY("of virtual ranks none is missing");
  run_unjoined(2, [](int rank, const std::shared_ptr<Store>& store) {
    expect_error(Errc::timeout, {"2"}, [&] { init_process_group(joining(rank, 3, store, 500ms)); });
    EXPECT_FALSE(is_initialized());
  });
}

TEST(Lifecycle, AnExceptionReachesTheOthers) {
  const auto start = Clock::now();
  try {
    run_ranks(4, [](int rank) {
      Tensor t = zeros({4});
      all_reduce(t);
      if (rank == 2) throw std::runtime_error("the data is corrupt");
      expect_error(Errc::peer_failed, {"rank 2", "the data is corrupt"}, [&] { all_reduce(t); });
    });
    FAIL() << "rank 2's exception was lost";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the data is corrupt");
  }
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Lifecycle, DestroyWhileUnwinding) {
  struct Session {
    explicit Session(const InitOptions& init) { init_process_group(init); }
    ~Session() { destroy_process_group(); }
  };
  run_unjoined(3, [](int rank, const std::shared_ptr<Store>& store) {
    try {
      Session session(joining(rank, 3, store));
      Tensor t = zeros({4});
      Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
      if (rank == 1) throw std::runtime_error("rank 1 cannot go on");
      expect_error(Errc::peer_failed, {"rank 1", "an exception"}, [&] {
        work.wait();  // may have ended before rank 1 left
        all_reduce(t);
      });
    } catch (const Error& error) {  // rank 1 may have left before this rank knew of every rank
      EXPECT_EQ(error.code(), Errc::peer_failed);
      EXPECT_NE(std::string(error.what()).find("init_process_group #0: rank 1 gave up: an exception"),
                std::string::npos)
          << error.what();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(rank, 1) << error.what();
    }
    EXPECT_FALSE(is_initialized());
  });
}

TEST(Lifecycle, LeavingWithoutDestroy) {
  run_unjoined(2, [](int rank, const std::shared_ptr<Store>& store) {
    init_process_group(joining(rank, 2, store));
    Tensor t = full({1}, rank);
    all_reduce(t);
    EXPECT_EQ(t.item<int>(), 1);
    // The context ends with the thread: the job is left quietly.
  });
}

TEST(Lifecycle, ARankThatIsReadyLeavesFirst) {
  run_unjoined(3, [](int rank, const std::shared_ptr<Store>& store) {
    init_process_group(joining(rank, 3, store));
    Tensor t = full({1}, rank);
    if (rank == 1) dist::sleep(100ms);
    if (rank == 1) send(t, 2);
    if (rank == 2) recv(t, 1);
    destroy_process_group();  // rank 0 at once
  });
}

TEST(Lifecycle, ABackendThatDiffersBetweenRanks) {
  REAL_RANKS_ONLY("a simulation stands in for every backend");
  run_unjoined(2, [](int rank, const std::shared_ptr<Store>& store) {
    InitOptions init = joining(rank, 2, store, 5s);
    init.backend = rank == 0 ? "host" : "auto";  // which may be another one on a machine with GPUs
    expect_error(
        Errc::mismatch,
        {"rank 0 calls init_process_group(backend host)", "rank 1 calls init_process_group(backend auto)"},
        [&] { init_process_group(init); });
  });
}

}  // namespace
}  // namespace dist
