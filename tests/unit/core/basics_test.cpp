// Errors, call sites, deadlines, log lines, rank labels, handles, and the registry of devices without one.
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dist/core/call_site.h"
#include "dist/core/counted.h"
#include "dist/core/deadline.h"
#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/core/log.h"
#include "dist/core/plugin.h"
#include "dist/core/rank_label.h"

#include "support/expect_error.h"

namespace dist {
namespace {

using namespace std::chrono_literals;

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2u, "rank"), "2 ranks");
  EXPECT_EQ(counted(-1, "axis", "axes"), "-1 axes");
  EXPECT_EQ(counted(1LL, "axis", "axes"), "1 axis");
}

TEST(Error, CarriesItsCodeAndAFormattedLine) {
  EXPECT_DIST_ERROR(fail(Errc::timeout, "rank {} waited {} ms", 2, 30), Errc::timeout, "rank 2 waited 30 ms");
  EXPECT_DIST_ERROR(fail_errno(Errc::resource, ENOENT, "opening x"), Errc::resource,
                    "opening x: No such file or directory");
  EXPECT_EQ(name(Errc::peer_failed), "peer_failed");
}

CallSite called_from(CallSite where = CallSite::current()) { return where; }

TEST(CallSite, NamesTheCallersLineByBaseName) {
  const int line = __LINE__ + 1;
  const CallSite here = called_from();
  EXPECT_EQ(here.str(), "basics_test.cpp:" + std::to_string(line));
  EXPECT_EQ((CallSite{"no_folder.cpp", 7}).str(), "no_folder.cpp:7");
  EXPECT_EQ(CallSite{}.str(), "?:0");
}

TEST(Deadline, PassesWhenItsTimeHasComeAndNeverBefore) {
  const auto soon = Deadline::after(20ms);
  EXPECT_FALSE(soon.passed());
  EXPECT_GT(soon.left(), 0ns);
  std::this_thread::sleep_for(25ms);
  EXPECT_TRUE(soon.passed());
  EXPECT_EQ(soon.left(), 0ns);
  EXPECT_EQ(soon.poll_ms(), 0);
  EXPECT_TRUE(Deadline::after(0ns).passed());
  EXPECT_TRUE(Deadline::after(-1s).passed());
}

TEST(Deadline, WithoutOneThereIsNoOverflow) {
  for (const auto& never :
       {Deadline::never(), Deadline::after(no_timeout), Deadline::after(no_timeout - 1ns)}) {
    EXPECT_TRUE(never.is_never());
    EXPECT_FALSE(never.passed());
    EXPECT_EQ(never.left(), no_timeout);
    EXPECT_EQ(never.poll_ms(), -1);
  }
}

TEST(Deadline, PollRoundsUpAndIsAtMostAnHour) {
  EXPECT_GT(Deadline::after(100us).poll_ms(), 0) << "a zero would spin";
  EXPECT_EQ(Deadline::after(10h).poll_ms(), 3'600'000);
}

TEST(Deadline, SoonerPicksTheEarlier) {
  const auto soon = Deadline::after(1s), late = Deadline::after(1h);
  EXPECT_LE(Deadline::sooner(late, soon).left(), 1s);
  EXPECT_FALSE(Deadline::sooner(Deadline::never(), late).is_never());
}

TEST(RankLabel, BelongsToTheThread) {
  set_current_rank_label(3);
  int seen = 0;
  std::thread([&] { seen = current_rank_label(); }).join();
  EXPECT_EQ(seen, -1);
  EXPECT_EQ(current_rank_label(), 3);
  set_current_rank_label(-1);
}

TEST(Log, ALineNamesLevelAndRank) {
  testing::internal::CaptureStderr();
  log(LogLevel::error, "{} of {}", 1, 2);
  set_current_rank_label(5);
  log(LogLevel::warn, "careful");
  log(LogLevel::debug, "not at the default level");
  set_current_rank_label(-1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[distlab error] 1 of 2\n[distlab warn rank 5] careful\n");
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesOnceAndMoves) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd write_end(ends[1]);
  {
    UniqueFd first(ends[0]);
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT: what a moved-from handle is, is the question
    EXPECT_EQ(second.get(), ends[0]);
    UniqueFd& same = second;
    second = std::move(same);
    EXPECT_TRUE(is_open(ends[0]));
    UniqueFd third;
    third = std::move(second);
    EXPECT_TRUE(is_open(ends[0]));
  }
  EXPECT_FALSE(is_open(ends[0]));
  EXPECT_TRUE(is_open(ends[1]));
  UniqueFd released(::dup(ends[1]));
  const int fd = released.release();
  released.reset();
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

TEST(Mapping, SharesTheFilesBytes) {
  const UniqueFd fd(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  const Mapping one(fd.get(), 8192);
  Mapping two(fd.get(), 8192);
  one.data()[5000] = std::byte{42};
  EXPECT_EQ(two.data()[5000], std::byte{42});
  const Mapping moved(std::move(two));
  EXPECT_EQ(moved.data()[5000], std::byte{42});
  EXPECT_EQ(moved.size(), 8192U);
  EXPECT_EQ(two.data(), nullptr);  // NOLINT
  EXPECT_DIST_ERROR(Mapping(-1, 4096), Errc::resource, "Bad file descriptor");
}

TEST(DeviceRegistry, TheCpuIsNone) { EXPECT_DIST_ERROR(device_api(DeviceType::cpu), Errc::internal, "CPU"); }

TEST(StreamGuard, NestsAndIsOfThisThreadAndDevice) {
  int a = 0, b = 0;
  EXPECT_EQ(current_stream(cuda(0)), nullptr);
  {
    const StreamGuard outer(cuda(1), &a);
    {
      const StreamGuard inner(cuda(1), &b);
      EXPECT_EQ(current_stream(cuda(1)), &b);
    }
    EXPECT_EQ(current_stream(cuda(1)), &a);
    EXPECT_EQ(current_stream(cuda(0)), nullptr);
    std::thread([] { EXPECT_EQ(current_stream(cuda(1)), nullptr); }).join();
  }
  EXPECT_EQ(current_stream(cuda(1)), nullptr);
  EXPECT_EQ(current_stream(cpu), nullptr);
}

TEST(Plugin, ThatIsMissingIsNamed) {
  EXPECT_DIST_ERROR(plugin_symbol("nothing", "anything"), Errc::unsupported,
                    "libdist_nothing.so cannot be loaded");
}

}  // namespace
}  // namespace dist
