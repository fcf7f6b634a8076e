#include <csignal>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  // A script's background job ignores these signals, and programs that the tests start would inherit that.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT}) std::signal(number, SIG_DFL);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

#ifdef __SANITIZE_THREAD__
// oneDNN comes from the system and is not instrumented: ThreadSanitizer sees its locks, but not how they are
// made.
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libdnnl.so\n"; }
#endif
