// distlab answer; and every answer on the labs' pages, computed here.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "dist/collectives/cost/formulas.h"
#include "dist/core/error.h"

#include "distlab/accounting/questions.h"
#include "small_checkout.h"

namespace {

namespace fs = std::filesystem;
using distlab::parse_questions, distlab::Question, distlab::Verdict;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The real model and its machines.
constexpr double parameters = 70e9, layers = 80, width = 8192, tokens = 8192, bf16 = 2, adam = 16;  // bytes
constexpr double nvlink = 450e9, network = 50e9, flops = 989e12;  // per second, of an H100
constexpr double gpus = 512, per_node = 8, nodes = gpus / per_node;

// Seconds of a ring by the library's own formula, with messages that cost bandwidth only.
double ring_all_reduce(double ranks, double bytes, double bandwidth) {
  dist::CostModel model;
  model.alpha = model.overhead = model.handshake = model.gamma = model.copy = 0;
  model.beta = 1 / bandwidth;
  model = dist::all_far(model);
  return dist::formulas::ring_all_reduce(model, {static_cast<int>(ranks), static_cast<int>(ranks)}, bytes);
}
// Either of its halves.
double ring_half(double ranks, double bytes, double bandwidth) {
  return ring_all_reduce(ranks, bytes, bandwidth) / 2;
}

// By "lab.question", in the unit of the page.
std::map<std::string, double> computed() {
  std::map<std::string, double> all;
  const double gradients = bf16 * parameters;
  all["12.1"] = ring_all_reduce(gpus, gradients, network);
  all["12.2"] =
      2 * ring_half(per_node, gradients, nvlink) + ring_all_reduce(nodes, gradients / per_node, network);
  all["14.1"] = adam * parameters / 1e9;
  const double step = 8.3, flop = 6 * parameters;  // s; per token
  all["14.2"] = 100 * flop * 4e6 / (gpus * flops) / step;
  const double small = bf16 * 1.5e9, buckets = std::ceil(small / (25 * 1024 * 1024)), backward = 0.1;
  all["15.1"] = buckets;
  all["15.2"] = 1e3 * (backward / buckets + ring_all_reduce(gpus, small, network) - backward);
  const double checkpoint = 12 * parameters / 100e9;
  all["16.1"] = checkpoint;
  const double between = 54 * 86400 / (419 * gpus / 16384);
  all["16.2"] = std::sqrt(2 * checkpoint * between) / 60;
  all["17.1"] = 3 * gpus / 8;
  all["17.2"] = 1e3 * ring_all_reduce(8, gradients / (8 * 8), network);
  all["18.1"] = adam * parameters / gpus / 1e9;
  all["18.2"] = 3 * ring_half(gpus, gradients, network);
  const double sent = 4 * layers * 2 * (7.0 / 8) * tokens * width * bf16;
  all["19.1"] = sent / 1e9;
  const double computes = flop * tokens / (8 * 0.4 * flops);
  all["19.2"] = 100 * (sent / nvlink) / (computes + sent / nvlink);
  const double stages = 8, micro_batches = 32;
  all["20.1"] = 100 * (stages - 1) / (micro_batches + stages - 1);
  all["20.2"] = stages * (layers / stages) * tokens * width * bf16 / 1e9;
  return all;
}

// The last digit that the page gives.
double last_digit_of(const std::string& stated) {
  const auto point = stated.find('.');
  if (point == stated.npos || point > stated.find(' ')) return 1;
  return std::pow(10.0, -static_cast<double>(stated.find(' ') - point - 1));
}

TEST(Accounting, EveryAnswerIsComputed) {
  auto expected = computed();
  for (const auto& lab : fs::directory_iterator(fs::path(CHECKOUT) / "labs")) {
    const fs::path page = lab.path() / "questions.md";
    if (!fs::exists(page)) continue;
    const std::string number = lab.path().filename().string().substr(0, 2);
    const auto english = parse_questions(text_of(page));
    const auto chinese = parse_questions(text_of(lab.path() / "questions.zh-CN.md"));
    ASSERT_EQ(english.size(), 2u) << page;
    ASSERT_EQ(chinese.size(), 2u) << page;
    for (std::size_t i = 0; i < 2; ++i) {
      const Question& one = english[i];
      SCOPED_TRACE(number + "." + std::to_string(i + 1));
      EXPECT_EQ(one.number, static_cast<int>(i) + 1);
      EXPECT_EQ(chinese[i].number, one.number);
      EXPECT_EQ(chinese[i].answer, one.answer);
      EXPECT_EQ(chinese[i].unit, one.unit);
      EXPECT_EQ(chinese[i].tolerance, one.tolerance);
      EXPECT_FALSE(one.solution.empty() || chinese[i].solution.empty());
      const auto found = expected.find(number + "." + std::to_string(one.number));
      ASSERT_NE(found, expected.end());
      EXPECT_NEAR(one.answer, found->second, 0.51 * last_digit_of(one.stated));
      EXPECT_EQ(distlab::check_answer(one, std::to_string(found->second)), Verdict::right);
      EXPECT_GT(found->second, 0);
      expected.erase(found);
    }
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first << " is on no page";
}

constexpr auto page = R"(# Accounting

## 1. Bytes
How many?

<details><summary>Answer: 12.5 GB (within 2 %)</summary>

Five times 2.5.

</details>

## 2. Groups
How many?

<details><summary>答案：6（精确）</summary>

Three pairs.

</details>
)";

TEST(Accounting, AnAnswerIsANumberPerhapsWithItsUnit) {
  const auto questions = parse_questions(page);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].unit, "GB");
  EXPECT_EQ(questions[0].tolerance, 0.02);
  EXPECT_EQ(questions[0].text, "How many?");
  EXPECT_EQ(questions[1].unit, "");
  EXPECT_EQ(questions[1].tolerance, 0);
  for (const char* right : {"12.5", "12.3GB", "12.7 gb", " 1.25e1 "})
    EXPECT_EQ(distlab::check_answer(questions[0], right), Verdict::right) << right;
  EXPECT_EQ(distlab::check_answer(questions[0], "12"), Verdict::too_small);
  EXPECT_EQ(distlab::check_answer(questions[0], "13"), Verdict::too_large);
  EXPECT_EQ(distlab::check_answer(questions[0], "-12.5"), Verdict::too_small);
  EXPECT_EQ(distlab::check_answer(questions[1], "6"), Verdict::right);
  EXPECT_EQ(distlab::check_answer(questions[1], "6.01"), Verdict::too_large);
  for (const char* none : {"", "many", "12,5", "12.5 GiB", "nan", "inf", "1e999", "12.5 GB or so"})
    EXPECT_THROW(distlab::check_answer(questions[0], none), dist::Error) << none;
}

TEST(Accounting, APageThatIsWrittenOtherwiseIsRefused) {
  for (const char* wrong : {"\n## One\nHow?\n", "\n## 1. One\nHow?\n",
                            "\n## 1. One\n<details><summary>Answer: GB (exactly)</summary>\n</details>\n",
                            "\n## 1. One\n<details><summary>Answer: 3 GB</summary>\n</details>\n"})
    EXPECT_THROW(parse_questions(wrong), dist::Error) << wrong;
  EXPECT_TRUE(parse_questions("").empty());
}

using AnswerCommand = SmallCheckout;

TEST_F(AnswerCommand, TheSolutionComesAfterThreeTries) {
  write("labs/01_first/questions.md", page);
  const auto shown = run({"answer", "1"});
  EXPECT_TRUE(contains(shown, "1. Bytes")) << shown;
  EXPECT_TRUE(contains(shown, "./distlab answer 1 1 NUMBER  (in GB)")) << shown;
  EXPECT_FALSE(contains(shown, "Five times")) << shown;
  EXPECT_TRUE(contains(run({"answer", "1", "1", "11"}, 1),
                       "No: 11 is too small. The solution comes after 2 more "
                       "wrong answers, or with --show.\n"));
  EXPECT_TRUE(contains(run({"answer", "1", "1", "eleven"}, 2), "give a number in GB"));
  EXPECT_TRUE(contains(run({"answer", "1", "1", "14 GB"}, 1),
                       "too large. The solution comes after 1 more wrong answer,"));
  EXPECT_FALSE(contains(run({"answer", "1"}), "Five times"));
  EXPECT_TRUE(contains(run({"answer", "1", "1", "14"}, 1), "Five times 2.5."));
  EXPECT_TRUE(contains(run({"answer", "1"}), "Five times"));
  EXPECT_FALSE(contains(run({"list"}), "answered"));
  EXPECT_TRUE(contains(run({"answer", "1", "2", "6"}), "Right: 6"));
  EXPECT_TRUE(contains(run({"list"}), "1 question answered"));
}

TEST_F(AnswerCommand, WhatIsNotThereIsOneLine) {
  EXPECT_TRUE(contains(run({"answer", "1"}, 2), "lab 1 has no accounting questions"));
  write("labs/01_first/questions.md", page);
  EXPECT_EQ(run({"answer", "1", "3"}, 2), "lab 1 has questions 1 to 2\n");
  EXPECT_TRUE(contains(run({"answer", "1", "2", "--show"}), "Three pairs."));
}

}  // namespace
