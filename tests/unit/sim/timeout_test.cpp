// Timeouts on the virtual clock: what has begun but has not ended by then does not count as arrived.
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

// Two ranks and a link on which 100,000 bytes take 100 ms.
sim::Report run_slowly(const std::function<void(int)>& fn) {
  sim::RunOptions options;
  options.topology = R"({"intra": {"latency_us": 0, "bandwidth_gb_s": 0.001}})";
  const auto report = sim::run(options, [&](int rank) {
    init_process_group();
    fn(rank);
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
  return report;
}

Tensor data() { return zeros({100'000}, DType::u8); }

void expect_timeout(const std::function<void()>& wait, double begin_s, double end_s) {
  const auto now = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  EXPECT_NEAR(now(), begin_s, 1e-5);
  expect_error(Errc::timeout, {"rank 1", "1 ms"}, wait);
  EXPECT_NEAR(now(), end_s, 1e-5);
}

TEST(SimTimeout, OfAReceiveWhoseMessageIsOnTheWay) {
  run_slowly([](int rank) {
    Tensor t = data();
    if (rank == 0) return send(t, 1), void();
    sleep(5ms);
    expect_timeout([&] { recv(t, 0, {.timeout = 1ms}); }, 0.005, 0.006);
  });
}

TEST(SimTimeout, OfAReceiveWhoseMessageSetsOffMeanwhile) {
  run_slowly([](int rank) {
    Tensor t = data();
    if (rank == 0) return sleep(500us), send(t, 1), void();
    expect_timeout([&] { recv(t, 0, {.timeout = 1ms}); }, 0, 0.001);
  });
}

// Its worker finds the message that is in flight, and the one that starts in the meantime.
TEST(SimTimeout, OfAWork) {
  for (const auto before : {0us, 500us}) {
    run_slowly([before](int rank) {
      Tensor t = data();
      if (rank == 0) return sleep(before), send(t, 1), void();
      Work got = irecv(t, 0);
      expect_timeout([&] { got.wait(1ms); }, 0, 0.001);
    });
  }
}

TEST(SimTimeout, IsNoneForWhatHasComeBeforeIt) {
  run_slowly([](int rank) {
    Tensor t = data();
    if (rank == 0) return send(t, 1), void();
    Work got = irecv(t, 0, {.timeout = 200ms});
    sleep(1s);
    got.wait();
    EXPECT_TRUE(got.is_completed());
  });
}

}  // namespace
}  // namespace dist::test
