// judge_build ROOT BUILD LAB_FILE SUBMISSION INTO: makes INTO/runner of what was handed in for a lab. Prints
// one line of JSON: {"isolation": "bubblewrap", "work_ms": what all its tools have worked}, or {"refused":
// why, "log": the compiler's words}. Exit status: 0 built, 1 refused, 2 usage, 3 our own fault.
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "judge/build_submission.h"
#include "judge/submission.h"

namespace {

int say(const nlohmann::json& result, int status) {
  fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return status;
}

std::int64_t work_ms() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto of = [](const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; };
  return of(used.ru_utime) + of(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: {} ROOT BUILD LAB_FILE SUBMISSION INTO\n", argv[0]);
    return 2;
  }
  try {
    const auto built =
        judge::build_submission({.build = argv[2], .root = argv[1], .file = argv[3]}, argv[4], argv[5]);
    return say({{"isolation", name(built.isolation)}, {"work_ms", work_ms()}, {"note", built.note}}, 0);
  } catch (const judge::Refused& refused) {
    return say({{"refused", refused.what()}, {"log", refused.log}}, 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
