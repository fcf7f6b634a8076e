// What the student has answered, in one readable file, .distlab/answers: a line for each question, "lab
// question tries answered".
#pragma once

#include <map>
#include <string>
#include <utility>

namespace distlab {

struct Tries {
  int wrong = 0;
  bool is_answered = false;
};
using Answers = std::map<std::pair<std::string, int>, Tries>;  // by the lab's folder and the question

// Returns what is there; skips lines that it cannot read.
Answers read_answers();
// If the file cannot be written, prints one line on standard error: the verdict itself is still valid.
void write_answers(const Answers& answers);
// How many questions of the lab are answered.
int answered_of(const Answers& answers, const std::string& lab);

}  // namespace distlab
