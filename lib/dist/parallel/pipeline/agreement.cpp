// sum() is the exchange; its last number tells whether the ranks are at the same place. Then the three
// moments of a step, and the sentences about what is wrong (fail_apart, fail_refused, fail_different).
#include "dist/parallel/pipeline/agreement.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "dist/core/crc32.h"
#include "dist/core/fail.h"
#include "dist/core/tensor.h"
#include "dist/core/values.h"
#include "dist/parallel/replicas.h"

namespace dist::pipeline {

namespace {

// n ranks multiply a number by these: the sum over all of them is 0 if they have the same number.
std::int64_t against_the_others(std::ptrdiff_t index, std::ptrdiff_t n) { return index == 0 ? n - 1 : -1; }

std::string text_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return *e.what() ? e.what() : "an error without a text";
  }
}

}  // namespace

Agreement::Agreement(StepRanks ranks)
    : ranks_(std::move(ranks)),
      rank_(get_rank(ranks_.group)),
      size_(get_world_size(ranks_.group)),
      model_(number_along(ranks_.group, CallSite::current())) {}

std::string Agreement::call() const {
  return fmt::format("{} at {}", trains_ ? "step" : "evaluate", at_.str());
}

// 20 bits, so that sums over all ranks are exact in f64.
std::uint32_t Agreement::place(Phase phase) const {
  const std::array<std::uint64_t, 5> all{model_, static_cast<std::uint64_t>(number_), tag_, trains_ ? 1U : 0U,
                                         static_cast<std::uint64_t>(phase)};
  return crc32(std::as_bytes(std::span(all))) >> 12;
}

template <class T>
std::array<T, 7> Agreement::sum(Phase phase, std::array<T, 7> own) {
  if (size_ == 1) return own;
  own.back() = static_cast<T>(against_the_others(rank_, size_) * static_cast<std::int64_t>(place(phase)));
  Tensor sums = tensor(std::span<const T>(own), cpu);
  all_reduce(sums, ReduceOp::sum, {.group = ranks_.group}, at_);
  // A simulation without values sums integers alone.
  if (!has_values(sums.dtype())) return {};
  std::ranges::copy(sums.data<T>(), own.begin());
  if (own.back() != 0) fail_apart(phase);
  return own;
}

BatchFacts Agreement::begin(const BatchFacts& own, bool trains, CallSite at) {
  if (is_open_) tag_ = static_cast<std::uint64_t>(number_);
  ++number_;
  trains_ = trains, at_ = at, is_open_ = true;
  const auto index = std::ranges::find(ranks_.same_batch, rank_) - ranks_.same_batch.begin();
  const std::ptrdiff_t same = std::ssize(ranks_.same_batch);
  const auto all = sum<std::int64_t>(
      Phase::begin, {own.refusal.empty() ? 0 : 1, own.counted, own.rows, own.has_new_shape ? 1 : 0,
                     index == same ? 0 : against_the_others(index, same) * std::int64_t{own.key},
                     own.trains_others ? 1 : 0, 0});
  is_open_ = false;
  if (all[0] > 0) fail_refused(own.refusal);
  if (all[4] != 0) fail_different(own);
  if (all[1] == 0)
    fail(Errc::invalid_argument, "{}: no target counts{}, so there is no mean; leave this batch out", call(),
         size_ > 1 ? " on any rank" : "");
  is_open_ = true;
  return {.counted = all[1], .rows = all[2], .has_new_shape = all[3] > 0, .trains_others = all[5] > 0};
}

void Agreement::agree_on_shapes(const std::string& refusal) {
  const auto all = sum<std::int64_t>(Phase::shapes, {refusal.empty() ? 0 : 1});
  if (all[0] == 0) return;
  is_open_ = false;
  fail_refused(refusal);
}

// All ranks get all texts, so all find the same.
void Agreement::agree_on_trained(const std::map<std::string, bool>& trained) {
  if (size_ == 1) return;
  std::string own;
  for (const auto& [name, is_trained] : trained) own += fmt::format("{} {}\n", is_trained ? 1 : 0, name);
  std::map<std::string, std::pair<std::string, int>> of_first;  // by name: whether, and which rank says so
  const auto texts = all_gather_object(own, {.group = ranks_.group}, at_);
  for (std::size_t r = 0; r < texts.size(); ++r) {
    std::istringstream lines(texts[r]);
    for (std::string is_trained, name; lines >> is_trained && std::getline(lines, name);) {
      const int rank = ranks_.group.global_rank(static_cast<int>(r));
      const auto& [first, first_rank] = of_first.try_emplace(name, is_trained, rank).first->second;
      if (first == is_trained) continue;
      is_open_ = false;
      fail(
          Errc::mismatch,
          "{}: rank {} trains{}, and for rank {} it is frozen: freeze and unfreeze a parameter on every rank "
          "that has it",
          call(), first == "1" ? first_rank : rank, name, first == "1" ? rank : first_rank);
    }
  }
}

double Agreement::end(double loss, const std::exception_ptr& error) {
  std::array<double, 7> all{loss, error ? 1.0 : 0.0};
  try {
    all = sum(Phase::end, all);
  } catch (...) {
    if (error) std::rethrow_exception(error);  // the cause
    throw;
  }
  is_open_ = false;
  if (all[1] > 0 && size_ > 1) {
    const auto texts = all_gather_object(text_of(error), {.group = ranks_.group}, at_);
    const auto failed = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    if (!error)
      fail(Errc::aborted, "{}: rank {} failed in the middle: {}; all ranks give the step up", call(),
           ranks_.group.global_rank(static_cast<int>(failed - texts.begin())), *failed);
  }
  if (error) std::rethrow_exception(error);
  return all[0];
}

// The ranks that are elsewhere than most, and then those. All continue at the same number, with another tag.
void Agreement::fail_apart(Phase phase) {
  const char* const where = phase == Phase::begin ? "beginning" : phase == Phase::end ? "end" : "shapes";
  const std::string model = model_ == 0 ? "" : fmt::format("of model {}, ", model_ + 1);
  const auto texts = all_gather_object(fmt::format("{} the {} of {}{} {} ({})", number_, where, model,
                                                   trains_ ? "step" : "evaluation", number_, at_.str()),
                                       {.group = ranks_.group}, at_);
  std::map<std::string, std::vector<int>> at;  // ranks, by place
  for (std::size_t r = 0; r < texts.size(); ++r) {
    const std::size_t space = texts[r].find(' ');
    number_ = std::max<std::int64_t>(number_, std::stoll(texts[r].substr(0, space)));
    at[texts[r].substr(space + 1)].push_back(ranks_.group.global_rank(static_cast<int>(r)));
  }
  tag_ = static_cast<std::uint64_t>(number_), is_open_ = false;
  const auto most = std::ranges::max_element(at, {}, [](const auto& each) { return each.second.size(); });
  std::string others;
  for (const auto& [text, ranks] : at)
    if (text != most->first) others += fmt::format("rank {} is at {}, ", ranks[0], text);
  fail(Errc::mismatch,
       "{}: the ranks are not at the same place: {}{} at {}; every rank must call step() and evaluate() "
       "equally "
       "often, and after an error zero_grad() and the next step()",
       call(), others,
       most->second.size() > 1 ? "the others are" : fmt::format("rank {} is", most->second[0]), most->first);
}

void Agreement::fail_refused(const std::string& own) {
  if (size_ == 1) fail(Errc::invalid_argument, "{}: {}", call(), own);
  const auto texts = all_gather_object(own, {.group = ranks_.group}, at_);
  const auto first = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
  fail(Errc::invalid_argument, "{}: rank {}: {}", call(),
       ranks_.group.global_rank(static_cast<int>(first - texts.begin())), *first);
}

// The first two ranks with the same part of the batch that do not have the same.
void Agreement::fail_different(const BatchFacts& own) {
  const bool has_part = std::ranges::find(ranks_.same_batch, rank_) != ranks_.same_batch.end();
  const auto texts = all_gather_object(
      has_part ? fmt::format("{} {} {}", ranks_.same_batch[0], own.key, own.description) : "",
      {.group = ranks_.group}, at_);
  struct Seen {
    std::size_t rank;
    std::string key, has;
  };
  std::map<std::string, Seen> parts;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    std::istringstream text(texts[r]);
    std::string part, key, has;
    if (!(text >> part >> key) || !std::getline(text, has)) continue;
    const auto& first = parts.try_emplace(part, r, key, has).first->second;
    if (first.key != key)
      fail(Errc::invalid_argument, "{}: rank {} has{}, rank {} has{}; {}", call(),
           ranks_.group.global_rank(static_cast<int>(first.rank)), first.has,
           ranks_.group.global_rank(static_cast<int>(r)), has, own.why_equal);
  }
  fail(Errc::internal, "{}: the ranks have different batches", call());
}

}  // namespace dist::pipeline
