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

// What is said of an operation on a device that is broken. `look` is called while it is found out.
std::string reason_for(const std::function<void()>& look) {
  const FakeDeviceGuard fake;
  std::promise<std::string> said;
  StreamWatch watch({.started = [] {},
                     .wait_a_little =
                         [&] {
                           look();
                           dist::sleep(std::chrono::milliseconds(1));
                         },
                     .look = [](const Operation&) {},
                     .completed = [&](const Operation&) { said.set_value("it has ended"); },
                     .failed =
                         [&](const Operation&, const std::exception_ptr& error) {
                           try {
                             std::rethrow_exception(error);
                           } catch (const std::exception& told) {
                             said.set_value(told.what());
                           }
                         },
                     .let_go = [] {}});
  auto points = std::make_shared<StreamPoints>(cuda(0));
  points->done.record(nullptr);
  fake->fail_events(true);
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

}  // namespace
}  // namespace dist::test
