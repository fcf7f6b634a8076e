// The host backend on its own, below the group layer: what observers are told, and how pending work ends.
#include "dist/backend/host_backend.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "dist/core/fail.h"
#include "dist/store/memory_store.h"

#include "support/expect_error.h"

namespace dist {
namespace {

using test::expect_error;
using namespace std::chrono_literals;

class Notes final : public OperationObserver {
 public:
  void thread_started() override { ++threads; }
  void starting(const Operation& operation, const Plan& way) override {
    note("start", operation);
    if (!way.algorithm.empty()) last_algorithm = way.algorithm;
    if (static_cast<std::int64_t>(operation.sequence) == refuse) fail(Errc::mismatch, "refused by the test");
  }
  void completed(const Operation& operation) noexcept override { note("end", operation); }
  std::exception_ptr failed(const Operation& operation, std::exception_ptr error) noexcept override {
    note("fail", operation);
    return error;
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }

  std::atomic<int> threads{0};
  std::int64_t refuse = -1;
  std::string last_algorithm;

 private:
  void note(const char* what, const Operation& operation) {
    std::lock_guard lock(mutex_);
    lines_.push_back(fmt::format("{} {} {}", what, name(operation.kind), operation.sequence));
  }
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Calls fn(rank, backend, notes) on n threads whose backends can reach each other.
template <class F>
void with_backends(int n, F fn) {
  const auto store = make_memory_store();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      EndpointOptions options;
      options.rank = rank;
      options.world_size = n;
      options.token = "t";
      options.deadline = Deadline::after(20s);
      BackendContext context;
      context.context = 5;
      context.rank = rank;
      context.members = Members::everybody(n);
      context.endpoint = connect_endpoint(*store, options);
      Notes notes;
      context.observer = &notes;
      try {
        fn(rank, std::make_unique<HostBackend>("host", context), notes, *context.endpoint);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
      context.endpoint->close("");
    });
  }
  for (auto& thread : threads) thread.join();
}

Operation all_reduce(Tensor t, std::uint64_t sequence) {
  Operation operation;
  operation.kind = OpKind::all_reduce;
  operation.sequence = sequence;
  operation.outputs = {std::move(t)};
  operation.timeout = 20s;
  return operation;
}

Operation message(OpKind kind, Tensor t, int peer) {
  Operation operation;
  operation.kind = kind;
  operation.peer = peer;
  TensorList& list = kind == OpKind::send ? operation.inputs : operation.outputs;
  list = {std::move(t)};
  operation.timeout = 20s;
  return operation;
}

TEST(HostBackend, SynchronousWorkStartsNoThread) {
  with_backends(3, [](int rank, auto backend, Notes& notes, Endpoint&) {
    Tensor t = full({5}, rank);
    EXPECT_EQ(backend->run(all_reduce(t, 0)), -1);
    EXPECT_EQ(max(t), 3);
    Tensor in = zeros({5});
    if (rank == 0) {
      EXPECT_EQ(backend->run(message(OpKind::recv, in, any_rank)), 2);
    }
    if (rank == 2) {
      EXPECT_EQ(backend->run(message(OpKind::send, in, 0)), -1);
    }
    EXPECT_EQ(notes.threads, 0);
    EXPECT_EQ(notes.lines()[0], "start all_reduce 0");
    EXPECT_EQ(notes.lines()[1], "end all_reduce 0");
    EXPECT_EQ(notes.last_algorithm, backend->algorithm_for(all_reduce(t, 1)));
  });
}

TEST(HostBackend, CollectivesRunInOrderOnOneThread) {
  with_backends(2, [](int rank, auto backend, Notes& notes, Endpoint&) {
    std::vector<std::shared_ptr<WorkState>> works;
    Tensor t = full({1000}, rank);
    for (std::uint64_t i = 0; i < 10; ++i) works.push_back(backend->submit(all_reduce(t, i)));
    backend->run(all_reduce(t, 10));
    EXPECT_EQ(notes.threads, 1);
    const auto lines = notes.lines();
    ASSERT_EQ(lines.size(), 22u);
    for (int i = 0; i <= 10; ++i) {
      EXPECT_EQ(lines[static_cast<std::size_t>(2 * i)], fmt::format("start all_reduce {}", i));
      EXPECT_EQ(lines[static_cast<std::size_t>(2 * i + 1)], fmt::format("end all_reduce {}", i));
    }
    for (auto& work : works) EXPECT_TRUE(work->is_completed());
    EXPECT_EQ(max(t), 1024);
  });
}

TEST(HostBackend, AnObserverCanRefuse) {
  with_backends(2, [](int rank, auto backend, Notes& notes, Endpoint&) {
    notes.refuse = 1;
    Tensor t = full({2}, rank + 1);
    backend->run(all_reduce(t, 0));
    expect_error(Errc::mismatch, {"refused by the test"}, [&] { backend->run(all_reduce(t, 1)); });
    EXPECT_EQ(max(t), 3) << "the refused one did not run";
    backend->run(all_reduce(t, 2));
    EXPECT_EQ(max(t), 6) << "and the group is still in step";
  });
}

TEST(HostBackend, DestructionEndsWhatIsPending) {
  with_backends(2, [](int rank, auto backend, Notes& notes, Endpoint& endpoint) {
    if (rank == 1) return;  // never takes part
    Tensor t = zeros({4}), in = zeros({4});
    auto running = backend->submit(all_reduce(t, 0));
    auto queued = backend->submit(all_reduce(t, 1));
    auto receiving = backend->submit(message(OpKind::recv, in, 0));
    endpoint.abort("the test is over");
    backend.reset();
    EXPECT_THROW(running->wait(no_timeout), Error);
    EXPECT_THROW(queued->wait(no_timeout), Error);
    EXPECT_THROW(receiving->wait(no_timeout), Error);
    EXPECT_TRUE(queued->is_completed());
    int failed = 0;
    for (const auto& line : notes.lines()) failed += line.starts_with("fail");
    EXPECT_EQ(failed, 3) << "the observer is notified of all of them";
  });
}

TEST(HostBackend, FinishGivesUpReceivesOnly) {
  with_backends(2, [](int rank, auto backend, Notes&, Endpoint&) {
    Tensor t = full({100'000}, rank), in = zeros({4}), big = full({100'000}, 7);
    auto reduced = backend->submit(all_reduce(t, 0));
    auto sent = rank == 0 ? backend->submit(message(OpKind::send, big, 1)) : nullptr;
    auto unmatched = backend->submit(message(OpKind::recv, in, rank));
    if (rank == 1) {
      std::this_thread::sleep_for(50ms);
      Tensor got = zeros({100'000});
      backend->run(message(OpKind::recv, got, 0));
      EXPECT_EQ(max(got), 7);
    }
    const auto given_up = backend->finish();
    ASSERT_EQ(given_up.size(), 1u);
    EXPECT_NE(given_up[0].find("recv #0 (4 f32)"), std::string::npos) << given_up[0];
    EXPECT_TRUE(reduced->is_completed());
    if (sent) {
      EXPECT_TRUE(sent->is_completed());
    }
    expect_error(Errc::aborted, {"nothing had arrived"}, [&] { unmatched->wait(no_timeout); });
  });
}

TEST(HostBackend, TwoThreadsExchangeMessagesOnOneGroup) {
  with_backends(2, [](int rank, auto backend, Notes&, Endpoint&) {
    std::thread sender([&] {
      for (int i = 0; i < 50; ++i) backend->run(message(OpKind::send, full({10}, i), 1 - rank));
    });
    for (int i = 0; i < 50; ++i) {
      Tensor t = zeros({10});
      backend->run(message(OpKind::recv, t, 1 - rank));
      EXPECT_EQ(max(t), i);
    }
    sender.join();
  });
}

TEST(Operation, WhatItSays) {
  Operation operation = all_reduce(zeros({2, 8}), 3);
  EXPECT_EQ(operation.amount().str(), "16 f32");
  EXPECT_EQ(Operation{}.amount().str(), "");
  operation.kind = OpKind::all_to_all;
  operation.inputs = {zeros({3}, DType::i32), zeros({4}, DType::i32)};
  operation.outputs = {zeros({1}, DType::i32), zeros({1}, DType::i32)};
  EXPECT_EQ(operation.amount().str(), "7 i32");
}

}  // namespace
}  // namespace dist
