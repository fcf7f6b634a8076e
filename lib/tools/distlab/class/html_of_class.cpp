// The report of a class, for an instructor who prepares the next lecture.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "dist/core/counted.h"

#include "distlab/class/grades.h"
#include "distlab/class/html.h"
#include "distlab/class/tally.h"

namespace distlab {
namespace {

// Returns a student's name in one line; it may be written in any direction.
std::string html_name(const std::string& name) { return "<bdi>" + html_text(name) + "</bdi>"; }

std::string bar(int part, int whole) {
  const double percent = whole > 0 ? 100.0 * part / whole : 0;
  return fmt::format(
      "<td class=\"bar\"><span class=\"track\"><span class=\"fill\" style=\"width: "
      "{:.1f}%\"></span></span></td>",
      percent);
}

std::string numbers(const ClassGrades& grades, const ClassTally& tally) {
  return fmt::format(
      "<p>{}: {} graded, {} refused (0 points), {} ungraded, {} flaky. Mean {:.1f}, median {:.1f} of {} "
      "points.</p>\n<p class=\"note\">Each was graded twice, with seeds {} and {}; the lower score "
      "counts.</p>\n",
      dist::counted(grades.results.size(), "submission"), tally.graded, tally.refused, tally.ungraded,
      tally.flaky, tally.mean, tally.median, full_score, grades.seed, grades.seed + 1);
}

std::string histogram(const ClassTally& tally) {
  std::string text = "<h2>Scores</h2>\n<table>\n";
  const int most = *std::ranges::max_element(tally.scores);
  for (int bin = ClassTally::bins - 1; bin >= 0; --bin) {
    constexpr int width = full_score / (ClassTally::bins - 1);
    const int count = tally.scores[static_cast<std::size_t>(bin)], low = bin * width;
    const auto range = low == full_score ? std::to_string(low) : fmt::format("{}–{}", low, low + width - 1);
    text += fmt::format("<tr><td class=\"number\">{}</td>{}<td class=\"number\">{}</td></tr>\n", range,
                        bar(count, most), count);
  }
  return text + "</table>\n";
}

std::string pass_rates(const ClassTally& tally) {
  std::string text =
      "<h2>Tests</h2>\n<p class=\"note\">How many of the graded submissions pass each test.</p>\n<table>\n";
  for (const auto& test : tally.tests) {
    text += fmt::format(
        "<tr><td><code>{}</code></td><td class=\"number\">{}</td>{}<td class=\"number\">{} of {}</td></tr>\n",
        html_text(test.name), dist::counted(test.points, "point"), bar(test.passed, tally.graded),
        test.passed, tally.graded);
  }
  return text + "</table>\n";
}

std::string misconceptions(const ClassTally& tally) {
  std::string text = "<h2>Misconceptions</h2>\n";
  if (tally.misconceptions.empty()) return text + "<p class=\"note\">No misconception was diagnosed.</p>\n";
  for (const auto& each : tally.misconceptions) {
    text += fmt::format("<details><summary><strong>{}</strong> × {}: {}</summary><ul>\n",
                        html_text(each.name), each.students.size(), html_text(each.explanation));
    for (const auto& student : each.students) text += "<li>" + html_name(student) + "</li>\n";
    text += "</ul></details>\n";
  }
  return text;
}

// Lists the submissions that the instructor should check.
template <class Chosen, class Reason>
std::string list_of(const ClassGrades& grades, std::string_view heading, Chosen&& is_chosen,
                    Reason&& reason) {
  std::string rows;
  for (const auto& result : grades.results) {
    if (std::invoke(is_chosen, result))
      rows += fmt::format("<tr><td class=\"name\">{}</td><td class=\"reason\">{}</td></tr>\n",
                          html_name(result.name), html_text(reason(result)));
  }
  return rows.empty() ? "" : fmt::format("<h2>{}</h2>\n<table>\n{}</table>\n", heading, rows);
}

std::string lists(const ClassGrades& grades) {
  using Status = ClassResult::Status;
  const auto with = [](Status status) {
    return [status](const ClassResult& result) { return result.status == status; };
  };
  const auto reason = [](const ClassResult& result) { return result.reason; };
  const auto both = [](const ClassResult& result) {
    return fmt::format("{} with seed {}, {} with seed {}",
                       dist::counted(result.gradings.front().score, "point"), result.gradings.front().seed,
                       result.gradings.back().score, result.gradings.back().seed);
  };
  return list_of(grades, "Ungraded: the grader failed twice", with(Status::ungraded), reason) +
         list_of(grades, "Flaky: the two gradings differ", &ClassResult::is_flaky, both) +
         list_of(grades, "Refused: nothing could be run", with(Status::refused), reason);
}

std::string row_of(const ClassResult& result) {
  const auto* test = first_failing(result);
  const bool is_full = result.score() == full_score;
  const auto state = result.status != ClassResult::Status::graded
                         ? fmt::format("<span class=\"bad\">{}</span>", name(result.status))
                     : result.is_flaky() ? "<span class=\"warn\">flaky</span>"
                                         : "";
  return fmt::format(
      "<tr><td class=\"name\">{}</td><td "
      "class=\"number{}\">{}</td><td>{}</td><td><code>{}</code></td><td>{}</td>"
      "<td class=\"number\">{:.1f}</td></tr>\n",
      html_name(result.name), is_full ? " good" : "",
      result.status == ClassResult::Status::ungraded ? "" : std::to_string(result.score()), state,
      html_text(test ? test->name : ""), html_text(test ? test->misconception : ""), result.seconds);
}

std::string table(const ClassGrades& grades) {
  std::string text =
      "<h2>All</h2>\n<table>\n<tr><th>name</th><th class=\"number\">points</th><th></th><th>first failing "
      "test</th><th>misconception</th><th class=\"number\">seconds</th></tr>\n";
  for (const auto& result : grades.results) text += row_of(result);
  return text + "</table>\n";
}

}  // namespace

std::string caveat(const ClassGrades& grades) {
  const auto practice = std::ranges::count_if(grades.results, &ClassResult::is_practice);
  return practice == 0 ? ""
                       : fmt::format(
                             "Practice, not trusted grades: {} of {} submissions ran without a sandbox "
                             "(./distlab doctor says why).",
                             practice, grades.results.size());
}

std::string as_html(const ClassGrades& grades) {
  const auto tally = tally_of(grades);
  std::string body = fmt::format("<h1>{}</h1>\n", html_text(grades.lab));
  if (const auto warning = caveat(grades); !warning.empty())
    body += fmt::format("<p class=\"warning\">{}</p>\n", html_text(warning));
  body += numbers(grades, tally) + histogram(tally) + pass_rates(tally) + misconceptions(tally);
  return html_page(grades.lab, body + lists(grades) + table(grades));
}

}  // namespace distlab
