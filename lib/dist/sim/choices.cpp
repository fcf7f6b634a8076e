#include "dist/sim/choices.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

namespace dist::sim {
namespace {

[[noreturn]] void refuse(const std::string& schedule) {
  fail(Errc::invalid_argument,
       "schedule \"{}\": it must be a number, such as 17, or a list of choices, such as =0.2.1", schedule);
}

template <class Number>
Number number_in(std::string_view text, const std::string& schedule) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(schedule);
  return number;
}

}  // namespace

Choices::Choices(const std::string& schedule) {
  if (!schedule.starts_with('=')) {
    at_random_ = true;
    random_.seed(number_in<std::uint64_t>(schedule, schedule));
    return;
  }
  std::string_view rest = std::string_view(schedule).substr(1);
  for (;;) {
    const auto end = std::min(rest.find('.'), rest.size());
    list_.push_back(static_cast<int>(number_in<unsigned short>(rest.substr(0, end), schedule)));
    if (end == rest.size()) return;
    rest.remove_prefix(end + 1);
  }
}

int Choices::choose(ChoicePoint point, int n) {
  if (n <= 1) return 0;
  if (at_random_ || (point != ChoicePoint::send_mode && point != ChoicePoint::buffers)) return next(n);
  int& of_run = point == ChoicePoint::send_mode ? send_mode_ : buffers_;
  if (of_run < 0) of_run = next(n);
  return of_run;
}

int Choices::next(int n) {
  int choice = 0;
  if (at_random_)
    choice = static_cast<int>(random_() % static_cast<std::uint64_t>(n));
  else if (taken_.size() < list_.size())
    choice = std::min(list_[taken_.size()], n - 1);
  taken_.push_back({choice, n});
  return choice;
}

std::string Choices::str() const {
  std::vector<int> choices;
  for (const Taken& taken : taken_) choices.push_back(taken.choice);
  while (choices.size() > 1 && choices.back() == 0) choices.pop_back();
  return choices.empty() ? "=0" : fmt::format("={}", fmt::join(choices, "."));
}

}  // namespace dist::sim
