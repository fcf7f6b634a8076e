// distlab: the command line of the teaching lab. Usually started by the ./distlab script, which builds it
// first.
#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/command_line/command_line.h"
#include "distlab/commands.h"
#include "distlab/process.h"

int main(int argc, char** argv) {
  try {
    return distlab::run_command_line(argc, argv);
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
