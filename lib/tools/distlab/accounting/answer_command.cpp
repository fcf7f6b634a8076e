// distlab answer: the accounting questions of a lab, and whether an answer is right.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/error.h"

#include "distlab/accounting/questions.h"
#include "distlab/accounting/tries.h"
#include "distlab/commands.h"
#include "distlab/loop/hint_page.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

constexpr int tries_before_the_solution = 3;

bool has_solution(const Tries& tries) {
  return tries.is_answered || tries.wrong >= tries_before_the_solution;
}

// Chinese text has no spaces at which a line could be broken.
void print_text(const std::string& text, bool chinese) {
  std::string lines = chinese ? text : loop::reflowed(text, terminal_width());
  if (!lines.ends_with('\n')) lines += '\n';
  fmt::print("{}", lines);
}

void print_solution(const Question& question, bool chinese) {
  fmt::print("{}\n\n", styled(Style::bold, question.stated));
  print_text(question.solution, chinese);
}

void print_question(const Lab& lab, const Question& question, const Tries& tries,
                    const AnswerOptions& options) {
  fmt::print("{} {}\n\n", styled(Style::good, tries.is_answered ? "✓" : " "),
             styled(Style::bold, fmt::format("{}. {}", question.number, question.title)));
  print_text(question.text, options.chinese);
  fmt::print("\n");
  if (options.show || has_solution(tries)) return print_solution(question, options.chinese);
  const std::string unit = question.unit.empty() ? "" : fmt::format("  (in {})", question.unit);
  fmt::print("./distlab answer {} {} NUMBER{}\n\n", lab.number, question.number, unit);
}

int judge(const Lab& lab, const Question& question, const AnswerOptions& options) {
  const Verdict verdict = check_answer(question, options.value);
  Answers answers = read_answers();
  Tries& tries = answers[{lab.folder, question.number}];
  const bool is_right = verdict == Verdict::right;
  tries.is_answered = tries.is_answered || is_right;
  if (!is_right) ++tries.wrong;
  write_answers(answers);
  if (is_right)
    fmt::print("{} ", styled(Style::good, "Right:"));
  else
    fmt::print("{} {} is too {}. ", styled(Style::bad, "No:"), options.value,
               verdict == Verdict::too_large ? "large" : "small");
  if (options.show || has_solution(tries))
    print_solution(question, options.chinese);
  else
    fmt::print("The solution comes after {}, or with --show.\n",
               dist::counted(tries_before_the_solution - tries.wrong, "more wrong answer"));
  return is_right ? exit_ok : exit_failed;
}

int say_which_labs(const Lab& lab) {
  std::vector<int> numbers;
  for (const Lab& other : find_labs())
    if (!questions_of(other, false).empty()) numbers.push_back(other.number);
  fmt::print(stderr, "lab {} has no accounting questions; labs that have: {}\n", lab.number,
             fmt::join(numbers, ", "));
  return exit_usage;
}

}  // namespace

int answer_question(const AnswerOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  auto questions = questions_of(*lab, options.chinese);
  if (questions.empty()) return say_which_labs(*lab);
  const auto count = questions.size();
  if (options.question > 0)
    std::erase_if(questions, [&](const Question& one) { return one.number != options.question; });
  if (questions.empty()) {
    fmt::print(stderr, "lab {} has questions 1 to {}\n", lab->number, count);
    return exit_usage;
  }
  try {
    if (!options.value.empty()) return judge(*lab, questions.front(), options);
  } catch (const dist::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_usage;
  }
  Answers answers = read_answers();
  for (const Question& question : questions)
    print_question(*lab, question, answers[{lab->folder, question.number}], options);
  return exit_ok;
}

}  // namespace distlab
