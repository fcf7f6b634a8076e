// distlab: the command line of the teaching lab. The ./distlab script builds and starts it.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/core/standard_streams.h"

#include "distlab/command_line/command_line.h"
#include "distlab/commands.h"
#include "distlab/fitted_output.h"
#include "distlab/process.h"
#include "distlab/results/text.h"
#include "distlab/terminal.h"

namespace {

// std::fputs does not throw if standard error cannot be written; fmt::print would.
// The text may name a student's file.
void complain(const std::string& text) {
  std::fputs(("distlab: " + distlab::clean(text) + "\n").c_str(), stderr);
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
  dist::open_standard_streams();
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, we could not learn how a child ended
  distlab::fit_output();
  try {
    return with_all_printed(distlab::run_command_line(argc, argv));
  } catch (const distlab::Interrupted& by) {
    std::raise(by.signal);
    return 128 + by.signal;
  } catch (const dist::Error& error) {
    complain(error.what());
    return error.code() == dist::Errc::unsupported ? distlab::exit_missing : distlab::exit_failed;
  } catch (const std::filesystem::filesystem_error& error) {
    const auto& path =
        error.path2().empty() ? error.path1() : error.path2();  // of two paths, the one that is written
    complain(fmt::format("{}: {}", path.string(), error.code().message()));
    return distlab::exit_failed;
  } catch (const std::exception& error) {
    complain(error.what());
    return distlab::exit_failed;
  }
}
