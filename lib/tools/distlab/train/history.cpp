#include "distlab/train/history.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "distlab/bench/statistics.h"
#include "distlab/plot.h"

namespace distlab {
namespace {

struct Part {
  std::string_view name, legend;  // the legend is shorter, because it has little room
  double StepTimes::*seconds;
};
constexpr std::array parts{
    Part{"forward", "forward", &StepTimes::forward},
    Part{"backward", "backward", &StepTimes::backward},
    Part{"exposed communication", "exposed comm.", &StepTimes::exposed},
    Part{"update", "update", &StepTimes::update},
    Part{"data", "data", &StepTimes::data},
};
constexpr std::array parts_on_gpu{
    Part{"enqueuing it and waiting for the GPU", "GPU", &StepTimes::enqueued},
    Part{"data", "data", &StepTimes::data},
};

std::span<const Part> parts_of(const std::vector<StepTimes>& steps) {
  if (!steps.empty() && steps.back().enqueued > 0) return parts_on_gpu;
  return parts;
}

// Makes a line of few points, each the median of several steps. A median of 0 is left out, because the axes
// are logarithmic.
PlotLine line(std::string_view name, std::size_t steps, const std::function<double(std::size_t)>& value) {
  constexpr std::size_t points = 50;
  PlotLine line{.family = std::string(name), .label = "", .points = {}};
  for (std::size_t i = 0; i < std::min(points, steps); ++i) {
    const std::size_t begin = steps * i / std::min(points, steps),
                      end = steps * (i + 1) / std::min(points, steps);
    std::vector<double> values;
    for (std::size_t step = begin; step < end; ++step) values.push_back(value(step));
    const double middle = bench::median(std::move(values));
    if (middle > 0) line.points.emplace_back(static_cast<double>(begin + end + 1) / 2, middle);
  }
  return line;
}

}  // namespace

std::string History::summary() const {
  if (times_.size() < 2) return "";
  const auto typical = [&](const std::function<double(const StepTimes&)>& value) {
    std::vector<double> values;
    for (const auto& times : std::span(times_).subspan(1)) values.push_back(value(times) * 1e3);
    return bench::median(std::move(values));
  };
  std::string text = fmt::format("step {:.2f} ms:", typical([](const auto& times) { return times.total(); }));
  for (const auto& [name, legend, seconds] : parts_of(times_)) {
    text += fmt::format("{} {} {:.2f}", text.back() == ':' ? "" : ",", name,
                        typical([part = seconds](const auto& times) { return times.*part; }));
  }
  return text;
}

void History::plot(const std::filesystem::path& folder, const std::string& title) const {
  Plot loss{.title = "Loss: " + title, .x = {"step"}, .y = {"cross-entropy"}, .lines = {}};
  loss.lines.push_back(line("loss of rank 0", losses_.size(), [this](std::size_t i) { return losses_[i]; }));
  write_svg(loss, folder / "loss.svg");

  Plot times{.title = "Step time: " + title, .x = {"step"}, .y = {"time", Unit::seconds}, .lines = {}};
  times.lines.push_back(
      line("whole step", times_.size(), [this](std::size_t i) { return times_[i].total(); }));
  for (const auto& [name, legend, seconds] : parts_of(times_)) {
    auto one = line(legend, times_.size(), [this, part = seconds](std::size_t i) { return times_[i].*part; });
    if (!one.points.empty()) times.lines.push_back(std::move(one));
  }
  write_svg(times, folder / "step_times.svg");
}

}  // namespace distlab
