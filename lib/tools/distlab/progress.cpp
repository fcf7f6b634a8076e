#include "distlab/progress.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/core/whole_file.h"

#include "distlab/grading.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

fs::path progress_file() { return workspace().root / ".distlab" / "progress"; }

// Returns `fallback` when the text is not a number.
int number_or(std::string_view text, int fallback) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? number : fallback;
}

bool is_seed(const std::string& text) {
  std::uint64_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  return error == std::errc{} && end == text_end;
}

// Reads the rest of a line that begins with "    key".
void read_detail(const std::string& key, const std::string& value, LabProgress& of) {
  if (key == "seed" && is_seed(value)) of.seed = value;
  if (key == "failing") of.failing = value;
  if (key == "part") of.part = number_or(value, 0);
  if (key == "hints") of.hints = number_or(value, 0);
  if (key != "diagnosis") return;
  const auto colon = value.find(": ");
  of.misconception = value.substr(0, colon);
  of.explanation = colon == value.npos ? "" : value.substr(colon + 2);
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

constexpr auto not_graded = "not graded";  // instead of date and time

}  // namespace

Progress parse_progress(std::istream& text) {
  Progress progress;
  LabProgress* current = nullptr;  // the lab to which the next details belong
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string first, day, hour;
    LabProgress of;
    if (line.starts_with(' ')) {
      words >> first >> std::ws;
      std::string rest;
      std::getline(words, rest);
      if (current != nullptr) read_detail(first, rest, *current);
    } else if (words >> first >> of.best >> of.last >> day >> hour) {
      of.when = day + ' ' + hour;
      if (of.when == not_graded) of.when.clear();
      current = &(progress[first] = of);
    } else {
      current = nullptr;
    }
  }
  return progress;
}

void print_progress(std::ostream& text, const Progress& progress) {
  const auto detail = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) text << fmt::format("    {:10} {}\n", key, one_line(value));
  };
  text << fmt::format("# {:30} {:>4} {:>4}  {}\n", "lab", "best", "last", "when");
  for (const auto& [folder, one] : progress) {
    text << fmt::format("{:32} {:>4} {:>4}  {}\n", folder, one.best, one.last,
                        one.is_graded() ? one.when : not_graded);
    detail("seed", one.seed);
    detail("failing", one.failing);
    if (one.part > 0) detail("part", std::to_string(one.part));
    if (!one.misconception.empty()) detail("diagnosis", one.misconception + ": " + one.explanation);
    if (one.hints > 0) detail("hints", std::to_string(one.hints));
  }
}

Progress read_progress() {
  std::ifstream file(progress_file());
  return parse_progress(file);
}

void write_progress(const Progress& progress) {
  std::error_code ignored;
  fs::create_directories(progress_file().parent_path(), ignored);
  std::ostringstream text;
  print_progress(text, progress);
  try {
    dist::write_whole_file(progress_file(), text.str());
  } catch (const dist::Error& error) {
    fmt::print(stderr, "distlab: your progress could not be saved: {}\n", error.what());
  }
}

LabProgress after_grade(const LabProgress& before, const Grade& grade) {
  LabProgress now;
  now.best = std::max(before.best, grade.score);
  now.last = grade.score;
  now.seed = grade.seed;
  const auto failing = std::ranges::find_if(
      grade.tests, [](const GradedTest& test) { return test.result != GradedTest::Result::passed; });
  if (failing == grade.tests.end()) return now;
  now.failing = failing->name;
  now.part = failing->part;
  now.misconception = failing->misconception;
  now.explanation = failing->explanation;
  const bool as_before = before.failing == now.failing && before.misconception == now.misconception;
  now.hints = as_before ? before.hints : 0;
  return now;
}

void forget_grade(const std::string& lab) {
  auto progress = read_progress();
  const auto mine = progress.find(lab);
  if (mine == progress.end()) return;
  LabProgress forgotten;
  forgotten.best = mine->second.best;
  mine->second = forgotten;
  write_progress(progress);
}

void note_progress(const std::string& lab, const Grade& grade) {
  auto progress = read_progress();
  LabProgress& of = progress[lab];
  of = after_grade(of, grade);
  of.when = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::time(nullptr)));
  write_progress(progress);
}

}  // namespace distlab
