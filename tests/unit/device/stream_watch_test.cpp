// What the watch of enqueued operations says when a device breaks.
#include "dist/backend/stream_watch.h"

#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "dist/core/fail.h"

#include "support/fake_device.h"

namespace dist::test {
namespace {

// What is reported about an operation on a device that is broken, or whose backend says that it cannot end.
// `look` is called while the cause is being found out.
std::string reason_for(
    const std::function<void()>& look, bool device_breaks = true,
    const std::function<void(const Operation&)>& ask_backend = [](const Operation&) {}) {
  const FakeDeviceGuard fake;
  std::promise<std::string> said;
  StreamWatch watch({.started = [] {},
                     .wait_a_little =
                         [&] {
                           look();
                           dist::sleep(std::chrono::milliseconds(1));
                         },
                     .look = ask_backend,
                     .completed = [&](const Operation&) { said.set_value("it has ended"); },
                     .failed =
                         [&](const Operation&, const std::exception_ptr& error) {
                           try {
                             std::rethrow_exception(error);
                           } catch (const std::exception& told) {
                             said.set_value(told.what());
                           }
                         },
                     .detach = [] {}});
  auto points = std::make_shared<StreamEvents>(cuda(0));
  points->done.record(nullptr);
  fake->fail_events(device_breaks);
  watch.add({}, std::move(points));
  auto reason = said.get_future();
  if (reason.wait_for(std::chrono::seconds(20)) != std::future_status::ready) return "nothing";
  return reason.get();
}

TEST(StreamWatch, SaysWhichRankDiedWhenADeviceBreaksByThat) {
  EXPECT_EQ(reason_for([] { fail(Errc::peer_failed, "rank 1 has died"); }), "rank 1 has died");
}

TEST(StreamWatch, SaysWhatTheDeviceSaysWhenNobodyDied) {
  const std::string reason = reason_for([] {});
  EXPECT_NE(reason.find("an illegal memory access"), std::string::npos) << reason;
}

// NCCL sees a connection close before the death that closed it is known.
TEST(StreamWatch, SaysWhichRankDiedWhenTheBackendNoticesItFirst) {
  const auto notices = [](const Operation&) { fail(Errc::peer_failed, "a connection was closed"); };
  int looks = 0;
  EXPECT_EQ(reason_for(
                [&] {
                  if (++looks == 5) fail(Errc::peer_failed, "rank 1 has died");
                },
                false, notices),
            "rank 1 has died");
  EXPECT_EQ(reason_for([] {}, false, notices), "a connection was closed");
}

}  // namespace
}  // namespace dist::test
