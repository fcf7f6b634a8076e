#include "distlab/class/progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"

#include "distlab/results/text.h"
#include "distlab/waiting.h"

namespace distlab {
namespace {

// What is refused, and the compiler's first error without the line of code that follows it.
std::string first_two_lines(const std::string& text) {
  const auto first = text.find('\n');
  return first == text.npos ? text : text.substr(0, text.find('\n', first + 1));
}

}  // namespace

std::string in_a_line(const std::string& bytes) {
  auto text = clean(bytes);
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

ClassProgress::ClassProgress(std::size_t all, std::size_t to_do) : all_(all), to_do_(to_do) {
  if (to_do < all) fmt::print("already graded: {} of {}\n", all - to_do, dist::counted(all, "submission"));
}

void ClassProgress::add(const ClassResult& result) {
  ++done_;
  line_.clear();
  const auto what = result.status == ClassResult::Status::graded
                        ? fmt::format("{}{}", result.score(), result.is_flaky() ? ", flaky" : "")
                        : fmt::format("{}: {}", name(result.status),
                                      in_a_line(first_two_lines(result.reason)).substr(0, 200));
  fmt::print("{}: {}\n", in_a_line(result.name), clean(what));
  std::fflush(stdout);
}

void ClassProgress::show(const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (const auto& each : names) lines.push_back(in_a_line(each));
  line_.show(fmt::format("{} of {} graded{}; now: {}", all_ - to_do_ + done_, all_, time_left(),
                         fmt::join(lines, ", ")));
}

std::string ClassProgress::time_left() const {
  if (done_ == 0) return "";
  const double share = static_cast<double>(done_) / static_cast<double>(to_do_);
  return ", " + distlab::time_left(std::chrono::steady_clock::now() - begun_, share);
}

}  // namespace distlab
