// show pipeline: a schedule as a timeline, with what it costs, counted and by formula.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/whole_file.h"
#include "dist/parallel/pipeline/check.h"
#include "dist/parallel/pipeline/costs.h"

#include "distlab/commands.h"
#include "distlab/show/scene.h"
#include "distlab/terminal.h"
#include "distlab/wrong_usage.h"
#include "drawing/pipeline_svg.h"
#include "drawing/pipeline_text.h"

namespace distlab {
namespace {

using namespace dist::pipeline;

constexpr int default_chunks = 2;
constexpr int most_forwards = 20'000;  // what runs in a second

struct Example {
  Kind kind;
  Shape shape;
  StageTimes times;
  Schedule schedule;
  Timeline timeline;
};

Example example_of(Kind kind, int chunks, const PipelineOptions& options) {
  const Shape shape{options.ranks, options.micro_batches, chunks};
  if (shape.stages() * shape.micro_batches > most_forwards)
    dist::fail(dist::Errc::invalid_argument, "{}, {} and {} are {} forwards; at most {} are drawn",
               dist::counted(shape.ranks, "rank"),
               dist::counted(shape.micro_batches, "micro-batch", "micro-batches"),
               dist::counted(chunks, "chunk"), shape.stages() * shape.micro_batches, most_forwards);
  // Chunks divide the work of a rank.
  const StageTimes times{options.times[0] / chunks, options.times[1] / chunks, options.times[2] / chunks};
  Schedule schedule = make_schedule(kind, shape);
  if (const auto wrong = check(schedule); !wrong.empty()) dist::fail(dist::Errc::internal, "{}", wrong);
  Timeline timeline = run(schedule, {.stages = {times}, .latency = options.latency});
  return {kind, shape, times, std::move(schedule), std::move(timeline)};
}

std::string title(const Example& example) {
  const auto [p, m, v] = example.shape;
  return fmt::format("{}: {}, {}{}", name(example.kind), dist::counted(p, "rank"),
                     dist::counted(m, "micro-batch", "micro-batches"),
                     v > 1 ? fmt::format(", {} chunks per rank", v) : "");
}

std::string coloured(ActionKind kind, std::string_view cell) {
  return styled(kind == ActionKind::forward           ? Style::good
                : kind == ActionKind::backward_weight ? Style::dim
                                                      : Style::warn,
                cell);
}

// "4 3 2 1", or only the first and the last of many.
std::string of_ranks(const std::vector<int>& values) {
  constexpr std::size_t most = 8;
  if (values.size() <= most) return fmt::format("{}", fmt::join(values, " "));
  return fmt::format("{} {} {} ... {}", values[0], values[1], values[2], values.back());
}

void print_row(const char* what, const std::string& counted, const std::string& formula,
               std::string_view text) {
  const int column = std::clamp((columns_to_fit() - 30) / 2, 15, 26);
  fmt::print("  {:<10}{:<{}}{:<{}}{}\n", what, counted, column, formula, column, text);
}

void print_costs(const Example& example) {
  const auto [p, m, v] = example.shape;
  std::vector<int> in_flight, held, in_flight_formula, held_formula;
  for (const Peak& peak : peaks(example.schedule)) {
    const Peak formula = peak_formula(example.kind, example.shape, static_cast<int>(in_flight.size()));
    in_flight.push_back(peak.in_flight);
    held.push_back(peak.held);
    in_flight_formula.push_back(formula.in_flight);
    held_formula.push_back(formula.held);
  }
  show::say(fmt::format(
      "Total {:.6g}, of which each rank computes {:.6g}. In flight, per rank i: {} whose forward has "
      "run and whose backward has not{}.",
      example.timeline.total, m * v * example.times.all(),
      v > 1 ? "micro-batches on a chunk" : "micro-batches",
      held != in_flight ? "; held: whose weight gradients have not" : ""));
  fmt::print("\n");
  print_row("", "counted", "by formula", "");
  print_row("bubble", fmt::format("{:.1f} %", 100 * example.timeline.bubble),
            fmt::format("{:.1f} %", 100 * bubble_formula(example.kind, example.shape, example.times)),
            bubble_text(example.kind, example.shape));
  print_row("in flight", of_ranks(in_flight), of_ranks(in_flight_formula),
            in_flight_text(example.kind, example.shape));
  if (held != in_flight) print_row("held", of_ranks(held), of_ranks(held_formula), "min(m, p)");
}

// All schedules on the same model. In flight: of the rank that has the most, in micro-batches of a whole
// rank.
void print_comparison(Kind chosen, const PipelineOptions& options) {
  fmt::print("\n  The same model by     {:>9} {:>9} {:>14}\n", "total", "bubble", "most in flight");
  for (const auto& [kind, its_name] : kind_names) {
    const int chunks = kind != Kind::interleaved ? 1 : options.chunks > 0 ? options.chunks : default_chunks;
    const Example example = example_of(kind, chunks, options);
    int most = 0;
    for (const Peak& peak : peaks(example.schedule)) most = std::max(most, peak.in_flight);
    const std::string line = fmt::format(
        "  {:<21} {:>9.6g} {:>7.1f} % {:>14.4g}",
        chunks > 1 ? fmt::format("{}, {} chunks", its_name, chunks) : its_name, example.timeline.total,
        100 * example.timeline.bubble, static_cast<double>(most) / chunks);
    fmt::print("{}\n", styled(kind == chosen ? Style::bold : Style::plain, line));
  }
}

void print_example(const Example& example, const PipelineOptions& options) {
  fmt::print("{}\n\n", styled(Style::bold, "Pipeline schedule " + title(example)));
  fmt::print("{}\n",
             timeline_text(example.timeline, example.shape, {std::min(terminal_width(), 100), coloured}));
  if (options.actions) {
    fmt::print("{}\n", actions_text(example.schedule, std::min(terminal_width(), 100)));
    show::say("F0> is the send of an activation, >F0 its receive; B0> and >B0 are those of its gradient.");
    show::say("Messages in brackets are started together.");
    fmt::print("\n");
  }
  print_costs(example);
  if (options.latency > 0) show::say("The formulas leave out latency.");
  print_comparison(example.kind, options);
  if (const auto deadlock = check(example.schedule, Messages::one_by_one); !deadlock.empty()) {
    fmt::print("\n");
    show::say("With blocking calls of send and recv, one after the other, this schedule would hang: " +
              deadlock);
  }
}

}  // namespace

int show_pipeline(const PipelineOptions& options) {
  try {
    const Kind kind = kind_named(options.schedule);
    const int chunks = options.chunks > 0 ? options.chunks : kind == Kind::interleaved ? default_chunks : 1;
    const Example example = example_of(kind, chunks, options);
    if (!options.svg.empty())
      dist::write_whole_file(options.svg, timeline_svg(example.timeline, example.shape, title(example)));
    print_example(example, options);
    if (!options.svg.empty()) fmt::print("\n{}: the timeline, for a browser\n", options.svg.string());
    return exit_ok;
  } catch (const dist::Error& error) {
    return wrong_usage(error);
  }
}

}  // namespace distlab
