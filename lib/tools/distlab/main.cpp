// distlab: the command line of the teaching lab. Usually started by the ./distlab script, which builds it
// first.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/command_line/command_line.h"
#include "distlab/commands.h"
#include "distlab/process.h"

namespace {

// What was printed has arrived, too: a full disk is no success.
int with_all_printed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  if (errno != EPIPE)
    fmt::print(stderr, "distlab: standard output cannot be written: {}\n", std::strerror(errno));
  return code == distlab::exit_ok ? distlab::exit_failed : code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return with_all_printed(distlab::run_command_line(argc, argv));
  } catch (const distlab::Interrupted& by) {
    std::raise(by.signal);
    return 128 + by.signal;
  } catch (const dist::Error& error) {
    fmt::print(stderr, "distlab: {}\n", error.what());
    return error.code() == dist::Errc::unsupported ? distlab::exit_missing : distlab::exit_failed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "distlab: {}\n", error.what());
    return distlab::exit_failed;
  }
}
