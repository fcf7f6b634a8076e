// distlab run: runs a lab's demo, on the device and with the backend that the options name.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "dist/backend/auto_choice.h"
#include "dist/backend/backend.h"
#include "dist/check/finding.h"
#include "dist/core/fail.h"

#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

std::string device_of(const std::string& backend) {
  return dist::backend_named(backend).device == dist::DeviceType::cpu ? "cpu" : "cuda";
}

// A named backend decides on the device, so --device may not contradict it.
bool is_usage(const RunOptions& options) {
  if (options.backend.empty() || options.device.empty()) return true;
  const auto device = device_of(options.backend);
  if (device == options.device) return true;
  fmt::print(stderr, "--backend {} needs tensors on {}; leave out --device {}\n", options.backend, device,
             options.device);
  return false;
}

// A demo is short: if a rank waits longer than this, it will never stop waiting. A certain deadlock is
// reported even sooner.
constexpr const char *patience_s = "20", *deadlock_after_s = "1";

// Sets the variables that init_process_group() of the demo's ranks reads. If the device or backend is
// missing, throws Error{unsupported} here, so that the message appears once and not once per rank.
void tell_ranks(const RunOptions& options) {
  setenv("DIST_TIMEOUT", patience_s, 0);
  setenv("DIST_DEADLOCK_AFTER", deadlock_after_s, 0);
  if (!options.backend.empty()) {
    (void)dist::find_backend(options.backend);
    setenv("DIST_BACKEND", options.backend.c_str(), 1);
    if (options.backend == "mpi") setenv("DIST_DEBUG", "detail", 0);  // MPI does not compare calls
  }
  const auto device = options.backend.empty() ? options.device : device_of(options.backend);
  if (device.empty()) return;
  std::string why;
  if (device == "cuda" && dist::default_device(0, &why) == dist::cpu)
    dist::fail(dist::Errc::unsupported, "--device cuda: {}", why);
  setenv("DIST_DEVICE", device.c_str(), 1);
}

// Turns a finding at the end of an error's line, whose parts are separated by semicolons, into a list.
std::string listed(std::string_view finding, std::string_view indent, int columns) {
  std::string text;
  while (!finding.empty()) {
    const auto end = std::min(finding.find("; "), finding.size());
    text += indented(fmt::format("{}{}{}", indent, text.empty() ? "" : "  ", finding.substr(0, end)),
                     Style::plain, 0, columns);
    finding.remove_prefix(std::min(finding.size(), end + 2));
  }
  return text;
}

// Prints a line of the demo unchanged; an error with a finding is broken to fit the terminal.
void show(std::string_view line) {
  const auto head = dist::check::without_finding(line);
  if (head.size() == line.size()) {
    fmt::print("{}\n", line);
  } else {
    const auto indent = line.substr(0, std::min(line.find_first_not_of(' '), line.size()));
    fmt::print("{}{}", indented(head, Style::plain, 0, terminal_width()),
               listed(line.substr(head.size() + 2), indent, terminal_width()));
  }
  std::fflush(stdout);
}

// Prints the output of the finished lab that its page has, where there is no solution to run.
int show_expected_output(const Lab& lab) {
  const auto page = text_of_file(handout(lab));
  constexpr std::string_view fence = "\n```\n";
  const auto told = page.find(fmt::format("./distlab run {} --solution", lab.number));
  const auto begin = told == page.npos ? told : page.find(fence, told);
  const auto end = begin == page.npos ? begin : page.find(fence, begin + fence.size() - 1);
  if (end == page.npos) {
    fmt::print(stderr, no_solutions);
    return exit_missing;
  }
  fmt::print(stderr, "There is no solution here to run; its output, from {}:\n", handout(lab).string());
  fmt::print("{}\n", page.substr(begin + fence.size(), end - begin - fence.size()));
  return exit_ok;
}

}  // namespace

int run_lab(const RunOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab || !is_usage(options)) return exit_usage;
  if (options.solution && !has_solution(*lab)) return show_expected_output(*lab);
  tell_ranks(options);
  const auto demo = lab_program(*lab, options.solution ? "solution_demo" : "demo");
  std::vector<std::string> argv{demo};
  if (options.nproc > 0) argv.insert(argv.end(), {"--nproc", std::to_string(options.nproc)});
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  const auto result = run_streamed(argv, show);
  // If a demo dies, its ranks were threads or virtual, so no launcher reports the signal.
  if (const auto how = ended_by_signal(result.exit_code); !how.empty())
    fmt::print(stderr, "distlab: the demo {}; to find the line: ./distlab grade {}\n", how, options.lab);
  else if (result.exit_code > exit_usage)  // with 1 and 2, the demo has said what is wrong
    fmt::print(
        stderr,
        "distlab: the demo ended with exit code {} before it was complete, as when a rank calls exit(); "
        "to find the line: ./distlab grade {}\n",
        result.exit_code, options.lab);
  return result.exit_code == 0 ? exit_ok : exit_failed;
}

}  // namespace distlab
