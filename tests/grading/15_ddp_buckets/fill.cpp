// Lab 15, part 1: PyTorch's rule, and wrong ideas of it.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/trouble.h"
#include "support.h"

namespace lab15 {
namespace {

struct Rule {
  bool closes_before = false;  // a gradient that would exceed the limit begins the next bucket
  bool closes_above = false;   // only more than the limit closes a bucket
  bool mixes_dtypes = false;
  bool first_limit_for_all = false;
  bool limits_run_out = false;  // there is no limit after the last one
  bool counts_all = false;      // the limit is chosen by the number of buckets of all dtypes
  bool forgets_open = false;
};

struct FillingIdea {
  const char *name, *in_words;
  Rule rule;
};

const std::vector<FillingIdea>& filling_ideas() {
  static const std::vector<FillingIdea> known{
      {"forgets_the_last_partial_bucket",
       "the gradients that are left at the end are in no bucket and would never be averaged; fix: make them "
       "a bucket, although they do not reach a limit",
       {.forgets_open = true}},
      {"closes_before_the_limit",
       "the limit is not a maximum; fix: put the gradient that reaches the limit into the bucket, then close "
       "the bucket",
       {.closes_before = true}},
      {"closes_only_above_the_limit",
       "a bucket with exactly its limit takes one more gradient; fix: close it, because it is full",
       {.closes_above = true}},
      {"mixes_dtypes",
       "a bucket has gradients of several dtypes; fix: give gradients of another dtype buckets of their own, "
       "because a bucket is one tensor",
       {.mixes_dtypes = true}},
      {"first_limit_for_all",
       "all buckets have the first limit; fix: use it for the first bucket only, and the next limit for the "
       "next bucket",
       {.first_limit_for_all = true}},
      {"limits_run_out",
       "after the last limit no bucket is closed any more; fix: use the last limit for all further buckets",
       {.limits_run_out = true}},
      {"counts_buckets_of_all_dtypes",
       "the limits are counted over the buckets of all dtypes; fix: begin with the first limit for every "
       "dtype, and count its buckets separately",
       {.counts_all = true}}};
  return known;
}

struct Open {
  std::string dtype;
  std::vector<std::size_t> members;
  std::size_t bytes = 0, closed = 0;
};

Open& open_of(const std::string& dtype, std::vector<Open>& all) {
  const auto found = std::ranges::find(all, dtype, &Open::dtype);
  if (found != all.end()) return *found;
  all.push_back({dtype, {}});
  return all.back();
}

Buckets in_order(Buckets buckets) {
  std::ranges::sort(buckets);  // by their first gradients, which are all different
  return buckets;
}

class Filler {
 public:
  Filler(const Filling& question, const Rule& rule) : question_(question), rule_(rule) {}

  Buckets fill() {
    for (std::size_t i = 0; i < question_.sizes.size(); ++i) {
      const Size& size = question_.sizes[i];
      Open& open = open_of(rule_.mixes_dtypes ? "any" : size.dtype, all_);
      if (rule_.closes_before && !open.members.empty() && is_full(open, open.bytes + size.bytes - 1))
        close(open);
      open.members.push_back(i);
      open.bytes += size.bytes;
      if (!rule_.closes_before && is_full(open, open.bytes - (rule_.closes_above ? 1 : 0))) close(open);
    }
    for (const Open& open : all_)
      if (!open.members.empty() && !rule_.forgets_open) buckets_.push_back(open.members);
    return in_order(buckets_);
  }

 private:
  bool is_full(const Open& open, std::size_t bytes) const {
    const Limits& limits = question_.limits;
    const auto number = rule_.counts_all ? buckets_.size() : open.closed;
    if (limits.empty() || (rule_.limits_run_out && number >= limits.size())) return false;
    return bytes >= limits[rule_.first_limit_for_all ? 0 : std::min(number, limits.size() - 1)];
  }
  void close(Open& open) {
    buckets_.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }

  const Filling& question_;
  const Rule rule_;
  std::vector<Open> all_;
  Buckets buckets_;
};

Buckets filled_by(const Rule& rule, const Filling& question) { return Filler(question, rule).fill(); }

std::string question_text(const Filling& question) {
  constexpr std::size_t most = 12;
  std::vector<std::string> sizes;
  for (const Size& size : question.sizes) {
    if (sizes.size() == most) break;
    sizes.push_back(fmt::format("{} {}", size.bytes, size.dtype));
  }
  return fmt::format("gradients of {{{}{}}} bytes, limits {{{}}}", fmt::join(sizes, ", "),
                     question.sizes.size() > most ? ", ..." : "", fmt::join(question.limits, ", "));
}

// "(400 f32, 200 f32)": the sizes of gradients that question_text() may have left out.
std::string sizes_of(const std::vector<std::size_t>& members, const Filling& question) {
  std::vector<std::string> sizes;
  for (const std::size_t i : members)
    if (i < question.sizes.size())
      sizes.push_back(fmt::format("{} {}", question.sizes[i].bytes, question.sizes[i].dtype));
  return fmt::format("({})", fmt::join(sizes, ", "));
}

// The idea that fits all answers. Buckets that are right except for their order were usually listed as they
// were closed; those that were still open at the end may then be in any order.
void diagnose(const std::vector<Filling>& questions, const std::vector<Buckets>& got) {
  for (const FillingIdea& idea : filling_ideas()) {
    bool fits = true;
    for (std::size_t i = 0; i < got.size(); ++i) fits = fits && got[i] == filled_by(idea.rule, questions[i]);
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
  for (std::size_t i = 0; i < got.size(); ++i)
    if (in_order(got[i]) != filled_by({}, questions[i])) return;
  judge::misconception("in_order_of_closing",
                       "these are the right buckets in the wrong order; fix: order them by their first "
                       "gradient, not by when they were closed");
}

}  // namespace

std::string bucket_text(const Buckets& buckets, std::size_t at) {
  return at < buckets.size() ? fmt::format("{{{}}}", fmt::join(buckets[at], " ")) : "missing";
}

std::size_t first_difference(const Buckets& right, const Buckets& got) {
  return static_cast<std::size_t>(std::ranges::mismatch(right, got).in1 - right.begin());
}

Buckets filled(const Filling& question) { return filled_by({}, question); }

Filling draw_filling(judge::Random& random, int gradients, const std::vector<std::string>& dtypes) {
  Filling question;
  for (int i = 0; i < gradients; ++i) {
    const auto dtype = static_cast<std::size_t>(random.between(0, static_cast<int>(dtypes.size()) - 1));
    question.sizes.push_back({static_cast<std::size_t>(8 * random.between(1, 100)), dtypes[dtype]});
  }
  question.limits = {static_cast<std::size_t>(random.between(300, 600)),
                     static_cast<std::size_t>(random.between(800, 1600))};
  return question;
}

void expect_filled(const std::vector<Filling>& questions) {
  Json task{{"call", "fill_buckets"}, {"cases", Json::array()}};
  for (const auto& question : questions) {
    Json sizes = Json::array();
    for (const Size& size : question.sizes) sizes.push_back({{"bytes", size.bytes}, {"dtype", size.dtype}});
    task["cases"].push_back({{"sizes", sizes}, {"limits", question.limits}});
  }
  const auto replies = answers(run({task}, false));
  if (replies.empty()) return;
  const std::vector<Buckets> got = replies[0];
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto right = filled(questions[i]);
    if (got.at(i) == right) continue;
    diagnose(questions, got);
    const auto at = first_difference(right, got[i]);
    const auto sizes = at < right.size() ? " " + sizes_of(right[at], questions[i]) : "";
    ADD_FAILURE() << fmt::format("{}: bucket {} must be {}{}; it is {}", question_text(questions[i]), at,
                                 bucket_text(right, at), sizes, bucket_text(got[i], at));
    return;
  }
}

void expect_golden() {
  std::ifstream file(LAB15_GOLDEN);
  if (!file) throw judge::Trouble("cannot read " LAB15_GOLDEN);
  std::vector<Filling> questions;
  for (const auto& one : Json::parse(file)) {
    Filling question{{}, one.at("limits_bytes")};
    for (const std::size_t count : one.at("numel")) question.sizes.push_back({4 * count});
    if (filled(question) != one.at("buckets").get<Buckets>())
      throw judge::Trouble("the grader's buckets differ from PyTorch's for " + question_text(question));
    questions.push_back(question);
  }
  expect_filled(questions);
}

}  // namespace lab15
