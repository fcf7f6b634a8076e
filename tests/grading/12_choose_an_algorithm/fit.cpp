// Lab 12, part 1: the line through measurements.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/ask.h"
#include "judge/numbers.h"
#include "support.h"

namespace lab12 {
namespace {

using judge::misconception;

constexpr double sizes[]{8, 64, 512, 4096, 32768, 262144, 2097152, 16777216};

// Least squares in which a point has the weight 1 / seconds^power: 2 for relative errors, 0 for plain least
// squares.
Line fit(const Points& points, int power) {
  double w = 0, x = 0, t = 0;  // the sum of the weights, and the weighted means
  for (const auto& [bytes, seconds] : points) {
    const double weight = std::pow(seconds, -power);
    w += weight;
    x += weight * bytes;
    t += weight * seconds;
  }
  x /= w, t /= w;
  double above = 0, below = 0;
  for (const auto& [bytes, seconds] : points) {
    const double weight = std::pow(seconds, -power);
    above += weight * (bytes - x) * (seconds - t);
    below += weight * (bytes - x) * (bytes - x);
  }
  return {t - above / below * x, above / below};
}

bool is_near(double got, double right) { return std::abs(got - right) <= 1e-5 * std::abs(right); }
bool are_near(const Line& got, const Line& right) {
  return is_near(got.at_zero, right.at_zero) && is_near(got.per_byte, right.per_byte);
}

std::string text(const Line& line) {
  return fmt::format("{:.4g} us + {:.4g} s/GB", line.at_zero * 1e6, line.per_byte * 1e9);
}

struct LineIdea {
  const char* name;
  const char* in_words;
  Line (*line)(const Points&);
};

constexpr LineIdea line_ideas[]{
    {"absolute_errors",
     "this is plain least squares, in which the points that take longest dominate the sum of errors, so the "
     "overhead of a message is lost; fix: give each point the weight 1/seconds^2",
     [](const Points& points) { return fit(points, 0); }},
    {"weight_not_squared",
     "each point has the weight 1/seconds; fix: use 1/seconds^2, because the relative error is squared",
     [](const Points& points) { return fit(points, 1); }},
    {"no_time_below_zero",
     "the line was moved so that it is nowhere below zero; fix: return the line with the smallest sum of "
     "errors, whatever its numbers are, because errors of measurement can make it negative",
     [](const Points& points) {
       const auto right = fit(points, 2);
       return Line{std::max(right.at_zero, 0.0), std::max(right.per_byte, 0.0)};
     }},
    {"first_and_last_point",
     "this is the line through the first and the last point; fix: use all measured points",
     [](const Points& points) {
       const auto& [x, t] = points.front();
       const auto& [y, u] = points.back();
       const double slope = (u - t) / (y - x);
       return Line{t - slope * x, slope};
     }},
    {"bits_for_bytes", "the time per byte is eight times too small; fix: take the sizes as bytes, not bits",
     [](const Points& points) {
       const auto right = fit(points, 2);
       return Line{right.at_zero, right.per_byte / 8};
     }},
    {"bits_for_bytes", "the time per byte is eight times too large; fix: take the sizes as bytes, not bits",
     [](const Points& points) {
       const auto right = fit(points, 2);
       return Line{right.at_zero, right.per_byte * 8};
     }}};

void diagnose_lines(const std::vector<Points>& cases, const std::vector<Line>& got) {
  for (const auto& idea : line_ideas) {
    bool fits = true;
    for (std::size_t i = 0; fits && i < got.size(); ++i) fits = are_near(got[i], idea.line(cases[i]));
    if (fits) return misconception(idea.name, idea.in_words);
  }
}

// The submission's own lines of both series; undefined numbers are NaN.
std::vector<Line> own_lines(const Points& one_way, const Points& burst) {
  std::vector<Line> lines;
  const Json cases{{{"text", "fit_line"}, {"points", one_way}}, {{"text", "fit_line"}, {"points", burst}}};
  for (const auto& reply : judge::ask("fit_line", cases))
    lines.push_back({judge::real(reply.at(0)), judge::real(reply.at(1))});
  return lines;
}

std::array<double, 3> costs_of(const Line& way, const Line& port) {
  return {way.at_zero - port.at_zero, port.at_zero, (way.per_byte + port.per_byte) / 2};
}

}  // namespace

Line drawn_line(judge::Random& random) {
  return {random.between(150, 3000) * 1e-8, 1 / (random.between(10, 400) * 1e8)};
}

Points on_the_line(const Line& line) {
  Points points;
  for (const double bytes : sizes) points.emplace_back(bytes, line(bytes));
  return points;
}

Points measured(const Line& line, judge::Random& random) {
  auto points = on_the_line(line);
  for (auto& [bytes, seconds] : points) seconds *= 1 + random.between(-60, 60) / 1000.;
  return points;
}

// Two processes on a server, and on a busy one: ./distlab run 12 shows how to measure this.
Points one_way_of_a_server() {
  return {{8, 11.9e-6},     {64, 11.9e-6},     {512, 12.6e-6},    {4096, 10.2e-6},
          {32768, 10.7e-6}, {262144, 19.0e-6}, {2097152, 72.0e-6}};
}
Points burst_of_a_server() {
  return {{8, 6.5e-6},      {64, 5.6e-6},      {512, 4.9e-6},     {4096, 10.9e-6},
          {32768, 11.0e-6}, {262144, 11.1e-6}, {2097152, 56.8e-6}};
}

void expect_line(const std::vector<Points>& cases) {
  Json questions = Json::array();
  for (const auto& points : cases) questions.push_back({{"text", "fit_line"}, {"points", points}});
  const auto replies = judge::ask("fit_line", questions);
  std::vector<Line> got;
  for (const auto& reply : replies) {
    if (!reply.at(0).is_number() || !reply.at(1).is_number()) {
      ADD_FAILURE() << "fit_line: expected a line; it returned NaN or infinity";
      return;
    }
    got.push_back({reply.at(0), reply.at(1)});
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto right = fit(cases[i], 2);
    if (are_near(got[i], right)) continue;
    diagnose_lines(cases, got);
    ADD_FAILURE() << fmt::format(
        "fit_line of {} points, from {:.0f} bytes in {:.2f} us to {:.0f} bytes in {:.2f} us: expected {}; it "
        "returned {}",
        cases[i].size(), cases[i].front().first, cases[i].front().second * 1e6, cases[i].back().first,
        cases[i].back().second * 1e6, text(right), text(got[i]));
    return;
  }
}

void expect_costs(const Points& one_way, const Points& burst) {
  const auto replies =
      judge::ask("costs_of", Json::array({{{"text", "costs_of"}, {"one_way", one_way}, {"burst", burst}}}));
  if (replies.empty()) return;
  const auto way = fit(one_way, 2), port = fit(burst, 2);
  const auto right = costs_of(way, port);
  struct {
    const char *name, *unit;
    double units;  // in one second, or in one second per byte
  } constexpr costs[]{{"alpha", "us", 1e6}, {"overhead", "us", 1e6}, {"beta", "s/GB", 1e9}};
  for (std::size_t i = 0; i < 3; ++i) {
    const double got = replies[0].at(i).is_number() ? replies[0][i].get<double>() : NAN;
    if (is_near(got, right[i])) continue;
    const auto own = own_lines(one_way, burst);
    if (own.size() < 2) return;
    if (is_near(got, costs_of(own[0], own[1])[i])) {
      misconception(
          "follows_from_fit_line",
          "costs_of is right for the lines that fit_line returns, but these are wrong; fix: fit_line "
          "first (Part1Fit.measurements_with_errors)");
    } else if (i == 0 && is_near(got, way.at_zero)) {
      misconception("overhead_counted_twice",
                    "this is overhead and alpha together, which is the time of an empty message in one_way; "
                    "fix: subtract the overhead, because alpha begins when the message has left the port");
    }
    const auto& [name, unit, units] = costs[i];
    ADD_FAILURE() << fmt::format(
        "costs_of (with your fit_line): expected {} = {:.4g} {}; it returned {:.4g} {}", name,
        right[i] * units, unit, got * units, unit);
    return;
  }
}

}  // namespace lab12
