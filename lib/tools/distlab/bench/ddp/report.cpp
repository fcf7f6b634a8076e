#include "distlab/bench/ddp/report.h"

#include <fmt/format.h>

#include "dist/core/counted.h"

#include "distlab/build_info.h"
#include "distlab/terminal.h"

namespace distlab::bench {
namespace {

struct Widths {
  int wide, less, images, percent;  // of a column
};

// The table has 69 columns, or 60 on a narrower terminal.
Widths widths() { return columns_to_fit() < 69 ? Widths{8, 7, 9, 8} : Widths{9, 9, 10, 9}; }

}  // namespace

std::string title(const DdpRun& run) {
  std::string text =
      fmt::format("ddp: a ConvNet, batch {} per rank, one thread each, {}; backend {}; build {}\n",
                  run.options.batch_size, dist::counted(run.cores, "core"),
                  run.options.device == "cpu" ? "host" : "auto, on GPUs", build_info().type);
  text += warning_of_build();
  if (run.options.device == "cpu" && build_info().onednn.empty())
    text += "Built without oneDNN: layers are slow, so communication is a small part of a step.\n";
  if (!run.peer_title.empty())
    text += fmt::format("Measured alternately with {}: DistributedDataParallel over {}, the same model.\n",
                        run.peer_title, run.options.device == "cpu" ? "gloo" : "nccl (gloo on a shared GPU)");
  const auto [wide, less, images, percent] = widths();
  text += fmt::format("\n{:>5}{:>{w}}{:>{w}}{:>{l}}{:>{w}}{:>{l}}{:>{i}}{:>{p}}", "ranks", "step ms",
                      "compute", "comm", "exposed", "bound", "images/s", "scaling", fmt::arg("w", wide),
                      fmt::arg("l", less), fmt::arg("i", images), fmt::arg("p", percent));
  if (!run.peer_title.empty()) text += fmt::format("{:>11}{:>10}{:>7}", "PyTorch ms", "images/s", "ratio");
  if (run.options.device != "cpu") text += fmt::format("{:>10}{:>7}", "graphs ms", "ratio");
  return text + '\n';
}

std::string line(const DdpRun& run, const DdpRow& row) {
  const auto [wide, less, images, percent] = widths();
  std::string text = fmt::format(
      "{:>5}{:>{w}.2f}{:>{w}.2f}{:>{l}.2f}{:>{w}.2f}{:>{l}.2f}{:>{i}.0f}{:>{p}.0f} %", row.ranks,
      row.step * milli, row.compute * milli, row.communication * milli, row.exposed * milli,
      bound(row) * milli, images_per_second(run, row, row.step), scaling(run, row) * 100, fmt::arg("w", wide),
      fmt::arg("l", less), fmt::arg("i", images), fmt::arg("p", percent - 2));
  if (row.peer > 0)
    text += fmt::format("{:>11.2f}{:>10.0f}{:>7.2f}", row.peer * milli, images_per_second(run, row, row.peer),
                        ratio(row));
  if (row.graphs > 0) text += fmt::format("{:>10.2f}{:>7.2f}", row.graphs * milli, ratio_to_graphs(row));
  return text + '\n';
}

std::string explanation(const DdpRun& run) {
  std::string text = paragraphs(fmt::format(
      "\nMedians of {} of the slowest rank. compute: the model alone, on all ranks at the same time;\n"
      "comm: the all-reduces of its buckets alone; exposed: the part of them that backward did not hide;\n"
      "bound: 1.1 times the longer of both, plus 1 ms; scaling: images/s over n times those of 1 rank.\n",
      dist::counted(run.options.repeats, "turn")));
  if (run.options.device != "cpu")
    text +=
        "graphs: the recorded graphs of a step alone, on all ranks at the same time, and how much longer a "
        "step "
        "takes.\n";
  for (const DdpRow& row : run.rows) {
    if (row.ranks > run.cores)
      text += fmt::format("{} ranks share {}, so their scaling is at most {:.0f} %.\n", row.ranks,
                          dist::counted(run.cores, "core"), 100. * run.cores / row.ranks);
  }
  return text;
}

Plot as_plot(const DdpRun& run) {
  Plot plot{.title = fmt::format("DistributedDataParallel, batch {} per rank", run.options.batch_size),
            .x = {"ranks"},
            .y = {"images per second"},
            .lines = {{"distlab", "", {}}, {"n times 1 rank", "", {}}}};
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
