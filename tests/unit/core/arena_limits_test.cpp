// The arena under tight limits, each in a new process, because a limit affects only what is mapped after it
// was set.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "dist/core/memory/arena.h"
#include "dist/core/sanitizer.h"

#include "support/expect_error.h"
#include "support/mib.h"
#include "unit/core/in_child.h"

namespace dist {
namespace {

using test::mib;

#ifdef DIST_ASAN
constexpr bool limits_address_space = false;  // its shadow alone is larger than any such limit
#else
constexpr bool limits_address_space = !built_with_tsan;
#endif

// Runs the disabled test `name` below under a limit; its exit code.
int under_limit(int resource, std::size_t bytes, const std::string& name) {
  return in_child([&] {
    const rlimit limit{bytes, bytes};
    if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return false;
    const std::string filter = "--gtest_filter=ArenaLimits.DISABLED_" + name;
    ::execl("/proc/self/exe", "unit_core", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
            filter.c_str(), nullptr);
    return false;
  });
}

TEST(ArenaLimits, DISABLED_ASmallerArenaStillWorks) {
  EXPECT_GE(Arena::local().capacity(), 256 * mib);
  EXPECT_LE(Arena::local().capacity(), 512 * mib);
  auto* block = static_cast<char*>(Arena::local().allocate(mib));
  block[mib - 1] = 1;
  EXPECT_DIST_ERROR(Arena::local().allocate(600 * mib), Errc::resource, "largest hole of the arena");
}

TEST(ArenaLimits, DISABLED_TheErrorNamesTheLimit) {
  EXPECT_DIST_ERROR(Arena::local().allocate(1), Errc::resource, "128 MiB (ulimit");
  EXPECT_DIST_ERROR(Arena::local().allocate(1), Errc::resource, "at least 256 MiB");
}

TEST(ArenaLimits, AddressSpace) {
  if (!limits_address_space) GTEST_SKIP() << "a sanitizer's shadow memory does not fit such a limit";
  EXPECT_EQ(under_limit(RLIMIT_AS, 700 * mib, "ASmallerArenaStillWorks"), 0);
  EXPECT_EQ(under_limit(RLIMIT_AS, 128 * mib, "TheErrorNamesTheLimit"), 0);
}

TEST(ArenaLimits, FileSize) {
  EXPECT_EQ(under_limit(RLIMIT_FSIZE, 600 * mib, "ASmallerArenaStillWorks"), 0);
  EXPECT_EQ(under_limit(RLIMIT_FSIZE, 128 * mib, "TheErrorNamesTheLimit"), 0);
}

}  // namespace
}  // namespace dist
