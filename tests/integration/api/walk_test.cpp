// How deep the walk of lib/dist/README.md goes: the calls from dist::all_reduce to the bytes on the socket.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dist/dist.h"

#include "support/process_ranks.h"

namespace {

thread_local std::vector<void*>* watched = nullptr;  // gets the callers of this thread's next send()

}  // namespace

// The library's calls of send() end up here.
extern "C" ssize_t send(int socket, const void* bytes, std::size_t n, int flags) {
  if (std::vector<void*>* const callers = std::exchange(watched, nullptr)) {
    callers->resize(100);
    callers->resize(static_cast<std::size_t>(backtrace(callers->data(), 100)));
  }
  return syscall(SYS_sendto, socket, bytes, n, flags, nullptr, 0);
}

namespace dist::test {
namespace {

std::string name_of(void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_sname ? info.dli_sname : "";
}

// The callers of send() up to dist::all_reduce, each on a line; local functions have no name here.
std::string callers_up_to_all_reduce(const std::vector<void*>& callers) {
  std::string all;
  for (std::size_t i = 1; i < callers.size(); ++i) {
    const std::string name = name_of(callers[i]);
    all += name + '\n';
    if (name.starts_with("_ZN4dist10all_reduce")) return all;
  }
  return "dist::all_reduce does not call send()\n" + all;
}

TEST(Walk, FromAllReduceToTheSocketAreAtMost14Calls) {
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "without optimisation each small function is a call";
#endif
  setenv("DIST_TRANSPORT", "plain", 1);
  ProcessRanks ranks(2, [](int, const auto&) {
    init_process_group({.timeout = std::chrono::seconds(20)});
    Tensor t = ones({4});
    std::vector<void*> callers;
    watched = &callers;
    all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
    destroy_process_group();
    return callers_up_to_all_reduce(callers);
  });
  unsetenv("DIST_TRANSPORT");
  for (const auto& report : ranks.join(std::chrono::seconds(30))) {
    EXPECT_EQ(report.text.find("does not call"), std::string::npos) << report.text;
    const auto calls = std::ranges::count(report.text, '\n');
    EXPECT_GE(calls, 3) << report.text;
    EXPECT_LE(calls, 14) << report.text;
    RecordProperty("calls", static_cast<int>(calls));
  }
}

}  // namespace
}  // namespace dist::test
