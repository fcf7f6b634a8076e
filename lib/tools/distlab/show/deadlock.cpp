// show deadlock: three ranks that all send first, and the finding about it.
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "dist/dist.h"

#include "distlab/show/scene.h"
#include "distlab/terminal.h"

namespace distlab::show {

dist::trace::Trace deadlock() {
  say("Three ranks in a ring; each runs\n"
      "    send(mine, (rank + 1) % 3);   recv(theirs, (rank + 2) % 3);\n"
      "send returns when the receiver receives. No rank receives.");
  dist::sim::RunOptions run;
  run.ranks = 3;
  run.trace = true;
  auto report = dist::sim::run(run, [](int rank) {
    dist::init_process_group({.timeout = std::chrono::seconds(10)});
    auto mine = dist::full({4}, rank), theirs = dist::empty({4});
    dist::send(mine, (rank + 1) % 3);
    dist::recv(theirs, (rank + 2) % 3);
  });
  if (report.findings.empty())  // a DIST_ variable, for example, may have caused another error
    dist::fail(dist::Errc::invalid_argument, "show deadlock: {}",
               report.failures.empty() ? "the deadlock did not happen" : report.failures.front().what);
  report.trace.title = "all send first, 3 ranks";
  draw(report.trace);
  for (const auto& finding : report.findings) fmt::print("{}\n", styled(Style::bad, finding.text()));
  say("With real processes, the watchdog reports the same deadlock instead of a hang. Lab 03 fixes it.");
  return std::move(report.trace);
}

}  // namespace distlab::show
