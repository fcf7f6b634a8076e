// The accounting questions of a lab: numbers of a real model, worked out by hand. They stand in
// labs/NN_name/questions.md:
//
//   ## 1. A title
//   The question.
//   <details><summary>Answer: 2.19 GB (within 2 %)</summary>
//   The solution.
//   </details>
//
// "(exactly)" instead of a tolerance stands for numbers that are counted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "distlab/labs.h"

namespace distlab {

struct Question {
  int number = 0;
  std::string title, text;
  double answer = 0;
  std::string unit;      // "GB"; empty: a plain number
  double tolerance = 0;  // relative
  std::string stated;    // the answer as the page has it: "2.19 GB (within 2 %)"
  std::string solution;
};

// The questions of a page, in English or Chinese. Throws Error{invalid_argument}, which names the question,
// for a page that is not written as above.
std::vector<Question> parse_questions(const std::string& page);
// Those of a lab; empty: it has none.
std::vector<Question> questions_of(const Lab& lab, bool chinese);

enum class Verdict { right, too_small, too_large };
// `given`: "2.2", "2.2 GB", "2.2GB". Throws Error{invalid_argument}, which says how to write it.
Verdict check_answer(const Question& question, std::string_view given);

}  // namespace distlab
