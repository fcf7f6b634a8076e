#include "distlab/bench/train/report.h"

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/json.h"

#include "distlab/build_info.h"

namespace distlab::bench {
namespace {

constexpr double mebi = 1024. * 1024, kilo = 1000;

std::string unit(const TrainRun& run) { return run.options.model == "gpt" ? "tokens/s" : "images/s"; }

std::string line(const TrainRun& run, const std::string& who, const TrainTurn& turn) {
  return fmt::format("{:<16}{:>10.2f}{:>10.2f}{:>12.0f}{:>11.0f}\n", who, turn.step * kilo, turn.cpu * kilo,
                     per_second(run, turn), turn.peak_bytes / mebi);
}

}  // namespace

double per_second(const TrainRun& run, const TrainTurn& turn) {
  const auto& o = run.options;
  return static_cast<double>(o.model == "gpt" ? o.batch_size * o.context : o.batch_size) / turn.step;
}

double ratio(const TrainRun& run) { return run.theirs.step / run.ours.step; }

double ratio_to_graphs(const TrainRun& run) {
  return run.graphs_alone > 0 ? run.ours.step / run.graphs_alone : 0;
}

std::string as_text(const TrainRun& run) {
  const auto& o = run.options;
  std::string text = fmt::format("train: {}, {:.2f} million parameters, batch {}, {} on {}, {}; build {}\n",
                                 run.model, static_cast<double>(run.parameters) / 1e6, o.batch_size, o.dtype,
                                 o.device, dist::counted(o.threads, "thread"), build_info().type);
  text += warning_of_build();
  if (o.device == "cpu" && build_info().onednn.empty())
    text += "Built without oneDNN: layers are slow, and use one thread.\n";
  if (!run.peer_title.empty())
    text += fmt::format("Measured alternately with {}, which multiplies matrices by {}.\n", run.peer_title,
                        run.blas);
  text += fmt::format("\n{:<16}{:>10}{:>10}{:>12}{:>11}\n", "", "step ms", "cpu ms", unit(run), "peak MiB");
  text += line(run, "distlab", run.ours);
  if (!run.peer_title.empty()) {
    text += line(run, run.peer_title, run.theirs);
    text +=
        fmt::format("{:<16}{:>10}{:>10.2f}{:>12.2f}{:>11.2f}\n", "ratio", "", run.ours.cpu / run.theirs.cpu,
                    ratio(run), run.ours.peak_bytes / run.theirs.peak_bytes);
  }
  if (run.graphs_alone > 0)
    text += fmt::format("\nThe graphs of a step alone take {:.2f} ms; a step takes {:.2f} times as long.\n",
                        run.graphs_alone * kilo, ratio_to_graphs(run));
  return text + fmt::format(
                    "\nMedians of {} of {}. cpu: the CPU time of a step, of all threads; peak: the most "
                    "memory of the process.\n",
                    dist::counted(o.repeats, "turn"), dist::counted(run.steps, "step"));
}

std::string as_json(const TrainRun& run) {
  using Json = dist::OrderedJson;
  const auto& o = run.options;
  const bool compared = !run.peer_title.empty();
  const std::string rate = run.options.model == "gpt" ? "tokens_per_s" : "images_per_s";
  const auto figures = [&](const TrainTurn& turn) {
    return Json{{rate, per_second(run, turn)},
                {"step_ms", turn.step * kilo},
                {"cpu_ms", turn.cpu * kilo},
                {"loss", turn.loss},
                {"peak_rss_bytes", turn.peak_bytes}};
  };
  Json json = figures(run.ours);
  json["peer"] = compared ? figures(run.theirs) : Json(nullptr);
  json["ratio"] = compared ? Json(ratio(run)) : Json(nullptr);
  const bool has_graphs = run.graphs_alone > 0;
  json["graphs_alone_ms"] = has_graphs ? Json(run.graphs_alone * kilo) : Json(nullptr);
  json["ratio_to_graphs"] = has_graphs ? Json(ratio_to_graphs(run)) : Json(nullptr);
  json.update({{"model", o.model},
               {"device", o.device},
               {"dtype", o.dtype},
               {"threads", o.threads},
               {"batch_size", o.batch_size},
               {"parameters", run.parameters},
               {"steps", run.steps},
               {"repeats", o.repeats},
               {"build", build_info().type},
               {"peer_version", compared ? Json(run.peer_title) : Json(nullptr)},
               {"peer_blas", compared ? Json(run.blas) : Json(nullptr)}});
  return dist::json_text(json, 2);
}

}  // namespace distlab::bench
