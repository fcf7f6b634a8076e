#include "distlab/accounting/questions.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "dist/core/fail.h"

#include "distlab/file_text.h"
#include "distlab/loop/hint_page.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view opening = "<details><summary>", closing = "</summary>", end = "</details>";

// The number at the beginning of `text`, which is shortened by it.
template <class Number = double>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(static_cast<double>(number))) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto begin = text.find_first_not_of(space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

// Reads "2.19 GB (within 2 %)" and "2.19 GB（误差 2 % 以内）".
void read_answer(std::string_view stated, Question& question) {
  question.stated = stated;
  const auto fail_at = [&](std::string_view what) {
    dist::fail(dist::Errc::invalid_argument, "question {}: \"{}\" has no {}", question.number,
               question.stated, what);
  };
  const auto number = take_number(stated);
  if (!number) fail_at("number");
  question.answer = *number;
  const auto bracket = std::min(stated.find(" ("), stated.find("（"));
  if (bracket == stated.npos) fail_at("tolerance in brackets");
  question.unit = trimmed(stated.substr(0, bracket));
  stated.remove_prefix(bracket);
  const auto digit = stated.find_first_of("0123456789");
  if (digit == stated.npos) return;  // exactly
  stated.remove_prefix(digit);
  question.tolerance = take_number(stated).value_or(0) / 100;
}

Question parse_one(const std::string& section) {
  Question question;
  std::string_view rest = section;
  const auto number = take_number<int>(rest);
  const auto title_end = rest.find('\n');
  if (!number || !rest.starts_with(". ") || title_end == rest.npos)
    dist::fail(dist::Errc::invalid_argument, "\"## {}\" does not begin with a question's number",
               section.substr(0, section.find('\n')));
  question.number = *number;
  question.title = rest.substr(2, title_end - 2);
  const auto from = rest.find(opening), to = rest.find(closing), last = rest.find(end);
  if (from == rest.npos || to == rest.npos || last == rest.npos || !(from < to && to < last))
    dist::fail(dist::Errc::invalid_argument, "question {}: its answer is not in <details>", question.number);
  question.text = trimmed(rest.substr(title_end, from - title_end));
  question.solution = trimmed(rest.substr(to + closing.size(), last - to - closing.size()));
  std::string_view answer = rest.substr(from + opening.size(), to - from - opening.size());
  for (const std::string_view word : {"Answer: ", "答案："})
    if (answer.starts_with(word)) answer.remove_prefix(word.size());
  read_answer(answer, question);
  return question;
}

}  // namespace

std::vector<Question> parse_questions(const std::string& page) {
  std::vector<Question> questions;
  constexpr std::string_view heading = "\n## ";
  for (auto at = page.find(heading); at != page.npos;) {
    const auto next = page.find(heading, at + 1);
    questions.push_back(parse_one(page.substr(at + heading.size(), next - at - heading.size())));
    at = next;
  }
  return questions;
}

std::vector<Question> questions_of(const Lab& lab, bool chinese) {
  const fs::path page =
      workspace().root / "labs" / lab.folder / (chinese ? "questions.zh-CN.md" : "questions.md");
  return parse_questions(loop::without_note_of_translation(text_of_file(page)));
}

Verdict check_answer(const Question& question, std::string_view given) {
  std::string_view rest = trimmed(given);
  const auto number = take_number(rest);
  const std::string unit = lower(trimmed(rest));
  if (!number || (!unit.empty() && unit != lower(question.unit)))
    dist::fail(dist::Errc::invalid_argument, "\"{}\" is not an answer; give a number{}, such as 12.5", given,
               question.unit.empty() ? "" : " in " + question.unit);
  const double off = *number - question.answer;
  if (std::abs(off) <= question.tolerance * std::abs(question.answer)) return Verdict::right;
  return off < 0 ? Verdict::too_small : Verdict::too_large;
}

}  // namespace distlab
