#include "distlab/bench/ddp/report.h"

#include <fmt/format.h>

#include "distlab/build_info.h"

namespace distlab::bench {

std::string title(const DdpRun& run) {
  std::string text =
      fmt::format("ddp: a ConvNet, batch {} a rank, one thread each, {} cores: backend host; build {}\n",
                  run.options.batch_size, run.cores, build_info().type);
  if (build_info().type != "Release" || !build_info().sanitizer.empty())
    text += "Not a release build: its figures mislead. ./distlab bench without --preset takes one.\n";
  if (build_info().onednn.empty())
    text += "Built without oneDNN: slow layers leave communication little to do.\n";
  if (!run.peer_title.empty())
    text += fmt::format("Against {}, DistributedDataParallel over gloo, the same model, in turn.\n",
                        run.peer_title);
  text += fmt::format("\n{:>5}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}", "ranks", "step ms", "compute", "comm",
                      "exposed", "bound", "images/s", "scaling");
  if (!run.peer_title.empty()) text += fmt::format("{:>11}{:>10}{:>7}", "PyTorch ms", "images/s", "ratio");
  return text + '\n';
}

std::string line(const DdpRun& run, const DdpRow& row) {
  std::string text =
      fmt::format("{:>5}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>10.0f}{:>7.0f} %", row.ranks,
                  row.step * milli, row.compute * milli, row.communication * milli, row.exposed * milli,
                  bound(row) * milli, images_per_second(run, row, row.step), scaling(run, row) * 100);
  if (row.peer > 0)
    text += fmt::format("{:>11.2f}{:>10.0f}{:>7.2f}", row.peer * milli, images_per_second(run, row, row.peer),
                        ratio(row));
  return text + '\n';
}

std::string explanation(const DdpRun& run) {
  std::string text = fmt::format(
      "\nMedians of {} turns, the slowest rank's. compute: the model alone on all ranks at once; comm: the\n"
      "all-reduces of its buckets alone; exposed: what backward did not hide of them; bound: 1.1 times the\n"
      "longer of both and 1 ms; scaling: images/s against those of 1 rank, times the ranks.\n",
      run.options.repeats);
  for (const DdpRow& row : run.rows) {
    if (row.ranks > run.cores)
      text += fmt::format("{} ranks share {} cores: there, scaling is {:.0f} % at best.\n", row.ranks,
                          run.cores, 100. * run.cores / row.ranks);
  }
  return text;
}

Plot as_plot(const DdpRun& run) {
  Plot plot{.title = fmt::format("DistributedDataParallel, batch {} a rank", run.options.batch_size),
            .x = {"ranks"},
            .y = {"images a second"},
            .lines = {{"distlab", "", {}}, {"1 rank, n times", "", {}}}};
  if (!run.peer_title.empty()) plot.lines.push_back({run.peer_title, "", {}});
  const DdpRow& one = run.rows.front();
  for (const DdpRow& row : run.rows) {
    plot.lines[0].points.emplace_back(row.ranks, images_per_second(run, row, row.step));
    plot.lines[1].points.emplace_back(row.ranks, images_per_second(run, row, one.step));
    if (row.peer > 0) plot.lines[2].points.emplace_back(row.ranks, images_per_second(run, row, row.peer));
  }
  return plot;
}

}  // namespace distlab::bench
