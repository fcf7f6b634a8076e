// Lab 14: what all parts share.
#include "support.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab14 {
namespace {

using dist::check::Code, judge::misconception;

Json form_task(const std::string& call, const Form& form, const Numbers& numbers) {
  return {{"call", call}, {"dtype", form.dtype}, {"shapes", form.shapes}, {"numbers", numbers}};
}

std::string text(const Numbers& numbers, std::size_t from, int digits) {
  constexpr std::size_t most = 5;
  std::vector<std::string> shown;
  for (std::size_t i = from; i < std::min(numbers.size(), from + most); ++i)
    shown.push_back(std::isnan(numbers[i]) ? "NaN" : fmt::format("{:.{}g}", numbers[i], digits));
  return fmt::format("{{{}{}{}}}", from > 0 ? "..., " : "", fmt::join(shown, ", "),
                     numbers.size() > from + most ? ", ..." : "");
}

}  // namespace

std::size_t Form::elements() const {
  std::size_t all = 0;
  for (const auto& shape : shapes) {
    std::size_t count = 1;
    for (const auto size : shape) count *= static_cast<std::size_t>(size);
    all += count;
  }
  return all;
}

Form draw_form(judge::Random& random, const std::string& dtype) {
  Form form{{}, dtype};
  for (int i = random.between(1, 2); i > 0; --i) {
    form.shapes.push_back({random.between(1, 5), random.between(2, 6)});
    form.shapes.push_back({random.between(1, 9)});
  }
  return form;
}

OfRanks draw_numbers(judge::Random& random, int ranks, const Form& form) {
  OfRanks all(static_cast<std::size_t>(ranks));
  for (auto& numbers : all)
    for (std::size_t i = 0; i < form.elements(); ++i) {
      numbers.push_back(random.between(1, 999));
      if (form.dtype == "f64") numbers.back() += random.between(1, 996) / 997.;  // f32 cannot represent it
    }
  return all;
}

judge::SimRun run(const std::vector<Json>& tasks) {
  judge::SimPlan plan;
  plan.tasks = tasks;
  plan.trace = true;
  return judge::simulate(plan);
}

Json task_of(const Asked& asked, std::size_t rank) {
  Json task = form_task(asked.call, asked.form, asked.numbers[rank]);
  if (!asked.samples.empty()) task["samples"] = asked.samples[rank];
  return task;
}

Json task_of(const Training& training, std::size_t rank) {
  Json task = form_task(training.call, training.form, training.first[rank]);
  task.update(
      {{"optimizer", training.optimizer}, {"lr", lr(training.optimizer)}, {"batches", Json::array()}});
  for (const auto& step : training.batches) {
    Json batch = Json::array();
    for (const Sample& sample : step[rank]) batch.push_back({sample.scale, sample.target});
    task["batches"].push_back(batch);
  }
  return task;
}

void expect_the_same_after_calls(const std::string& about, const Form& form, const Numbers& right,
                                 const judge::SimRun& done) {
  const auto keeps = [] {
    misconception("keeps_something",
                  "the call is right in a new program, but not after other calls in the same program, so "
                  "something is kept from call to call; fix: keep nothing in a static or global variable");
  };
  if (!done.report.findings.empty() || !done.report.failures.empty()) keeps();
  const auto replies = answers(done);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const auto got = numbers_of(replies[rank]);
    if (distance(right, got) < tolerance(form)) continue;
    keeps();
    ADD_FAILURE() << fmt::format("{}, after other calls in the same program: {}", about,
                                 difference(rank, right, got));
    return;
  }
}

std::vector<Json> answers(const judge::SimRun& run) {
  for (const auto& finding : run.report.findings) {
    // In a program of messages alone, the finding itself says which rank waits for which.
    const bool of_collectives = std::ranges::any_of(finding.parties, [](const auto& party) {
      return !party.doing.starts_with("recv") && !party.doing.starts_with("send");
    });
    if (finding.code == Code::deadlock && of_collectives)
      misconception("leaves_the_others_waiting",
                    "a rank returned, and the other ranks wait for it; fix: call the collective on every "
                    "rank, on a rank without samples with zeros");
  }
  return run.answers({"all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter",
                      "reduce_scatter", "all_to_all", "barrier"});
}

Numbers numbers_of(const Json& reply) {
  Numbers numbers;
  for (const auto& number : reply.at("numbers"))
    numbers.push_back(number.is_null() ? std::nan("") : number.get<double>());
  return numbers;
}

double distance(const Numbers& right, const Numbers& got) {
  if (right.size() != got.size()) return HUGE_VAL;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += (right[i] - got[i]) * (right[i] - got[i]);
    size += right[i] * right[i];
  }
  const double relative = std::sqrt(difference / std::max(size, 1e-300));
  return std::isnan(relative) ? HUGE_VAL : relative;
}

bool diagnose_dtype(const Form& form, const Numbers& right, const std::vector<Json>& replies) {
  const auto is_near = [&](const Json& reply) { return distance(right, numbers_of(reply)) < 1e-6; };
  if (form.dtype != "f64" || !std::ranges::all_of(replies, is_near)) return false;
  misconception("f64_through_f32",
                "nearly right: f64 numbers went through f32, which keeps 24 of their 53 bits; fix: send and "
                "add in the tensor's own dtype");
  return true;
}

std::string difference(std::size_t rank, const Numbers& right, const Numbers& got) {
  const auto first_beyond = [&](double tolerance) {
    std::size_t i = 0;
    while (i < std::min(right.size(), got.size()) &&
           std::abs(right[i] - got[i]) <= tolerance * std::abs(right[i]))
      ++i;
    return i;
  };
  int digits = 9;
  std::size_t from = first_beyond(1e-6);
  if (from == right.size()) from = first_beyond(1e-10), digits = 17;
  if (from == right.size()) from = 0;  // no single element is far off
  return fmt::format("the caller's tensors on rank {} must have {}; they have {}", rank,
                     text(right, from, digits), text(got, from, digits));
}

}  // namespace lab14
