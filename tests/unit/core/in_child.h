// Runs a function in a forked process, for tests of what fork() does.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

// The child's exit code: 0 when `body` returned true, 1 when false, 2 after an exception, 128 + n after
// signal n.
inline int in_child(const std::function<bool()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 2;
    try {
      code = body() ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
