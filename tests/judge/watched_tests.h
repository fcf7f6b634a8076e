// Watched tests: the tests of this program run in a process of their own. A test that ends it by a signal, as
// it reads an answer, has failed, and the tests after it run in a new process: no answer makes a grade void.
#pragma once

#include <functional>
#include <string_view>

namespace judge {

// A test that has ended its process, and how: "signal 11 (Segmentation fault)".
using Broken = std::function<void(std::string_view suite, std::string_view test, std::string_view how)>;

// Runs them by `run_all` (RUN_ALL_TESTS and what it needs), whose result is the exit status. 0: all have
// passed, 1: something failed. Throws Trouble where the tests did not come to an end, and the reason is not
// an answer.
int run_watched_tests(const std::function<int()>& run_all, const Broken& broken);

}  // namespace judge
