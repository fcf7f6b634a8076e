// distlab: the command line of the teaching lab. Usually started by the ./distlab script, which builds it
// first.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/error.h"

#include "distlab/command_line/command_line.h"
#include "distlab/commands.h"
#include "distlab/process.h"
#include "distlab/terminal.h"

namespace {

// Whether it arrives or not: fmt::print throws where standard error cannot be written.
void complain(const std::string& text) { std::fputs(("distlab: " + text + "\n").c_str(), stderr); }

// A file that is opened must not take the number of a standard stream that the caller closed: what is printed
// would go there.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);  // takes the lowest number: this one
}

int with_all_printed(int code) try {
  distlab::flush_stdout();
  return code;
} catch (const dist::Error& error) {
  if (distlab::stdout_has_reader()) complain(error.what());
  return code == distlab::exit_ok ? distlab::exit_failed : code;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    return with_all_printed(distlab::run_command_line(argc, argv));
  } catch (const distlab::Interrupted& by) {
    std::raise(by.signal);
    return 128 + by.signal;
  } catch (const dist::Error& error) {
    complain(error.what());
    return error.code() == dist::Errc::unsupported ? distlab::exit_missing : distlab::exit_failed;
  } catch (const std::filesystem::filesystem_error& error) {
    const auto& path = error.path2().empty() ? error.path1() : error.path2();  // of two, what is written
    complain(fmt::format("{}: {}", path.string(), error.code().message()));
    return distlab::exit_failed;
  } catch (const std::exception& error) {
    complain(error.what());
    return distlab::exit_failed;
  }
}
